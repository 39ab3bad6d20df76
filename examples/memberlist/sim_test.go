//go:build dst

package memberlist

import (
	"fmt"
	"maps"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dstkit/dst"
	"github.com/dstkit/dst/simnet"
	"github.com/hashicorp/memberlist"
)

// Bounds, of virtual time, on calm links.
const (
	probed  = 15 * time.Second // for someone to probe a host: each of the others probes one a second
	probing = 8 * time.Second  // the longest probe: a second, times the health score and one
	spread  = 10 * time.Second // for an end of a suspicion to reach all, by gossip five times a second

	// For a cluster to be whole again. Two that hold each other for dead need two
	// exchanges of state: by the first they hear it, and by the second that they are not.
	// One comes from rejoining or every 30 s by itself; the last one may have hung for ten.
	healed = 2 * time.Minute

	joined = time.Minute      // for all to find each other at the beginning
	back   = time.Minute      // for all to know that a host is back, and it what it missed
	peace  = 30 * time.Second // on rough links, without any other fault
)

// suspicion is the longest that n hosts suspect one of them before they declare it dead.
func suspicion(n int) time.Duration {
	const mult, maxMult = 4, 6 // memberlist.DefaultLANConfig
	t := mult * maxMult * time.Second
	if n >= 100 {
		t *= 2 // log10
	}
	return t
}

// noticed is within what time all of n hosts hold a dead one for dead.
func noticed(n int) time.Duration { return probed + probing + suspicion(n) + spread }

var (
	calm  = simnet.Link{Latency: simnet.Uniform(time.Millisecond, 5*time.Millisecond)}
	rough = simnet.Link{
		Latency:   simnet.Uniform(time.Millisecond, 50*time.Millisecond),
		Loss:      0.05,
		Duplicate: 0.03,
		Reorder:   0.1,
	}
)

// A plan says how large a run is.
type plan struct {
	hosts  int
	rounds int           // of faults
	pause  time.Duration // the longest between two
}

// A tally is what happened in the runs of a test, one after another.
type tally struct {
	runs    int
	faults  [numFaults]int
	deaths  int64 // of hosts that were up
	net     simnet.Counters
	virtual time.Duration
	longest map[string]time.Duration // that something took
}

func newTally() *tally { return &tally{longest: map[string]time.Duration{}} }

type fault int

const (
	partition fault = iota // in two
	oneWay                 // some hosts do not reach some others
	between                // two hosts do not reach each other
	crash
	power
	pause // a process stands still
	heal
	restart
	talk // no fault: a host says something
	numFaults
)

func (f fault) String() string {
	return [...]string{"partition", "one-way", "between", "crash", "power", "pause", "heal", "restart", "talk"}[f]
}

// disturb lets the network and the hosts fail, in an order that the seed decides.
func (c *cluster) disturb(p plan, s *tally) {
	rng, net := c.w.Rand(), c.w.Net()
	for range p.rounds {
		time.Sleep(time.Duration(rng.Int64N(int64(p.pause))))
		names := slices.Clone(c.names)
		rng.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
		some := 1 + rng.IntN(len(names)/2) // at most half of them
		f := fault(rng.IntN(int(numFaults)))
		switch f {
		case partition:
			net.Partition(names[:some], names[some:])
		case oneWay:
			for _, from := range names[:some] {
				net.Cut(from, names[some])
			}
		case between:
			net.Cut(names[0], names[1])
			net.Cut(names[1], names[0])
		case crash, power, pause:
			if len(c.up()) <= len(c.names)/2 {
				continue
			}
			c.down(names[0], f)
		case heal:
			net.Heal()
		case restart:
			c.restore()
		case talk:
			c.talk()
		}
		s.faults[f]++
	}
}

// run is one run: a cluster comes together, suffers, heals, is left in peace, and loses
// one host and gets it back. The error is the first thing that did not hold.
func (p plan) run(w *dst.World, ch change, s *tally) error {
	var broken error
	within := func(what string, bound time.Duration, f func() error) bool {
		for from := w.Elapsed(); ; time.Sleep(bound / 100) {
			err, took := f(), w.Elapsed()-from
			if err == nil {
				s.longest[what] = max(s.longest[what], took)
				return true
			}
			if took > bound {
				broken = fmt.Errorf("%s: not within %v: %w", what, bound, err)
				return false
			}
		}
	}
	w.Net().SetDefault(calm)
	c := newCluster(w, p.hosts, ch)
	if !within("all have joined", joined, c.agreed) {
		return broken
	}

	w.Net().SetDefault(rough)
	c.disturb(p, s)
	w.HealAll()
	c.restore()
	w.Net().SetDefault(calm)
	if !within("all agree after faults", healed, c.whole) {
		return broken
	}
	s.deaths += c.deaths.Load()

	time.Sleep(suspicion(p.hosts)) // what is still suspected is sorted out
	if !within("all still agree", time.Second, c.whole) {
		return broken
	}
	w.Net().SetDefault(rough)
	was := c.deaths.Load()
	time.Sleep(peace)
	if n := c.deaths.Load() - was; n > 0 {
		return fmt.Errorf("a host that is up is held for dead: %d times within %v, on a network that only loses a little", n, peace)
	}

	w.Net().SetDefault(calm)
	victim := c.names[w.Rand().IntN(len(c.names))]
	how := []fault{crash, power, pause}[w.Rand().IntN(3)]
	c.down(victim, how)
	if !within("all notice a "+how.String(), noticed(p.hosts), c.agreed) {
		return broken
	}
	c.talk()
	c.restore()
	if !within("all take a host back", back, c.whole) {
		return broken
	}

	s.runs++
	s.virtual += w.Elapsed()
	total := w.Net().Total()
	s.net.Sent += total.Sent
	s.net.Lost += total.Lost
	s.net.Duplicated += total.Duplicated
	s.net.Reordered += total.Reordered
	s.net.Cut += total.Cut
	return nil
}

// report logs what happened, and fails the test if it was too little.
func (s *tally) report(t *testing.T) {
	t.Logf("%d runs of %v; packets: %d sent, %d lost, %d repeated, %d out of order, %d cut off",
		s.runs, s.virtual, s.net.Sent, s.net.Lost, s.net.Duplicated, s.net.Reordered, s.net.Cut)
	for f := range numFaults {
		t.Logf("%d × %v", s.faults[f], f)
		if s.runs >= 20 && s.faults[f] < s.runs/2 {
			t.Errorf("%d times %v in %d runs test too little", s.faults[f], f, s.runs)
		}
	}
	t.Logf("hosts that were up were held for dead %d times while there were faults", s.deaths)
	for _, what := range slices.Sorted(maps.Keys(s.longest)) {
		t.Logf("%s: after %v at most", what, s.longest[what])
	}
}

var (
	ten     = plan{hosts: 10, rounds: 25, pause: 10 * time.Second}
	hundred = plan{hosts: 100, rounds: 25, pause: 10 * time.Second}
)

// Whatever has happened, ten agree on who is there.
func TestTen(t *testing.T) { ten.sweep(t, dst.Seeds(10)) }

// So do a hundred.
func TestHundred(t *testing.T) { hundred.sweep(t, dst.Seeds(1)) }

func (p plan) sweep(t *testing.T, seeds dst.Option) {
	s := newTally()
	dst.Run(t, func(w *dst.World) {
		if err := p.run(w, change{}, s); err != nil {
			w.Fatalf("%v", err)
		}
	}, seeds)
	s.report(t)
}

// The oracle sees what it is there for: changes for the worse, under some of the seeds.
func TestWorse(t *testing.T) {
	for _, c := range []struct {
		name   string
		enough int // seeds, of which one shows it; 0: it is rare
		change
	}{
		{"no rejoin", 2, change{noRejoin: true}},
		{"no states merged", 1, change{boring: true}},
		{"no suspicion", 0, change{config: func(c *memberlist.Config) { c.SuspicionMult, c.SuspicionMaxTimeoutMult = 0, 0 }}},
		{"no second ways", 0, change{config: func(c *memberlist.Config) { c.DisableTcpPings, c.IndirectChecks = true, 0 }}},
		{"neither", 1, change{config: func(c *memberlist.Config) {
			c.SuspicionMult, c.SuspicionMaxTimeoutMult = 0, 0
			c.DisableTcpPings, c.IndirectChecks = true, 0
		}}},
		{"no gossip", 0, change{config: func(c *memberlist.Config) { c.GossipNodes = 0 }}},
		{"no exchange of states", 0, change{config: func(c *memberlist.Config) { c.PushPullInterval = 0 }}},
		{"no probes", 1, change{config: func(c *memberlist.Config) { c.ProbeInterval = 0 }}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newTally()
			runs, caught, by := 0, 0, map[string]int{}
			var first uint64
			dst.Run(t, func(w *dst.World) {
				err := ten.run(w, c.change, s)
				runs++
				if err == nil {
					return
				}
				if caught++; caught == 1 {
					first = w.Seed()
				}
				what, _, _ := strings.Cut(err.Error(), ":")
				by[what]++
				w.Logf("caught: %v", err)
			}, dst.Seeds(max(1, c.enough)))
			t.Logf("%s: caught under %d of %d seeds, first under %d", c.name, caught, runs, first)
			for _, what := range slices.Sorted(maps.Keys(by)) {
				t.Logf("%4d × %s", by[what], what)
			}
			if c.enough > 0 && runs >= c.enough && caught == 0 {
				t.Error("nothing was seen: the test tests nothing")
			}
		})
	}
}

// A cluster's live heap is small and each packet is read into 64 KiB: collections would
// be half of the work.
func TestMain(m *testing.M) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(800)
	}
	os.Exit(m.Run())
}

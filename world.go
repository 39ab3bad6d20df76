package dst

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/dstkit/dst/sched"
	"github.com/dstkit/dst/simnet"
	"github.com/dstkit/dst/simrand"
	"github.com/dstkit/dst/simtime"
)

// A World is one simulated run: hosts, the network between them, time, and
// everything random, all following from one seed. [Run] makes it, and ends it
// when body returns. Its methods are called from goroutines of the world only:
// that of body, and those of hosts. After its end a World answers [World.Seed],
// [World.Steps], [World.Elapsed] and [World.Fingerprint]; anything else panics.
type World struct {
	seed     uint64
	sw       *sched.World
	net      *simnet.Network
	sys      system                // what the hosts' processes have in common
	rng      *rand.Rand            // stream "work"
	hosts    []*Host               // by number minus one
	spread   simtime.Spread        // of hosts' clocks
	programs bool                  // some are registered
	streams  map[string]*rand.Rand // by name

	journal  journal
	failures []failure
	unsaid   int      // failures beyond those
	gaps     []string // what hosts asked for that is not simulated
	checks   []check

	packets    bytes.Buffer // that -dst.pcap asks for
	captured   string       // the file that has them
	captureErr error        // why packets are missing, there or in a capture of the test's own

	spins    spins
	over     bool        // a failure has ended the world
	returned bool        // body returned
	ended    atomic.Bool // the run is over
}

// current is the world that runs, if any: there is one at a time.
//
//dst:ignore sharedstate the simulator's own: which world it is
var current atomic.Pointer[World]

func newWorld(seed uint64, c *config) *World {
	w := &World{seed: seed, sw: sched.New(seed)}
	w.net = simnet.New(w.sw)
	w.net.Told = func(format string, args ...any) { w.journal.addLate(w.sw.Now(), format, args) }
	w.sys.init(w)
	w.rng = simrand.FromStream(w.sw.Stream("work"))
	w.sw.OnSpin = w.spins.add
	if c.cgo {
		w.sw.AllowC()
	}
	if c.limit != 0 {
		w.sw.SetLimit(c.limit)
	}
	if c.level >= 2 {
		w.journal.live = live
	}
	return w
}

// main is the world's first goroutine.
func (w *World) main(body func(*World)) {
	body(w)
	w.finalChecks()
	w.returned = true
}

// in panics unless the calling goroutine is one of the world.
func (w *World) in() {
	if sched.Current() == w.sw {
		return
	}
	if w.ended.Load() {
		panic(fmt.Sprintf("dst: World of seed %d was used after its end", w.seed))
	}
	panic(fmt.Sprintf("dst: World of seed %d was used by a goroutine outside of it; only the goroutines of body and of its hosts, and those that they start, belong to it", w.seed))
}

// Seed returns the seed that everything in the world follows from.
func (w *World) Seed() uint64 { return w.seed }

// Steps returns how many scheduling steps the world has made.
func (w *World) Steps() uint64 { return w.sw.Steps() }

// Elapsed returns the virtual time since the world began.
func (w *World) Elapsed() time.Duration { return w.sw.Elapsed() }

// Fingerprint returns a hash over every step so far: two runs of one seed agree
// on it at any point, or they are not the same run.
func (w *World) Fingerprint() uint64 { return w.sw.Fingerprint() }

// Net returns the network, to set links and to make faults.
func (w *World) Net() *simnet.Network {
	w.in()
	return w.net
}

// Rand returns the random numbers of the test's own workload. They follow from
// the seed, and are the same whatever else in the world draws. Any goroutine of
// the world may use it.
func (w *World) Rand() *rand.Rand {
	w.in()
	return w.rng
}

// Stream returns random numbers of the test's own, as [World.Rand] does, under a
// name: a draw from one stream moves no other, so that a decision added to the test's
// faults, say, leaves its workload as it was. The same name gives the same stream.
func (w *World) Stream(name string) *rand.Rand {
	w.in()
	sched.Enter()
	defer sched.Leave()
	r := w.streams[name]
	if r == nil {
		r = simrand.FromStream(w.sw.Stream("test " + name)) // none of the simulator's own
		if w.streams == nil {
			w.streams = map[string]*rand.Rand{}
		}
		w.streams[name] = r
	}
	return r
}

// Clocks sets the clocks of all hosts, those to be declared too, right and then
// wrong as s says: each has an offset and a drift of its own, and a daemon that
// corrects it. They follow from the seed and the host's name. The zero Spread sets
// all clocks right; HealAll leaves them as they are. It panics if s makes no sense.
func (w *World) Clocks(s simtime.Spread) {
	s.Check()
	w.in()
	sched.Enter()
	defer sched.Leave()
	w.spread = s
	for _, h := range w.hosts {
		h.clock.Set(s)
	}
}

// Logf adds a line to the run's log, with the virtual time and the host of the
// calling goroutine. The log is shown if the seed fails, or with -dst.v=2.
func (w *World) Logf(format string, args ...any) {
	w.in()
	text := fmt.Sprintf(format, args...)
	sched.Enter()
	w.log(w.hostOf(sched.CurrentHost()), text)
	sched.Leave()
}

// log adds a line to the journal, in kernel context.
func (w *World) log(h *Host, text string) { w.journal.add(w.sw.Now(), h, text) }

// event adds a line of the world's own to the journal, in kernel context.
func (w *World) event(h *Host, format string, args ...any) {
	if h != nil {
		w.journal.addLate(w.sw.Now(), "%s "+format, append([]any{h.name}, args...))
	} else {
		w.journal.addLate(w.sw.Now(), format, args)
	}
}

// hostOf returns what w keeps of a host; nil for host 0. It is called in kernel
// context.
func (w *World) hostOf(h *sched.Host) *Host {
	if h == nil {
		return nil
	}
	owner, _ := h.Owner.(*Host)
	return owner
}

// HealAll mends everything that is broken: the network ([simnet.Network.Heal]:
// partitions, cuts, held packets, interfaces that are down or flap, rules, the name
// server), hosts that are paused, and hosts that are down, which are restarted. A host whose main
// returned nil, or that exited with status 0, by itself is not down but done, and
// stays so. Links, clocks and disks stay as they are.
func (w *World) HealAll() {
	w.in()
	sched.Enter()
	defer sched.Leave()
	w.net.Heal()
	for _, h := range w.hosts {
		if h.proc == nil && !h.done {
			w.event(h, "restarts")
			h.boot()
		}
		h.resume()
	}
}

//go:build dst

package grpc

import (
	"testing"
	"time"

	"github.com/dstkit/dst"
)

// disturb lets one thing go wrong for a while, and returns what it was.
func (d *day) disturb() string {
	w, rng, net := d.w, d.w.Rand(), d.w.Net()
	pause := func() { time.Sleep(time.Duration(rng.Int64N(int64(8 * time.Second)))) }
	servers := append([]string{"journal", "journal"}, fronts...)
	server := servers[rng.IntN(len(servers))]
	all := append(append([]string{"journal"}, fronts...), users...)
	host := w.Host(server)
	switch rng.IntN(7) {
	case 0:
		net.Partition([]string{all[rng.IntN(len(all))]})
		pause()
		net.Heal()
		return "partition"
	case 1:
		i := rng.IntN(len(all))
		j := (i + 1 + rng.IntN(len(all)-1)) % len(all)
		net.Cut(all[i], all[j])
		pause()
		net.Heal()
		return "one-way cut"
	case 2:
		host.Crash()
		pause()
		host.Restart()
		return "crash"
	case 3:
		d.untilAck() // which has to outlive this
		host.PowerLoss()
		pause()
		host.Restart()
		return "loss of power"
	case 4:
		host.Pause()
		pause()
		host.Resume()
		return "pause"
	case 5:
		host.Stop()
		pause()
		host.Restart()
		return "stop"
	default:
		i := rng.IntN(len(all))
		j := (i + 1 + rng.IntN(len(all)-1)) % len(all)
		net.Hold(all[i], all[j])
		pause()
		net.Release(all[i], all[j])
		return "hold"
	}
}

// Whatever happens, a call ends by its deadline; what it acknowledged is in the journal,
// once, where it said; and who watches sees the journal, in its order, without a gap or a
// repetition. When all is well again, so are all calls, within a bound.
func journalDay(w *dst.World, f flaw, s *tally) {
	d := newDay(w, f)
	w.Net().SetDefault(usual)
	start(w, f)
	d.left = len(users)
	for _, user := range users {
		w.Host(user).Go(func() {
			c, err := dial("dns:///fronts:7000", f)
			if err != nil {
				w.Fatalf("%v", err)
			}
			go d.watch(user, c)
			d.use(user, c, 20)
		})
	}
	for range 6 {
		time.Sleep(time.Duration(w.Rand().Int64N(int64(2 * time.Second))))
		if s.faults == nil {
			s.faults = map[string]int{}
		}
		s.faults[d.disturb()]++
	}
	w.HealAll()
	d.within(time.Minute, "all is noted and seen", d.settled)
	d.check()
	s.add(d)
}

func TestJournal(t *testing.T) {
	var s tally
	dst.Run(t, func(w *dst.World) { journalDay(w, none, &s) }, dst.Seeds(20))
	s.report(t, none)
	if s.runs >= 50 {
		for _, kind := range []string{"put", "import", "chat"} {
			for _, code := range []string{" OK", " Unavailable", " DeadlineExceeded"} {
				if s.codes[kind+code] == 0 {
					t.Errorf("no %s ended with%s", kind, code)
				}
			}
		}
		if len(s.faults) != 7 {
			t.Errorf("of 7 kinds of faults only these happened: %v", s.faults)
		}
	}
}

// What the oracle has to find.
func TestJournalFlaws(t *testing.T) {
	for _, c := range []struct {
		name string
		flaw
	}{
		{"ackUnsynced", ackUnsynced}, {"showUnsynced", showUnsynced}, {"forgetKeys", forgetKeys},
		{"resumeBehind", resumeBehind}, {"chatUnordered", chatUnordered}, {"noDeadline", noDeadline},
	} {
		t.Run(c.name, func(t *testing.T) {
			var s tally
			dst.Run(t, func(w *dst.World) { journalDay(w, c.flaw, &s) }, dst.Seeds(5))
			s.report(t, c.flaw)
		})
	}
}

package dst

import (
	"fmt"
	"time"

	"github.com/dstkit/dst/sched"
)

// A check is something that has to hold always.
type check struct {
	name string
	f    func() error
}

// Always fails the seed, and ends its world, as soon as f returns an error. F is
// called after every step that could have changed something, and once more when
// body has returned. Name says what holds, such as "one leader at most".
//
// F runs on a goroutine of the world that belongs to no host. It looks at the
// program's state, which stands still meanwhile, and must not wait; state that
// the program keeps under a lock may be locked, but not for longer than a look.
func (w *World) Always(name string, f func() error) {
	w.in()
	sched.Enter()
	first := len(w.checks) == 0
	w.checks = append(w.checks, check{name, f})
	sched.Leave()
	if first {
		w.sw.Watch(w.watch)
	}
}

// watch is called after every step.
func (w *World) watch() {
	sched.Enter()
	checks, over := w.checks, w.over
	sched.Leave()
	if over {
		return
	}
	done := false
	defer func() {
		if !done { // a check called t.FailNow: without its watcher the world must not go on
			sched.Enter()
			w.stop()
			sched.Leave()
		}
	}()
	w.broken(checks)
	done = true
}

// broken runs the checks and ends the world if one does not hold.
func (w *World) broken(checks []check) bool {
	for i := range checks {
		if err := checks[i].f(); err != nil {
			w.report(true, fmt.Sprintf("%q does not hold: %v", checks[i].name, err), "")
			return true
		}
	}
	return false
}

// finalChecks runs when body has returned.
func (w *World) finalChecks() {
	sched.Enter()
	checks := w.checks
	sched.Leave()
	w.broken(checks)
}

// Eventually waits until f returns nil. If that takes longer than within, in
// virtual time, the seed fails with f's last error, and its world ends as with
// [World.Fatalf]. Name says what is waited for, such as "replicas agree". F is
// called on the calling goroutine, a hundred times in that time (at least each
// second, at most each millisecond), the last time when it is over.
func (w *World) Eventually(name string, within time.Duration, f func() error) {
	w.in()
	pause := min(max(within/100, time.Millisecond), time.Second)
	end := w.sw.Elapsed() + within
	for {
		err := f()
		if err == nil {
			return
		}
		left := end - w.sw.Elapsed()
		if left <= 0 {
			w.fatal(fmt.Sprintf("%snot within %v: %q: %v", caller(), within, name, err))
		}
		time.Sleep(min(pause, left)) //dst:ignore wallclock virtual: it runs in a world
	}
}

package sched

import (
	"sync"
	"sync/atomic"
	"time"
)

// A goroutine that computes without a scheduling point is interrupted after
// spinPatience of real time (and of CPU time, so that a debugger or a stopped
// machine is not mistaken for it), at most spinPasses times in a run; after
// spinLimit the run is stopped.
const (
	spinTick     = 250 * time.Millisecond
	spinPatience = 2 * time.Second
	spinLimit    = 10 * time.Second
	spinPasses   = 5
)

// A watchdog looks at one world from outside.
type watchdog struct {
	steps  uint64
	cpu    time.Duration // process CPU time when the step was first seen
	since  time.Time
	passes int
	passed bool // since the last step
	err    atomic.Pointer[SpinError]
}

//dst:ignore sharedstate the watchdog's own, outside of worlds
var watched struct {
	sync.Mutex
	worlds map[*World]bool
	runs   bool
}

func (d *watchdog) start(w *World) {
	watched.Lock()
	if watched.worlds == nil {
		watched.worlds = map[*World]bool{}
	}
	watched.worlds[w] = true
	watched.Unlock()
}

func (d *watchdog) stop(w *World) {
	watched.Lock()
	delete(watched.worlds, w)
	watched.Unlock()
}

func (d *watchdog) verdict() error {
	if e := d.err.Load(); e != nil {
		return e
	}
	return nil
}

// startWatchdog starts the goroutine that looks at all worlds. It is called
// outside of any.
func startWatchdog() {
	watched.Lock()
	defer watched.Unlock()
	if watched.runs {
		return
	}
	watched.runs = true
	// The ticker is made here: what package time initialises on first use must
	// not be contended for from outside while a world runs.
	tick := time.NewTicker(spinTick).C //dst:ignore wallclock it watches real time
	go func() {
		for range tick {
			watched.Lock()
			for w := range watched.worlds {
				w.watchdog.look(w)
			}
			watched.Unlock()
		}
	}()
}

//go:norace
func (d *watchdog) look(w *World) {
	now, cpu := time.Now(), cpuTime() //dst:ignore wallclock it watches real time
	if steps := w.rt.steps; steps != d.steps || d.since.IsZero() {
		d.steps, d.since, d.cpu, d.passed = steps, now, cpu, false
		return
	}
	stuck := min(now.Sub(d.since), cpu-d.cpu)
	if d.err.Load() != nil || stuck < spinPatience {
		return
	}
	goid, id := rtHolder(w.rt)
	if goid == 0 {
		return
	}
	name := w.nameOf(id)
	switch {
	case stuck >= spinLimit || d.passes >= spinPasses:
		d.err.Store(&SpinError{Host: name, After: stuck.Round(time.Second), Stack: allStacks()[goid]})
		w.rt.spin = spinKill
	case !d.passed:
		stack := allStacks()[goid]
		if w.rt.steps != d.steps {
			return // it went on by itself meanwhile
		}
		d.passes++
		d.passed = true
		if w.OnSpin != nil {
			w.OnSpin(name, stack) // first: the run may be over soon after
		}
		w.rt.spin = spinPass
	}
}

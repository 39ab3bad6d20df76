package sched

import (
	"fmt"
	"time"
)

// Run runs main as the world's first goroutine, with the calling goroutine as
// its engine, until main ends, and destroys every goroutine that is left then.
// It returns what stopped the run before that, if anything did: a
// [*DeadlockError], [*SpinError], [*EscapeError], [*LimitError] or what was
// given to [World.Stop]. A world runs once.
func (w *World) Run(main func()) error {
	if !Available() {
		return fmt.Errorf("sched: not a simulation build; build with dstrewrite")
	}
	if w.started {
		panic("sched: a world runs once")
	}
	w.started = true
	if Current() != nil {
		panic("sched: Run inside of a world")
	}
	startWatchdog()
	w.watchdog.start(w)
	rtBegin(w.rt, w.hosts[0].rt)
	rtEnter()
	rtGo(w.hosts[0].rt, func() {
		defer w.setDone()
		main()
	})
	w.loop()
	if w.trace != nil {
		w.trace.drain(w.rt)
	}
	groups := w.groups()
	hosts := make([]*rtHost, len(groups))
	for i, h := range groups {
		hosts[i] = h.rt
	}
	rtLeave(true)
	rtEnd(w.rt, hosts)
	w.watchdog.stop(w)
	return w.problem
}

// setDone ends the world. It is called on the main goroutine.
//
//go:norace
func (w *World) setDone() {
	w.done = true
	w.rt.stop = 1
}

// Stop ends the run, with err as Run's result unless something else came first.
//
//go:norace
func (w *World) Stop(err error) {
	if w.problem == nil {
		w.problem = err
	}
	w.done = true
	w.rt.stop = 1
}

// loop is the engine: it runs what is due, gives the token away, and moves the
// clock when nobody can run.
func (w *World) loop() {
	for {
		w.rt.stop = 0
		for _, h := range w.condemned {
			rtKill(h)
		}
		clear(w.condemned)
		w.condemned = w.condemned[:0]
		if w.trace != nil {
			w.trace.drain(w.rt)
		}
		if w.rt.escape != 0 && w.problem == nil {
			w.problem = w.escaped()
		}
		if w.done || w.problem != nil {
			return
		}
		if err := w.watchdog.verdict(); err != nil {
			w.problem = err
			return
		}
		w.fireDue()
		rtTimers()
		if w.rt.runnable > 0 {
			rtYieldEngine()
			continue
		}
		next := w.nextDue()
		switch {
		case next == never:
			w.problem = w.deadlock()
			return
		case next > w.limit:
			w.problem = &LimitError{Limit: time.Duration(w.limit - Epoch), Goroutines: w.describe()}
			return
		}
		w.rt.now = max(w.rt.now, next)
	}
}

// Point is a scheduling point of the calling goroutine: it costs a step, runs
// what is due, and draws who goes on. It is called outside of kernel context.
func (w *World) Point() {
	if rtCharge() {
		w.runDue()
	}
	rtDraw()
}

func (w *World) runDue() {
	rtEnter()
	if w.trace != nil {
		w.trace.drain(w.rt)
	}
	w.fireDue()
	rtTimers()
	rtLeave(false)
}

// BeginCall begins a system call of a simulated goroutine, outside of kernel
// context: it returns the goroutine's host, and whether the call is to leave no
// trace, since std makes it for the process rather than for the program. With
// point, any other is a scheduling point.
func BeginCall(point bool) (h *Host, quiet bool) {
	user, quiet, due := rtCall(point)
	h = (*Host)(user)
	if due {
		h.w.runDue()
		rtDraw()
	}
	return h, quiet
}

// Watch calls check on a goroutine of the world after every step, whenever it
// is not still at the previous call. It is called once, from the world.
func (w *World) Watch(check func()) {
	w.hosts[0].Go(func() {
		w.setWatch()
		for {
			check()
			rtWatch()
		}
	})
}

//go:norace
func (w *World) setWatch() { w.rt.watch = 1 }

// watched tells whether there is a watcher, and no goroutine but the calling
// one that could run.
//
//go:norace
func (w *World) watched() bool { return w.rt.watch != 0 && w.rt.runnable == 0 }

// SetHooks tells what becomes of a host's process that panics or exits. Both
// are called on the goroutine in question and must not return for a host.
func SetHooks(onPanic func(v any, fatal bool), onExit func(code int)) {
	rtSetHooks(onPanic, onExit)
}

// SetKernel sets what serves system calls of simulated goroutines, on the
// goroutine that makes them and outside of kernel context. Text renders what the
// kernel notes of a call in the trace.
func SetKernel(traps Traps, f func(c *Call) (r1, r2, errno uintptr), text func(what uint64) string) {
	callText = text
	rtSetTraps(&traps)
	rtSetKernel(f)
}

// SetPoller sets what waits for simulated descriptors.
func SetPoller(p Poller) { rtSetPoller(p) }

// SetProcess sets what answers for package syscall's state of a process.
func SetProcess(f func() ProcessState) { rtSetProcess(f) }

package dst

import (
	"fmt"
	"syscall"
	"time"

	"github.com/dstkit/dst/sched"
)

// stopGrace is how long Stop waits, in virtual time: what docker stop gives.
const stopGrace = 10 * time.Second

// boot starts the host's process, in kernel context. The host is down.
func (h *Host) boot() {
	if h.sh.Dead() {
		h.sh.Boot()
	}
	h.stack.PowerOn()
	h.done, h.stopping, h.err = false, false, nil
	h.proc = newProcess(h)
	if main := h.main; main != nil {
		h.sh.Go(func() { h.returned(main()) })
	}
}

// end ends the host's process, in kernel context. Goroutines of the host that
// are calling have to exit then, outside of it.
func (h *Host) end(code int) {
	if h.proc == nil {
		return
	}
	h.proc.Exit(code)
	h.proc = nil
	h.stack.Reset()
	h.sh.Kill()
	for len(h.waits) > 0 {
		h.waits[len(h.waits)-1].finish()
	}
}

// leave ends kernel context, and the calling goroutine if self: its process has
// ended.
//
//go:norace
func leave(self bool) {
	sched.Leave()
	if self {
		sched.Exit()
	}
}

// self tells whether the calling goroutine is one of the host.
func (h *Host) self() bool {
	c := sched.CurrentHost()
	return c != nil && c.Machine() == h.sh
}

// returned ends the process whose main returned. It runs on main's goroutine.
func (h *Host) returned(err error) {
	sched.Enter()
	switch {
	case err == nil:
		h.w.event(h, "main returned")
	case h.stopping:
		h.w.log(h, "main returned: "+err.Error())
	default:
		h.w.log(h, "main returned: "+err.Error())
		h.w.fail(fmt.Sprintf("main of host %s returned an error: %v", h.name, err), "")
	}
	h.done, h.err = err == nil && !h.stopping, err
	if err != nil {
		h.end(1)
	} else {
		h.end(0)
	}
	leave(true)
}

// exited ends the process because it asked for that, or because a signal did. It
// is called in kernel context.
func (h *Host) exited(code int, sig syscall.Signal) {
	if sig != 0 {
		h.w.event(h, "is ended by signal %d (%s)", int(sig), sig)
	} else {
		h.w.event(h, "exits with status %d", code)
	}
	if code != 0 && !h.stopping {
		h.err = &ExitError{Code: code, Signal: sig}
	}
	h.done = code == 0 && !h.stopping
	h.end(code)
}

// Crash ends the host's process where it stands, as kill -9 does: no deferred
// call runs, sockets are closed and ports free. What the process wrote to files is
// there, synced or not, since the machine stays up. If the host is down already,
// nothing happens.
func (h *Host) Crash() {
	h.w.in()
	sched.Enter()
	running, self := h.proc != nil, h.self()
	if running {
		h.w.event(h, "crashes")
		h.end(137)
		h.disk.Crash()
	}
	leave(running && self)
}

// PowerLoss is the loss of power: the process is gone as with Crash, the
// network meets silence instead of closed ports until the host boots, and what
// was not synced to disk is kept or lost as the seed decides (see package simfs).
// A host that is down, but not for this reason, loses power too.
func (h *Host) PowerLoss() {
	h.w.in()
	sched.Enter()
	running, self := h.proc != nil, h.self()
	h.w.event(h, "loses power")
	h.stack.PowerOff()
	h.disk.PowerOff()
	h.end(137)
	h.done = false
	h.disk.PowerLoss(h.w.sw.Stream("disk"))
	leave(running && self)
}

// Stop ends the host's process as an operator does: it sends SIGTERM and waits
// until the process has ended. A program that does not handle the signal ends at
// once; one that is still there after ten seconds of virtual time is killed. An
// error that main returns is no failure then. If the host is down, nothing
// happens.
func (h *Host) Stop() {
	h.w.in()
	sched.Enter()
	if h.proc == nil {
		sched.Leave()
		return
	}
	h.w.event(h, "is stopped")
	h.stopping = true
	proc, self := h.proc, h.self()
	send(proc, syscall.SIGTERM)
	if h.proc != proc { // nothing handles the signal
		leave(self)
		return
	}
	t := h.newWait()
	var e sched.Event
	h.w.sw.Schedule(&e, h.w.sw.Now()+int64(stopGrace), fire(func() {
		if h.proc == proc {
			h.w.event(h, "has not ended %v after SIGTERM, and is killed", stopGrace)
			h.end(137)
		}
	}))
	sched.Leave()
	t.park("Host.Stop of " + h.name)
	sched.Enter()
	h.w.sw.Cancel(&e)
	sched.Leave()
}

type fire func()

func (f fire) Fire() { f() }

// Restart boots the host again, with the main that it had: on the same disk and
// clock, with fresh memory. A host that is running is crashed first. Restart
// panics if the host has no main; [Host.Boot] gives it one.
func (h *Host) Restart() {
	h.w.in()
	sched.Enter()
	if h.main == nil {
		sched.Leave()
		panic(fmt.Sprintf("dst: Restart of host %q, which has no main to run; declare it as w.Host(%q, main), or use Boot(main), where a nil main boots it empty", h.name, h.name))
	}
	h.w.event(h, "restarts")
	leave(h.reboot(h.main))
}

// Boot is Restart with another main: to give a program to a host that was
// declared without one, or to run a newer version. With nil the host is empty.
func (h *Host) Boot(main func() error) *Host {
	h.w.in()
	sched.Enter()
	h.w.event(h, "boots")
	leave(h.reboot(main))
	return h
}

// reboot crashes the host if it is running, and boots it with main. It is called
// in kernel context. It reports whether the calling goroutine has to exit.
func (h *Host) reboot(main func() error) (self bool) {
	self = h.proc != nil && h.self()
	h.end(137)
	h.main = main
	h.boot()
	return self
}

// Pause stops the host from running, as SIGSTOP or a long garbage collection
// does, until Resume: time goes on, packets arrive, timers expire, and the
// process finds all that when it goes on. A host that is down does not notice.
func (h *Host) Pause() {
	h.w.in()
	sched.Enter()
	defer sched.Leave()
	if h.proc != nil {
		h.w.event(h, "is paused")
		h.sh.Pause()
		for _, c := range h.sh.Children() {
			c.Pause()
		}
	}
}

// Resume ends Pause.
func (h *Host) Resume() {
	h.w.in()
	sched.Enter()
	defer sched.Leave()
	h.resume()
}

// resume is called in kernel context.
func (h *Host) resume() {
	if h.sh.Paused() {
		h.w.event(h, "goes on")
		h.sh.Resume()
		for _, c := range h.sh.Children() {
			c.Resume()
		}
	}
}

// stopped is what SIGSTOP and SIGCONT do to the process, but not to its children.
func (h *Host) stopped(stop bool) {
	switch {
	case stop && !h.sh.Paused():
		h.w.event(h, "is stopped by a signal")
		h.sh.Pause()
	case !stop && h.sh.Paused():
		h.w.event(h, "goes on")
		h.sh.Resume()
	}
}

// Signal sends a signal to the host's process, as kill(1) does, from outside: it
// gets to os/signal if the program asked for it there, or has the effect that it
// has on a Go program which did not. SIGHUP, SIGINT and SIGTERM end the process
// then, with an [*ExitError] that names the signal; SIGQUIT and its kin end it with
// status 2; SIGKILL ends it whatever it asked for; SIGSTOP and SIGCONT are [Host.Pause]
// and [Host.Resume]; SIGUSR1 and the rest do nothing. If the host is down, nothing
// happens.
func (h *Host) Signal(sig syscall.Signal) {
	h.w.in()
	sched.Enter()
	proc, self := h.proc, h.self()
	if proc != nil {
		h.w.event(h, "gets signal %d (%s)", int(sig), sig)
		send(proc, sig)
	}
	leave(self && proc != h.proc)
}

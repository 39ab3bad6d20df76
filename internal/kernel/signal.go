//go:build linux && (amd64 || arm64)

package kernel

import (
	"os"
	"syscall"

	"github.com/dstkit/dst/sched"
)

// signals is what a process asked of package os/signal.
type signals struct {
	channels []signalChannel // in the order of their first Notify
	ignored  uint64          // by number
	began    uint64          // ignored when the process began, and again when no channel wants them
}

type signalChannel struct {
	c    chan<- os.Signal
	want uint64
}

func signalBit(sig os.Signal) uint64 {
	if s, ok := sig.(syscall.Signal); ok && s > 0 && s < 64 {
		return 1 << s
	}
	return 0
}

func signalBits(sig []os.Signal) uint64 {
	if len(sig) == 0 {
		return ^uint64(0)
	}
	var bits uint64
	for _, s := range sig {
		bits |= signalBit(s)
	}
	return bits
}

// Notify is [signal.Notify] of the process.
func (p *Process) Notify(c chan<- os.Signal, sig []os.Signal) {
	sched.Enter()
	defer sched.Leave()
	bits := signalBits(sig)
	p.signals.ignored &^= bits
	for i := range p.signals.channels {
		if s := &p.signals.channels[i]; s.c == c {
			s.want |= bits
			return
		}
	}
	p.signals.channels = append(p.signals.channels, signalChannel{c, bits})
}

// Stop is [signal.Stop] of the process.
func (p *Process) Stop(c chan<- os.Signal) {
	sched.Enter()
	defer sched.Leave()
	for i, s := range p.signals.channels {
		if s.c == c {
			p.signals.channels = append(p.signals.channels[:i], p.signals.channels[i+1:]...)
			return
		}
	}
}

// Ignore is [signal.Ignore] of the process.
func (p *Process) Ignore(sig []os.Signal) {
	sched.Enter()
	defer sched.Leave()
	p.resetSignals(signalBits(sig))
	p.signals.ignored |= signalBits(sig)
}

// Reset is [signal.Reset] of the process.
func (p *Process) Reset(sig []os.Signal) {
	sched.Enter()
	defer sched.Leave()
	p.resetSignals(signalBits(sig))
	p.signals.ignored &^= signalBits(sig)
}

// Ignored is [signal.Ignored] of the process.
func (p *Process) Ignored(sig os.Signal) bool {
	sched.Enter()
	defer sched.Leave()
	return p.signals.ignored&signalBit(sig) != 0
}

func (p *Process) resetSignals(bits uint64) {
	kept := p.signals.channels[:0]
	for _, s := range p.signals.channels {
		if s.want &^= bits; s.want != 0 {
			kept = append(kept, s)
		}
	}
	clear(p.signals.channels[len(kept):])
	p.signals.channels = kept
}

// inherited returns the signals that a child begins with ignored. Of those that its
// parent ignores, a Go program leaves two as they are, and catches all others.
func (s *signals) inherited() uint64 {
	bits := s.began
	for _, c := range s.channels {
		bits &^= c.want
	}
	return (s.ignored | bits) & (1<<syscall.SIGHUP | 1<<syscall.SIGINT)
}

// Signal delivers a signal to the process, in kernel context, as a Go program
// takes it (see package os/signal): by the channels that asked for it, or not at
// all if it is ignored, or with its default action.
func (p *Process) Signal(sig syscall.Signal) { p.signal(sig, false) }

// signal is Signal. Broken means that SIGPIPE is about standard output or error,
// when a Go program does not survive it.
func (p *Process) signal(sig syscall.Signal, broken bool) {
	if p.dead || sig <= 0 || sig >= 64 {
		return
	}
	bit := uint64(1) << sig
	switch sig {
	case syscall.SIGKILL:
		p.end(128+int(sig), sig)
		return
	case syscall.SIGSTOP:
		p.stop(true)
		return
	case syscall.SIGCONT:
		p.stop(false) // whether it is ignored or not
	}
	if p.signals.ignored&bit != 0 {
		return
	}
	taken := false
	for _, s := range p.signals.channels {
		if s.want&bit == 0 {
			continue
		}
		taken = true
		select {
		case s.c <- sig:
		default: // its channel is full: package signal drops it too
		}
	}
	if taken || p.signals.began&bit != 0 {
		return
	}
	switch sig {
	case syscall.SIGHUP, syscall.SIGINT, syscall.SIGTERM:
		p.end(128+int(sig), sig)
	case syscall.SIGQUIT, syscall.SIGILL, syscall.SIGTRAP, syscall.SIGABRT, syscall.SIGSTKFLT, syscall.SIGSYS,
		syscall.SIGBUS, syscall.SIGFPE, syscall.SIGSEGV: // sent, not raised by what it does
		p.end(2, 0) // after the stacks of all goroutines
	case syscall.SIGTSTP, syscall.SIGTTIN, syscall.SIGTTOU:
		p.stop(true)
	case syscall.SIGPIPE:
		if broken {
			p.end(128+int(sig), sig)
		}
	}
	// The runtime catches all others, and does nothing.
}

// BrokenPipe is what becomes of a process whose standard output or error is a pipe
// that nobody reads.
func (p *Process) BrokenPipe() { p.signal(syscall.SIGPIPE, true) }

// stop is what SIGSTOP and SIGCONT do.
func (p *Process) stop(stop bool) {
	switch {
	case p.opts.OnStop != nil:
		p.opts.OnStop(stop)
	case stop:
		p.host.Pause()
	default:
		p.host.Resume()
	}
}

// end is what exit_group does, or a signal.
func (p *Process) end(code int, sig syscall.Signal) {
	if p.opts.OnExit != nil {
		p.opts.OnExit(code, sig)
	} else {
		p.Exit(code)
	}
}

// End ends the process as exit_group does, in kernel context. Its goroutines are
// destroyed; a calling one that is among them has to exit then.
func (p *Process) End(code int) { p.end(code, 0) }

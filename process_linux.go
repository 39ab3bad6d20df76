//go:build linux && (amd64 || arm64)

package dst

import (
	"fmt"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/dstkit/dst/internal/kernel"
	"github.com/dstkit/dst/sched"
)

// A process is what a host runs.
type process = kernel.Process

// system is what the processes of one world have in common.
type system struct{ k *kernel.Kernel }

func (s *system) init(w *World) {
	s.k = kernel.New(w.sw, w.net)
	s.k.Unsupported = func(sh *sched.Host, name, detail string) {
		w.event(w.hostOf(sh), "asks for what is not simulated: %s: %s", name, detail)
		w.gaps = append(w.gaps, fmt.Sprintf("host %s: %s: %s", sh.Name(), name, detail))
	}
}

func (s *system) close() { s.k.Close() }

// newProcess boots the host's process, in kernel context.
func newProcess(h *Host) *process {
	w := h.w
	return w.sys.k.Boot(h.sh, h.stack, h.disk, kernel.Options{
		Args:   h.args,
		Env:    w.environment(h),
		NoFile: h.maxFiles,
		Input:  h.input,
		Output: func(fd int, at int64, text []byte) { w.journal.output(at, h, fd, string(text)) },
		Clock:  h.sh.Wall,
		OnExit: h.exited,
		OnStop: h.stopped,
	})
}

// program registers a program, in kernel context.
func (s *system) program(path string, main func() int) error { return s.k.Register(path, main) }

// send sends a signal to the process, in kernel context.
func send(p *process, sig syscall.Signal) { p.Signal(sig) }

func init() {
	if sched.Available() {
		sched.SetHooks(panicked, osExit)
	}
}

// panicked is called on a goroutine of a world whose panic nothing recovers
// from, after its deferred calls, or that the runtime found in a state that it
// cannot go on from (fatal). It does not return for a goroutine of ours.
func panicked(v any, fatal bool) {
	w := current.Load()
	if w == nil || w.sw != sched.Current() {
		return
	}
	what := "panicked"
	if fatal {
		what = "had a fatal error"
	}
	text := fmt.Sprintf("%s: %v", what, v)
	stack := cutStack(string(debug.Stack()))
	sched.Enter()
	h := w.hostOf(sched.CurrentHost())
	if h == nil {
		w.fail("the test itself "+text, stack)
		w.stop()
		leave(true)
	}
	if p := kernel.Of(sched.CurrentHost()); p != nil && p.Child() {
		text = "program " + p.Program() + " " + text
		w.fail("host "+h.name+": "+text, stack)
		w.log(h, text+"\n"+strings.TrimSuffix(stack, "\n"))
		p.End(2)
		leave(true)
	}
	w.fail("host "+h.name+" "+text, stack)
	w.log(h, text+"\n"+strings.TrimSuffix(stack, "\n"))
	h.end(2)
	h.err = &ExitError{Code: 2}
	leave(true)
}

// osExit is called on a goroutine of a host that calls os.Exit; it does not
// return then. With a negative code, the standard output or error is a broken pipe.
func osExit(code int) {
	w := current.Load()
	if w == nil || w.sw != sched.Current() {
		return
	}
	sched.Enter()
	p := kernel.Of(sched.CurrentHost())
	switch {
	case p == nil:
		leave(w.hostOf(sched.CurrentHost()) != nil)
		return
	case code < 0:
		p.BrokenPipe()
		leave(kernel.Of(sched.CurrentHost()) == nil)
		return
	}
	p.End(code & 0xff)
	leave(true)
}

// live shows a line of the journal at once. It is called in kernel context,
// where system calls are real ones.
func live(l line, text string) {
	var b strings.Builder
	writeLine(&b, l, text)
	for out := []byte(b.String()); len(out) > 0; {
		n, err := syscall.Write(1, out)
		if n <= 0 || err != nil && err != syscall.EINTR {
			return
		}
		out = out[n:]
	}
}

package sched

import (
	"bytes"
	"fmt"
	"runtime"
	"slices"
	"sort"
	"strings"
	"time"
)

// A Goroutine is one goroutine of a world, as reports show it.
type Goroutine struct {
	Host   string // "" is the world itself
	Number uint32 // within the run
	State  string // what it waits for
	Stack  string
}

// A DeadlockError tells that every goroutine waits and no event is pending.
type DeadlockError struct{ Goroutines []Goroutine }

func (e *DeadlockError) Error() string {
	return "deadlock: every goroutine waits and no event is pending\n" + format(e.Goroutines)
}

// A LimitError tells that the run went on beyond its limit of virtual time.
type LimitError struct {
	Limit      time.Duration
	Goroutines []Goroutine
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("still running after %v of virtual time\n%s", e.Limit, format(e.Goroutines))
}

// A SpinError tells that a goroutine computed without reaching a scheduling
// point.
type SpinError struct {
	Host  string
	After time.Duration // real time
	Stack string
}

func (e *SpinError) Error() string {
	return fmt.Sprintf("host %s spins: no scheduling point for %v of real time, at\n%s", hostName(e.Host), e.After, e.Stack)
}

// An EscapeError tells that something reached into the world from outside, or
// out of it.
type EscapeError struct {
	Host  string // that something left, or "" for what came from outside
	What  string
	Stack string
}

func (e *EscapeError) Error() string {
	if e.Host != "" {
		return "escape: host " + e.Host + " " + e.What + ", at\n" + e.Stack
	}
	return "escape: " + e.What + ", at\n" + e.Stack
}

// What escapes there are; package runtime's.
var escapes = [...]string{
	"a goroutine outside of the simulation woke one inside (a channel, mutex or timer made outside is shared with it)",
	"calls C, which the simulator does not see (build with CGO_ENABLED=0, or allow it: dst.AllowCgo)",
	"makes a system call that does not go through package syscall, and so would be one of the real machine",
}

func hostName(name string) string {
	if name == "" {
		return "(none: the test itself)"
	}
	return name
}

func format(list []Goroutine) string {
	var b strings.Builder
	for i, g := range list {
		if i == 0 || list[i-1].Host != g.Host {
			fmt.Fprintf(&b, "\nhost %s:\n", hostName(g.Host))
		}
		fmt.Fprintf(&b, "goroutine %d [%s]:\n%s\n", g.Number, g.State, g.Stack)
	}
	return b.String()
}

func (w *World) deadlock() error { return &DeadlockError{Goroutines: w.describe()} }

func (w *World) escaped() error {
	frames := runtime.CallersFrames(w.rt.escapePC[:w.rt.escapeN])
	e := &EscapeError{What: escapes[w.rt.escaped], Stack: formatFrames(frames)}
	if w.rt.escaped != 0 {
		e.Host = w.nameOf(w.rt.leaver)
	}
	return e
}

func formatFrames(frames *runtime.Frames) string {
	var b strings.Builder
	top := true
	for {
		f, more := frames.Next()
		top = top && isPlumbing(f.Function)
		if f.Function != "" && !top {
			fmt.Fprintf(&b, "\t%s\n\t\t%s:%d\n", f.Function, f.File, f.Line)
		}
		if !more {
			return b.String()
		}
	}
}

// describe lists the world's goroutines, host by host.
func (w *World) describe() []Goroutine {
	stacks := allStacks()
	var list []Goroutine
	for _, h := range w.groups() {
		infos := make([]goroutineInfo, h.rt.live+1)
		infos = infos[:rtList(h.rt, infos)]
		sort.Slice(infos, func(i, j int) bool { return infos[i].id < infos[j].id })
		for _, info := range infos {
			if info.id == 0 {
				continue // the engine
			}
			list = append(list, Goroutine{Host: h.name, Number: info.id, State: info.reason, Stack: stacks[info.goid]})
		}
	}
	return list
}

// plumbing is what stands on top of the stack of a goroutine that waits, by how
// the names of its functions begin.
var plumbing = []string{
	"runtime.gopark", "runtime.goparkunlock",
	"github.com/dstkit/dst/sched.rt", "github.com/dstkit/dst/sched.(*Waiter)", "github.com/dstkit/dst/sched.(*World).",
	"github.com/dstkit/dst/internal/kernel.", "internal/poll.dst", "syscall.dst",
}

func isPlumbing(function string) bool {
	return slices.ContainsFunc(plumbing, func(p string) bool { return strings.HasPrefix(function, p) })
}

// program cuts the plumbing off the top of a stack.
func program(stack string) string {
	for rest := stack; ; {
		function, after, ok := strings.Cut(rest, "\n")
		if !ok || !isPlumbing(function) {
			return rest
		}
		if _, rest, ok = strings.Cut(after, "\n"); !ok {
			return stack // nothing but plumbing
		}
	}
}

// allStacks returns the stacks of all goroutines of the process by goid,
// without their headings and without the runtime's frames on top.
func allStacks() map[uint64]string {
	buf := make([]byte, 1<<20)
	for {
		n := runtime.Stack(buf, true)
		if n < len(buf) || len(buf) >= 64<<20 {
			buf = buf[:n]
			break
		}
		buf = make([]byte, 2*len(buf))
	}
	stacks := map[uint64]string{}
	for _, block := range bytes.Split(buf, []byte("\n\n")) {
		head, body, ok := bytes.Cut(block, []byte("\n"))
		var goid uint64
		if _, err := fmt.Sscanf(string(head), "goroutine %d", &goid); ok && err == nil {
			stacks[goid] = program(string(body))
		}
	}
	return stacks
}

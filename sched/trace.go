package sched

import (
	"fmt"
	"runtime"
	"strings"
	"time"
)

// A Step is one entry of a trace.
type Step struct {
	When  int64  // virtual time
	Host  uint32 // by number; 0 is the world itself
	G     uint32 // goroutine's number within the run, or 0
	Kind  Kind
	What  uint64
	stack int32 // index into the trace's stacks
}

// A Trace holds every step of a run, with stacks.
type Trace struct {
	Steps  []Step
	Lost   int // steps that could not be recorded
	names  func(uint32) string
	stacks [][stackDepth]uintptr
	known  map[[stackDepth]uintptr]int32
}

const traceBuffer = 1 << 14

// callText renders what the kernel notes of a system call; see [SetKernel].
//
//dst:ignore sharedstate set once, before the first world
var callText func(what uint64) string

// Record makes the world keep every step, for [Trace.Diff]. It changes nothing
// else. It is called before Run.
func (w *World) Record() {
	w.trace = &Trace{known: map[[stackDepth]uintptr]int32{}, stacks: make([][stackDepth]uintptr, 1)}
	w.trace.known[[stackDepth]uintptr{}] = 0
	w.trace.names = w.nameOf
	w.rt.rec = make([]rtStep, traceBuffer)
}

// Trace returns what was recorded, or nil.
func (w *World) Trace() *Trace { return w.trace }

// add records a step that this package made.
func (t *Trace) add(rt *rtWorld, kind Kind, host uint32, what uint64) {
	if rt.recN >= int64(len(rt.rec))/2 {
		t.drain(rt)
	}
	s := &rt.rec[rt.recN]
	rt.recN++
	*s = rtStep{now: rt.now, host: host, kind: uint32(kind), what: what}
	if kind == KindSyscall || kind == KindFault || kind == KindHost || kind == KindUser {
		_, s.g = rtSelf()
		s.n = int32(runtime.Callers(3, s.pc[:]))
	}
}

// drain takes over what the runtime has recorded.
func (t *Trace) drain(rt *rtWorld) {
	for i := range rt.rec[:rt.recN] {
		s := &rt.rec[i]
		for j := max(s.n, 0); j < int32(len(s.pc)); j++ {
			s.pc[j] = 0
		}
		id, ok := t.known[s.pc]
		if !ok {
			id = int32(len(t.stacks))
			t.stacks = append(t.stacks, s.pc)
			t.known[s.pc] = id
		}
		t.Steps = append(t.Steps, Step{When: s.now, Host: s.host, G: s.g, Kind: Kind(s.kind), What: s.what, stack: id})
	}
	t.Lost = int(rt.recLost)
	rt.recN = 0
}

func (s Step) same(o Step) bool {
	return s.When == o.When && s.Host == o.Host && s.G == o.G && s.Kind == o.Kind && s.What == o.What
}

// A Divergence is the first step at which two runs of one seed part.
type Divergence struct {
	Index  int    // of the step, from 0
	Before string // the last steps that both made
	A, B   string // what each did then, with its stack; "" if it had ended
}

func (d *Divergence) Error() string {
	return fmt.Sprintf("two runs of one seed part at step %d\n\nthe last steps that both made:\n%s\nthe first run then made:\n%s\nthe second run then made:\n%s",
		d.Index, d.Before, d.A, d.B)
}

// Diff returns where a and b part, or nil if they are the same.
func (t *Trace) Diff(b *Trace) *Divergence {
	n := min(len(t.Steps), len(b.Steps))
	i := 0
	for i < n && t.Steps[i].same(b.Steps[i]) {
		i++
	}
	if i == n && len(t.Steps) == len(b.Steps) {
		return nil
	}
	return t.divergence(i, t.detail(i), b.detail(i))
}

func (t *Trace) divergence(i int, a, b string) *Divergence {
	var before strings.Builder
	for j := max(0, i-8); j < i; j++ {
		fmt.Fprintf(&before, "\t%s\n", t.line(j))
	}
	return &Divergence{Index: i, Before: before.String(), A: a, B: b}
}

// line renders one step.
func (t *Trace) line(i int) string {
	s := t.Steps[i]
	host := hostName(t.names(s.Host))
	at := time.Duration(s.When - Epoch)
	g := ""
	if s.G != 0 {
		g = fmt.Sprintf(" goroutine %d", s.G)
	}
	what := fmt.Sprintf("%#x", s.What)
	switch {
	case s.Kind == KindSyscall && callText != nil:
		what = callText(s.What)
	case s.Kind == KindEvent:
		what = fmt.Sprintf("due %v", time.Duration(int64(s.What)-Epoch))
	case s.Kind == KindHost:
		what = hostText(s.What)
	case s.Kind == KindRun || s.Kind == KindEngine:
		what = ""
	}
	return strings.TrimSpace(fmt.Sprintf("%-14v host %s%s %v %s", at, host, g, s.Kind, what))
}

// stackText renders a stack that was recorded; "" if there is none.
func (t *Trace) stackText(id int32) string {
	stack := t.stacks[id]
	n := 0
	for n < len(stack) && stack[n] != 0 {
		n++
	}
	if n == 0 {
		return ""
	}
	return formatFrames(runtime.CallersFrames(stack[:n]))
}

// detail renders a step with its stack; for one that has none, that of the
// goroutine that ran before it, which is where to look.
func (t *Trace) detail(i int) string {
	if i >= len(t.Steps) {
		return ended
	}
	text := "\t" + t.line(i) + "\n"
	if stack := t.stackText(t.Steps[i].stack); stack != "" {
		return text + stack
	}
	for j := i - 1; j >= 0; j-- {
		if s := t.Steps[j]; s.Kind == KindRun {
			return text + resumed + t.stackText(s.stack)
		}
	}
	return text
}

const (
	ended   = "\tnothing: it had ended\n"
	resumed = "\tlast goroutine to run, from where it was resumed:\n"
)

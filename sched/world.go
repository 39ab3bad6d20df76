package sched

import (
	"time"
	"unsafe"
)

// Epoch is the instant at which every world begins, and at which the clock of
// a simulation build stands while packages initialise:
// 2026-01-01T00:00:00Z in nanoseconds since the Unix epoch.
const Epoch int64 = 1767225600 * int64(time.Second)

const never = 1<<63 - 1

// A World is a group of goroutines with a scheduler, a clock and an event
// queue of its own, all following from one seed.
type World struct {
	seed     uint64
	rt       *rtWorld
	queue    eventQueue
	free     []*funcEvent
	streams  map[string]*Stream
	hosts    []*Host           // by number; hosts[0] is the world itself
	children []*Host           // ever declared
	places   map[uint32]string // names of other numbers in the trace; see Name
	limit    int64             // virtual time at which the run is stopped

	started   bool      // Run was called
	done      bool      // the main goroutine has ended
	problem   error     // what stopped the run, if not its end
	condemned []*rtHost // killed from one of their own goroutines
	trace     *Trace    // if recording
	watchdog  watchdog

	// OnSpin, if set, is told of a goroutine that had to be interrupted since
	// it computed for seconds without a scheduling point. The run may differ
	// from its twin from there on. It is called outside of the world.
	OnSpin func(host string, stack string)
}

// DefaultLimit is the virtual time after which a run is stopped.
const DefaultLimit = 24 * time.Hour

// New returns a world that has not begun. The seed decides everything.
func New(seed uint64) *World {
	w := &World{seed: seed, streams: map[string]*Stream{}, limit: Epoch + int64(DefaultLimit)}
	w.rt = rtNewWorld(NewStream(seed, "sched").state)
	w.newHost("")
	return w
}

// SetLimit sets the virtual time after which a run is stopped.
func (w *World) SetLimit(d time.Duration) { w.limit = Epoch + int64(d) }

// Seed returns the seed that the world was made with.
func (w *World) Seed() uint64 { return w.seed }

// Now returns the virtual time in nanoseconds since the Unix epoch, on the
// world's one monotonic timeline; hosts' clocks are views of it.
//
//go:norace
func (w *World) Now() int64 { return w.rt.now }

// Spend moves the clock by what the kernel computes. What falls due meanwhile runs
// at the next scheduling point.
func (w *World) Spend(d time.Duration) { w.rt.now += int64(d) }

// Elapsed returns the virtual time since the world began.
func (w *World) Elapsed() time.Duration { return time.Duration(w.Now() - Epoch) }

// Steps returns how many scheduling steps were made.
//
//go:norace
func (w *World) Steps() uint64 { return w.rt.steps }

// Fingerprint returns the hash chain over every step so far. Two runs of one
// seed agree on it, or they are not the same run.
//
//go:norace
func (w *World) Fingerprint() uint64 { return w.rt.chain }

// Hosts returns the world's hosts in the order of their declaration.
func (w *World) Hosts() []*Host { return w.hosts[1:] }

// Base returns host 0: the world itself.
func (w *World) Base() *Host { return w.hosts[0] }

// Stream returns the named stream of the world: the same one at each call.
func (w *World) Stream(name string) *Stream { return w.stream(name, "") }

// HostStream returns the named stream of one host.
func (w *World) HostStream(name, host string) *Stream { return w.stream(name, host) }

func (w *World) stream(name, host string) *Stream {
	key := name + "\x00" + host
	s := w.streams[key]
	if s == nil {
		s = NewStream(w.seed, name, host)
		w.streams[key] = s
	}
	return s
}

// Note adds an entry to the trace and its hash chain: what happened (a kind
// and a number that means something to that kind) on a host.
func (w *World) Note(kind Kind, host uint32, what uint64) { w.note(kind, host, what) }

// Name gives a number that no host has a name, for those who read the trace.
func (w *World) Name(id uint32, name string) {
	if w.places == nil {
		w.places = map[uint32]string{}
	}
	w.places[id] = name
}

func (w *World) note(kind Kind, host uint32, what uint64) {
	w.rt.note(kind, host, what)
	if w.trace != nil {
		w.trace.add(w.rt, kind, host, what)
	}
}

// Schedule queues e to run h at the virtual time when; a time that is past
// means at once, after what is queued for now. An event that is queued already
// is moved.
func (w *World) Schedule(e *Event, when int64, h Handler) {
	if e.index != 0 {
		w.queue.remove(e)
	}
	e.handler = h
	e.when = max(when, w.rt.now)
	w.queue.push(e)
	w.rearm()
}

// Cancel takes e out of the queue and tells whether it was there.
func (w *World) Cancel(e *Event) bool {
	if e.index == 0 {
		return false
	}
	w.queue.remove(e)
	e.handler = nil
	w.rearm()
	return true
}

type funcEvent struct {
	Event
	fn func()
	w  *World
}

func (e *funcEvent) Fire() {
	fn := e.fn
	e.fn = nil
	e.w.free = append(e.w.free, e)
	fn()
}

// At runs fn in kernel context at the virtual time when.
func (w *World) At(when int64, fn func()) {
	var e *funcEvent
	if n := len(w.free); n > 0 {
		e, w.free = w.free[n-1], w.free[:n-1]
	} else {
		e = &funcEvent{w: w}
	}
	e.fn = fn
	w.Schedule(&e.Event, when, e)
}

// After runs fn in kernel context after the virtual duration d.
func (w *World) After(d time.Duration, fn func()) { w.At(w.rt.now+int64(d), fn) }

// rearm tells the runtime when the next event is due.
func (w *World) rearm() {
	if e := w.queue.min(); e != nil {
		w.rt.nextEvent = e.when
	} else {
		w.rt.nextEvent = never
	}
}

// nextDue returns when the next event or timer is due.
func (w *World) nextDue() int64 {
	next := w.rt.nextEvent
	if t := rtNextTimer(); t != 0 && t < next {
		next = t
	}
	return next
}

// fireDue runs the events that are due, in order, and tells how many.
func (w *World) fireDue() int {
	n := 0
	for {
		e := w.queue.min()
		if e == nil || e.when > w.rt.now {
			return n
		}
		w.queue.remove(e)
		w.rearm()
		h := e.handler
		e.handler = nil
		w.note(KindEvent, 0, uint64(e.when))
		h.Fire()
		n++
	}
}

// Step moves the clock to the next event and runs what is due then. It tells
// whether there was one. It is for models tested by themselves, outside Run.
func (w *World) Step() bool {
	e := w.queue.min()
	if e == nil {
		return false
	}
	w.rt.now = max(w.rt.now, e.when)
	w.fireDue()
	return true
}

// StepUntil runs the events up to the virtual time t and leaves the clock there.
func (w *World) StepUntil(t int64) {
	for e := w.queue.min(); e != nil && e.when <= t; e = w.queue.min() {
		w.Step()
	}
	w.rt.now = max(w.rt.now, t)
}

// These four switch the race detector's context. They are not instrumented: the
// entry of a function would be put down to one context and its exit to another.

// Enter begins kernel context on the calling goroutine: what it did before is
// ordered before what the kernel does. Outside of a world it does nothing.
//
//go:norace
func Enter() { rtEnter() }

// Leave ends kernel context: what the kernel did is ordered before what the
// goroutine does next. Control interfaces use Enter and Leave.
//
//go:norace
func Leave() { rtLeave(true) }

// EnterCall and LeaveCall are Enter and Leave for a system call, which orders
// nothing: goroutines that only call the kernel are not synchronised by that.
//
//go:norace
func EnterCall() { rtEnter() }

// LeaveCall ends what EnterCall began.
//
//go:norace
func LeaveCall() { rtLeave(false) }

// CopyIn copies memory of the program into a buffer of the kernel.
func CopyIn(dst []byte, src unsafe.Pointer) {
	rtCopy(unsafe.Pointer(unsafe.SliceData(dst)), src, uintptr(len(dst)))
}

// CopyOut copies a buffer of the kernel into memory of the program.
func CopyOut(dst unsafe.Pointer, src []byte) {
	rtCopy(dst, unsafe.Pointer(unsafe.SliceData(src)), uintptr(len(src)))
}

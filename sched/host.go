package sched

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"unsafe"
)

const (
	hostRuns = iota
	hostPaused
	hostDead
)

// What a [KindHost] entry of the trace says; above its low byte stands the
// incarnation that boots.
const (
	hostBooted = iota + 1
	hostKilled
	hostWasPaused
	hostResumed
)

func hostText(what uint64) string {
	switch what & 0xff {
	case hostBooted:
		return fmt.Sprintf("boots, incarnation %d", what>>8)
	case hostKilled:
		return "is killed"
	case hostWasPaused:
		return "is paused"
	}
	return "is resumed"
}

// A Host is a group of goroutines with a clock and a random stream of its
// own: what runs on one simulated machine. Each Boot begins an incarnation.
type Host struct {
	w           *World
	machine     *Host // that it runs on, if it is a child; see Child
	name        string
	id          uint32
	incarnation int
	rt          *rtHost // of the incarnation
	children    []*Host // that live
	rate        rate

	// Process is the simulated kernel's view of the host: its running process.
	// The scheduler only keeps it.
	Process any

	// Stepped, if set, is told of each step of the machine's wall clock, by d
	// nanoseconds, in kernel context.
	Stepped func(d int64)

	// Owner is what whoever declared the host keeps of it.
	Owner any
}

// NewHost declares a host, in kernel context. It panics if the world has one
// of that name.
func (w *World) NewHost(name string) *Host {
	for _, h := range w.hosts {
		if h.name == name {
			panic(fmt.Sprintf("sched: host %q is declared twice", name))
		}
	}
	return w.newHost(name)
}

func (w *World) newHost(name string) *Host {
	h := &Host{w: w, name: name, id: uint32(len(w.hosts))}
	w.hosts = append(w.hosts, h)
	h.Boot()
	return h
}

// Name returns the host's name; "" is the world itself.
func (h *Host) Name() string { return h.name }

// ID returns the host's number within its world, from 1; 0 is the world itself.
func (h *Host) ID() uint32 { return h.id }

// World returns the world that the host belongs to.
func (h *Host) World() *World { return h.w }

// Incarnation counts the host's boots, from 1.
func (h *Host) Incarnation() int { return h.incarnation }

// Boot begins a new incarnation, with fresh randomness and the machine's clock
// as it is, in kernel context. The one before must have been killed.
func (h *Host) Boot() {
	h.incarnation++
	inc := strconv.Itoa(h.incarnation)
	rng := NewStream(h.w.seed, "program", h.name, inc).state
	old := h.rt
	h.rt = rtNewHost(h.w.rt, h.id, rng, unsafe.Pointer(h))
	if old != nil {
		h.rt.wall, h.rt.mono0, h.rt.base, h.rt.ppb = old.wall, old.mono0, old.base, old.ppb
	}
	if h.id != 0 {
		h.w.note(KindHost, h.id, uint64(h.incarnation)<<8|hostBooted)
	}
}

// Go starts f as a goroutine of the host, in kernel context or out of it.
func (h *Host) Go(f func()) { rtGo(h.rt, f) }

// Goroutines tells how many goroutines the host has.
func (h *Host) Goroutines() int { return int(h.rt.live) }

// Kill destroys the host's goroutines where they stand: no deferred call runs.
// It is called in kernel context. If the calling goroutine is one of them, it
// is destroyed by the engine, once it has left kernel context.
func (h *Host) Kill() {
	w := h.w
	w.note(KindHost, h.id, hostKilled)
	if m := h.machine; m != nil {
		m.children = slices.DeleteFunc(m.children, func(c *Host) bool { return c == h })
	}
	if CurrentHost() == h {
		h.rt.state = hostDead
		w.condemned = append(w.condemned, h.rt)
		w.rt.stop = 1
		return
	}
	rtKill(h.rt)
}

// Dead reports whether the incarnation was killed.
func (h *Host) Dead() bool { return h.rt.state == hostDead }

// Exit ends the calling goroutine, whose host was killed. It is called outside
// of kernel context and does not return.
func Exit() { rtExit() }

// Pause stops the host's goroutines from running; time goes on, and what would
// make them runnable is not lost. It is called in kernel context.
func (h *Host) Pause() {
	if h.rt.state == hostRuns {
		h.w.note(KindHost, h.id, hostWasPaused)
		rtPause(h.rt)
	}
}

// Resume undoes Pause.
func (h *Host) Resume() {
	if h.rt.state == hostPaused {
		h.w.note(KindHost, h.id, hostResumed)
		rtResume(h.rt)
	}
}

// Paused reports whether the host is paused.
func (h *Host) Paused() bool { return h.rt.state == hostPaused }

// CurrentHost returns the host of the calling goroutine, or nil outside of a
// world. A goroutine of the world itself belongs to its host 0.
func CurrentHost() *Host { return (*Host)(rtHostUser()) }

// Available reports whether this binary is a simulation build.
func Available() bool { return Simulated }

// ErrNotOnHost is what the functions of the drop-in packages answer, within errors
// of std's types, instead of reaching the real machine: see simnet and simfs.
var ErrNotOnHost = errors.New("not on a simulated host: call it from a host's main function, Host.Do or Host.Go of a test by dst.Run")

// OnHost reports whether the calling goroutine belongs to a host: not to what is
// outside of worlds, and not to the world itself.
func OnHost() bool {
	h := CurrentHost()
	return h != nil && h.id != 0
}

// Current returns the world of the calling goroutine, or nil outside of one.
func Current() *World {
	if h := CurrentHost(); h != nil {
		return h.w
	}
	return nil
}

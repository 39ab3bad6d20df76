package sched

import (
	"fmt"
	"slices"
	"unsafe"
)

// firstChild is the number of a world's first child; no host has one as high.
const firstChild = 1 << 20

// Child declares a group of goroutines that runs on the host's machine beside the
// host's own: another process there, with the machine's clock, and randomness and
// package variables of its own. It is killed by itself. Child is called in kernel
// context.
func (h *Host) Child(name string) *Host {
	m, w := h.Machine(), h.w
	c := &Host{w: w, machine: m, name: name, id: firstChild + uint32(len(w.children)), Owner: m.Owner}
	w.children = append(w.children, c)
	w.Name(c.id, name)
	c.Boot()
	c.rt.wall, c.rt.mono0, c.rt.base, c.rt.ppb = m.rt.wall, m.rt.mono0, m.rt.base, m.rt.ppb
	m.children = append(m.children, c)
	if m.Paused() {
		c.Pause()
	}
	return c
}

// Machine returns the host that a child runs on, or the host itself.
func (h *Host) Machine() *Host {
	if h.machine != nil {
		return h.machine
	}
	return h
}

// Children returns the host's children that live.
func (h *Host) Children() []*Host { return slices.Clone(h.children) }

// groups returns the world's hosts, and their children.
func (w *World) groups() []*Host { return slices.Concat(w.hosts, w.children) }

// nameOf returns the name of a number in the trace.
func (w *World) nameOf(id uint32) string {
	if int(id) < len(w.hosts) {
		return w.hosts[id].name
	}
	if name := w.places[id]; name != "" {
		return name
	}
	return fmt.Sprint(id)
}

// Own makes *p, a package variable, one that each process has for itself from
// now on: what it holds when a world begins is where each begins. It is called
// outside of worlds.
func Own(p any) {
	if Current() != nil {
		panic("sched: Own inside of a world")
	}
	rtOwnVar(p)
}

// Owned returns where the value of *p is that belongs to the host, or nil if each
// process does not have it for itself. It is used in kernel context, while no
// goroutine of the host runs.
func Owned[T any](h *Host, p *T) *T { return (*T)(rtOwned(h.rt, unsafe.Pointer(p))) }

// SetOwn sets the host's own *p, in kernel context. Unless each process has *p for
// itself, nothing happens.
func SetOwn[T any](h *Host, p *T, v T) {
	if q := Owned(h, p); q != nil {
		*q = v
	}
}

// AllowC lets hosts call C, which the simulator does not see.
func (w *World) AllowC() { rtAllowC(w.rt) }

package sched

// A Host is a group of goroutines with a clock and a random stream of its
// own: what runs on one simulated machine.
type Host struct {
	w    *World
	name string
	id   uint32

	// Process is the simulated kernel's view of the host: its running process.
	// The scheduler only keeps it.
	Process any
}

// Name returns the host's name; "" is the world itself.
func (h *Host) Name() string { return h.name }

// ID returns the host's number within its world, from 1; 0 is the world itself.
func (h *Host) ID() uint32 { return h.id }

// World returns the world that the host belongs to.
func (h *Host) World() *World { return h.w }

// A Waiter parks one goroutine until it is woken. The zero value is ready.
type Waiter struct {
	g     uintptr // the goroutine parked, or 0
	woken bool
}

// Waiting reports whether a goroutine is parked here.
func (wt *Waiter) Waiting() bool { return wt.g != 0 }

// Wait parks the calling goroutine until Wake; a Wake that came before is
// consumed at once. It is called outside kernel context. Reason says what the
// goroutine waits for, in reports ("read udp 10.0.0.1:53").
func (wt *Waiter) Wait(reason string) { panic("sched: not built yet") }

// Wake makes the goroutine runnable, or lets the next Wait return at once. It
// is called in kernel context.
func (wt *Waiter) Wake() { panic("sched: not built yet") }

// CurrentHost returns the host of the calling goroutine, or nil outside of
// any simulated host.
func CurrentHost() *Host { return nil }

// Current returns the world of the calling goroutine, or nil outside of one.
func Current() *World { return nil }

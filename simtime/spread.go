package simtime

import (
	"fmt"
	"time"

	"github.com/dstkit/dst/sched"
)

// A Spread says how wrong the clocks of a group of hosts are: each gets an offset
// and a drift of its own, drawn from the host's stream "clock". The zero Spread
// means clocks that are right, and draws nothing.
type Spread struct {
	Offset time.Duration // a wall clock begins ahead or behind by at most this
	Drift  float64       // and runs faster or slower by at most this, in parts per million
	Sync   Sync          // what corrects it
}

// A Sync is a time daemon, such as ntpd or chronyd, as a host has one: now and then
// it learns from a server how wrong the clock is, not exactly, and corrects it by
// slewing ([Clock.Slew]), or by a step if that would take too long.
type Sync struct {
	Every time.Duration // between two corrections; 0 means that there is no daemon
	Error time.Duration // by which it may be mistaken about the offset, either way
	// Step is the offset from which on the daemon steps the clock; 128ms by
	// default, as with ntpd.
	Step time.Duration
}

const defaultStep = 128 * time.Millisecond

// Check panics if the settings make no sense.
func (s Spread) Check() {
	switch {
	case s.Offset < 0:
		panic(fmt.Sprintf("simtime: Spread.Offset is %v, must not be negative: it goes either way", s.Offset))
	case !(s.Drift >= 0 && s.Drift < 999500):
		panic(fmt.Sprintf("simtime: Spread.Drift is %v parts per million, must be from 0 to 999500: it goes either way", s.Drift))
	case s.Sync.Every < 0 || s.Sync.Error < 0 || s.Sync.Step < 0:
		panic(fmt.Sprintf("simtime: Spread.Sync is %+v, no duration may be negative", s.Sync))
	case s.Sync.Every > 0 && s.Sync.Every < time.Millisecond:
		panic(fmt.Sprintf("simtime: Spread.Sync.Every is %v, must be a millisecond at least", s.Sync.Every))
	case s.Sync.Every == 0 && s.Sync != Sync{}:
		panic("simtime: Spread.Sync has an Error or a Step, but no Every: there is no daemon")
	}
}

// Set sets the clock right first, then wrong as s says. It is called in kernel
// context.
func (c *Clock) Set(s Spread) {
	c.reset()
	h := c.host
	draws := h.World().HostStream("clock", h.Name())
	if s.Offset > 0 {
		h.StepWall(between(draws, int64(s.Offset)))
	}
	if s.Drift > 0 {
		h.SetDrift(between(draws, int64(s.Drift*1000)))
	}
	if s.Sync.Every > 0 {
		if s.Sync.Step == 0 {
			s.Sync.Step = defaultStep
		}
		d := &daemon{clock: c, Sync: s.Sync, draws: draws}
		c.sync = d
		h.World().Schedule(&d.event, h.World().Now()+draws.Int64N(int64(d.Every)), d)
	}
}

// between draws a number of [-n, n], such that a draw of zero is 0.
func between(s *sched.Stream, n int64) int64 {
	x := s.Int64N(2*n + 1)
	if x > n {
		x = n - x
	}
	return x
}

func (c *Clock) stopSync() {
	if c.sync != nil {
		c.host.World().Cancel(&c.sync.event)
		c.sync = nil
	}
}

// A daemon is a Sync at work.
type daemon struct {
	clock *Clock
	Sync
	draws *sched.Stream
	event sched.Event
}

// Fire is the time of a correction.
func (d *daemon) Fire() {
	h := d.clock.host
	off := -d.clock.offset()
	if d.Error > 0 {
		off += time.Duration(between(d.draws, int64(d.Error)))
	}
	switch {
	case off >= d.Step || -off >= d.Step, off > MaxSlew, -off > MaxSlew:
		h.Slew(0)
		h.StepWall(int64(off))
	case off != 0 || h.Slewing() != 0:
		h.Slew(int64(off))
	}
	h.World().Schedule(&d.event, h.World().Now()+int64(d.Every), d)
}

package sched

// A rate is what makes a host's clock run faster or slower than the world's.
type rate struct {
	drift int64 // parts per billion, by itself
	slew  int64 // parts per billion, by a correction that is under way
	event Event // at which that is done
}

// SlewRate is how much a clock is sped up or slowed down to correct it, in parts
// per billion: what adjtime(3) and ntpd use, 500 parts per million.
const SlewRate = 500_000

// Monotonic returns the host's monotonic clock, in nanoseconds on the world's
// timeline as far as the host's drift allows.
func (h *Host) Monotonic() int64 {
	d := h.w.rt.now - h.rt.base
	return h.rt.mono0 + d + scale(d, h.rt.ppb)
}

// Wall returns the host's wall clock in nanoseconds since the Unix epoch.
func (h *Host) Wall() int64 { return h.Monotonic() + h.rt.wall }

// StepWall moves the host's wall clock; the monotonic clock and timers go on.
func (h *Host) StepWall(d int64) {
	h = h.Machine()
	h.w.note(KindFault, h.id, uint64(d))
	h.rt.wall += d
	for _, c := range h.children {
		c.rt.wall += d
	}
	if h.Stepped != nil {
		h.Stepped(d)
	}
}

// SetDrift lets the host's clock run faster, in parts per billion, from now
// on. Timers that are set already keep the virtual time they were given.
func (h *Host) SetDrift(ppb int64) {
	h = h.Machine()
	h.w.note(KindFault, h.id, uint64(ppb))
	h.rate.drift = ppb
	h.setRate()
}

// Slew corrects the host's clock by d nanoseconds, little by little: it runs
// faster or slower by [SlewRate] until that is done. A correction that is under
// way ends.
func (h *Host) Slew(d int64) {
	h = h.Machine()
	h.w.note(KindFault, h.id, uint64(d)^SlewRate)
	h.w.Cancel(&h.rate.event)
	h.rate.slew = 0
	if d != 0 {
		h.rate.slew = SlewRate
		lasts := d * (1e9 / SlewRate)
		if d < 0 {
			h.rate.slew, lasts = -SlewRate, -lasts
		}
		h.w.Schedule(&h.rate.event, h.w.rt.now+lasts, slewed{h})
	}
	h.setRate()
}

// slewed is the end of a correction.
type slewed struct{ h *Host }

func (s slewed) Fire() {
	s.h.rate.slew = 0
	s.h.setRate()
}

// Slewing returns how much is left of a correction, in nanoseconds.
func (h *Host) Slewing() int64 {
	h = h.Machine()
	if h.rate.slew == 0 {
		return 0
	}
	return scale(h.rate.event.when-h.w.rt.now, h.rate.slew)
}

// setRate makes the clocks of the machine's processes run as its rate says.
func (h *Host) setRate() {
	h.turn()
	for _, c := range h.children {
		c.rate = h.rate
		c.turn()
	}
}

func (h *Host) turn() {
	h.rt.mono0 = h.Monotonic()
	h.rt.base = h.w.rt.now
	h.rt.ppb = h.rate.drift + h.rate.slew
}

// Drift returns what SetDrift set.
func (h *Host) Drift() int64 { return h.Machine().rate.drift }

// Rate returns how much faster the clock runs now, in parts per billion.
func (h *Host) Rate() int64 { return h.rt.ppb }

// WallOffset returns how far the wall clock is ahead of the monotonic clock.
func (h *Host) WallOffset() int64 { return h.rt.wall }

// scale returns d × ppb / 1e9 without overflow.
func scale(d, ppb int64) int64 { return d/1e9*ppb + d%1e9*ppb/1e9 }

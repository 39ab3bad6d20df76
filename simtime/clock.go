package simtime

import (
	"fmt"
	"time"

	"github.com/dstkit/dst/sched"
)

// A Clock is the clock of one host, for the test to read and to disturb. Its
// methods are called from any goroutine of the world, while it runs.
type Clock struct {
	host *sched.Host
	sync *daemon // that corrects it, or nil
}

// Of returns the clock of a host.
func Of(h *sched.Host) *Clock { return &Clock{host: h} }

// Now returns what time.Now on the host would tell, in UTC and without a
// monotonic reading. It costs no time.
func (c *Clock) Now() time.Time {
	sched.Enter()
	defer sched.Leave()
	return time.Unix(0, c.host.Wall()).UTC()
}

// Offset tells how far the host's wall clock is ahead of the world's time, by
// steps and by drift.
func (c *Clock) Offset() time.Duration {
	sched.Enter()
	defer sched.Leave()
	return c.offset()
}

func (c *Clock) offset() time.Duration { return time.Duration(c.host.Wall() - c.host.World().Now()) }

// Step sets the host's wall clock forward by d, or back if d is negative, as
// an administrator or a bad time server would. The monotonic clock and the
// timers that are running do not notice.
func (c *Clock) Step(d time.Duration) {
	sched.Enter()
	defer sched.Leave()
	c.host.StepWall(int64(d))
}

// Drift makes the host's clock run faster from now on by ppm parts per
// million, or slower if ppm is negative: wall clock, monotonic clock and timers
// alike. A timer that is set already keeps its moment. Ordinary machines drift
// by up to 100. Drift(0) ends it and leaves the offset that there is.
func (c *Clock) Drift(ppm float64) {
	if !(ppm > -1e6+500 && ppm < 1e6) {
		panic(fmt.Sprintf("simtime: Drift: %v parts per million, must be between -999500 and 1000000", ppm))
	}
	sched.Enter()
	defer sched.Leave()
	c.host.SetDrift(int64(ppm * 1000))
}

// MaxSlew is the largest correction that [Clock.Slew] takes: that of adjtime(3).
const MaxSlew = 2145 * time.Second

// Slew moves the host's clock by d little by little, as adjtime(3) and time
// daemons do: it runs faster or slower by 500 parts per million until that is
// done, so that a second takes some 33 minutes. Wall clock, monotonic clock and
// timers set meanwhile are all part of it. Another Slew takes the place of one that
// is under way; Slew(0) ends it. It panics beyond [MaxSlew].
func (c *Clock) Slew(d time.Duration) {
	if d > MaxSlew || d < -MaxSlew {
		panic(fmt.Sprintf("simtime: Slew(%v): must be between -%v and %v", d, MaxSlew, MaxSlew))
	}
	sched.Enter()
	defer sched.Leave()
	c.host.Slew(int64(d))
}

// Slewing returns how much is left of a correction by Slew.
func (c *Clock) Slewing() time.Duration {
	sched.Enter()
	defer sched.Leave()
	return time.Duration(c.host.Slewing())
}

// Reset sets the clock right: the wall clock is stepped to the world's time, drift
// and corrections end, and nobody corrects it any more.
func (c *Clock) Reset() {
	sched.Enter()
	defer sched.Leave()
	c.reset()
}

func (c *Clock) reset() {
	c.stopSync()
	if c.host.Slewing() != 0 {
		c.host.Slew(0)
	}
	if c.host.Drift() != 0 {
		c.host.SetDrift(0)
	}
	if d := c.offset(); d != 0 {
		c.host.StepWall(int64(-d))
	}
}

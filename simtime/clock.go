package simtime

import (
	"fmt"
	"time"

	"github.com/dstkit/dst/sched"
)

// A Clock is the clock of one host, for the test to read and to disturb. Its
// methods are called from any goroutine of the world, while it runs.
type Clock struct{ host *sched.Host }

// Of returns the clock of a host.
func Of(h *sched.Host) *Clock { return &Clock{h} }

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
	return time.Duration(c.host.Wall() - c.host.World().Now())
}

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
	if !(ppm > -1e6 && ppm < 1e6) {
		panic(fmt.Sprintf("simtime: Drift: %v parts per million, must be between -1000000 and 1000000", ppm))
	}
	sched.Enter()
	defer sched.Leave()
	c.host.SetDrift(int64(ppm * 1000))
}

package dst

import (
	"fmt"
	"time"
)

// An Option changes how [Run] runs.
type Option func(*config)

// DefaultSeeds is how many seeds a test runs when neither it nor the person
// who runs it says otherwise: few, so that everyday tests stay fast.
const DefaultSeeds = 5

type config struct {
	seeds uint64        // to run when nobody asked for others
	limit time.Duration // of virtual time, or 0 for sched.DefaultLimit
	twice bool
	cgo   bool
	level int // of -dst.v
}

// Seeds sets how many seeds run, from 1 on, when none are asked for by
// -dst.seed, -dst.seeds or the environment. It panics if n is not positive.
func Seeds(n int) Option {
	if n <= 0 {
		panic(fmt.Sprintf("dst: Seeds(%d): want at least 1", n))
	}
	return func(c *config) { c.seeds = uint64(n) }
}

// Limit sets the virtual time after which a run is stopped and its seed fails:
// a day by default. It panics if d is not positive.
func Limit(d time.Duration) Option {
	if d <= 0 {
		panic(fmt.Sprintf("dst: Limit(%v): want a positive duration", d))
	}
	return func(c *config) { c.limit = d }
}

// AllowCgo lets hosts call C. Without it such a call ends the run as an escape, since
// the simulator does not see what C does: threads, files, sockets and waiting there
// are real, and a seed's run is the same one only if C computes and nothing else.
func AllowCgo() Option { return func(c *config) { c.cgo = true } }

// Twice runs each seed twice and compares the runs step by step, as -dst.check
// and DST_CHECK=1 do for all tests. A seed whose runs differ fails, with the
// first step at which they part: something in the program does not follow from
// the seed. Body is called twice for each seed then.
func Twice() Option { return func(c *config) { c.twice = true } }

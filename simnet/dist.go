package simnet

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/dstkit/dst/sched"
)

// A Dist is a distribution of durations. A draw of zero from the stream is the
// shortest that the distribution gives. Negative durations count as zero.
type Dist interface {
	Draw(*sched.Stream) time.Duration
}

type constant time.Duration

// Constant is always d. It draws nothing.
func Constant(d time.Duration) Dist { return constant(d) }

func (c constant) Draw(*sched.Stream) time.Duration { return time.Duration(c) }
func (c constant) String() string                   { return fmt.Sprintf("Constant(%v)", time.Duration(c)) }

type uniform struct{ min, max time.Duration }

// Uniform is between min and max, both included.
func Uniform(min, max time.Duration) Dist {
	if min > max {
		panic(fmt.Sprintf("simnet: Uniform: min %v is above max %v", min, max))
	}
	return uniform{min, max}
}

func (u uniform) Draw(s *sched.Stream) time.Duration {
	return u.min + time.Duration(s.Int64N(int64(u.max-u.min)+1))
}
func (u uniform) String() string { return fmt.Sprintf("Uniform(%v, %v)", u.min, u.max) }

type exponential time.Duration

// Exponential has the mean given: mostly short, sometimes several times that.
func Exponential(mean time.Duration) Dist { return exponential(mean) }

func (e exponential) Draw(s *sched.Stream) time.Duration {
	return clamp(s.Exp() * float64(e))
}
func (e exponential) String() string { return fmt.Sprintf("Exponential(%v)", time.Duration(e)) }

type normal struct{ mean, dev time.Duration }

// Normal is the bell curve around mean with the standard deviation given, cut
// off below zero.
func Normal(mean, deviation time.Duration) Dist { return normal{mean, deviation} }

func (d normal) Draw(s *sched.Stream) time.Duration {
	// The inverse of the distribution function: one draw, and zero is shortest.
	z := math.Sqrt2 * math.Erfinv(2*s.Float64()-1)
	return clamp(float64(d.mean) + float64(z*float64(d.dev)))
}
func (d normal) String() string { return fmt.Sprintf("Normal(%v, %v)", d.mean, d.dev) }

type pareto struct {
	min   time.Duration
	alpha float64
}

// Pareto has a heavy tail: never below min, and the chance of more than x is
// (min/x)^alpha. The mean is finite for an alpha above 1. Draws end at an hour.
func Pareto(min time.Duration, alpha float64) Dist {
	if !(alpha > 0) {
		panic(fmt.Sprintf("simnet: Pareto: alpha is %v, must be above 0", alpha))
	}
	return pareto{min, alpha}
}

func (p pareto) Draw(s *sched.Stream) time.Duration {
	d := clamp(float64(p.min) * math.Pow(1-s.Float64(), -1/p.alpha))
	return max(p.min, min(d, time.Hour))
}
func (p pareto) String() string { return fmt.Sprintf("Pareto(%v, %v)", p.min, p.alpha) }

type recorded []time.Duration

// Recorded picks one of the samples, each as likely as the other: what was
// measured on a real network.
func Recorded(samples ...time.Duration) Dist {
	if len(samples) == 0 {
		panic("simnet: Recorded: needs a sample")
	}
	sorted := slices.Clone(samples)
	slices.Sort(sorted) // so that zero is the shortest
	return recorded(sorted)
}

func (r recorded) Draw(s *sched.Stream) time.Duration { return r[s.N(len(r))] }
func (r recorded) String() string                     { return fmt.Sprintf("Recorded(%d samples)", len(r)) }

// clamp turns nanoseconds into a duration, within what one can be.
func clamp(ns float64) time.Duration {
	switch {
	case !(ns > 0):
		return 0
	case ns > math.MaxInt64/4:
		return math.MaxInt64 / 4
	}
	return time.Duration(ns)
}

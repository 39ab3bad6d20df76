package sched

import (
	"math"
	"math/bits"
)

// A Stream is a named source of random decisions. Streams of one world are
// independent of each other: a draw added to one moves no other.
//
// A Stream is a math/rand/v2 Source. Zero is always the calm choice: a
// decision drawn as zero delivers now, injects no fault, takes the next in line.
type Stream struct {
	state uint64
	draws uint64
}

// NewStream returns the stream that follows from a seed and the names that
// make it up, such as a kind of decision and a host.
func NewStream(seed uint64, names ...string) *Stream {
	h := mix(seed ^ 0x9e3779b97f4a7c15)
	for _, name := range names {
		h = mix(h ^ uint64(len(name)))
		for i := 0; i < len(name); i++ {
			h = mix(h ^ uint64(name[i]))
		}
	}
	return &Stream{state: h}
}

// mix is the wyrand step (W. Yi, "wyhash", public domain): a 64×64→128
// multiplication folded. The seam's generator in package runtime is the same.
func mix(x uint64) uint64 {
	x += 0xa0761d6478bd642f
	hi, lo := bits.Mul64(x, x^0xe7037ed1a0b428db)
	return hi ^ lo
}

// Uint64 draws 64 random bits.
func (s *Stream) Uint64() uint64 {
	s.draws++
	s.state += 0xa0761d6478bd642f
	hi, lo := bits.Mul64(s.state, s.state^0xe7037ed1a0b428db)
	return hi ^ lo
}

// Draws tells how many draws were made, for tests and reports.
func (s *Stream) Draws() uint64 { return s.draws }

// N draws one of 0 … n-1. It panics if n is not positive.
func (s *Stream) N(n int) int {
	if n <= 0 {
		panic("sched: Stream.N needs a positive n")
	}
	hi, _ := bits.Mul64(s.Uint64(), uint64(n))
	return int(hi)
}

// Int64N draws one of 0 … n-1. It panics if n is not positive.
func (s *Stream) Int64N(n int64) int64 { return int64(s.N(int(n))) }

// Float64 draws from [0, 1).
func (s *Stream) Float64() float64 {
	return float64(s.Uint64()>>11) / (1 << 53)
}

// Chance decides something that happens with probability p. It draws only if
// p lies strictly between 0 and 1, so that a fault that is off costs no draw.
func (s *Stream) Chance(p float64) bool {
	switch {
	case !(p > 0): // also NaN
		return false
	case p >= 1:
		return true
	}
	return s.Float64() >= 1-p // a draw of zero is the calm choice
}

// Exp draws from the exponential distribution with mean 1; zero is calm.
func (s *Stream) Exp() float64 {
	return -math.Log1p(-s.Float64())
}

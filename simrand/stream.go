package simrand

import (
	"math/rand/v2"

	"github.com/dstkit/dst/sched"
)

// source is a stream that goroutines of a world draw from.
type source struct{ s *sched.Stream }

var _ rand.Source = source{}

// Uint64 draws in kernel context, so that the draws of several goroutines are
// ordered for the race detector too.
func (s source) Uint64() uint64 {
	sched.Enter()
	defer sched.Leave()
	return s.s.Uint64()
}

// FromStream returns random numbers drawn from a stream. Any goroutine of the stream's
// world may use them.
func FromStream(s *sched.Stream) *rand.Rand { return rand.New(source{s}) }

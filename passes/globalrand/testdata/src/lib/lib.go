package lib

import (
	crand "crypto/rand"
	"io"
	"math/rand"
)

var reader io.Reader = crand.Reader

var Instance = ID()

func ID() string {
	b := make([]byte, 8)
	io.ReadFull(reader, b)
	return string(b)
}

func Jitter(n int) int { return rand.Intn(n) }

func Seeded(r *rand.Rand) int { return r.Intn(3) }

func Fixed() *rand.Rand { return rand.New(rand.NewSource(1)) }

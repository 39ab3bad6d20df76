package sim

import (
	"hash/maphash"
	"lib" // want `importing lib draws randomness`
	"math/rand"
	"time"
)

var seed = maphash.MakeSeed() // want `at package initialisation`

var source = rand.New(rand.NewSource(time.Now().UnixNano())) // want `from the clock at package initialisation`

var node = choose() // want `var node → sim.choose → rand.Intn`

var later = func() int { return rand.Intn(3) }

func choose() int { return rand.Intn(3) }

func far() int { return lib.Jitter(3) }

func reseed() { rand.Seed(time.Now().UnixNano()) }

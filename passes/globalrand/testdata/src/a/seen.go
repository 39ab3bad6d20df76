package a

import (
	crand "crypto/rand"
	"hash/maphash"
	"io"
	"lib" // want `importing lib draws randomness that is not seeded at package initialisation, before any simulation: lib.var Instance → `
	"math/big"
	"math/rand"
	randv2 "math/rand/v2"
	"mime/multipart"
	"time"
)

var seed = maphash.MakeSeed() // want `at package initialisation, before any simulation: var seed → maphash.MakeSeed`

var salt = rand.Int63() // want `at package initialisation, before any simulation: var salt → rand.Int63`

var name = lib.ID() // want `at package initialisation, before any simulation: var name → lib.ID → `

var source = rand.New(rand.NewSource(time.Now().UnixNano())) // want `seeds a generator from the clock at package initialisation.*: rand.NewSource`

var entropy = crand.Reader // want `holds randomness that is not seeded: var entropy → rand.Reader`

var pick = rand.Intn // want `holds randomness that is not seeded: var pick → rand.Intn`

func init() {
	rand.Shuffle(3, func(i, j int) {}) // want `at package initialisation.*init → rand.Shuffle`
}

func intn() int { return rand.Intn(3) } // want `draws randomness that is not seeded: intn → rand.Intn`

func float() float64 { return rand.Float64() } // want `float → rand.Float64`

func perm() []int { return rand.Perm(3) } // want `perm → rand.Perm`

func read(b []byte) { rand.Read(b) } // want `read → rand.Read`

func v2() int { return randv2.IntN(3) } // want `v2 → rand.IntN`

func v2N() time.Duration { return randv2.N(time.Second) } // want `v2N → rand.N`

func v2Shuffle(s []int) { randv2.Shuffle(len(s), func(i, j int) { s[i], s[j] = s[j], s[i] }) } // want `v2Shuffle → rand.Shuffle`

func crypto(b []byte) { crand.Read(b) } // want `crypto → rand.Read`

func text() string { return crand.Text() } // want `text → rand.Text`

func prime() (*big.Int, error) { return crand.Prime(crand.Reader, 64) } // want `prime → rand.Prime \(and 1 more place in this function\)`

func reader(b []byte) { io.ReadFull(crand.Reader, b) } // want `holds randomness that is not seeded: reader → rand.Reader`

func method() func(int) int { return rand.Intn } // want `holds randomness that is not seeded: method → rand.Intn`

func clockSeed() *rand.Rand {
	return rand.New(rand.NewSource(time.Now().Unix())) // want `seeds a generator from the clock: rand.NewSource`
}

func clockSeedV2() *randv2.Rand {
	return randv2.New(randv2.NewPCG(uint64(time.Now().UnixNano()), 1)) // want `seeds a generator from the clock: rand.NewPCG`
}

func reseed() { rand.Seed(time.Now().Unix()) } // want `seeds a generator from the clock: rand.Seed`

func fixedSeed() { rand.Seed(1) } // want `fixedSeed → rand.Seed`

func makeSeed() maphash.Seed { return maphash.MakeSeed() } // want `makeSeed → maphash.MakeSeed`

func hash(s string) uint64 {
	var h maphash.Hash
	h.WriteString(s) // want `h is a maphash.Hash without SetSeed`
	return h.Sum64()
}

func far() int { return lib.Jitter(3) } // want `far → lib.Jitter → rand.Intn`

func farVar() string { return lib.ID() } // want `farVar → lib.ID → lib.reader → rand.Reader`

func boundary(w io.Writer) { multipart.NewWriter(w) } // want `boundary → multipart.NewWriter → `

func closure() func() int { return func() int { return rand.Int() } } // want `closure → rand.Int`

package a

import (
	"crypto/sha256"
	"hash/fnv"
	"hash/maphash"
	"io"
	"lib"
	"math/rand"
	randv2 "math/rand/v2"
)

var fixed = rand.New(rand.NewSource(42)) // ok: a fixed seed

var fixedV2 = randv2.New(randv2.NewPCG(1, 2)) // ok: a fixed seed

var chacha = randv2.New(randv2.NewChaCha8([32]byte{})) // ok: a fixed seed

var farFixed = lib.Fixed() // ok: the other module seeds it

func okMethod(r *rand.Rand) int { return r.Intn(3) } // ok: the caller's generator

func okMethodV2(r *randv2.Rand) int { return r.IntN(3) } // ok: the caller's generator

func okPerm(r *rand.Rand) []int { return r.Perm(3) } // ok: the caller's generator

func okShuffle(r *randv2.Rand) { r.Shuffle(3, func(i, j int) {}) } // ok: the caller's generator

func okSeed(seed int64) *rand.Rand { return rand.New(rand.NewSource(seed)) } // ok: the caller's seed

func okSource(s rand.Source) *rand.Rand { return rand.New(s) } // ok: the caller's source

func okReseed(r *rand.Rand) { r.Seed(1) } // ok: its own generator

func okZipf(r *rand.Rand) *rand.Zipf { return rand.NewZipf(r, 2, 1, 9) } // ok: the caller's generator

func okZipfV2(r *randv2.Rand) *randv2.Zipf { return randv2.NewZipf(r, 2, 1, 9) } // ok: the caller's generator

func okReader(r io.Reader, b []byte) { io.ReadFull(r, b) } // ok: the caller's reader

func okHash(b []byte) [32]byte { return sha256.Sum256(b) } // ok: no randomness

func okFnv(b []byte) uint64 { h := fnv.New64a(); h.Write(b); return h.Sum64() } // ok: no seed

func okMaphash(seed maphash.Seed, s string) uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	h.WriteString(s) // ok: the caller's seed
	return h.Sum64()
}

func okMaphashString(seed maphash.Seed, s string) uint64 { return maphash.String(seed, s) } // ok: the caller's seed

func okLib(r *rand.Rand) int { return lib.Seeded(r) } // ok: the caller's generator

func okLocal() int { return intn() } // ok: intn is told

func okVar() int { return pick(3) } // ok: the variable is told

type generator interface{ Intn(int) int }

func okInterface(g generator) int { return g.Intn(3) } // ok: whoever made it is told

func okType(r rand.Rand, s randv2.PCG) {} // ok: types only

func okIgnored() int {
	return rand.Int() //dst:ignore globalrand the result is not used // ok: ignored
}

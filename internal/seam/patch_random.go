package seam

// randomPatches make the runtime's randomness follow the seed.
func randomPatches(release string) []Patch {
	hashes, maphash := "runtime/alg.go", "hash/maphash/maphash_runtime.go"
	if release != "1.26" {
		hashes, maphash = "internal/runtime/maps/runtime_alg.go", "hash/maphash/maphash.go"
	}
	return []Patch{
		// The keys of hashes are the same in every process and every build, with
		// the race detector or without.
		{File: hashes, Edits: []Edit{
			{Find: "bootstrapRand())", Replace: "0x9e3779b97f4a7c15)"},
			{Find: "key[i] = bootstrapRand()", Replace: "key[i] = 0x9e3779b97f4a7c15 * uint64(i+1)"},
		}},
		{File: "runtime/rand.go", Edits: []Edit{
			// Hash keys and the seeds of maps made during package initialisation
			// are the same in every process.
			{In: "func randinit()", Find: "\tglobalRand.state.Init(*seed)\n", Replace: "\tfor i := range seed {\n\t\tseed[i] = byte(i)\n\t}\n$0"},
			// A map's seed is the same wherever and whenever it is made, so that the
			// order of its iteration is a matter of when it is iterated only. The
			// compiler calls rand for the maps that stand on a stack: that is no draw,
			// or what follows would differ once a cache is filled.
			{In: "func rand()", Find: "\tmp := getg().m\n", Replace: "\tif getg().dst.host != nil {\n\t\treturn dstMapSeed\n\t}\n\tif x, ok := dstRand(); ok {\n\t\treturn x\n\t}\n$0"},
			{In: "func maps_rand()", Find: "\treturn rand()\n", Replace: "\treturn dstMapSeed\n"},
			{In: "func legacy_fastrand()", Find: "uint32(rand())", Replace: "uint32(dst_rand())"},
			{In: "func legacy_fastrand64()", Find: "\treturn rand()\n", Replace: "\treturn dst_rand()\n"},
		}},
		// What asks on behalf of the program draws.
		draws("math/rand/rand.go"), draws("math/rand/v2/rand.go"), draws("os/tempfile.go"), draws("net/dnsclient.go"), draws(maphash),
		{File: "internal/runtime/maps/table.go", Edits: []Edit{
			{In: "func (it *Iter) Init(", Find: " = rand()\n", Replace: " = dstIterRand()\n", Count: 2},
		}},
		{File: "internal/syscall/unix/getrandom.go", Edits: []Edit{
			{In: "func GetRandom(", Find: "\tret, supported := vgetrandom(",
				Replace: "\tif dstRandom(p) {\n\t\treturn len(p), nil\n\t}\n$0"},
		}},
	}
}

// draws sends a file's calls of the runtime's rand to one that draws.
func draws(file string) Patch {
	return Patch{File: file, Edits: []Edit{
		{Find: "//go:linkname runtime_rand runtime.rand\n", Replace: "//go:linkname runtime_rand runtime.dst_rand\n"},
	}}
}

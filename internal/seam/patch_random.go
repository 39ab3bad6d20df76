package seam

// randomPatches make the runtime's randomness follow the seed.
func randomPatches(release string) []Patch {
	hashes := "runtime/alg.go"
	if release != "1.26" {
		hashes = "internal/runtime/maps/runtime_alg.go"
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
			{In: "func rand()", Find: "\tmp := getg().m\n", Replace: "\tif x, ok := dstRand(); ok {\n\t\treturn x\n\t}\n$0"},
			// A map's seed is the same wherever and whenever it is made, so that the
			// order of its iteration is a matter of when it is iterated only.
			{In: "func maps_rand()", Find: "\treturn rand()\n", Replace: "\treturn dstMapSeed\n"},
		}},
		{File: "internal/runtime/maps/table.go", Edits: []Edit{
			{In: "func (it *Iter) Init(", Find: " = rand()\n", Replace: " = dstIterRand()\n", Count: 2},
		}},
		{File: "internal/syscall/unix/getrandom.go", Edits: []Edit{
			{In: "func GetRandom(", Find: "\tret, supported := vgetrandom(",
				Replace: "\tif dstRandom(p) {\n\t\treturn len(p), nil\n\t}\n$0"},
		}},
	}
}

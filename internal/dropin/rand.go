package dropin

const (
	drawn = "On a simulated host the number follows from the seed. While packages are initialised in a simulation build it comes " +
		"from a fixed stream; elsewhere it is as random as ever."
	ofItsSource = "It is the same everywhere: what it makes follows from its source."
)

func draws(names ...string) map[string]Func {
	m := map[string]Func{}
	for _, name := range names {
		m[name] = Func{note: drawn}
	}
	return m
}

var randPackage = &Package{
	Std: "math/rand", Name: "rand", Path: Module + "/simrand", Dir: "simrand",
	note: ofItsSource,
	funcs: draws("ExpFloat64", "Float32", "Float64", "Int", "Int31", "Int31n", "Int63", "Int63n", "Intn", "NormFloat64",
		"Perm", "Read", "Seed", "Shuffle", "Uint32", "Uint64"),
}

var randV2Package = &Package{
	Std: "math/rand/v2", Name: "rand", Path: Module + "/simrand/v2", Dir: "simrand/v2",
	note: ofItsSource,
	funcs: draws("ExpFloat64", "Float32", "Float64", "Int", "Int32", "Int32N", "Int64", "Int64N", "IntN", "N", "NormFloat64",
		"Perm", "Shuffle", "Uint", "Uint32", "Uint32N", "Uint64", "Uint64N", "UintN"),
}

var cryptoRandPackage = &Package{
	Std: "crypto/rand", Name: "rand", Path: Module + "/simrand/crypto", Dir: "simrand/crypto",
	params: map[string]string{"rand": "r"},
	funcs:  draws("Int", "Prime", "Read", "Text"),
	Assigned: map[string]string{
		"Reader": "On a simulated host what it gives follows from the seed.",
	},
}

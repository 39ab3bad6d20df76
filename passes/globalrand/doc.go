// Package globalrand defines an Analyzer that reports randomness which no seed of
// the program's decides.
//
// # Analyzer globalrand
//
// globalrand: report randomness that the program does not seed
//
// The top-level functions of math/rand and math/rand/v2 draw from a generator
// that all of the process shares and the machine seeds; crypto/rand and
// hash/maphash are random on purpose; a source seeded by the clock is another
// one in each run:
//
//	rng := rand.New(rand.NewSource(time.Now().UnixNano()))
//
// Each function is reported once, with the chain of calls where another module
// draws. Generators made from a seed that is passed in are silent, and so are
// functions that take a source.
//
// In the simulator all of these follow from the seed, except what is drawn at
// package initialisation, before the simulation begins. That is what -sim reports.
package globalrand

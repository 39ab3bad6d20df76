// Package crypto is crypto/rand with the same names: a drop-in replacement. On a
// simulated host all it gives follows from the seed, so nothing made with it in a
// simulation is secret; in a normal build it is crypto/rand.
package crypto

//go:generate go run ../../internal/dropin/gen

// Package simrand is math/rand/v2 with the same names: a drop-in replacement; see
// the parent folder's package, which has the seed's streams and stands in for
// math/rand.
package simrand

//go:generate go run ../../internal/dropin/gen

// Package filepath is path/filepath with the same names: a drop-in replacement;
// see package simfs, which is the one for os.
package filepath

//go:generate go run ../../internal/dropin/gen

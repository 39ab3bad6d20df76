// Package ioutil is io/ioutil with the same names: a drop-in replacement; see
// package simfs, which is the one for os.
package ioutil

//go:generate go run ../../internal/dropin/gen

// Package bbolt tests a real library that was written with no thought of
// simulation: the embedded database go.etcd.io/bbolt, unmodified, with its mapped
// file, fdatasync and flock, on a host that loses its power or its process at any
// moment. There is nothing here but tests; the README tells what they found.
//
// It is a module of its own, so that nobody who uses the toolkit depends on bbolt.
package bbolt

// Package conformance runs the tests of the standard library, as they lie in the
// user's GOROOT, inside of a simulated host, and compares what becomes of them
// with what they do on the real machine.
//
// Each package is built twice: as it is, and as a simulation build into which an
// overlay links package inhost. The first binary runs as always. Of the second,
// each top-level test that passed is run in a process and a world of its own: so
// one that hangs or deadlocks fails alone and says why, and each starts with
// fresh package variables. TestMain, helpers, subtests and parallel tests are all
// inside of the world.
//
// A test that passes for real and not in simulation is a fault of the simulator,
// or stands in exceptions.txt with the reason. An entry whose test passes is
// reported as stale.
//
// Nothing of the standard library is kept in this repository.
package conformance

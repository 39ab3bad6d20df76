// Package simtime holds the clocks of simulated hosts.
//
// The world has one monotonic timeline; a host's [Clock] is a view of it, with
// an offset and a rate of its own. The functions of package time called by a
// goroutine of the host follow that view: time.Now reads the clock, and timers
// run at its rate. A step moves the wall clock only; timers, deadlines and contexts
// follow the monotonic one, as on Linux. A [Spread] makes the clocks of a group of
// hosts disagree, each by draws of its own, with time daemons ([Sync]) or without.
//
// What a test does to a clock outlives the host's processes, as
// a machine's clock does.
//
// # Drop-in for package time
//
// The package also has every exported name of time, with the same types: code that
// imports it instead mixes freely with code that does not. In a normal build, and in
// one with the tag dst alone, all of these are std's. In a simulation build too:
// what differs on a host differs beneath std. Beside the surface, which is in std.go, stands
// what a test uses to disturb clocks.
package simtime

//go:generate go run ../internal/dropin/gen

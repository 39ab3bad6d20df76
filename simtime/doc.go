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
package simtime

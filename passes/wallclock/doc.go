// Package wallclock defines an Analyzer that reports where a program reads the
// wall clock or sets timers.
//
// # Analyzer wallclock
//
// wallclock: report where the wall clock and timers of package time are used
//
// What a function does with the time differs from run to run. The analyzer
// reports, once for each function, the functions of package time that it calls
// or holds as a value (now: time.Now), and calls of other modules that come
// to them, with the chain of calls:
//
//	reads the clock: Server.dial → helper.Deadline → time.Now
//
// What is reached through a function of the same module is reported there,
// and not again in each caller. Functions of std that do IO (net, os, log) are
// taken to be what they are.
//
// At package initialisation the clock is read before a simulation begins, so
// there its value is the machine's even in the simulator:
//
//	var start = time.Now() // reads the clock at package initialisation
//
// This, also when it is done by an imported package, is all that -sim reports.
package wallclock

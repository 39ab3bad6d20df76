// Package sched is the scheduler beneath a simulation: it decides which
// goroutine runs, what time it is, and what happens next, all from one seed.
//
// # Token
//
// A [World] holds a group of goroutines of which only one runs at a time: the
// holder of the token. The others that could run wait in the world's own
// queue. At every scheduling point (a goroutine parks, yields, exits, or makes
// a simulated system call) the next holder is drawn from the seed.
//
// # Time
//
// Time is virtual: nanoseconds since the Unix epoch, starting at [Epoch]. A
// step costs about a microsecond; when no goroutine can run, the clock jumps
// to the next event or timer. Events ([World.Schedule]) run in kernel context
// and cost no goroutine.
//
// # Kernel context
//
// The simulated kernel's data belongs to no goroutine. Code that touches it
// runs between [Enter] and [Leave], which for the race detector is a thread of
// its own: it sees neither false races inside the kernel nor an order between
// the goroutines that call it. Nothing parks in kernel context, and memory of
// the program is read and written only with [CopyIn] and [CopyOut].
//
// # Hosts
//
// A goroutine belongs to a [Host], inherited by go statements and timers.
// [Host.Kill] destroys a host's goroutines where they stand, as kill -9 does:
// no deferred call runs.
//
// # Builds
//
// [New], the clock, events and streams work in every build. [World.Run], hosts
// and waiters need a simulation build (see cmd/dstrewrite); [Available] tells.
package sched

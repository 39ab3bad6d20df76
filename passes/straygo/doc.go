// Package straygo defines an Analyzer that reports goroutines which nobody
// looks after.
//
// # Analyzer straygo
//
// straygo: report goroutines started at initialisation, or that nobody can wait for or stop
//
// A goroutine started by init, by the initialisation of a package variable or by an
// imported package is there before a simulation begins and belongs to no host:
//
//	func init() { go flushLoop() } // starts a goroutine at package initialisation
//
// A goroutine that has no channel, context, WaitGroup, errgroup or the like, and
// works on nothing that can be closed, can neither be waited for nor stopped. When its
// work is done, or whether, depends on the scheduler:
//
//	go cache.refresh() // nobody can wait for this goroutine or stop it
//
// What a function value or another module does is not known, and silent. So are the
// goroutines that main itself starts: they end with the process.
//
// A simulated host takes its goroutines with it when it ends, so -sim reports
// only those of the first kind.
package straygo

// Package escape defines an Analyzer that reports what even a simulator of the
// operating system cannot make deterministic, or refuses.
//
// # Analyzer escape
//
// escape: report what the simulator cannot make deterministic, or refuses
//
// The analyzer reports, with the chain of calls where another module does it:
//
//   - other programs (os/exec, os.StartProcess, syscall.Exec), plugins, cgo, and
//     system call instructions in assembly;
//   - finalizers and cleanups that do more than release something: they run when the
//     garbage collector comes to it, and on a simulated host never;
//   - addresses: %p, pointers, channels and functions printed, a pointer made a
//     number that is kept or computed with; iteration over maps whose keys are or
//     hold pointers, where the order can be seen;
//   - runtime.NumCPU, GOMAXPROCS, NumGoroutine and ReadMemStats in decisions (the
//     simulator fixes the first three, so with -sim only at initialisation), and
//     goroutine ids parsed out of stacks;
//   - runtime.LockOSThread: in the simulator it does nothing;
//   - busy loops that have no scheduling point: for !done.Load() {}.
package escape

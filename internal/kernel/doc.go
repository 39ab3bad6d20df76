// Package kernel is the operating system of simulated hosts: a [Process] is
// what one host runs, and [Process.Syscall] serves the system calls that the
// program makes through package syscall. The world's network and the host's
// disk do the work (packages simnet and simfs); this package keeps the
// descriptors, decodes arguments, and is the poller that package net parks on.
//
// # Kernel context
//
// Everything here runs between [sched.Enter] and [sched.Leave] and never
// parks. A call that has to wait returns a [WaitPoint]; its caller parks there
// outside of kernel context and makes the same call again.
//
// # Memory
//
// A [Call] and what it points to may lie on the caller's stack, which moves.
// So the dispatch is one switch of direct calls: through a table of functions,
// or an interface, the compiler would have to assume that the Call is kept,
// and put it in the heap, where its pointers would not be adjusted. The
// program's memory is read and written with [sched.CopyIn] and [sched.CopyOut]
// only, structs with nested pointers into a local variable of their own type.
//
// # The process
//
// It runs as root (uid 0), on a kernel that calls itself Linux 6.1. Its limit
// of open files is that of a Go program on a kernel with default limits: 1024,
// which package os raises to the hard limit of 4096. Descriptors 0 to 2 are
// its standard files; others are numbered from [FirstFD] on, lowest free
// first. Each later process of a world takes a range of its own, so that a
// descriptor kept in a package variable from a process that died is a bad
// descriptor in the next one, not somebody else's file.
//
// # What is not modelled
//
// A call, option or protocol that the simulator does not know gets an errno
// that Linux might give (ENOSYS, EOPNOTSUPP, ENOPROTOOPT, …) and is reported
// through [Kernel.Unsupported], once for each host. Nothing reaches the real
// machine from here.
//
// The package is for linux on amd64 and arm64; elsewhere it is empty.
package kernel

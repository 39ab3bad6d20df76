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
// It begins as root (uid 0), on a kernel that calls itself Linux 6.1; what it
// becomes by setuid and its kin is told to those who ask, and decides nothing: files
// look at no owner. Its limit of open files is that of a Go program on a kernel with
// default limits: 1024, which package os raises to the hard limit of 4096. Descriptors
// 0 to 2 are its standard files; a child may be given more. Others are numbered from
// [FirstFD] on, lowest free first. Each later process of a world takes a range of its
// own, so that a descriptor kept in a package variable from a process that died is a
// bad descriptor in the next one, not somebody else's file. So is one of the real
// machine.
//
// A child (child.go) is a group of goroutines of its own ([sched.Host.Child]) that
// runs a registered function. It is dead but there until its parent has waited for it,
// and belongs to nobody once the parent has ended. The children of a host's own
// process end with it.
//
// What /proc tells is in system.go and proc.go.
//
// # Sockets
//
// A UDP or TCP socket is one of package simnet, which keeps what concerns the
// network; this package keeps options that only are read back. A call on a
// blocking socket that has moved some of its bytes waits with what it has done
// (MSG_WAITALL, a long write), and SO_RCVTIMEO and SO_SNDTIMEO end the wait. A
// close with a linger time waits, on a non-blocking socket too, as on Linux.
// When a process ends, its sockets are closed like its other descriptors: what
// a peer had sent and nobody read makes that a reset.
//
// Readiness is what the runtime makes of epoll's events: EPOLLRDHUP is for who
// reads; EPOLLHUP and EPOLLERR are for both. splice is refused, so that std copies.
//
// # Unix sockets, pipes, events
//
// What a host's process talks to itself with is in unix.go, pipe.go,
// eventfd.go and epoll.go, with the limits that Linux sets by default: what
// is sent is charged to the sender as Linux charges it, a pipe has 16 pages.
// A name that a Unix socket was bound to stays on the disk when the process
// dies, and is in the way of the next bind. What concerns one file's readiness
// ends in [file.changed], which tells the poller, epoll sets and blocked
// calls.
//
// Not there: urgent data of Unix sockets (MSG_OOB), which TCP has, pipes of
// packets (O_DIRECT), signalfd and inotify; splice answers as for files that
// cannot do it. Masks of signals are passed over. Simulated descriptors are greater than
// any fd_set of 1024 bits can hold, so that select is of use for its timeout.
//
// # Files, locks and mappings
//
// A file of the host's disk is one of package simfs; fileinfo.go, lock.go and
// mapping.go hold what that has no part in. A call on a slow disk waits before it is
// served ([Process.slow]). Locks hang at the inode, POSIX ones with the
// process as owner, and end with it. A mapping is memory of the machine's: for a
// file of the disk, that of a memfd, which is compared with the page cache when
// somebody could tell the difference. The mappings of a process that died are
// replaced by zeroes, and unmapped when the world ends.
//
// # What is not modelled
//
// A call, option or protocol that the simulator does not know gets an errno
// that Linux might give (ENOSYS, EOPNOTSUPP, ENOPROTOOPT, …) and is reported
// through [Kernel.Unsupported], once for each host. Nothing reaches the real
// machine from here. Of IP that is: raw sockets, filters (SO_ATTACH_FILTER and
// its kin), SO_TIMESTAMPING, SO_ZEROCOPY, SO_TXTIME, SO_PEEK_OFF, UDP_CORK,
// IP_OPTIONS and the extension headers of IPv6; Multipath TCP is refused
// without a report, since package net asks for it. The tests try every option
// with many values, on the machine and here; notModelled there is the whole
// list. Options that have no effect on such a network (SO_PRIORITY, SO_MARK,
// SO_BUSY_POLL, …) are kept, and so is TCP_FASTOPEN: by Linux's default a server
// gives out no cookies, and without one a client does as ever. Of TCP_INFO the
// fields are filled that concern states, round trips, windows and
// retransmissions.
//
// The package is for linux on amd64 and arm64; elsewhere it is empty.
package kernel

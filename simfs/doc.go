// Package simfs models the disks of simulated hosts.
//
// A [Disk] is one host's file system: a tree of directories, regular files,
// symbolic links, character devices, generated files, and the names of FIFOs
// and Unix sockets, whose insides are the kernel's. Its operations give
// the errnos of Linux; package internal/kernel puts the system calls on top.
// The process runs as root, so permission bits are kept and shown, never
// enforced; a generated file is the exception, it cannot be written, unless it
// stands in for one that a program may replace (/etc/hosts): writing makes that a
// file like any other.
//
// # Two states
//
// Each regular file has a current content (the page cache: what write
// reached) and a durable one (what fsync reached). Between them lies the
// inode's log: its operations since the last sync, in order. A write is logged
// page by page ([PageSize] bytes each), a change of the file's size is one
// operation. A directory is the same with entries in place of pages: creating,
// removing or renaming an entry is one operation of the directory, durable
// after an fsync of that directory. An fsync of a file makes its content
// durable and not its name.
//
// A rename between two directories is in both of their logs, and is durable or
// lost in both alike; an fsync of either makes it durable.
//
// A log holds at most [MaxLog] operations. Beyond that its oldest half is
// written back, as a kernel's flusher would do.
//
// # What survives
//
//	                              Crash (kill -9)   PowerLoss
//	content synced                kept              kept
//	content written, not synced   kept              the first k of the log, k drawn for each inode
//	entry synced (directory)      kept              kept
//	entry made, not synced        kept              the first k of the log, k drawn for each directory
//	file removed, still open      gone              gone, unless the removal itself is lost
//	mode, owner, times            kept              kept
//	generated files, devices      kept              kept
//
// The draws come from the stream given to [Disk.PowerLoss]; a draw of zero
// loses nothing. Inodes take their draws in the order of their numbers.
//
// # Not there yet
//
// Torn, reordered, misdirected and stale writes, latent read errors, ENOSPC
// and EIO, an fsync that lies, slow disks, file locks, mappings, sparse-file
// seeks (SEEK_DATA, SEEK_HOLE), extended attributes, hard limits on space. The
// log keeps the bytes of each write, so that a later change can tear one at
// sector size; every write, sync and lookup passes one place each
// ([Inode.WriteAt], [Inode.Sync], the walk of a path), where faults will hang.
// The drop-in surface of package os is not there yet either.
package simfs

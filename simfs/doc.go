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
// # What survives
//
//	                                 Crash, Restart   PowerLoss            Destroy
//	data, size: synced               kept             kept                 gone
//	data written, not synced         kept             by the model         gone
//	size grown or cut, not synced    kept             by the model         gone
//	entry made, renamed, removed;
//	  the directory synced           kept             kept                 gone
//	  the directory not synced       kept             by the model         gone
//	stored through a shared mapping  kept             as data written      gone
//	file removed, still open         gone             gone, unless the removal is lost
//	mode, owner, times by utimensat  kept             by the model         gone
//	times of writes                  kept             kept                 gone
//	locks, offsets, private mappings gone             gone                 gone
//	generated files, devices         kept             kept                 made anew
//
// Restart and Boot change nothing on a disk: a host that lost its power mounts what
// the loss left, and that is durable.
//
// # The model Ordered
//
// It is ext4 as Linux mounts it by default: data=ordered, delayed allocation,
// auto_da_alloc. Nothing is ever left that ext4 could not have left.
//
//   - Metadata (names, links, attributes, truncations, fallocate) is journalled,
//     in one order for the whole disk. A loss of power leaves the first k
//     operations.
//   - fsync of an inode makes the journal durable as far as the last change of that
//     inode, and with it all that came before, of other files too. So the name of
//     a new file is durable with fsync of the file; that of a file renamed after
//     its fsync is not. fdatasync does not wait for a change of modes or times. If
//     blocks have to be allocated, both make all of the journal durable.
//   - A write beyond the end of a file, or into a hole, has no place in the journal:
//     its blocks are allocated when it is written back, at any later time. What a
//     file grew by is there up to some page of some write, and then with all of its
//     data: never longer than what was written. It is there only if all metadata
//     operations before the write are.
//   - A write within a file overwrites blocks in place, in any order: each sector
//     ([SectorSize] bytes) holds what it held after any of the writes since the last
//     sync, or before them.
//   - A rename over another file, and closing a file that was truncated to
//     nothing, allocates the blocks first (auto_da_alloc). So the pattern "write a
//     temporary file, rename" without fsync gives the old or the new content; the
//     first without the rename may leave anything from nothing on.
//   - Truncating into a page, or clearing a part of one, writes that page.
//
// The sources are the kernel's Documentation/filesystems/ext4/ and
// Documentation/admin-guide/ext4.rst (data=ordered, delalloc, auto_da_alloc), fsync(2),
// and T. S. Pillai and others, "All File Systems Are Not Created Equal", OSDI 2014
// (table 1: what ext4-ordered persists atomically and in order). Where ext4 may do
// worse than these say, as with zeroes at the end of a block that was appended to,
// the model does what they say. It has no flusher: what was not synced may be lost
// however old it is, as on a device that is slow to write back.
//
// # The model Any
//
// [Disk.SetModel] asks for it. It promises what POSIX does: what was synced is
// there, and a name is synced by fsync of its directory alone. Everything else is
// decided by itself: each change of a name (a rename is two), each change of mode,
// and each write page by page, of which all, nothing or a part up to or from
// some byte is there; a file has any of the sizes that it had. A directory that
// is left with two names keeps one, what is left without any is gone.
//
// # Logs
//
// What may be lost is kept: by the journal, with what it takes to undo it, and by a
// log for each file, in which a write is an operation for each page ([PageSize]
// bytes). A journal or log holds at most [MaxLog] operations; beyond that its oldest
// half is written back, as a kernel's flusher would do.
//
// The draws of a loss of power come from the stream given to [Disk.PowerLoss]; a
// draw of zero loses nothing. First the journal takes one, then files by the
// numbers of their inodes, pages in order. Nothing is drawn where there is no choice.
//
// # Faults
//
// [Faults] has them all; [Disk.SetFaults] turns them on, for all files or some.
// They draw from the world's stream "disk", and nothing while they are off.
// [Disk.SetSize] limits space and inodes (ENOSPC).
//
// # States
//
// [Disk.CrashStates] gives the states that a loss of power now could leave, all of
// them if they are few. [Disk.Snapshot] and [Disk.Restore] copy whole disks.
//
// # Where the model is simpler
//
// Extended attributes, quotas, other users than root, and inotify are not there.
// The access time of files is kept as relatime says. A sector that cannot be
// read takes its page with it. Metadata is never damaged by Faults.
//
// # Drop-in for package os
//
// The package also has every exported name of os, with the same types: code that
// imports it instead mixes freely with code that does not. In a normal build, and in
// one with the tag dst alone, all of these are std's.
//
// In a simulation build, the functions do on a host what the host's kernel makes of
// them. Elsewhere (in the test's body, in other tests, while packages are initialised), what
// opens, reads or changes files, runs programs or asks about the machine gets an error, of std's types, around
// [sched.ErrNotOnHost], instead of reaching the real machine.
// Methods, such as those of [File] and
// [Root], are those of std's types: they are not refused. Environment and identity of the process
// answer as std does. The folders ioutil and filepath have the drop-ins for io/ioutil and
// path/filepath: the names collide.
package simfs

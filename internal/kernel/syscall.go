//go:build linux && (amd64 || arm64)

package kernel

import (
	"syscall"

	"github.com/dstkit/dst/sched"
	"github.com/dstkit/dst/simfs"
)

// A Call is one system call of a simulated goroutine. It lives on the caller's
// stack; see "Memory" in the package documentation.
type Call = sched.Call

// What Traps says of a system call, beside the arguments that are pointers
// (bits 0 to 5).
const (
	FirstIsFD     = sched.TrapIsFD
	ThirdMayBePtr = sched.TrapThirdMayBePtr
	MinPtr        = sched.MinPtr
)

// Traps tells for each system call by its number which arguments are pointers,
// and whether the first is a descriptor.
var Traps = traps()

// Syscall serves a system call. It is called in kernel context and does not
// park: if block is not nil, the call has to wait; the caller parks there,
// outside of kernel context, and makes the same call again. "The same" is the
// same Call as Syscall left it: it keeps in Trap, above the 16 low bits, what
// it waited for.
//
// A failing call returns -1, 0 and its errno.
func (p *Process) Syscall(c *Call) (r1, r2 uintptr, errno syscall.Errno, block *WaitPoint) {
	if p.dead {
		return ^uintptr(0), 0, syscall.ESRCH, nil
	}
	if c.Trap >= uintptr(len(Traps)) && !p.resume(c) {
		p.unsupported(c.Trap, 0, "there is no such call")
		return ^uintptr(0), 0, syscall.ENOSYS, nil
	}
	r1, errno = p.serve(c)
	if p.resumed {
		p.resumed, p.expired, p.deadline, p.progress, p.waited = false, false, 0, 0, nil
	}
	if errno != 0 {
		if errno == errBlock {
			block, p.block = p.block, nil
			return 0, 0, 0, block
		}
		return ^uintptr(0), 0, errno, nil
	}
	return r1, 0, 0, nil
}

// serve calls what serves c: directly, so that c does not escape.
func (p *Process) serve(c *Call) (uintptr, syscall.Errno) {
	if p.fs.Slow() && !p.resumed {
		if errno := p.slow(c); errno != 0 {
			return 0, errno
		}
	}
	if fd := c.Arg[0]; fd-3 < FirstFD-3 && fd >= uintptr(len(p.std)) && c.Trap < uintptr(len(Traps)) && Traps[c.Trap]&FirstIsFD != 0 {
		// It was opened outside, or by nobody.
		p.unsupported(c.Trap, 1<<32, "descriptor "+itoa(int(fd))+", which would be one of the real machine; open what a host uses on the host")
		return 0, syscall.EBADF
	}
	switch c.Trap {
	// What is called most comes first.
	case syscall.SYS_SENDTO:
		return p.sysSendto(c)
	case syscall.SYS_RECVFROM:
		return p.sysRecvfrom(c)
	case syscall.SYS_READ:
		return p.sysRead(c)
	case syscall.SYS_WRITE:
		return p.sysWrite(c)

	// Sockets.
	case syscall.SYS_SENDMSG:
		return p.sysSendmsg(c)
	case syscall.SYS_RECVMSG:
		return p.sysRecvmsg(c)
	case sysSENDMMSG:
		return p.sysMmsg(c, false)
	case syscall.SYS_RECVMMSG:
		return p.sysMmsg(c, true)
	case syscall.SYS_SOCKET:
		return p.sysSocket(c)
	case syscall.SYS_BIND:
		return p.sysBind(c)
	case syscall.SYS_CONNECT:
		return p.sysConnect(c)
	case syscall.SYS_LISTEN:
		return p.sysListen(c)
	case syscall.SYS_ACCEPT, syscall.SYS_ACCEPT4:
		return p.sysAccept(c)
	case syscall.SYS_GETSOCKNAME:
		return p.sysSockname(c, false)
	case syscall.SYS_GETPEERNAME:
		return p.sysSockname(c, true)
	case syscall.SYS_SETSOCKOPT:
		return p.sysSetsockopt(c)
	case syscall.SYS_GETSOCKOPT:
		return p.sysGetsockopt(c)
	case syscall.SYS_SHUTDOWN:
		return p.sysShutdown(c)
	case syscall.SYS_SOCKETPAIR:
		return p.sysSocketpair(c)

	// Descriptors.
	case syscall.SYS_CLOSE:
		return p.sysClose(c)
	case syscall.SYS_DUP:
		return p.sysDup(c)
	case syscall.SYS_DUP3:
		return p.sysDup3(c, true)
	case syscall.SYS_FCNTL:
		return p.sysFcntl(c)
	case syscall.SYS_IOCTL:
		return p.sysIoctl(c)
	case syscall.SYS_READV:
		return p.sysVector(c, false, false)
	case syscall.SYS_WRITEV:
		return p.sysVector(c, true, false)

	// Files.
	case syscall.SYS_OPENAT:
		return p.openAt(c, c.Arg[0], c.Ptr[1], int(c.Arg[2]), uint32(c.Arg[3]), 0)
	case sysOPENAT2:
		return p.sysOpenat2(c)
	case syscall.SYS_PREAD64:
		return p.sysPositioned(c, false)
	case syscall.SYS_PWRITE64:
		return p.sysPositioned(c, true)
	case syscall.SYS_PREADV:
		return p.sysVector(c, false, true)
	case syscall.SYS_PWRITEV:
		return p.sysVector(c, true, true)
	case sysPREADV2:
		return p.sysVector2(c, false)
	case sysPWRITEV2:
		return p.sysVector2(c, true)
	case syscall.SYS_LSEEK:
		return p.sysLseek(c)
	case syscall.SYS_GETDENTS64:
		return p.sysGetdents(c)
	case syscall.SYS_FSTAT:
		return p.sysFstat(c)
	case sysFSTATAT:
		return p.statAt(c.Arg[0], c.Ptr[1], c.Ptr[2], int(c.Arg[3]))
	case syscall.SYS_READLINKAT:
		return p.readlinkAt(c.Arg[0], c.Ptr[1], c.Ptr[2], c.Arg[3])
	case syscall.SYS_FACCESSAT:
		return p.accessAt(c.Arg[0], c.Ptr[1], int(c.Arg[2]), 0)
	case sysFACCESSAT2:
		return p.accessAt(c.Arg[0], c.Ptr[1], int(c.Arg[2]), int(c.Arg[3]))
	case syscall.SYS_MKDIRAT:
		return p.mkdirAt(c.Arg[0], c.Ptr[1], uint32(c.Arg[2]))
	case syscall.SYS_MKNODAT:
		return p.mknodAt(c, c.Arg[0], c.Ptr[1], uint32(c.Arg[2]))
	case syscall.SYS_UNLINKAT:
		return p.unlinkAt(c.Arg[0], c.Ptr[1], int(c.Arg[2]))
	case syscall.SYS_RENAMEAT:
		return p.renameAt(c.Arg[0], c.Ptr[1], c.Arg[2], c.Ptr[3], 0)
	case sysRENAMEAT2:
		return p.renameAt(c.Arg[0], c.Ptr[1], c.Arg[2], c.Ptr[3], int(c.Arg[4]))
	case syscall.SYS_LINKAT:
		return p.linkAt(c.Arg[0], c.Ptr[1], c.Arg[2], c.Ptr[3], int(c.Arg[4]))
	case syscall.SYS_SYMLINKAT:
		return p.symlinkAt(c.Ptr[0], c.Arg[1], c.Ptr[2])
	case syscall.SYS_FCHMODAT:
		n, errno := p.inodeAt(c.Arg[0], c.Ptr[1], 0)
		return chmod(n, errno, uint32(c.Arg[2]))
	case syscall.SYS_FCHMOD:
		n, errno := p.inodeOf(c.Arg[0])
		return chmod(n, errno, uint32(c.Arg[1]))
	case syscall.SYS_FCHOWNAT:
		n, errno := p.inodeAt(c.Arg[0], c.Ptr[1], int(c.Arg[4]))
		return chown(n, errno, c.Arg[2], c.Arg[3])
	case syscall.SYS_FCHOWN:
		n, errno := p.inodeOf(c.Arg[0])
		return chown(n, errno, c.Arg[1], c.Arg[2])
	case syscall.SYS_UTIMENSAT:
		return p.sysUtimensat(c)
	case syscall.SYS_TRUNCATE:
		if int64(c.Arg[1]) < 0 {
			return 0, syscall.EINVAL
		}
		n, errno := p.inodeAt(atCWD, c.Ptr[0], 0)
		return truncate(n, errno, int64(c.Arg[1]))
	case syscall.SYS_FTRUNCATE:
		return p.sysFtruncate(c)
	case syscall.SYS_FSYNC:
		return p.sysFsync(c, false)
	case syscall.SYS_FDATASYNC:
		return p.sysFsync(c, true)
	case sysSYNCFS:
		if _, errno := p.inodeOf(c.Arg[0]); errno == syscall.EBADF {
			return 0, errno
		}
		p.fs.SyncAll()
		return 0, 0
	case syscall.SYS_SYNC:
		p.fs.SyncAll()
		return 0, 0
	case sysSYNCFILERANGE:
		return p.sysSyncFileRange(c)
	case sysFCHMODAT2:
		n, errno := p.inodeAt(c.Arg[0], c.Ptr[1], int(c.Arg[3]))
		if errno == 0 && n.Kind() == simfs.SymbolicLink {
			return 0, syscall.EOPNOTSUPP
		}
		return chmod(n, errno, uint32(c.Arg[2]))
	case syscall.SYS_FALLOCATE:
		return p.sysFallocate(c)
	case sysSTATX:
		return p.sysStatx(c)
	case syscall.SYS_STATFS:
		n, errno := p.inodeAt(atCWD, c.Ptr[0], 0)
		return p.statfs(n, errno, c.Ptr[1])
	case syscall.SYS_FSTATFS:
		n, errno := p.openInode(c.Arg[0])
		return p.statfs(n, errno, c.Ptr[1])
	case sysCOPYFILERANGE:
		return p.sysCopyFileRange(c)
	case syscall.SYS_FLOCK:
		return p.sysFlock(c)
	case syscall.SYS_READAHEAD:
		return p.sysReadahead(c)
	case syscall.SYS_CHROOT:
		return p.refuse(c, syscall.EPERM, "another root directory")
	case syscall.SYS_GETCWD:
		return p.sysGetcwd(c)
	case syscall.SYS_CHDIR:
		return p.sysChdir(p.inodeAt(atCWD, c.Ptr[0], 0))
	case syscall.SYS_FCHDIR:
		return p.sysChdir(p.inodeOf(c.Arg[0]))
	case syscall.SYS_UMASK:
		old := p.umask
		p.umask = uint32(c.Arg[0]) & 0o777
		return uintptr(old), 0
	case syscall.SYS_FADVISE64:
		return p.sysFadvise(c)

	// Files: what programs do without, and ask for all the same.
	case syscall.SYS_SENDFILE:
		return p.sysSendfile(c)
	case syscall.SYS_SPLICE, syscall.SYS_TEE:
		return 0, syscall.EINVAL
	case syscall.SYS_GETXATTR, syscall.SYS_SETXATTR, syscall.SYS_LISTXATTR, syscall.SYS_REMOVEXATTR,
		syscall.SYS_FGETXATTR, syscall.SYS_FSETXATTR, syscall.SYS_LGETXATTR, syscall.SYS_LSETXATTR,
		syscall.SYS_LLISTXATTR, syscall.SYS_FLISTXATTR, syscall.SYS_LREMOVEXATTR, syscall.SYS_FREMOVEXATTR:
		return 0, syscall.EOPNOTSUPP

	// Memory.
	case syscall.SYS_MMAP:
		return p.sysMmap(c)
	case syscall.SYS_MUNMAP:
		return p.sysMunmap(c)
	case syscall.SYS_MREMAP:
		return p.sysMremap(c)
	case syscall.SYS_MPROTECT:
		return p.sysMprotect(c)
	case syscall.SYS_MSYNC:
		return p.sysMsync(c)
	case syscall.SYS_MADVISE:
		return p.sysMadvise(c)
	case syscall.SYS_MLOCK, sysMLOCK2, syscall.SYS_MUNLOCK, syscall.SYS_MLOCKALL, syscall.SYS_MUNLOCKALL:
		return 0, 0 // nothing is ever paged out
	case syscall.SYS_MINCORE:
		return p.sysMincore(c)
	case sysMEMFDCREATE:
		return p.refuse(c, syscall.ENOSYS, "a file in memory")

	// Pipes and events.
	case syscall.SYS_PIPE2:
		return p.sysPipe(c, int(c.Arg[1]))
	case syscall.SYS_EVENTFD2:
		return p.sysEventfd(c, int(c.Arg[1]))
	case syscall.SYS_TIMERFD_CREATE:
		return p.sysTimerfdCreate(c)
	case syscall.SYS_TIMERFD_SETTIME:
		return p.sysTimerfdSettime(c)
	case syscall.SYS_TIMERFD_GETTIME:
		return p.sysTimerfdGettime(c)
	case syscall.SYS_EPOLL_CREATE1:
		return p.sysEpollCreate(int(c.Arg[0]))
	case syscall.SYS_EPOLL_CTL:
		return p.sysEpollCtl(c)
	case syscall.SYS_EPOLL_PWAIT:
		return p.sysEpollWait(c, false)
	case sysEPOLLPWAIT2:
		return p.sysEpollWait(c, true)
	case syscall.SYS_PPOLL:
		return p.sysPoll(c, true)
	case syscall.SYS_PSELECT6:
		return p.sysSelect(c, true)
	case syscall.SYS_SIGNALFD4:
		return p.refuse(c, syscall.ENOSYS, "signals by a descriptor")
	case syscall.SYS_INOTIFY_INIT1:
		return p.refuse(c, syscall.ENOSYS, "watching files")

	// Time and chance.
	case syscall.SYS_CLOCK_GETTIME:
		return p.sysClockGettime(c)
	case syscall.SYS_CLOCK_GETRES:
		return p.sysClockGetres(c)
	case syscall.SYS_GETTIMEOFDAY:
		return p.sysGettimeofday(c)
	case syscall.SYS_NANOSLEEP:
		return p.sysSleep(c, 0, clockMonotonic, 0)
	case syscall.SYS_CLOCK_NANOSLEEP:
		return p.sysSleep(c, 2, int(int32(c.Arg[0])), c.Arg[1])
	case sysGETRANDOM:
		return p.sysGetrandom(c)

	// The process.
	case syscall.SYS_GETPID, syscall.SYS_GETTID:
		return uintptr(p.pid), 0
	case syscall.SYS_SETSID:
		if p.pgid == p.pid {
			return 0, syscall.EPERM
		}
		p.pgid = p.pid
		return uintptr(p.pid), 0
	case syscall.SYS_GETPGID, syscall.SYS_GETSID:
		return p.sysGetpgid(c)
	case syscall.SYS_GETPPID:
		if p.parent != nil {
			return uintptr(p.parent.pid), 0
		}
		return 1, 0
	case syscall.SYS_SETPGID:
		return p.sysSetpgid(c)
	case syscall.SYS_GETUID:
		return uintptr(p.creds.uid[0]), 0
	case syscall.SYS_GETEUID:
		return uintptr(p.creds.uid[1]), 0
	case syscall.SYS_GETGID:
		return uintptr(p.creds.gid[0]), 0
	case syscall.SYS_GETEGID:
		return uintptr(p.creds.gid[1]), 0
	case syscall.SYS_GETRESUID:
		return p.sysIDs(c, &p.creds.uid)
	case syscall.SYS_GETRESGID:
		return p.sysIDs(c, &p.creds.gid)
	case syscall.SYS_GETGROUPS:
		return p.sysGetgroups(c)
	case syscall.SYS_SETGROUPS:
		return p.sysSetgroups(c)
	case syscall.SYS_SETUID:
		return p.sysSetID(c, &p.creds.uid, 1)
	case syscall.SYS_SETGID:
		return p.sysSetID(c, &p.creds.gid, 1)
	case syscall.SYS_SETREUID:
		return p.sysSetID(c, &p.creds.uid, 2)
	case syscall.SYS_SETREGID:
		return p.sysSetID(c, &p.creds.gid, 2)
	case syscall.SYS_SETRESUID:
		return p.sysSetID(c, &p.creds.uid, 3)
	case syscall.SYS_SETRESGID:
		return p.sysSetID(c, &p.creds.gid, 3)
	case syscall.SYS_SETHOSTNAME:
		return p.sysSethostname(c)
	case syscall.SYS_SETDOMAINNAME, syscall.SYS_CLOCK_SETTIME, syscall.SYS_SETTIMEOFDAY, syscall.SYS_ADJTIMEX:
		return p.sysSetClock(c)
	case syscall.SYS_UNAME:
		return p.sysUname(c)
	case syscall.SYS_SYSINFO:
		return p.sysSysinfo(c)
	case syscall.SYS_GETRUSAGE:
		return p.sysGetrusage(c)
	case syscall.SYS_PRLIMIT64:
		return p.sysPrlimit(c)
	case syscall.SYS_GETRLIMIT:
		return p.sysGetrlimit(c, false)
	case syscall.SYS_SETRLIMIT:
		return p.sysGetrlimit(c, true)
	case syscall.SYS_SCHED_YIELD:
		return 0, 0
	case syscall.SYS_SCHED_GETAFFINITY:
		return p.sysAffinity(c)
	case syscall.SYS_KILL:
		return p.sysKill(c, 0, 1)
	case syscall.SYS_TKILL:
		return p.sysKill(c, 0, 1)
	case syscall.SYS_TGKILL:
		return p.sysKill(c, 1, 2)
	case syscall.SYS_TIMES:
		return p.sysTimes(c)
	case syscall.SYS_RT_SIGPROCMASK, syscall.SYS_RT_SIGACTION, syscall.SYS_SIGALTSTACK, syscall.SYS_PRCTL,
		syscall.SYS_SETPRIORITY:
		return 0, 0
	case syscall.SYS_GETPRIORITY:
		return 20, 0 // 20 - nice
	case syscall.SYS_EXIT, syscall.SYS_EXIT_GROUP:
		return p.sysExit(c)
	case syscall.SYS_EXECVE:
		return p.refuse(c, syscall.EPERM, "exec by a raw system call; package os/exec can run programs")
	case syscall.SYS_CLONE, sysCLONE3, syscall.SYS_UNSHARE:
		return p.refuse(c, syscall.EPERM, "fork by a raw system call; package os/exec can run programs")
	case syscall.SYS_WAIT4:
		return p.sysWait4(c)
	case syscall.SYS_WAITID:
		return p.sysWaitid(c)
	case sysPIDFDOPEN, sysPIDFDSENDSIGNAL:
		return 0, syscall.ENOSYS // package os asks at its start
	}
	return p.archCall(c)
}

// atCWD is AT_FDCWD as an argument.
const atCWD = ^uintptr(99)

// notServed is the end of every call that nothing here serves.
func (p *Process) notServed(c *Call) (uintptr, syscall.Errno) {
	return p.refuse(c, syscall.ENOSYS, "not modelled")
}

// traps makes Traps.
func traps() sched.Traps {
	const (
		fd           = FirstIsFD
		p0           = 1 << 0
		p1           = 1 << 1
		p2           = 1 << 2
		p3           = 1 << 3
		p4           = 1 << 4
		p5           = 1 << 5
		thirdIsMaybe = ThirdMayBePtr
	)
	t := sched.Traps{
		syscall.SYS_READ: fd | p1, syscall.SYS_WRITE: fd | p1, syscall.SYS_READV: fd | p1, syscall.SYS_WRITEV: fd | p1,
		syscall.SYS_PREAD64: fd | p1, syscall.SYS_PWRITE64: fd | p1, syscall.SYS_PREADV: fd | p1, syscall.SYS_PWRITEV: fd | p1,
		sysPREADV2: fd | p1, sysPWRITEV2: fd | p1,
		syscall.SYS_CLOSE: fd, syscall.SYS_DUP: fd, syscall.SYS_DUP3: fd,
		syscall.SYS_FCNTL: fd | thirdIsMaybe, syscall.SYS_IOCTL: fd | thirdIsMaybe,
		syscall.SYS_LSEEK: fd, syscall.SYS_FSTAT: fd | p1, syscall.SYS_GETDENTS64: fd | p1,
		syscall.SYS_FSYNC: fd, syscall.SYS_FDATASYNC: fd, syscall.SYS_FTRUNCATE: fd, syscall.SYS_FALLOCATE: fd,
		syscall.SYS_FADVISE64: fd, syscall.SYS_FLOCK: fd, syscall.SYS_FCHMOD: fd, syscall.SYS_FCHOWN: fd,
		syscall.SYS_FCHDIR: fd, syscall.SYS_FSTATFS: fd | p1, sysSYNCFS: fd, sysSYNCFILERANGE: fd,
		syscall.SYS_READAHEAD: fd,

		syscall.SYS_SENDTO: fd | p1 | p4, syscall.SYS_RECVFROM: fd | p1 | p4 | p5,
		syscall.SYS_SENDMSG: fd | p1, syscall.SYS_RECVMSG: fd | p1, sysSENDMMSG: fd | p1, syscall.SYS_RECVMMSG: fd | p1 | p4,
		syscall.SYS_BIND: fd | p1, syscall.SYS_CONNECT: fd | p1, syscall.SYS_LISTEN: fd,
		syscall.SYS_ACCEPT: fd | p1 | p2, syscall.SYS_ACCEPT4: fd | p1 | p2,
		syscall.SYS_GETSOCKNAME: fd | p1 | p2, syscall.SYS_GETPEERNAME: fd | p1 | p2,
		syscall.SYS_SETSOCKOPT: fd | p3, syscall.SYS_GETSOCKOPT: fd | p3 | p4, syscall.SYS_SHUTDOWN: fd,
		syscall.SYS_SOCKET: sched.TrapWorld, syscall.SYS_SOCKETPAIR: p3,

		syscall.SYS_OPENAT: fd | p1, sysOPENAT2: fd | p1 | p2, sysFSTATAT: fd | p1 | p2, sysSTATX: fd | p1 | p4,
		syscall.SYS_READLINKAT: fd | p1 | p2, syscall.SYS_FACCESSAT: fd | p1, sysFACCESSAT2: fd | p1,
		syscall.SYS_MKDIRAT: fd | p1, syscall.SYS_MKNODAT: fd | p1, syscall.SYS_UNLINKAT: fd | p1,
		syscall.SYS_RENAMEAT: fd | p1 | p3, sysRENAMEAT2: fd | p1 | p3, syscall.SYS_LINKAT: fd | p1 | p3,
		syscall.SYS_SYMLINKAT: p0 | p2, syscall.SYS_FCHMODAT: fd | p1, syscall.SYS_FCHOWNAT: fd | p1,
		syscall.SYS_UTIMENSAT: fd | p1 | p2, syscall.SYS_TRUNCATE: p0, syscall.SYS_CHDIR: p0, syscall.SYS_GETCWD: p0,
		syscall.SYS_STATFS: p0 | p1, syscall.SYS_CHROOT: p0,
		syscall.SYS_GETXATTR: p0 | p1 | p2, syscall.SYS_LGETXATTR: p0 | p1 | p2, syscall.SYS_FGETXATTR: fd | p1 | p2,
		syscall.SYS_SETXATTR: p0 | p1 | p2, syscall.SYS_LSETXATTR: p0 | p1 | p2, syscall.SYS_FSETXATTR: fd | p1 | p2,
		syscall.SYS_LISTXATTR: p0 | p1, syscall.SYS_REMOVEXATTR: p0 | p1, syscall.SYS_LLISTXATTR: p0 | p1, syscall.SYS_FLISTXATTR: fd | p1,
		syscall.SYS_LREMOVEXATTR: p0 | p1, syscall.SYS_FREMOVEXATTR: fd | p1, sysFCHMODAT2: fd | p1,

		// Of the two descriptors the first decides: where it is a real one the
		// other has to be.
		syscall.SYS_SENDFILE: fd | p2, syscall.SYS_SPLICE: fd | p1 | p3, syscall.SYS_TEE: fd, sysCOPYFILERANGE: fd | p1 | p3,

		sysEPOLLPWAIT2: fd | p1 | p3 | p4, syscall.SYS_EPOLL_CREATE1: 0, syscall.SYS_EPOLL_CTL: fd | p3, syscall.SYS_EPOLL_PWAIT: fd | p1 | p4,
		syscall.SYS_PPOLL: p0 | p2 | p3, syscall.SYS_PSELECT6: p1 | p2 | p3 | p4 | p5, syscall.SYS_PIPE2: p0,
		sysMEMFDCREATE: p0, syscall.SYS_MINCORE: p2,
		syscall.SYS_INOTIFY_ADD_WATCH: fd | p1, syscall.SYS_INOTIFY_RM_WATCH: fd,
		syscall.SYS_TIMERFD_SETTIME: fd | p2 | p3, syscall.SYS_TIMERFD_GETTIME: fd | p1,

		syscall.SYS_CLOCK_GETTIME: p1, syscall.SYS_CLOCK_GETRES: p1, syscall.SYS_GETTIMEOFDAY: p0 | p1,
		syscall.SYS_NANOSLEEP: p0 | p1, syscall.SYS_CLOCK_NANOSLEEP: p2 | p3, sysGETRANDOM: p0,

		syscall.SYS_GETRESUID: p0 | p1 | p2, syscall.SYS_GETRESGID: p0 | p1 | p2, syscall.SYS_GETGROUPS: p1, syscall.SYS_SETGROUPS: p1,
		syscall.SYS_UNAME: p0, syscall.SYS_SETHOSTNAME: p0, syscall.SYS_CLOCK_SETTIME: p1, syscall.SYS_SETTIMEOFDAY: p0 | p1, syscall.SYS_ADJTIMEX: p0,
		syscall.SYS_SYSINFO: p0, syscall.SYS_GETRUSAGE: p1, syscall.SYS_TIMES: p0,
		syscall.SYS_PRLIMIT64: p2 | p3, syscall.SYS_GETRLIMIT: p1, syscall.SYS_SETRLIMIT: p1,
		syscall.SYS_SCHED_GETAFFINITY: p2, syscall.SYS_RT_SIGPROCMASK: p1 | p2, syscall.SYS_RT_SIGACTION: p1 | p2, syscall.SYS_SIGALTSTACK: p0 | p1,
		syscall.SYS_EXECVE: p0 | p1 | p2, syscall.SYS_WAIT4: p1 | p3, syscall.SYS_WAITID: p2 | p4,
		sysPIDFDSENDSIGNAL: fd | p2,
	}
	archTraps(&t)
	return t
}

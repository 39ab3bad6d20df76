//go:build linux && amd64

package kernel

import (
	"syscall"
	"unsafe"

	"github.com/dstkit/dst/sched"
)

// System calls that package syscall does not know, or under another name than
// on the other architectures.
const (
	sysFSTATAT         = syscall.SYS_NEWFSTATAT
	sysSENDMMSG        = 307
	sysSYNCFS          = 306
	sysRENAMEAT2       = 316
	sysGETRANDOM       = 318
	sysMEMFDCREATE     = 319
	sysCOPYFILERANGE   = 326
	sysPREADV2         = 327
	sysPWRITEV2        = 328
	sysMLOCK2          = 325
	sysSYNCFILERANGE   = syscall.SYS_SYNC_FILE_RANGE
	sysSTATX           = 332
	sysFCHMODAT2       = 452
	sysPIDFDSENDSIGNAL = 424
	sysPIDFDOPEN       = 434
	sysCLONE3          = 435
	sysOPENAT2         = 437
	sysFACCESSAT2      = 439

	trapKill  = syscall.SYS_KILL
	machine   = "x86_64"
	largeFile = 0x8000 // O_LARGEFILE, which every open file has
)

type nlinkType = uint64

// archCall serves the calls that only this architecture has: the older forms
// of those that take a directory's descriptor.
func (p *Process) archCall(c *Call) (uintptr, syscall.Errno) {
	switch c.Trap {
	case syscall.SYS_OPEN:
		return p.openAt(c, atCWD, c.Ptr[0], int(c.Arg[1]), uint32(c.Arg[2]), 0)
	case syscall.SYS_CREAT:
		return p.openAt(c, atCWD, c.Ptr[0], syscall.O_CREAT|syscall.O_WRONLY|syscall.O_TRUNC, uint32(c.Arg[1]), 0)
	case syscall.SYS_STAT:
		return p.statAt(atCWD, c.Ptr[0], c.Ptr[1], 0)
	case syscall.SYS_LSTAT:
		return p.statAt(atCWD, c.Ptr[0], c.Ptr[1], atNoFollow)
	case syscall.SYS_ACCESS:
		return p.accessAt(atCWD, c.Ptr[0], int(c.Arg[1]), 0)
	case syscall.SYS_READLINK:
		return p.readlinkAt(atCWD, c.Ptr[0], c.Ptr[1], c.Arg[2])
	case syscall.SYS_MKDIR:
		return p.mkdirAt(atCWD, c.Ptr[0], uint32(c.Arg[1]))
	case syscall.SYS_MKNOD:
		return p.mknodAt(c, atCWD, c.Ptr[0], uint32(c.Arg[1]))
	case syscall.SYS_RMDIR:
		return p.unlinkAt(atCWD, c.Ptr[0], atRemoveDir)
	case syscall.SYS_UNLINK:
		return p.unlinkAt(atCWD, c.Ptr[0], 0)
	case syscall.SYS_RENAME:
		return p.renameAt(atCWD, c.Ptr[0], atCWD, c.Ptr[1], 0)
	case syscall.SYS_LINK:
		return p.linkAt(atCWD, c.Ptr[0], atCWD, c.Ptr[1], 0)
	case syscall.SYS_SYMLINK:
		return p.symlinkAt(c.Ptr[0], atCWD, c.Ptr[1])
	case syscall.SYS_CHMOD:
		n, errno := p.inodeAt(atCWD, c.Ptr[0], 0)
		return chmod(n, errno, uint32(c.Arg[1]))
	case syscall.SYS_CHOWN:
		n, errno := p.inodeAt(atCWD, c.Ptr[0], 0)
		return chown(n, errno, c.Arg[1], c.Arg[2])
	case syscall.SYS_LCHOWN:
		n, errno := p.inodeAt(atCWD, c.Ptr[0], atNoFollow)
		return chown(n, errno, c.Arg[1], c.Arg[2])
	case syscall.SYS_UTIME:
		return p.sysUtime(c)
	case syscall.SYS_UTIMES:
		return p.utimes(atCWD, c.Ptr[0], c.Ptr[1])
	case syscall.SYS_FUTIMESAT:
		return p.utimes(c.Arg[0], c.Ptr[1], c.Ptr[2])
	case syscall.SYS_DUP2:
		return p.sysDup3(c, false)
	case syscall.SYS_GETPGRP:
		return uintptr(p.pid), 0
	case syscall.SYS_TIME:
		now := p.now() / 1e9
		if c.Ptr[0] != nil {
			if errno := put(c.Ptr[0], &now); errno != 0 {
				return 0, errno
			}
		}
		return uintptr(now), 0
	case syscall.SYS_PIPE:
		return p.sysPipe(c, 0)
	case syscall.SYS_EVENTFD:
		return p.sysEventfd(c, 0)
	case syscall.SYS_EPOLL_CREATE:
		if int32(c.Arg[0]) <= 0 {
			return 0, syscall.EINVAL
		}
		return p.sysEpollCreate(0)
	case syscall.SYS_EPOLL_WAIT:
		return p.sysEpollWait(c, false)
	case syscall.SYS_POLL:
		return p.sysPoll(c, false)
	case syscall.SYS_SELECT:
		return p.sysSelect(c, false)
	case syscall.SYS_SIGNALFD:
		return p.refuse(c, syscall.ENOSYS, "signals by a descriptor")
	case syscall.SYS_INOTIFY_INIT:
		return p.refuse(c, syscall.ENOSYS, "watching files")
	case syscall.SYS_FORK, syscall.SYS_VFORK:
		return p.refuse(c, syscall.EPERM, "fork by a raw system call; package os/exec can run programs")
	}
	return p.notServed(c)
}

func archTraps(t *sched.Traps) {
	const p0, p1, p2, p3, p4 = 1, 2, 4, 8, 16
	for trap, mask := range map[int]uint16{
		syscall.SYS_OPEN: p0, syscall.SYS_CREAT: p0, syscall.SYS_STAT: p0 | p1, syscall.SYS_LSTAT: p0 | p1,
		syscall.SYS_ACCESS: p0, syscall.SYS_READLINK: p0 | p1, syscall.SYS_MKDIR: p0, syscall.SYS_MKNOD: p0,
		syscall.SYS_RMDIR: p0, syscall.SYS_UNLINK: p0, syscall.SYS_RENAME: p0 | p1, syscall.SYS_LINK: p0 | p1,
		syscall.SYS_SYMLINK: p0 | p1, syscall.SYS_CHMOD: p0, syscall.SYS_CHOWN: p0, syscall.SYS_LCHOWN: p0,
		syscall.SYS_DUP2: FirstIsFD, syscall.SYS_TIME: p0, syscall.SYS_POLL: p0, syscall.SYS_PIPE: p0,
		syscall.SYS_SELECT: p1 | p2 | p3 | p4, syscall.SYS_EPOLL_WAIT: FirstIsFD | p1,
		syscall.SYS_UTIME: p0 | p1, syscall.SYS_UTIMES: p0 | p1, syscall.SYS_FUTIMESAT: FirstIsFD | p1 | p2,
		syscall.SYS_GETDENTS: FirstIsFD | p1,
	} {
		t[trap] = mask
	}
}

// sysUtime is utime, in seconds.
func (p *Process) sysUtime(c *Call) (uintptr, syscall.Errno) {
	n, errno := p.inodeAt(atCWD, c.Ptr[0], 0)
	if errno != 0 {
		return 0, errno
	}
	times := [2]int64{p.now(), p.now()}
	if c.Ptr[1] != nil {
		if errno := get(&times, c.Ptr[1]); errno != 0 {
			return 0, errno
		}
		times[0], times[1] = times[0]*1e9, times[1]*1e9
	}
	n.SetTimes(times[0], times[1])
	return 0, 0
}

// utimes is utimes and futimesat, in microseconds.
func (p *Process) utimes(fd uintptr, pathPtr, ptr unsafe.Pointer) (uintptr, syscall.Errno) {
	n, errno := p.inodeAt(fd, pathPtr, 0)
	if errno != 0 {
		return 0, errno
	}
	now := syscall.NsecToTimeval(p.now())
	times := [2]syscall.Timeval{now, now}
	if ptr != nil {
		if errno := get(&times, ptr); errno != 0 {
			return 0, errno
		}
	}
	for _, t := range times {
		if t.Usec < 0 || t.Usec >= 1e6 {
			return 0, syscall.EINVAL
		}
	}
	n.SetTimes(times[0].Nano(), times[1].Nano())
	return 0, 0
}

//go:build linux && (amd64 || arm64)

package kernel

import (
	"syscall"
	"unsafe"

	"github.com/dstkit/dst/simfs"
)

// statxBuf is struct statx.
type statxBuf struct {
	mask, blksize                uint32
	attributes                   uint64
	nlink, uid, gid              uint32
	mode, _                      uint16
	ino, size, blocks, attrsMask uint64
	atime, btime, ctime, mtime   statxTime
	rdevMajor, rdevMinor         uint32
	devMajor, devMinor           uint32
	mountID                      uint64
	dioMemAlign, dioOffsetAlign  uint32
	_                            [12]uint64
}

type statxTime struct {
	sec  int64
	nsec uint32
	_    int32
}

func statxTimeOf(ns int64) statxTime {
	ts := syscall.NsecToTimespec(ns)
	return statxTime{sec: ts.Sec, nsec: uint32(ts.Nsec)}
}

const (
	statxBasic    = 0x7ff
	statxReserved = 1 << 31
	atStatxForce  = 0x2000
	atStatxDont   = 0x4000
	atNoAutomount = 0x800
)

// sysStatx is statx: what fstatat tells, without a time of birth.
func (p *Process) sysStatx(c *Call) (uintptr, syscall.Errno) {
	flags := int(c.Arg[2])
	switch {
	case flags&^(atNoFollow|atEmptyPath|atNoAutomount|atStatxForce|atStatxDont) != 0,
		flags&(atStatxForce|atStatxDont) == atStatxForce|atStatxDont, c.Arg[3]&statxReserved != 0:
		return 0, syscall.EINVAL
	}
	var st syscall.Stat_t
	if _, errno := p.statAt(c.Arg[0], c.Ptr[1], unsafe.Pointer(&st), flags&(atNoFollow|atEmptyPath)); errno != 0 {
		return 0, errno
	}
	b := statxBuf{
		mask: statxBasic, blksize: uint32(st.Blksize), nlink: uint32(st.Nlink), uid: st.Uid, gid: st.Gid, mode: uint16(st.Mode),
		ino: st.Ino, size: uint64(st.Size), blocks: uint64(st.Blocks),
		atime: statxTimeOf(st.Atim.Nano()), ctime: statxTimeOf(st.Ctim.Nano()), mtime: statxTimeOf(st.Mtim.Nano()),
		rdevMajor: uint32(st.Rdev >> 8 & 0xfff), rdevMinor: uint32(st.Rdev & 0xff),
		devMajor: uint32(st.Dev >> 8 & 0xfff), devMinor: uint32(st.Dev & 0xff),
	}
	return 0, put(c.Ptr[4], &b)
}

const (
	ext4Magic     = 0xef53
	stValid       = 0x20
	stRelatime    = 0x1000
	mountFlags    = stValid | stRelatime
	maxNameLength = 255
)

// statfs serves statfs and fstatfs: the disk calls itself ext4, whose rules it
// follows.
func (p *Process) statfs(n *simfs.Inode, errno syscall.Errno, ptr unsafe.Pointer) (uintptr, syscall.Errno) {
	if errno != 0 {
		return 0, errno
	}
	u := p.fs.Usage()
	return 0, put(ptr, &syscall.Statfs_t{
		Type: ext4Magic, Bsize: simfs.PageSize, Frsize: simfs.PageSize, Namelen: maxNameLength, Flags: mountFlags,
		Blocks: uint64(u.Blocks), Bfree: uint64(u.Free), Bavail: uint64(u.Free), Files: uint64(u.Inodes), Ffree: uint64(u.FreeInodes),
	})
}

// sysFadvise is fadvise64: advice that changes nothing.
func (p *Process) sysFadvise(c *Call) (uintptr, syscall.Errno) {
	f := p.lookup(c.Arg[0])
	switch {
	case f == nil || f.flags&oPath != 0:
		return 0, syscall.EBADF
	case f.kind == kindPipe:
		return 0, syscall.ESPIPE
	case c.Arg[3] > 5 || int64(c.Arg[2]) < 0:
		return 0, syscall.EINVAL
	}
	return 0, 0
}

// sysReadahead has nothing to do: all of the file is in the page cache.
func (p *Process) sysReadahead(c *Call) (uintptr, syscall.Errno) {
	f := p.lookup(c.Arg[0])
	switch {
	case f == nil || !f.readable():
		return 0, syscall.EBADF
	case f.kind != kindDisk || f.node.Kind() != simfs.Regular:
		return 0, syscall.EINVAL
	}
	return 0, 0
}

// sysSyncFileRange starts or awaits the write-back of pages. It promises nothing
// for a loss of power, so it changes nothing (sync_file_range(2)).
func (p *Process) sysSyncFileRange(c *Call) (uintptr, syscall.Errno) {
	f := p.lookup(c.Arg[0])
	off, n, flags := int64(c.Arg[1]), int64(c.Arg[2]), int(c.Arg[3])
	switch {
	case f == nil || f.flags&oPath != 0:
		return 0, syscall.EBADF
	case flags&^7 != 0 || off < 0 || n < 0 || off+n < off:
		return 0, syscall.EINVAL
	case f.kind != kindDisk:
		return 0, syscall.ESPIPE
	}
	return 0, 0
}

// sysCopyFileRange is copy_file_range, between regular files.
func (p *Process) sysCopyFileRange(c *Call) (uintptr, syscall.Errno) {
	in, out := p.lookup(c.Arg[0]), p.lookup(c.Arg[2])
	if in == nil || out == nil || (in.flags|out.flags)&oPath != 0 {
		return 0, syscall.EBADF
	}
	for _, f := range [2]*file{in, out} {
		if f.kind == kindDisk && f.node.IsDir() {
			return 0, syscall.EISDIR
		}
	}
	if in.kind != kindDisk || out.kind != kindDisk {
		return 0, syscall.EINVAL
	}
	offs := [2]int64{in.off, out.off}
	for i, arg := range [2]int{1, 3} {
		if c.Ptr[arg] != nil {
			if errno := get(&offs[i], c.Ptr[arg]); errno != 0 {
				return 0, errno
			}
		}
	}
	count := uint64(c.Arg[4])
	switch {
	case c.Arg[5] != 0:
		return 0, syscall.EINVAL
	case in.node.Kind() != simfs.Regular || out.node.Kind() != simfs.Regular:
		return 0, syscall.EINVAL
	case !in.readable() || !out.writable() || out.flags&syscall.O_APPEND != 0:
		return 0, syscall.EBADF
	case uint64(offs[0])+count < count || uint64(offs[1])+count < count:
		return 0, syscall.EOVERFLOW
	case offs[0] < 0 || offs[1] < 0:
		return 0, syscall.EINVAL
	}
	n := int64(min(count, maxRW))
	n = max(0, min(n, in.node.Size()-offs[0]))
	if in.node == out.node && offs[0] < offs[1]+n && offs[1] < offs[0]+n {
		return 0, syscall.EINVAL
	}
	done := int64(0)
	for done < n {
		part := p.scratch[:min(n-done, int64(len(p.scratch)))]
		got, errno := in.node.ReadAt(part, offs[0]+done)
		if errno == 0 && got > 0 {
			got, _, errno = out.writeAt(part[:got], offs[1]+done)
		}
		if errno != 0 && done == 0 {
			return 0, errno
		}
		if errno != 0 || got == 0 {
			break
		}
		done += int64(got)
	}
	for i, f := range [2]*file{in, out} {
		offs[i] += done
		if ptr := c.Ptr[1+2*i]; ptr != nil {
			if errno := put(ptr, &offs[i]); errno != 0 {
				return 0, errno
			}
		} else {
			f.off = offs[i]
		}
	}
	return uintptr(done), 0
}

// slow makes a call on a slow disk wait before it is served.
func (p *Process) slow(c *Call) syscall.Errno {
	n, class := p.fs.Root(), simfs.MetadataCall
	switch c.Trap {
	case syscall.SYS_READ, syscall.SYS_PREAD64, syscall.SYS_READV, syscall.SYS_PREADV, sysPREADV2, syscall.SYS_GETDENTS64:
		class = simfs.ReadCall
	case syscall.SYS_WRITE, syscall.SYS_PWRITE64, syscall.SYS_WRITEV, syscall.SYS_PWRITEV, sysPWRITEV2, syscall.SYS_FALLOCATE,
		syscall.SYS_FTRUNCATE, sysCOPYFILERANGE:
		class = simfs.WriteCall
	case syscall.SYS_FSYNC, syscall.SYS_FDATASYNC, syscall.SYS_SYNC, sysSYNCFS:
		class = simfs.SyncCall
	case syscall.SYS_OPENAT, sysOPENAT2, sysFSTATAT, sysSTATX, syscall.SYS_MKDIRAT, syscall.SYS_UNLINKAT, syscall.SYS_RENAMEAT, sysRENAMEAT2,
		syscall.SYS_LINKAT, syscall.SYS_SYMLINKAT, syscall.SYS_TRUNCATE:
	default:
		return 0
	}
	if class != simfs.MetadataCall && c.Trap != syscall.SYS_SYNC {
		f := p.lookup(c.Arg[0])
		if f == nil || f.kind != kindDisk {
			return 0
		}
		n = f.node
	}
	if d := p.fs.Delay(n, class); d > 0 {
		return p.waitFor(c, nil, p.k.w.Now()+int64(d))
	}
	return 0
}

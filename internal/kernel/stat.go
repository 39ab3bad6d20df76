//go:build linux && (amd64 || arm64)

package kernel

import (
	"syscall"
	"unsafe"

	"github.com/dstkit/dst/sched"
	"github.com/dstkit/dst/simfs"
)

// modeOf is the type in st_mode.
func modeOf(k simfs.Kind) uint32 {
	switch k {
	case simfs.Directory:
		return syscall.S_IFDIR
	case simfs.SymbolicLink:
		return syscall.S_IFLNK
	case simfs.Device:
		return syscall.S_IFCHR
	case simfs.Fifo:
		return syscall.S_IFIFO
	case simfs.Socket:
		return syscall.S_IFSOCK
	}
	return syscall.S_IFREG
}

// statInode writes what stat tells of an inode.
func statInode(n *simfs.Inode, ptr unsafe.Pointer) syscall.Errno {
	a := n.Stat()
	st := syscall.Stat_t{
		Dev: 0x801, Ino: a.Ino, Nlink: nlinkType(a.Nlink), Mode: modeOf(a.Kind) | a.Mode, Uid: a.UID, Gid: a.GID,
		Rdev: uint64(a.Rdev), Size: a.Size, Blksize: simfs.PageSize, Blocks: a.Blocks,
		Atim: syscall.NsecToTimespec(a.Atime), Mtim: syscall.NsecToTimespec(a.Mtime), Ctim: syscall.NsecToTimespec(a.Ctime),
	}
	return put(ptr, &st)
}

func (p *Process) sysFstat(c *Call) (uintptr, syscall.Errno) {
	f := p.lookup(c.Arg[0])
	if f == nil {
		return 0, syscall.EBADF
	}
	return 0, p.statFile(f, c.Ptr[1])
}

func (p *Process) statFile(f *file, ptr unsafe.Pointer) syscall.Errno {
	var st syscall.Stat_t
	switch f.kind {
	case kindDisk:
		return statInode(f.node, ptr)
	case kindConsole:
		st.Mode = syscall.S_IFIFO | 0o600 // as behind a supervisor, not a terminal
	case kindPipe:
		if f.node != nil {
			return statInode(f.node, ptr)
		}
		st.Mode = syscall.S_IFIFO | 0o600
	case kindEpoll, kindEvent, kindTimer:
		st.Mode = 0o600 // a file of no type
	default:
		st.Mode = syscall.S_IFSOCK | 0o777
	}
	st.Nlink, st.Blksize = 1, simfs.PageSize
	return put(ptr, &st)
}

// statAt serves the stat family.
func (p *Process) statAt(fd uintptr, pathPtr, ptr unsafe.Pointer, flags int) (uintptr, syscall.Errno) {
	path, errno := p.pathAt(pathPtr, &p.path)
	if errno != 0 {
		return 0, errno
	}
	if path == "" && flags&atEmptyPath != 0 {
		if int32(fd) == atFDCWD {
			return 0, statInode(p.cwd, ptr)
		}
		f := p.lookup(fd)
		if f == nil {
			return 0, syscall.EBADF
		}
		return 0, p.statFile(f, ptr)
	}
	at, errno := p.dirAt(fd, path)
	if errno != 0 {
		return 0, errno
	}
	n, errno := p.fs.Lookup(at, path, flags&atNoFollow == 0)
	if errno != 0 {
		return 0, errno
	}
	return 0, statInode(n, ptr)
}

func (p *Process) readlinkAt(fd uintptr, pathPtr, buf unsafe.Pointer, size uintptr) (uintptr, syscall.Errno) {
	at, path, errno := p.pathArg(fd, pathPtr)
	if path == "" && errno == syscall.ENOTDIR {
		errno = 0
	}
	if errno != 0 {
		return 0, errno
	}
	if int(size) <= 0 {
		return 0, syscall.EINVAL
	}
	var n *simfs.Inode
	if path == "" && int32(fd) != atFDCWD { // the link itself, opened with O_PATH
		n, errno = p.openInode(fd)
	} else {
		n, errno = p.fs.Lookup(at, path, false)
	}
	if errno != 0 {
		return 0, errno
	}
	target, errno := n.Readlink()
	if errno != 0 {
		return 0, errno
	}
	if absurd(buf) {
		return 0, syscall.EFAULT
	}
	b := p.scratch[:copy(p.scratch[:], target)]
	b = b[:min(uintptr(len(b)), size)]
	sched.CopyOut(buf, b)
	return uintptr(len(b)), 0
}

// accessAt serves access and its kin: for root, everything that exists may be
// read and written; executing needs one of the bits.
func (p *Process) accessAt(fd uintptr, pathPtr unsafe.Pointer, mode, flags int) (uintptr, syscall.Errno) {
	at, path, errno := p.pathArg(fd, pathPtr)
	if path == "" && flags&atEmptyPath != 0 && (errno == 0 || errno == syscall.ENOTDIR) {
		n, errno := p.openInode(fd)
		if errno == 0 && mode&1 != 0 && !n.IsDir() && n.Stat().Mode&0o111 == 0 {
			errno = syscall.EACCES
		}
		return 0, errno
	}
	if errno != 0 {
		return 0, errno
	}
	if mode&^7 != 0 || flags&^(atEaccess|atNoFollow|atEmptyPath) != 0 {
		return 0, syscall.EINVAL
	}
	n, errno := p.fs.Lookup(at, path, flags&atNoFollow == 0)
	switch {
	case errno != 0:
	case mode&1 != 0 && !n.IsDir() && n.Stat().Mode&0o111 == 0, mode&2 != 0 && n.Kind() == simfs.Generated:
		errno = syscall.EACCES
	}
	return 0, errno
}

func (p *Process) mkdirAt(fd uintptr, pathPtr unsafe.Pointer, mode uint32) (uintptr, syscall.Errno) {
	at, path, errno := p.pathArg(fd, pathPtr)
	if errno == 0 {
		errno = p.fs.Mkdir(at, path, mode&^p.umask&0o1777)
	}
	return 0, errno
}

func (p *Process) mknodAt(c *Call, fd uintptr, pathPtr unsafe.Pointer, mode uint32) (uintptr, syscall.Errno) {
	at, path, errno := p.pathArg(fd, pathPtr)
	kind := simfs.Regular
	switch mode & syscall.S_IFMT {
	case 0, syscall.S_IFREG:
	case syscall.S_IFIFO:
		kind = simfs.Fifo
	case syscall.S_IFSOCK:
		kind = simfs.Socket
	default:
		if errno == 0 {
			p.unsupported(c.Trap, 0, "a device in the file system")
			errno = syscall.EPERM
		}
	}
	if errno == 0 {
		_, errno = p.fs.Mknod(at, path, kind, mode&^p.umask)
	}
	return 0, errno
}

func (p *Process) unlinkAt(fd uintptr, pathPtr unsafe.Pointer, flags int) (uintptr, syscall.Errno) {
	at, path, errno := p.pathArg(fd, pathPtr)
	switch {
	case errno != 0:
	case flags&^atRemoveDir != 0:
		errno = syscall.EINVAL
	case flags&atRemoveDir != 0:
		errno = p.fs.Rmdir(at, path)
	default:
		errno = p.fs.Unlink(at, path)
	}
	return 0, errno
}

func (p *Process) renameAt(oldFD uintptr, oldPtr unsafe.Pointer, newFD uintptr, newPtr unsafe.Pointer, flags int) (uintptr, syscall.Errno) {
	oldAt, oldPath, errno := p.pathArg(oldFD, oldPtr)
	if errno != 0 {
		return 0, errno
	}
	newAt, newPath, errno := p.pathArg2(newFD, newPtr)
	switch {
	case errno != 0:
	case flags&^(renameNoRepl|renameExch) != 0, flags == renameNoRepl|renameExch:
		errno = syscall.EINVAL
	default:
		errno = p.fs.Rename(oldAt, oldPath, newAt, newPath, simfs.RenameFlags{
			NoReplace: flags&renameNoRepl != 0, Exchange: flags&renameExch != 0,
		})
	}
	return 0, errno
}

func (p *Process) linkAt(oldFD uintptr, oldPtr unsafe.Pointer, newFD uintptr, newPtr unsafe.Pointer, flags int) (uintptr, syscall.Errno) {
	oldAt, oldPath, errno := p.pathArg(oldFD, oldPtr)
	if oldPath == "" && flags&atEmptyPath != 0 && errno == syscall.ENOTDIR {
		errno = 0
	}
	if errno != 0 {
		return 0, errno
	}
	newAt, newPath, errno := p.pathArg2(newFD, newPtr)
	switch {
	case errno != 0:
	case flags&^(atFollow|atEmptyPath) != 0:
		errno = syscall.EINVAL
	case oldPath == "" && flags&atEmptyPath != 0:
		f := p.lookup(oldFD)
		if f == nil || f.node == nil {
			return 0, syscall.ENOENT
		}
		errno = p.fs.LinkInode(f.node, newAt, newPath)
	default:
		errno = p.fs.Link(oldAt, oldPath, flags&atFollow != 0, newAt, newPath)
	}
	return 0, errno
}

func (p *Process) symlinkAt(targetPtr unsafe.Pointer, fd uintptr, pathPtr unsafe.Pointer) (uintptr, syscall.Errno) {
	target, errno := p.pathAt(targetPtr, &p.path)
	if errno != 0 {
		return 0, errno
	}
	at, path, errno := p.pathArg2(fd, pathPtr)
	if errno == 0 {
		errno = p.fs.Symlink(target, at, path)
	}
	return 0, errno
}

// inodeOf is the inode of a descriptor.
func (p *Process) inodeOf(fd uintptr) (*simfs.Inode, syscall.Errno) {
	f := p.lookup(fd)
	switch {
	case f == nil || f.flags&oPath != 0:
		return nil, syscall.EBADF
	case f.node == nil: // not of the disk
		return nil, syscall.EINVAL
	}
	return f.node, 0
}

// openInode is inodeOf for calls that take AT_EMPTY_PATH, and so descriptors of
// O_PATH and AT_FDCWD.
func (p *Process) openInode(fd uintptr) (*simfs.Inode, syscall.Errno) {
	if int32(fd) == atFDCWD {
		return p.cwd, 0
	}
	f := p.lookup(fd)
	switch {
	case f == nil:
		return nil, syscall.EBADF
	case f.node == nil:
		return nil, syscall.EINVAL
	}
	return f.node, 0
}

// inodeAt is the inode that a path leads to.
func (p *Process) inodeAt(fd uintptr, pathPtr unsafe.Pointer, flags int) (*simfs.Inode, syscall.Errno) {
	at, path, errno := p.pathArg(fd, pathPtr)
	if path == "" && flags&atEmptyPath != 0 && (errno == 0 || errno == syscall.ENOTDIR) {
		return p.openInode(fd)
	}
	if errno != 0 {
		return nil, errno
	}
	return p.fs.Lookup(at, path, flags&atNoFollow == 0)
}

func chmod(n *simfs.Inode, errno syscall.Errno, mode uint32) (uintptr, syscall.Errno) {
	if errno == 0 {
		n.Chmod(mode)
	}
	return 0, errno
}

func chown(n *simfs.Inode, errno syscall.Errno, uid, gid uintptr) (uintptr, syscall.Errno) {
	if errno == 0 {
		n.Chown(int32(uid), int32(gid))
	}
	return 0, errno
}

func truncate(n *simfs.Inode, errno syscall.Errno, size int64) (uintptr, syscall.Errno) {
	if errno == 0 {
		errno = n.Truncate(size)
	}
	return 0, errno
}

func (p *Process) sysFtruncate(c *Call) (uintptr, syscall.Errno) {
	if int64(c.Arg[1]) < 0 {
		return 0, syscall.EINVAL
	}
	n, errno := p.inodeOf(c.Arg[0])
	if errno == 0 && (!p.lookup(c.Arg[0]).writable() || n.IsDir()) {
		errno = syscall.EINVAL
	}
	return truncate(n, errno, int64(c.Arg[1]))
}

func (p *Process) sysFallocate(c *Call) (uintptr, syscall.Errno) {
	f, mode := p.lookup(c.Arg[0]), int(c.Arg[1])
	off, length := int64(c.Arg[2]), int64(c.Arg[3])
	switch {
	case f == nil || f.flags&oPath != 0:
		return 0, syscall.EBADF
	case off < 0 || length <= 0:
		return 0, syscall.EINVAL
	case !simfs.Allocatable(mode):
		return 0, syscall.EOPNOTSUPP
	case !f.writable():
		return 0, syscall.EBADF
	case f.kind == kindPipe:
		return 0, syscall.ESPIPE
	case f.kind != kindDisk:
		return 0, syscall.ENODEV
	}
	return 0, f.node.Allocate(mode, off, length)
}

func (p *Process) sysUtimensat(c *Call) (uintptr, syscall.Errno) {
	var n *simfs.Inode
	var errno syscall.Errno
	if c.Ptr[1] == nil {
		n, errno = p.inodeOf(c.Arg[0])
	} else {
		n, errno = p.inodeAt(c.Arg[0], c.Ptr[1], int(c.Arg[3]))
	}
	if errno != 0 {
		return 0, errno
	}
	a := n.Stat()
	times := [2]int64{p.now(), p.now()}
	if c.Ptr[2] != nil {
		var ts [2]syscall.Timespec
		if errno := get(&ts, c.Ptr[2]); errno != 0 {
			return 0, errno
		}
		for i, old := range [2]int64{a.Atime, a.Mtime} {
			switch {
			case ts[i].Nsec == utimeNow:
			case ts[i].Nsec == utimeOmit:
				times[i] = old
			case ts[i].Nsec < 0 || ts[i].Nsec > 999999999:
				return 0, syscall.EINVAL
			default:
				times[i] = ts[i].Nano()
			}
		}
	}
	n.SetTimes(times[0], times[1])
	return 0, 0
}

// sysFsync is fsync and fdatasync.
func (p *Process) sysFsync(c *Call, dataOnly bool) (uintptr, syscall.Errno) {
	f := p.lookup(c.Arg[0])
	switch {
	case f == nil || f.flags&oPath != 0:
		return 0, syscall.EBADF
	case f.node == nil: // not of the disk
		return 0, syscall.EINVAL
	}
	return 0, f.sync(dataOnly)
}

func (p *Process) sysGetcwd(c *Call) (uintptr, syscall.Errno) {
	path, errno := p.cwd.Path()
	switch {
	case errno != 0:
		return 0, errno
	case uintptr(len(path)) >= c.Arg[1]:
		return 0, syscall.ERANGE
	case absurd(c.Ptr[0]):
		return 0, syscall.EFAULT
	}
	n := copy(p.scratch[:], path)
	p.scratch[n] = 0
	sched.CopyOut(c.Ptr[0], p.scratch[:n+1])
	return uintptr(n + 1), 0
}

func (p *Process) sysChdir(n *simfs.Inode, errno syscall.Errno) (uintptr, syscall.Errno) {
	switch {
	case errno != 0:
	case !n.IsDir():
		errno = syscall.ENOTDIR
	default:
		p.cwd = n
	}
	return 0, errno
}

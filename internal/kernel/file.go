//go:build linux && (amd64 || arm64)

package kernel

import (
	"strconv"
	"strings"
	"syscall"
	"unsafe"

	"github.com/dstkit/dst/sched"
	"github.com/dstkit/dst/simfs"
)

// Constants that package syscall lacks.
const (
	oPath        = 0x200000
	oTmpfile     = 0x400000
	atFDCWD      = -100
	atNoFollow   = 0x100
	atRemoveDir  = 0x200
	atEaccess    = 0x200
	atFollow     = 0x400
	atEmptyPath  = 0x1000
	renameNoRepl = 1
	renameExch   = 2
	utimeNow     = 1<<30 - 1
	utimeOmit    = 1<<30 - 2
)

// dirAt returns the directory from which a path is walked: the descriptor's,
// or the working directory for AT_FDCWD.
func (p *Process) dirAt(fd uintptr, path string) (*simfs.Inode, syscall.Errno) {
	if int32(fd) == atFDCWD || path != "" && path[0] == '/' {
		return p.cwd, 0
	}
	f := p.lookup(fd)
	switch {
	case f == nil:
		return nil, syscall.EBADF
	case f.kind != kindDisk || !f.node.IsDir():
		return nil, syscall.ENOTDIR
	}
	return f.node, 0
}

// pathArg reads a directory descriptor and a path.
func (p *Process) pathArg(fd uintptr, ptr unsafe.Pointer) (at *simfs.Inode, path string, errno syscall.Errno) {
	if path, errno = p.pathAt(ptr, &p.path); errno == 0 {
		at, errno = p.dirAt(fd, path)
	}
	return at, path, errno
}

// pathArg2 is pathArg for a second path of one call.
func (p *Process) pathArg2(fd uintptr, ptr unsafe.Pointer) (at *simfs.Inode, path string, errno syscall.Errno) {
	if path, errno = p.pathAt(ptr, &p.path2); errno == 0 {
		at, errno = p.dirAt(fd, path)
	}
	return at, path, errno
}

// openAt serves the open family.
func (p *Process) openAt(c *Call, fd uintptr, ptr unsafe.Pointer, flags int, mode uint32, resolve simfs.Resolve) (uintptr, syscall.Errno) {
	if f := p.opening; f != nil {
		p.opening = nil
		return p.openFifo(c, f, flags)
	}
	at, path, errno := p.pathArg(fd, ptr)
	if errno == 0 && resolve&simfs.InRoot != 0 && int32(fd) != atFDCWD && path != "" && path[0] == '/' {
		at, errno = p.dirAt(fd, "") // for an absolute path, too
	}
	if errno != 0 {
		return 0, errno
	}
	if flags&oPath != 0 {
		flags &= oPath | syscall.O_DIRECTORY | syscall.O_NOFOLLOW | syscall.O_CLOEXEC
	}
	if f := p.reopened(at, path); f != nil && flags&(oPath|syscall.O_NOFOLLOW|syscall.O_DIRECTORY) == 0 {
		if f.sock != nil || f.kind > kindPipe {
			return 0, syscall.ENXIO
		}
		return p.enter(f, flags&syscall.O_CLOEXEC != 0, 0)
	}
	unnamed := flags&oTmpfile != 0
	write := flags&syscall.O_ACCMODE != syscall.O_RDONLY
	switch {
	case unnamed && (flags&(syscall.O_DIRECTORY|syscall.O_CREAT) != syscall.O_DIRECTORY || !write),
		flags&(syscall.O_CREAT|syscall.O_DIRECTORY) == syscall.O_CREAT|syscall.O_DIRECTORY:
		return 0, syscall.EINVAL
	case uint64(p.opened) >= p.nofile.cur:
		return 0, syscall.EMFILE // before a file is made
	}
	var n *simfs.Inode
	if unnamed {
		n, errno = p.fs.Tmpfile(at, path, mode&0o7777&^p.umask, flags&syscall.O_NOFOLLOW == 0, flags&syscall.O_EXCL != 0)
	} else {
		n, errno = p.fs.Open(at, path, simfs.OpenFlags{
			Create:        flags&syscall.O_CREAT != 0,
			Exclusive:     flags&syscall.O_EXCL != 0,
			Truncate:      flags&syscall.O_TRUNC != 0,
			DirectoryOnly: flags&syscall.O_DIRECTORY != 0,
			NoFollow:      flags&syscall.O_NOFOLLOW != 0,
			Write:         write,
			PathOnly:      flags&oPath != 0,
			Resolve:       resolve,
		}, mode&0o7777&^p.umask)
	}
	if errno != 0 {
		return 0, errno
	}
	const gone = syscall.O_CREAT | syscall.O_EXCL | syscall.O_TRUNC | syscall.O_NOCTTY | syscall.O_CLOEXEC
	f := &file{kind: kindDisk, owner: p, flags: flags &^ gone, node: n, path: strings.Clone(path), errSeq: n.ErrSeq()}
	if flags&oPath == 0 {
		f.flags |= largeFile
	}
	if n.Kind() == simfs.Generated {
		f.content = n.Content()
	}
	if n.Kind() == simfs.Fifo && flags&oPath == 0 {
		return p.openFifo(c, f, flags)
	}
	n.Hold()
	return p.enterNew(f, flags&syscall.O_CLOEXEC != 0)
}

// reopened returns the open file, which is none of the disk, that a path such as
// /dev/stdout or /proc/self/fd/3 leads to, or nil. To open it is to duplicate it: a
// pipe's end knows no offset.
func (p *Process) reopened(at *simfs.Inode, path string) *file {
	if !strings.HasPrefix(path, "/dev/") && !strings.HasPrefix(path, "/proc/") {
		return nil
	}
	for range 4 { // links
		n, errno := p.fs.Lookup(at, path, false)
		if errno != 0 || n.Kind() != simfs.SymbolicLink {
			return nil
		}
		where := n.Where()
		if dir, name, ok := cutLast(where); ok && strings.HasPrefix(dir, "/proc/") && strings.HasSuffix(dir, "/fd") {
			fd, _ := strconv.Atoi(name)
			if f := p.lookup(uintptr(fd)); f != nil && f.node == nil {
				return f
			}
			return nil
		}
		target, errno := n.Readlink()
		if errno != 0 || !strings.HasPrefix(target, "/") {
			return nil
		}
		path = target
	}
	return nil
}

func cutLast(path string) (dir, name string, ok bool) {
	i := strings.LastIndexByte(path, '/')
	if i < 0 {
		return "", "", false
	}
	return path[:i], path[i+1:], true
}

// sysOpenat2 is openat2, whose struct open_how may grow.
func (p *Process) sysOpenat2(c *Call) (uintptr, syscall.Errno) {
	var how struct{ flags, mode, resolve uint64 }
	size := c.Arg[3]
	if size < unsafe.Sizeof(how) {
		return 0, syscall.EINVAL
	}
	if errno := get(&how, c.Ptr[2]); errno != 0 {
		return 0, errno
	}
	const (
		noXdev  = 0x01 // there is one file system
		cached  = 0x20 // everything is
		known   = noXdev | cached | uint64(simfs.NoMagicLinks|simfs.NoSymlinks|simfs.Beneath|simfs.InRoot)
		allFlag = syscall.O_ACCMODE | syscall.O_CREAT | syscall.O_EXCL | syscall.O_NOCTTY | syscall.O_TRUNC | syscall.O_APPEND |
			syscall.O_NONBLOCK | syscall.O_SYNC | syscall.O_ASYNC | syscall.O_DIRECT | syscall.O_DIRECTORY | syscall.O_NOFOLLOW |
			syscall.O_NOATIME | syscall.O_CLOEXEC | oPath | oTmpfile | largeFile
		both = uint64(simfs.Beneath | simfs.InRoot)
	)
	switch {
	case size > unsafe.Sizeof(how):
		return 0, syscall.E2BIG
	case how.flags&^allFlag != 0, how.resolve&^known != 0, how.resolve&both == both, how.mode&^0o7777 != 0,
		how.mode != 0 && how.flags&(syscall.O_CREAT|oTmpfile) == 0:
		return 0, syscall.EINVAL
	}
	return p.openAt(c, c.Arg[0], c.Ptr[1], int(how.flags), uint32(how.mode), simfs.Resolve(how.resolve&^(noXdev|cached)))
}

// aligned reports whether a transfer is one that a file opened with O_DIRECT
// takes: memory, offset and length in whole sectors.
func (f *file) aligned(b []byte, off int64) bool {
	if f.flags&syscall.O_DIRECT == 0 || f.node.Kind() != simfs.Regular {
		return true
	}
	return (uintptr(unsafe.Pointer(unsafe.SliceData(b)))|uintptr(len(b))|uintptr(off))%simfs.SectorSize == 0
}

func (f *file) readable() bool {
	return f.flags&syscall.O_ACCMODE != syscall.O_WRONLY && f.flags&oPath == 0
}

func (f *file) writable() bool {
	return f.flags&syscall.O_ACCMODE != syscall.O_RDONLY && f.flags&oPath == 0
}

// readAt reads from a file of the disk; b is the program's memory.
func (f *file) readAt(b []byte, off int64) (int, syscall.Errno) {
	if !f.readable() {
		return 0, syscall.EBADF
	}
	if f.node.Kind() == simfs.Generated {
		if off >= int64(len(f.content)) {
			return 0, 0
		}
		n := min(len(b), len(f.content)-int(off))
		if n > 0 {
			sched.CopyOut(unsafe.Pointer(unsafe.SliceData(b)), f.content[off:][:n])
		}
		return n, 0
	}
	if !f.aligned(b, off) {
		return 0, syscall.EINVAL
	}
	n, errno := f.node.ReadAt(b, off)
	if f.flags&syscall.O_NOATIME == 0 && len(b) > 0 && errno == 0 {
		f.node.Accessed()
	}
	return n, errno
}

// writeAt writes to a file of the disk; b is the program's memory. It returns
// where the write ended.
func (f *file) writeAt(b []byte, off int64) (n int, end int64, errno syscall.Errno) {
	if !f.writable() {
		return 0, off, syscall.EBADF
	}
	if f.flags&syscall.O_APPEND != 0 && f.node.Kind() == simfs.Regular && len(b) > 0 {
		off = f.node.Size()
	}
	if !f.aligned(b, off) {
		return 0, off, syscall.EINVAL
	}
	n, errno = f.node.WriteAt(b, off)
	if errno == 0 && n > 0 && f.flags&syscall.O_DSYNC != 0 {
		errno = f.sync(f.flags&syscall.O_SYNC != syscall.O_SYNC)
	}
	return n, off + int64(n), errno
}

// sync makes the file durable. A write-back that failed since the description
// last heard of one is told here.
func (f *file) sync(dataOnly bool) syscall.Errno {
	errno := f.node.Sync(dataOnly)
	if seq := f.node.ErrSeq(); seq != f.errSeq {
		f.errSeq, errno = seq, syscall.EIO
	}
	return errno
}

// readFile reads at the file's offset from what is no socket.
func (p *Process) readFile(f *file, b []byte) (int, syscall.Errno) {
	if f.kind == kindConsole {
		in := &f.owner.input
		n := min(len(b), len(*in))
		if n > 0 {
			sched.CopyOut(unsafe.Pointer(&b[0]), (*in)[:n])
			*in = (*in)[n:]
		}
		return n, 0
	}
	n, errno := f.readAt(b, f.off)
	f.off += int64(n)
	return n, errno
}

// writeFile writes at the file's offset to what is no socket.
func (p *Process) writeFile(f *file, b []byte) (int, syscall.Errno) {
	if f.kind == kindConsole {
		if f.fd == 0 {
			return 0, syscall.EBADF
		}
		for done := 0; done < len(b); {
			part := p.scratch[:min(len(b)-done, len(p.scratch))]
			sched.CopyIn(part, unsafe.Pointer(&b[done]))
			p.console[f.fd-1].write(p, f.fd, part)
			done += len(part)
		}
		return len(b), 0
	}
	n, end, errno := f.writeAt(b, f.off)
	if errno == 0 {
		f.off = end
	}
	return n, errno
}

func (p *Process) sysRead(c *Call) (uintptr, syscall.Errno) {
	f := p.lookup(c.Arg[0])
	if f == nil {
		return 0, syscall.EBADF
	}
	b, errno := buffer(c.Ptr[1], c.Arg[2])
	if errno != 0 {
		return 0, errno
	}
	if f.sock != nil {
		if len(b) == 0 {
			return 0, 0 // nothing is taken, unlike by recvfrom
		}
		return p.receive(c, f, b, 0, nil, nil)
	}
	if f.kind >= kindPipe {
		return p.readSpecial(c, f, b)
	}
	n, errno := p.readFile(f, b)
	return uintptr(n), errno
}

func (p *Process) sysWrite(c *Call) (uintptr, syscall.Errno) {
	f := p.lookup(c.Arg[0])
	if f == nil {
		return 0, syscall.EBADF
	}
	b, errno := buffer(c.Ptr[1], c.Arg[2])
	if errno != 0 {
		return 0, errno
	}
	if f.sock != nil {
		return p.send(c, f, b, 0, nil, 0)
	}
	if f.kind >= kindPipe {
		return p.writeSpecial(c, f, b)
	}
	n, errno := p.writeFile(f, b)
	return uintptr(n), errno
}

// sysPositioned is pread64 and pwrite64.
func (p *Process) sysPositioned(c *Call, write bool) (uintptr, syscall.Errno) {
	f := p.lookup(c.Arg[0])
	off := int64(c.Arg[3])
	switch {
	case f == nil:
		return 0, syscall.EBADF
	case off < 0:
		return 0, syscall.EINVAL
	case f.kind != kindDisk:
		return 0, syscall.ESPIPE
	}
	b, errno := buffer(c.Ptr[1], c.Arg[2])
	n := 0
	switch {
	case errno != 0:
	case write:
		n, _, errno = f.writeAt(b, off)
	default:
		n, errno = f.readAt(b, off)
	}
	return uintptr(n), errno
}

// maxIovecs is the most that readv and its kin take.
const maxIovecs = 1024

// iovec reads one element of an array of iovecs.
func iovec(base unsafe.Pointer, i int) (b []byte, errno syscall.Errno) {
	var v syscall.Iovec
	if errno := get(&v, unsafe.Add(base, uintptr(i)*unsafe.Sizeof(v))); errno != 0 {
		return nil, errno
	}
	return buffer(unsafe.Pointer(v.Base), uintptr(v.Len))
}

// Flags of preadv2 and pwritev2.
const (
	rwfHipri  = 0x01
	rwfDsync  = 0x02
	rwfSync   = 0x04
	rwfNowait = 0x08
	rwfAppend = 0x10
)

// sysVector2 is preadv2 and pwritev2.
func (p *Process) sysVector2(c *Call, write bool) (uintptr, syscall.Errno) {
	f, off, flags := p.lookup(c.Arg[0]), int64(c.Arg[3]), int(c.Arg[5])
	switch {
	case off < -1:
		return 0, syscall.EINVAL
	case f != nil && off != -1 && f.kind >= kindPipe:
		return 0, syscall.ESPIPE
	case f == nil || write && !f.writable() || !write && !f.readable():
		return 0, syscall.EBADF
	case flags&^(rwfHipri|rwfDsync|rwfSync|rwfNowait|rwfAppend) != 0:
		return 0, syscall.EOPNOTSUPP
	case f.kind != kindDisk:
		return p.sysVector(c, write, off != -1)
	}
	was := f.flags
	if flags&rwfAppend != 0 && write {
		f.flags |= syscall.O_APPEND
	}
	if flags&rwfDsync != 0 {
		f.flags |= syscall.O_DSYNC
	}
	if flags&rwfSync != 0 {
		f.flags |= syscall.O_SYNC
	}
	n, errno := p.sysVector(c, write, off != -1)
	f.flags = was
	return n, errno
}

// sysVector is readv and writev, and with positioned preadv and pwritev.
func (p *Process) sysVector(c *Call, write, positioned bool) (uintptr, syscall.Errno) {
	f := p.lookup(c.Arg[0])
	count := int(c.Arg[2])
	switch {
	case f == nil:
		return 0, syscall.EBADF
	case count < 0 || count > maxIovecs:
		return 0, syscall.EINVAL
	case count == 0:
		return 0, 0
	case absurd(c.Ptr[1]):
		return 0, syscall.EFAULT
	case positioned && f.kind != kindDisk:
		return 0, syscall.ESPIPE
	}
	if f.sock != nil {
		m := syscall.Msghdr{Iov: (*syscall.Iovec)(c.Ptr[1]), Iovlen: uint64(count)}
		if write {
			return p.sendMsg(c, f, &m, 0)
		}
		return p.receiveMsg(c, f, &m, 0)
	}
	if f.kind >= kindPipe {
		return p.vectorSpecial(c, f, count, write)
	}
	off := f.off
	if positioned {
		off = int64(c.Arg[3])
		if off < 0 {
			return 0, syscall.EINVAL
		}
	}
	total := 0
	for i := range count {
		b, errno := iovec(c.Ptr[1], i)
		n := 0
		switch {
		case errno != 0:
		case f.kind == kindConsole && write:
			n, errno = p.writeFile(f, b)
		case f.kind == kindConsole:
			n, errno = p.readFile(f, b)
		case write:
			n, off, errno = f.writeAt(b, off)
		default:
			n, errno = f.readAt(b, off)
			off += int64(n)
		}
		total += n
		if errno != 0 && total == 0 {
			return 0, errno
		}
		if errno != 0 || n < len(b) {
			break
		}
	}
	if !positioned {
		f.off = off
	}
	return uintptr(total), 0
}

func (p *Process) sysLseek(c *Call) (uintptr, syscall.Errno) {
	f := p.lookup(c.Arg[0])
	switch {
	case f == nil || f.flags&oPath != 0:
		return 0, syscall.EBADF
	case f.kind != kindDisk:
		return 0, syscall.ESPIPE
	}
	off, size := int64(c.Arg[1]), int64(0)
	if f.node.Kind() == simfs.Generated {
		size = int64(len(f.content))
	} else if f.node.Kind() == simfs.Regular {
		size = f.node.Size()
	}
	switch int(c.Arg[2]) {
	case 0: // SEEK_SET
	case 1: // SEEK_CUR
		off += f.off
	case 2: // SEEK_END
		off += size
	case 3, 4: // SEEK_DATA, SEEK_HOLE
		if f.node.Kind() == simfs.Regular {
			at, errno := f.node.SeekData(off, int(c.Arg[2]) == 4)
			if errno != 0 {
				return 0, errno
			}
			off = at
			break
		}
		if off < 0 || off >= size {
			return 0, syscall.ENXIO
		}
		if int(c.Arg[2]) == 4 {
			off = size
		}
	default:
		return 0, syscall.EINVAL
	}
	if off < 0 {
		return 0, syscall.EINVAL
	}
	f.off = off
	if off == 0 {
		f.names = nil
	}
	return uintptr(off), 0
}

func (p *Process) sysGetdents(c *Call) (uintptr, syscall.Errno) {
	f := p.lookup(c.Arg[0])
	switch {
	case f == nil || !f.readable():
		return 0, syscall.EBADF
	case f.kind != kindDisk || !f.node.IsDir():
		return 0, syscall.ENOTDIR
	case absurd(c.Ptr[1]):
		return 0, syscall.EFAULT
	case !f.node.Linked():
		return 0, syscall.ENOENT // it was removed
	}
	if f.flags&syscall.O_NOATIME == 0 {
		f.node.Accessed()
	}
	if f.names == nil {
		f.names = f.node.Names()
	}
	buf := p.scratch[:min(len(p.scratch), int(uint32(c.Arg[2])))]
	used := 0
	for ; f.off < int64(len(f.names))+2; f.off++ {
		name := ".."
		switch {
		case f.off == 0:
			name = "."
		case f.off > 1:
			name = f.names[f.off-2]
		}
		n := f.node.Entry(name)
		if n == nil {
			continue // removed since the listing began
		}
		size := (19 + len(name) + 1 + 7) &^ 7
		if used+size > len(buf) {
			if used == 0 {
				return 0, syscall.EINVAL
			}
			break
		}
		e := buf[used : used+size]
		clear(e)
		*(*uint64)(unsafe.Pointer(&e[0])) = n.Stat().Ino
		*(*int64)(unsafe.Pointer(&e[8])) = f.off + 1
		*(*uint16)(unsafe.Pointer(&e[16])) = uint16(size)
		e[18] = byte(modeOf(n.Kind()) >> 12)
		copy(e[19:], name)
		used += size
	}
	if used > 0 {
		sched.CopyOut(c.Ptr[1], buf[:used])
	}
	return uintptr(used), 0
}

package simfs

import (
	"io/fs"
	"strings"
	"syscall"
	"time"

	"github.com/dstkit/dst/sched"
)

// The methods in this file are for the test: the world's view of a host's
// disk. Paths are from the root. Faults do not befall them, and they draw
// nothing.

// WriteFile makes the file hold data, with the directories above it. It is
// durable at once, name and content, as if it had been there before the run.
func (d *Disk) WriteFile(path string, data []byte) error {
	sched.Enter()
	defer sched.Leave()
	defer d.quiet()()
	d.mkdirAll(parentOf(path), 0o755)
	n, errno := d.Open(d.root, path, OpenFlags{Create: true, Truncate: true, Write: true}, 0o644)
	if errno == 0 {
		_, errno = n.WriteAt(data, 0)
	}
	if errno != 0 {
		return &fs.PathError{Op: "write", Path: path, Err: errno}
	}
	n.sync(false)
	d.syncPath(path)
	return nil
}

// ReadFile returns what a process of the host would read from the file.
func (d *Disk) ReadFile(path string) ([]byte, error) {
	sched.Enter()
	defer sched.Leave()
	defer d.quiet()()
	n, errno := d.Lookup(d.root, path, true)
	if errno != 0 {
		return nil, &fs.PathError{Op: "open", Path: path, Err: errno}
	}
	switch n.kind {
	case Regular, Generated:
	case Directory:
		return nil, &fs.PathError{Op: "read", Path: path, Err: syscall.EISDIR}
	default:
		return nil, &fs.PathError{Op: "read", Path: path, Err: syscall.EINVAL}
	}
	b := make([]byte, n.Size())
	got, errno := n.ReadAt(b, 0)
	if errno != 0 {
		return nil, &fs.PathError{Op: "read", Path: path, Err: errno}
	}
	return b[:got], nil
}

// MkdirAll makes the directory and those above it, durable at once.
func (d *Disk) MkdirAll(path string) error {
	sched.Enter()
	defer sched.Leave()
	defer d.quiet()()
	if errno := d.mkdirAll(path, 0o755); errno != 0 {
		return &fs.PathError{Op: "mkdir", Path: path, Err: errno}
	}
	d.syncPath(path)
	return nil
}

// Remove removes a file or an empty directory, durable at once.
func (d *Disk) Remove(path string) error {
	sched.Enter()
	defer sched.Leave()
	defer d.quiet()()
	errno := d.Unlink(d.root, path)
	if errno == syscall.EISDIR {
		errno = d.Rmdir(d.root, path)
	}
	if errno != 0 {
		return &fs.PathError{Op: "remove", Path: path, Err: errno}
	}
	d.syncPath(parentOf(path))
	return nil
}

// Stat describes what is at path; a symbolic link in the last place is
// followed. Sys is the [Attr].
func (d *Disk) Stat(path string) (fs.FileInfo, error) {
	sched.Enter()
	defer sched.Leave()
	defer d.quiet()()
	n, errno := d.Lookup(d.root, path, true)
	if errno != 0 {
		return nil, &fs.PathError{Op: "stat", Path: path, Err: errno}
	}
	return info{path[strings.LastIndexByte(path, '/')+1:], n.Stat()}, nil
}

// Chmod sets the permission bits of what is at path, durable at once.
func (d *Disk) Chmod(path string, mode fs.FileMode) error {
	sched.Enter()
	defer sched.Leave()
	defer d.quiet()()
	n, errno := d.Lookup(d.root, path, true)
	if errno == 0 {
		n.Chmod(unixMode(mode))
		n.sync(false)
	}
	return d.durable("chmod", path, errno)
}

// Truncate sets the size of a file, durable at once.
func (d *Disk) Truncate(path string, size int64) error {
	sched.Enter()
	defer sched.Leave()
	defer d.quiet()()
	n, errno := d.Lookup(d.root, path, true)
	if errno == 0 {
		if errno = n.Truncate(size); errno == 0 {
			n.sync(false)
		}
	}
	return d.durable("truncate", path, errno)
}

// durable makes the way to path durable, or says what went wrong.
func (d *Disk) durable(op, path string, errno syscall.Errno) error {
	if errno != 0 {
		return &fs.PathError{Op: op, Path: path, Err: errno}
	}
	d.syncPath(path)
	return nil
}

// unixMode returns the permission bits that Linux has for a mode.
func unixMode(m fs.FileMode) uint32 {
	bits := uint32(m.Perm())
	if m&fs.ModeSetuid != 0 {
		bits |= syscall.S_ISUID
	}
	if m&fs.ModeSetgid != 0 {
		bits |= syscall.S_ISGID
	}
	if m&fs.ModeSticky != 0 {
		bits |= syscall.S_ISVTX
	}
	return bits
}

// info is what Stat returns.
type info struct {
	name string
	attr Attr
}

func (i info) Name() string       { return i.name }
func (i info) Size() int64        { return i.attr.Size }
func (i info) ModTime() time.Time { return time.Unix(0, i.attr.Mtime).UTC() }
func (i info) IsDir() bool        { return i.attr.Kind == Directory }
func (i info) Sys() any           { return i.attr }

func (i info) Mode() fs.FileMode {
	m := fs.FileMode(i.attr.Mode & 0o777)
	for _, bit := range [...]struct {
		unix uint32
		mode fs.FileMode
	}{{syscall.S_ISUID, fs.ModeSetuid}, {syscall.S_ISGID, fs.ModeSetgid}, {syscall.S_ISVTX, fs.ModeSticky}} {
		if i.attr.Mode&bit.unix != 0 {
			m |= bit.mode
		}
	}
	return m | map[Kind]fs.FileMode{
		Directory: fs.ModeDir, SymbolicLink: fs.ModeSymlink, Device: fs.ModeDevice | fs.ModeCharDevice,
		Fifo: fs.ModeNamedPipe, Socket: fs.ModeSocket,
	}[i.attr.Kind]
}

// List returns the sorted names in a directory.
func (d *Disk) List(path string) ([]string, error) {
	sched.Enter()
	defer sched.Leave()
	defer d.quiet()()
	n, errno := d.Lookup(d.root, path, true)
	if errno == 0 && n.kind != Directory {
		errno = syscall.ENOTDIR
	}
	if errno != 0 {
		return nil, &fs.PathError{Op: "list", Path: path, Err: errno}
	}
	return append([]string{}, n.Names()...), nil
}

// AddGenerated puts a read-only file at path whose content gen makes whenever
// it is opened; gen runs in kernel context. It replaces what was there.
func (d *Disk) AddGenerated(path string, gen func() []byte) {
	sched.Enter()
	defer sched.Leave()
	defer d.quiet()()
	d.Generate(path, gen)
}

// Generate is AddGenerated for kernel context.
func (d *Disk) Generate(path string, gen func() []byte) {
	n := d.newInode(Generated, 0o444)
	n.gen = gen
	d.place(path, n)
	d.syncPath(parentOf(path))
}

// AddSymlink puts a symbolic link at path. It replaces what was there.
func (d *Disk) AddSymlink(path, target string) {
	sched.Enter()
	defer sched.Leave()
	defer d.quiet()()
	d.PutSymlink(path, target)
}

// PutSymlink is AddSymlink for kernel context.
func (d *Disk) PutSymlink(path, target string) {
	d.PutSymlinkFunc(path, func() string { return target })
}

// PutSymlinkFunc is PutSymlink with a target that may change, as that of
// /proc/self/exe.
func (d *Disk) PutSymlinkFunc(path string, target func() string) {
	n := d.newInode(SymbolicLink, 0o777)
	n.target = target
	d.place(path, n)
	d.syncPath(parentOf(path))
}

// place enters n at path, with the directories above it.
func (d *Disk) place(path string, n *Inode) {
	d.mkdirAll(parentOf(path), 0o755)
	p, errno := d.walk(d.root, path, false, entry)
	if errno != 0 || dots(p.name) {
		panic("simfs: no place for " + path)
	}
	if p.node != nil {
		if p.node.kind == Directory {
			panic("simfs: " + path + " is a directory")
		}
		d.unlink(p)
	}
	d.link(p.dir, p.name, n)
}

func (d *Disk) mkdirAll(path string, mode uint32) syscall.Errno {
	for i := 1; i <= len(path); i++ {
		if i < len(path) && path[i] != '/' {
			continue
		}
		n, errno := d.Lookup(d.root, path[:i], true)
		if errno == syscall.ENOENT {
			errno = d.Mkdir(d.root, path[:i], mode)
		} else if errno == 0 && n.kind != Directory {
			errno = syscall.ENOTDIR
		}
		if errno != 0 {
			return errno
		}
	}
	return 0
}

// syncPath makes the entries that lead to path durable.
func (d *Disk) syncPath(path string) {
	d.root.sync(false)
	for i := 1; i <= len(path); i++ {
		if i < len(path) && path[i] != '/' {
			continue
		}
		if n, errno := d.Lookup(d.root, path[:i], true); errno == 0 && n.kind == Directory {
			n.sync(false)
		}
	}
}

func parentOf(path string) string {
	path = strings.TrimRight(path, "/")
	return path[:strings.LastIndexByte(path, '/')+1]
}

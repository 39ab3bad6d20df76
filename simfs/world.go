package simfs

import (
	"io/fs"
	"sort"
	"strings"
	"syscall"

	"github.com/dstkit/dst/sched"
)

// The methods in this file are for the test: the world's view of a host's
// disk. Paths are from the root.

// WriteFile makes the file hold data, with the directories above it. It is
// durable at once, name and content, as if it had been there before the run.
func (d *Disk) WriteFile(path string, data []byte) error {
	sched.Enter()
	defer sched.Leave()
	d.mkdirAll(parentOf(path), 0o755)
	n, errno := d.Open(d.root, path, OpenFlags{Create: true, Truncate: true, Write: true}, 0o644)
	if errno == 0 {
		_, errno = n.WriteAt(data, 0)
	}
	if errno != 0 {
		return &fs.PathError{Op: "write", Path: path, Err: errno}
	}
	n.Sync()
	d.syncPath(path)
	return nil
}

// ReadFile returns what a process of the host would read from the file.
func (d *Disk) ReadFile(path string) ([]byte, error) {
	sched.Enter()
	defer sched.Leave()
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

// List returns the sorted names in a directory.
func (d *Disk) List(path string) ([]string, error) {
	sched.Enter()
	defer sched.Leave()
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
	d.PutSymlink(path, target)
}

// PutSymlink is AddSymlink for kernel context.
func (d *Disk) PutSymlink(path, target string) {
	d.PutSymlinkFunc(path, func() string { return target })
}

// PutSymlinkFunc is PutSymlink with a target that may change, as that of
// /proc/self/exe.
func (d *Disk) PutSymlinkFunc(path string, target func() string) {
	n := d.newInode(Symlink, 0o777)
	n.target = target
	d.place(path, n)
	d.syncPath(parentOf(path))
}

// place enters n at path, with the directories above it.
func (d *Disk) place(path string, n *Inode) {
	d.mkdirAll(parentOf(path), 0o755)
	p, errno := d.walk(d.root, path, false)
	if errno != 0 || dots(p.name) {
		panic("simfs: no place for " + path)
	}
	if p.node != nil {
		if p.node.kind == Directory {
			panic("simfs: " + path + " is a directory")
		}
		d.drop(p.node)
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
	d.root.Sync()
	for i := 1; i <= len(path); i++ {
		if i < len(path) && path[i] != '/' {
			continue
		}
		if n, errno := d.Lookup(d.root, path[:i], true); errno == 0 && n.kind == Directory {
			n.Sync()
		}
	}
}

func parentOf(path string) string {
	path = strings.TrimRight(path, "/")
	return path[:strings.LastIndexByte(path, '/')+1]
}

func sortInodes(inodes []*Inode) {
	sort.Slice(inodes, func(i, j int) bool { return inodes[i].ino < inodes[j].ino })
}

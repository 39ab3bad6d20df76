package simfs

import (
	"encoding/binary"
	"strings"
	"syscall"

	"github.com/dstkit/dst/sched"
)

// Limits of names and paths, as on Linux.
const (
	maxName     = 255
	maxPath     = 4096
	maxSymlinks = 40
)

// An Rdev says which character device an inode is, as stat tells it.
type Rdev uint64

// The devices there are.
const (
	DevNull    Rdev = 1<<8 | 3
	DevZero    Rdev = 1<<8 | 5
	DevFull    Rdev = 1<<8 | 7
	DevRandom  Rdev = 1<<8 | 8
	DevUrandom Rdev = 1<<8 | 9
)

// A Disk is the file system of one host. It outlives the host's processes.
type Disk struct {
	world  *sched.World
	random *sched.Stream
	root   *Inode
	inodes uint64 // number given last
	walks  uint64 // number of the last walk over all inodes
	born   int64  // when it was made
}

// New returns the disk of a new host: /dev with its devices, /etc, /proc,
// /tmp, /root and /var, all of it durable. What /dev/urandom gives follows
// from the host's stream "rand".
func New(w *sched.World, host string) *Disk {
	d := &Disk{world: w, random: w.HostStream("rand", host), born: w.Now()}
	d.root = d.newInode(Directory, 0o755)
	d.root.parent = d.root
	d.root.nlink = 2
	d.root.presets = []func(*Inode){presetRoot}
	return d
}

func presetRoot(root *Inode) {
	dev := root.PresetDir("dev", 0o755)
	dev.presets = append(dev.presets, presetDev)
	root.PresetDir("etc", 0o755)
	root.PresetDir("proc", 0o555)
	root.PresetDir("root", 0o700)
	root.PresetDir("tmp", 0o1777)
	v := root.PresetDir("var", 0o755)
	v.presets = append(v.presets, presetVar)
}

func presetDev(dev *Inode) {
	for _, device := range [...]struct {
		name string
		rdev Rdev
	}{{"null", DevNull}, {"zero", DevZero}, {"full", DevFull}, {"random", DevRandom}, {"urandom", DevUrandom}} {
		n := dev.disk.newInode(Device, 0o666)
		n.rdev = device.rdev
		dev.preset(device.name, n)
	}
}

func presetVar(v *Inode) {
	v.PresetDir("lib", 0o755)
	v.PresetDir("log", 0o755)
	v.PresetDir("tmp", 0o1777)
}

func (d *Disk) now() int64 { return d.world.Now() }

func (d *Disk) newInode(kind Kind, mode uint32) *Inode {
	d.inodes++
	now := d.now()
	n := &Inode{disk: d, ino: d.inodes, kind: kind, mode: mode & 0o7777, nlink: 1, atime: now, mtime: now, ctime: now}
	if kind == Directory {
		n.nlink = 2
	}
	return n
}

// Root returns the root directory.
func (d *Disk) Root() *Inode { return d.root }

// A place is where a path leads.
type place struct {
	dir  *Inode // that holds the last component; for a path that ends in dots or is "/", the directory itself
	name string // last component: "", "." or ".." for those
	node *Inode // what is there; nil if nothing is
	dirs bool   // a slash at the end asks for a directory
}

// walk follows path from the directory at. With follow, a symbolic link in the
// last place is followed, too. That nothing has the last name is no error yet.
// Every lookup of the disk comes through here. It keeps no part of path.
func (d *Disk) walk(at *Inode, path string, follow bool) (p place, errno syscall.Errno) {
	if path == "" {
		return p, syscall.ENOENT
	}
	if len(path) >= maxPath {
		return p, syscall.ENAMETOOLONG
	}
	links := 0
	if path[0] == '/' {
		at = d.root
	}
	for {
		path = strings.TrimLeft(path, "/")
		if at.kind != Directory {
			return p, syscall.ENOTDIR
		}
		if path == "" {
			return place{dir: at, node: at, dirs: true}, 0
		}
		name, rest := path, ""
		if i := strings.IndexByte(path, '/'); i >= 0 {
			name, rest = path[:i], path[i:]
		}
		if len(name) > maxName {
			return p, syscall.ENAMETOOLONG
		}
		left := strings.TrimLeft(rest, "/")
		node := at.Entry(name)
		if at.nlink == 0 && name != "." && name != ".." {
			node = nil // a directory that was removed is empty
		}
		if node != nil && node.kind == Symlink && (left != "" || rest != "" || follow) {
			if links++; links > maxSymlinks {
				return p, syscall.ELOOP
			}
			path = node.target() + rest
			if path[0] == '/' {
				at = d.root
			}
			continue
		}
		if left == "" {
			p = place{dir: at, name: name, node: node, dirs: rest != ""}
			if node != nil && node.kind != Directory && p.dirs {
				return p, syscall.ENOTDIR
			}
			if name == "." || name == ".." {
				p.dir = node
			}
			return p, 0
		}
		if node == nil {
			return p, syscall.ENOENT
		}
		at, path = node, left
	}
}

// Lookup returns what path names, from the directory at.
func (d *Disk) Lookup(at *Inode, path string, follow bool) (*Inode, syscall.Errno) {
	p, errno := d.walk(at, path, follow)
	if errno == 0 && p.node == nil {
		errno = syscall.ENOENT
	}
	if errno != 0 {
		return nil, errno
	}
	return p.node, 0
}

// OpenFlags say how [Disk.Open] opens: the O_ flags that concern a path.
type OpenFlags struct {
	Create, Exclusive, Truncate bool
	DirectoryOnly, NoFollow     bool
	Write                       bool // opened for writing
	PathOnly                    bool // O_PATH
}

// Open finds or makes what path names.
func (d *Disk) Open(at *Inode, path string, f OpenFlags, mode uint32) (*Inode, syscall.Errno) {
	p, errno := d.walk(at, path, !f.NoFollow && !(f.Create && f.Exclusive))
	if errno != 0 {
		return nil, errno
	}
	n := p.node
	switch {
	case n == nil && !f.Create:
		return nil, syscall.ENOENT
	case n == nil && p.dirs:
		return nil, syscall.EISDIR
	case n == nil:
		if p.dir.nlink == 0 {
			return nil, syscall.ENOENT
		}
		n = d.newInode(Regular, mode)
		d.link(p.dir, p.name, n)
		return n, 0
	case f.Create && f.Exclusive:
		return nil, syscall.EEXIST
	case n.kind == Symlink && !f.PathOnly:
		return nil, syscall.ELOOP
	case n.kind == Directory && (f.Write || f.Create):
		return nil, syscall.EISDIR
	case n.kind != Directory && f.DirectoryOnly:
		return nil, syscall.ENOTDIR
	case n.kind == Generated && f.Write:
		if n.mode&0o200 == 0 {
			return nil, syscall.EACCES
		}
		n.settle()
	case n.kind == Socket && !f.PathOnly:
		return nil, syscall.ENXIO
	}
	if f.Truncate && n.kind == Regular {
		return n, n.Truncate(0)
	}
	return n, 0
}

// link enters n into dir.
func (d *Disk) link(dir *Inode, name string, n *Inode) {
	name = cloneName(name)
	dir.set(name, n)
	if n.kind == Directory {
		n.parent = dir
		dir.nlink++
	}
	dir.logEntry(&dirOp{add: name, node: n})
}

// Mkdir makes a directory.
func (d *Disk) Mkdir(at *Inode, path string, mode uint32) syscall.Errno {
	p, errno := d.vacant(at, path)
	if errno != 0 {
		return errno
	}
	d.link(p.dir, p.name, d.newInode(Directory, mode))
	return 0
}

// vacant finds the place for a new entry; a slash at its end is allowed.
func (d *Disk) vacant(at *Inode, path string) (place, syscall.Errno) {
	p, errno := d.walk(at, path, false)
	switch {
	case errno == syscall.ENOTDIR && p.node != nil, errno == 0 && p.node != nil:
		return p, syscall.EEXIST
	case errno != 0:
		return p, errno
	case p.dir.nlink == 0:
		return p, syscall.ENOENT
	}
	return p, 0
}

// Symlink makes a symbolic link to target.
func (d *Disk) Symlink(target string, at *Inode, path string) syscall.Errno {
	if target == "" {
		return syscall.ENOENT
	}
	if len(target) >= maxPath {
		return syscall.ENAMETOOLONG
	}
	p, errno := d.vacant(at, path)
	if errno == 0 && p.dirs {
		errno = syscall.ENOENT
	}
	if errno != 0 {
		return errno
	}
	n := d.newInode(Symlink, 0o777)
	target = strings.Clone(target)
	n.target = func() string { return target }
	d.link(p.dir, p.name, n)
	return 0
}

// Link gives the inode that oldPath names a second name.
func (d *Disk) Link(oldAt *Inode, oldPath string, follow bool, newAt *Inode, newPath string) syscall.Errno {
	n, errno := d.Lookup(oldAt, oldPath, follow)
	if errno != 0 {
		return errno
	}
	p, errno := d.vacant(newAt, newPath)
	switch {
	case errno != 0:
		return errno
	case p.dirs:
		return syscall.ENOENT
	case n.kind == Directory:
		return syscall.EPERM
	}
	n.nlink++
	n.ctime = d.now()
	d.link(p.dir, p.name, n)
	return 0
}

// Mknod makes an empty inode of kind Regular, Fifo or Socket.
func (d *Disk) Mknod(at *Inode, path string, kind Kind, mode uint32) (*Inode, syscall.Errno) {
	p, errno := d.vacant(at, path)
	if errno == 0 && p.dirs {
		errno = syscall.ENOENT
	}
	if errno != 0 {
		return nil, errno
	}
	n := d.newInode(kind, mode)
	d.link(p.dir, p.name, n)
	return n, 0
}

// Unlink removes a name that is no directory's.
func (d *Disk) Unlink(at *Inode, path string) syscall.Errno {
	p, errno := d.walk(at, path, false)
	switch {
	case errno != 0:
		return errno
	case p.node == nil:
		return syscall.ENOENT
	case p.node.kind == Directory:
		return syscall.EISDIR
	}
	d.drop(p.node)
	d.unlist(p)
	return 0
}

// Rmdir removes an empty directory.
func (d *Disk) Rmdir(at *Inode, path string) syscall.Errno {
	p, errno := d.walk(at, path, false)
	switch {
	case errno != 0:
		return errno
	case p.node == nil:
		return syscall.ENOENT
	case p.node.kind != Directory:
		return syscall.ENOTDIR
	case p.name == ".":
		return syscall.EINVAL
	case p.name == "..":
		return syscall.ENOTEMPTY
	case p.node == d.root:
		return syscall.EBUSY
	case p.node.size() > 0:
		return syscall.ENOTEMPTY
	}
	p.dir.nlink--
	d.drop(p.node)
	d.unlist(p)
	return 0
}

// unlist takes an entry out of its directory.
func (d *Disk) unlist(p place) {
	name := cloneName(p.name)
	delete(p.dir.entries, name)
	p.dir.logEntry(&dirOp{remove: name})
}

// drop takes one link from an inode.
func (d *Disk) drop(n *Inode) {
	n.ctime = d.now()
	if n.kind == Directory {
		n.nlink = 0
		return
	}
	n.nlink--
}

// RenameFlags are those of renameat2.
type RenameFlags struct {
	NoReplace, Exchange bool
}

// Rename gives what oldPath names the name newPath, and replaces what is
// there, in one step.
func (d *Disk) Rename(oldAt *Inode, oldPath string, newAt *Inode, newPath string, f RenameFlags) syscall.Errno {
	if f.Exchange {
		return syscall.EINVAL
	}
	from, errno := d.walk(oldAt, oldPath, false)
	if errno != 0 {
		return errno
	}
	to, toErrno := d.walk(newAt, newPath, false)
	if toErrno != 0 && !(toErrno == syscall.ENOTDIR && to.node != nil) {
		return toErrno
	}
	n, old := from.node, to.node
	switch {
	case dots(from.name) || dots(to.name):
		return syscall.EBUSY
	case n == nil:
		return syscall.ENOENT
	case f.NoReplace && old != nil:
		return syscall.EEXIST
	case n.kind != Directory && to.dirs:
		return syscall.ENOTDIR
	case n.kind == Directory && d.within(to.dir, n):
		return syscall.EINVAL
	case to.dir.nlink == 0:
		return syscall.ENOENT
	case old == n:
		return 0 // two names of one file: nothing happens, as POSIX has it
	case old == nil:
	case n.kind == Directory && old.kind != Directory:
		return syscall.ENOTDIR
	case n.kind != Directory && old.kind == Directory:
		return syscall.EISDIR
	case old.kind == Directory && old.size() > 0:
		return syscall.ENOTEMPTY
	}
	if old != nil {
		if old.kind == Directory {
			to.dir.nlink--
		}
		d.drop(old)
	}
	oldName, newName := cloneName(from.name), cloneName(to.name)
	delete(from.dir.entries, oldName)
	to.dir.set(newName, n)
	if n.kind == Directory {
		from.dir.nlink--
		to.dir.nlink++
		n.parent = to.dir
	}
	n.ctime = d.now()
	if from.dir == to.dir {
		from.dir.logEntry(&dirOp{remove: oldName, add: newName, node: n})
		return 0
	}
	add := &dirOp{add: newName, node: n}
	remove := &dirOp{remove: oldName, pair: add}
	add.pair = remove
	from.dir.logEntry(remove)
	to.dir.logEntry(add)
	return 0
}

func dots(name string) bool { return name == "" || name == "." || name == ".." }

// within reports whether dir is n or lies beneath it.
func (d *Disk) within(dir, n *Inode) bool {
	for ; dir != d.root; dir = dir.parent {
		if dir == n {
			return true
		}
		if dir.parent == nil || dir.parent == dir {
			return false
		}
	}
	return dir == n
}

// readDevice is read on a character device.
func (d *Disk) readDevice(dev Rdev, b []byte) (int, syscall.Errno) {
	switch dev {
	case DevNull:
		return 0, 0
	case DevZero, DevFull:
		zero(b)
		return len(b), 0
	case DevRandom, DevUrandom:
		Fill(d.random, b)
		return len(b), 0
	}
	return 0, syscall.ENXIO
}

// writeDevice is write on a character device.
func (d *Disk) writeDevice(dev Rdev, b []byte) (int, syscall.Errno) {
	if dev == DevFull {
		return 0, syscall.ENOSPC
	}
	return len(b), 0
}

// Fill fills b, which may be the program's memory, with random bytes.
func Fill(s *sched.Stream, b []byte) {
	var word [8]byte
	for len(b) > 0 {
		binary.LittleEndian.PutUint64(word[:], s.Uint64())
		b = b[move(b, word[:]):]
	}
}

package simfs

import (
	"strings"
	"syscall"
)

// The operations that change names.

// link enters n into dir.
func (d *Disk) link(dir *Inode, name string, n *Inode) {
	name = strings.Clone(name)
	d.record(record{kind: recAdd, dir: dir, name: name, node: n}).save(dir, n)
	fresh := n.nlink == 0 || n.kind == Directory
	dir.set(name, n)
	n.linked(dir)
	dir.touch()
	n.changed()
	if fresh {
		n.dataSeq = n.metaSeq
	}
}

// Mkdir makes a directory.
func (d *Disk) Mkdir(at *Inode, path string, mode uint32) syscall.Errno {
	p, errno := d.vacant(at, path)
	if errno != 0 {
		return errno
	}
	n, errno := p.dir.make(Directory, mode)
	if errno == 0 {
		d.link(p.dir, p.name, n)
	}
	return errno
}

// vacant finds the place for a new entry; a slash at its end is allowed.
func (d *Disk) vacant(at *Inode, path string) (place, syscall.Errno) {
	p, errno := d.walk(at, path, false, entry)
	switch {
	case errno == syscall.ENOTDIR && p.node != nil, errno == 0 && p.node != nil:
		return p, syscall.EEXIST
	case errno != 0:
		return p, errno
	case p.dir.nlink == 0:
		return p, syscall.ENOENT
	case p.dir.listing != nil:
		return p, syscall.EPERM
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
	n, errno := p.dir.make(SymbolicLink, 0o777)
	if errno != 0 {
		return errno
	}
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
	return d.LinkInode(n, newAt, newPath)
}

// LinkInode gives an inode that is open a name: the first one, if it was made by
// [Disk.Tmpfile].
func (d *Disk) LinkInode(n *Inode, at *Inode, path string) syscall.Errno {
	p, errno := d.vacant(at, path)
	switch {
	case errno != 0:
		return errno
	case p.dirs:
		return syscall.ENOENT
	case n.kind == Directory:
		return syscall.EPERM
	case n.nlink == 0 && !n.unnamed:
		return syscall.ENOENT
	case n.disk != d || p.dir.listing != nil:
		return syscall.EXDEV
	}
	d.link(p.dir, p.name, n)
	n.ctime = d.now()
	return 0
}

// Tmpfile makes a file without a name in the directory that path names, as
// O_TMPFILE does. With private it can never get one.
func (d *Disk) Tmpfile(at *Inode, path string, mode uint32, follow, private bool) (*Inode, syscall.Errno) {
	dir, errno := d.Lookup(at, path, follow)
	switch {
	case errno != 0:
		return nil, errno
	case dir.kind != Directory:
		return nil, syscall.ENOTDIR
	case dir.listing != nil:
		return nil, syscall.EOPNOTSUPP
	case dir.nlink == 0:
		return nil, syscall.ENOENT
	}
	n, errno := dir.make(Regular, mode)
	if errno == 0 {
		n.unnamed = !private
	}
	return n, errno
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
	n, errno := p.dir.make(kind, mode)
	if errno != 0 {
		return nil, errno
	}
	d.link(p.dir, p.name, n)
	return n, 0
}

// Unlink removes a name that is no directory's.
func (d *Disk) Unlink(at *Inode, path string) syscall.Errno {
	p, errno := d.walk(at, path, false, entry)
	switch {
	case errno != 0:
		return errno
	case p.node == nil:
		return syscall.ENOENT
	case p.node.kind == Directory:
		return syscall.EISDIR
	case p.dir.listing != nil:
		return syscall.EPERM
	}
	d.unlink(p)
	return 0
}

// Rmdir removes an empty directory.
func (d *Disk) Rmdir(at *Inode, path string) syscall.Errno {
	p, errno := d.walk(at, path, false, entry)
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
	case p.dir.listing != nil:
		return syscall.EPERM
	}
	d.unlink(p)
	return 0
}

// unlink takes an entry out of its directory.
func (d *Disk) unlink(p place) {
	n, dir := p.node, p.dir
	name := strings.Clone(p.name)
	d.record(record{kind: recRemove, dir: dir, name: name, node: n}).save(dir, n)
	dir.unset(name)
	n.unlinked(dir)
	dir.touch()
	n.ctime = d.now()
	n.changed()
	n.free()
}

// RenameFlags are those of renameat2.
type RenameFlags struct {
	NoReplace, Exchange bool
}

// Rename gives what oldPath names the name newPath, and replaces what is
// there, in one step; or with Exchange the two change places.
func (d *Disk) Rename(oldAt *Inode, oldPath string, newAt *Inode, newPath string, f RenameFlags) syscall.Errno {
	from, errno := d.walk(oldAt, oldPath, false, entry)
	if errno != 0 && !(errno == syscall.ENOTDIR && from.node != nil) {
		return errno
	}
	to, toErrno := d.walk(newAt, newPath, false, entry)
	if toErrno != 0 && !(toErrno == syscall.ENOTDIR && to.node != nil) {
		return toErrno
	}
	n, old := from.node, to.node
	switch {
	case dots(from.name):
		return syscall.EBUSY
	case dots(to.name) && f.NoReplace:
		return syscall.EEXIST
	case dots(to.name):
		return syscall.EBUSY
	case n == nil:
		return syscall.ENOENT
	case f.NoReplace && old != nil:
		return syscall.EEXIST
	case f.Exchange && old == nil:
		return syscall.ENOENT
	case errno != 0, f.Exchange && toErrno != 0, n.kind != Directory && to.dirs && !f.Exchange:
		return syscall.ENOTDIR
	case n.kind == Directory && d.within(to.dir, n):
		return syscall.EINVAL
	case old != nil && old.kind == Directory && d.within(from.dir, old):
		if f.Exchange {
			return syscall.EINVAL
		}
		return syscall.ENOTEMPTY
	case to.dir.nlink == 0:
		return syscall.ENOENT
	case from.dir.listing != nil || to.dir.listing != nil:
		return syscall.EPERM
	case old == n:
		return 0 // two names of one file: nothing happens, as POSIX has it
	case old == nil || f.Exchange:
	case n.kind == Directory && old.kind != Directory:
		return syscall.ENOTDIR
	case n.kind != Directory && old.kind == Directory:
		return syscall.EISDIR
	case old.kind == Directory && old.size() > 0:
		return syscall.ENOTEMPTY
	}
	if errno := to.dir.makeFault(); errno != 0 {
		return errno
	}
	r := record{
		kind: recRename, node: n, old: old,
		dir: from.dir, name: strings.Clone(from.name), dir2: to.dir, name2: strings.Clone(to.name),
	}
	if f.Exchange {
		d.exchange(&r)
		return 0
	}
	if old != nil && n.kind == Regular {
		n.allocate() // ext4's auto_da_alloc
	}
	d.record(r).save(r.dir, r.dir2, n, old)
	r.dir.unset(r.name)
	if old != nil {
		old.unlinked(r.dir2)
		old.ctime = d.now()
		old.changed()
	}
	r.dir2.set(r.name2, n)
	if n.kind == Directory {
		r.dir.nlink--
		r.dir2.nlink++
	}
	n.ctime = d.now()
	r.dir.touch()
	r.dir2.touch()
	n.changed()
	if old != nil {
		old.free()
	}
	return 0
}

// exchange carries out a rename that gives two things each other's place.
func (d *Disk) exchange(r *record) {
	r.kind = recExchange
	d.record(*r).save(r.dir, r.dir2, r.node, r.old)
	r.dir.set(r.name, r.old)
	r.dir2.set(r.name2, r.node)
	moveLinks(r.dir, r.dir2, r.node, r.old)
	r.node.ctime = d.now()
	r.old.ctime = r.node.ctime
	r.dir.touch()
	r.dir2.touch()
	r.node.changed()
	r.old.changed()
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

package simfs

import "syscall"

// A Kind is what an inode is.
type Kind uint8

const (
	Regular      Kind = iota // a file of pages
	Directory                // names of inodes
	SymbolicLink             // a path
	Device                   // a character device
	Generated                // a read-only file whose content a function makes
	Fifo                     // a named pipe
	Socket                   // the name of a Unix socket
)

// An Inode is one file, directory, link, device or other thing with a name on a
// disk.
//
// Its methods are for kernel context. What it holds is the page cache's view;
// the journal and the inode's log tell what of that may still be lost.
type Inode struct {
	disk *Disk
	ino  uint64
	kind Kind
	mode uint32 // permission bits
	uid  uint32
	gid  uint32

	nlink   uint32
	opens   uint32 // open file descriptions and mappings
	gone    bool   // neither named nor open: its space is free
	unnamed bool   // made without a name, and may get one
	system  bool   // put there by the system: a snapshot leaves it to each host
	parent  *Inode // the directory that it was last linked into; the root's is itself
	name    string // and under which name
	atime   int64
	mtime   int64
	ctime   int64

	// Durability; see journal.go and log.go.
	metaSeq uint64 // fsync makes the journal durable up to here
	dataSeq uint64 // fdatasync does
	marks   []mark
	log     []op
	logBase uint64 // number of log[0] among all operations of the file
	dirty   bool   // in disk.dirty
	delayed bool   // the log holds writes whose blocks are not allocated yet
	emptied bool   // truncated to nothing: closing it allocates
	tainted bool   // the medium differs from the cache without the log knowing
	errSeq  uint32 // counts failed write-backs

	// Regular files.
	data, synced content
	bad          map[int64]bool // pages that cannot be read
	badMedium    map[int64]bool // those that cannot once the cache is gone
	memory       Memory         // behind mappings of the file, or nil

	// Directories.
	entries map[string]*Inode
	names   []string // the entries' names, sorted; nil when it must be made again
	listing func() []string
	find    func(name string) *Inode
	synSeq  uint64 // under Any: changes below it are durable

	presets []func(dir *Inode) // what it begins with, until it is looked into
	loaded  bool

	target func() string // SymbolicLink
	jump   func() *Inode // SymbolicLink: what it leads to whatever the target says
	rdev   Rdev          // Device
	gen    func() []byte // Generated
	last   string        // Generated: the content when it was last looked at
	mark   uint64        // of the last walk over all inodes

	// Attached is what the kernel keeps of the inode while a process uses it:
	// the pipe of a Fifo, the socket of a Socket, locks and mappings of a file.
	Attached any
}

// An Attr is what stat tells of an inode.
type Attr struct {
	Ino                 uint64
	Kind                Kind
	Mode                uint32 // permission bits
	Nlink               uint32
	UID, GID            uint32
	Rdev                Rdev
	Size                int64
	Blocks              int64 // of 512 bytes
	Atime, Mtime, Ctime int64 // nanoseconds since the Unix epoch
}

// Kind tells what the inode is.
func (n *Inode) Kind() Kind { return n.kind }

// IsDir reports whether the inode is a directory.
func (n *Inode) IsDir() bool { return n.kind == Directory }

// Rdev tells which device the inode is.
func (n *Inode) Rdev() Rdev { return n.rdev }

// Linked reports whether the inode has a name.
func (n *Inode) Linked() bool { return n.nlink > 0 }

// Size returns the length of the content.
func (n *Inode) Size() int64 {
	switch n.kind {
	case Regular:
		return n.data.size
	case SymbolicLink:
		return int64(len(n.target()))
	case Directory:
		return PageSize
	case Generated:
		return int64(len(n.Content()))
	}
	return 0
}

// Stat returns the inode's attributes.
func (n *Inode) Stat() Attr {
	a := Attr{
		Ino: n.ino, Kind: n.kind, Mode: n.mode, Nlink: n.nlink, UID: n.uid, GID: n.gid, Rdev: n.rdev,
		Size: n.Size(), // first: it may find that a generated file changed
	}
	a.Atime, a.Mtime, a.Ctime = n.atime, n.mtime, n.ctime
	switch n.kind {
	case Regular:
		a.Blocks = n.data.allocated() * (PageSize / 512)
	case Directory:
		a.Blocks = PageSize / 512
	}
	return a
}

// Content makes the content of a generated file. The caller must not change it.
func (n *Inode) Content() []byte {
	b := n.gen()
	if string(b) != n.last {
		n.last = string(b)
		n.mtime = n.disk.now()
		n.ctime = n.mtime
	}
	return b
}

// Chmod sets the permission bits.
func (n *Inode) Chmod(mode uint32) {
	r := n.disk.record(record{kind: recAttr, node: n, mode: n.mode, uid: n.uid, gid: n.gid})
	r.save(n)
	n.mode = mode & 0o7777
	n.ctime = n.disk.now()
	n.changed()
}

// Chown sets the owner; -1 leaves one as it is. As Linux does, it takes the
// set-user-ID bit from what is no directory, and the set-group-ID bit if the
// group may execute it.
func (n *Inode) Chown(uid, gid int32) {
	r := n.disk.record(record{kind: recAttr, node: n, mode: n.mode, uid: n.uid, gid: n.gid})
	r.save(n)
	if uid != -1 {
		n.uid = uint32(uid)
	}
	if gid != -1 {
		n.gid = uint32(gid)
	}
	if n.kind != Directory {
		n.mode &^= syscall.S_ISUID
		if n.mode&0o010 != 0 {
			n.mode &^= syscall.S_ISGID
		}
	}
	n.ctime = n.disk.now()
	n.changed()
}

// SetTimes sets the times of last access and change.
func (n *Inode) SetTimes(atime, mtime int64) {
	r := n.disk.record(record{kind: recAttr, node: n, mode: n.mode, uid: n.uid, gid: n.gid})
	r.save(n)
	n.atime, n.mtime, n.ctime = atime, mtime, n.disk.now()
	n.changed()
}

// changed notes that fsync of the inode has to wait for what the journal holds.
func (n *Inode) changed() { n.metaSeq = n.disk.seq() }

// Accessed is told of each read of the inode's content by a process. The time of
// access is kept as the mount option relatime says: it moves if it is not
// after the last change, or a day old.
func (n *Inode) Accessed() {
	const day = 24 * 3600e9
	now := n.disk.now()
	if n.atime <= n.mtime || n.atime <= n.ctime || now-n.atime >= day {
		n.atime = now
	}
}

// Readlink returns the target of a symbolic link.
func (n *Inode) Readlink() (string, syscall.Errno) {
	if n.kind != SymbolicLink {
		return "", syscall.EINVAL
	}
	return n.target(), 0
}

// Hold tells that the inode is open once more.
func (n *Inode) Hold() { n.opens++ }

// Drop ends a Hold; written tells whether it was open for writing.
func (n *Inode) Drop(written bool) {
	n.opens--
	if n.emptied && written && !n.disk.off {
		// ext4's auto_da_alloc: a file that was truncated to nothing and written
		// anew is allocated when it is closed.
		n.emptied = false
		n.allocate()
	}
	n.free()
}

// free gives back the space of an inode that nobody can reach any more.
func (n *Inode) free() {
	if n.nlink > 0 || n.opens > 0 || n.gone {
		return
	}
	n.gone = true
	if d := n.disk; d.limited() {
		d.used -= n.data.allocated()
		d.live--
	}
}

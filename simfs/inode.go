package simfs

import (
	"sort"
	"strings"
	"syscall"
)

// A Kind is what an inode is.
type Kind uint8

const (
	Regular   Kind = iota // a file of pages
	Directory             // names of inodes
	Symlink               // a path
	Device                // a character device
	Generated             // a read-only file whose content a function makes
	Fifo                  // a named pipe
	Socket                // the name of a Unix socket
)

// An Inode is one file, directory, link, device or other thing with a name on a
// disk.
//
// Its methods are for kernel context. Current and durable state differ by
// exactly what log holds: durable state plus log is the current state.
type Inode struct {
	disk *Disk
	ino  uint64
	kind Kind
	mode uint32 // permission bits
	uid  uint32
	gid  uint32

	nlink  uint32
	parent *Inode // of a directory; the root's is itself
	atime  int64
	mtime  int64
	ctime  int64

	// Regular files.
	data, synced content
	log          []op

	// Directories.
	entries, durable map[string]*Inode
	names            []string // the entries' names, sorted; nil when it must be made again
	dirLog           []*dirOp
	logged, dropped  int // operations ever in the log, and those that left it
	keep             int // how much of the log is about to be made durable

	presets []func(dir *Inode) // what it begins with, until it is looked into
	loaded  bool

	target func() string // Symlink
	rdev   Rdev          // Device
	gen    func() []byte // Generated
	last   string        // Generated: the content when it was last looked at
	mark   uint64        // of the last walk over all inodes

	// Attached is what the kernel keeps of a Fifo or Socket while a process has
	// it open, and nil otherwise.
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

// Size returns the length of the content.
func (n *Inode) Size() int64 {
	switch n.kind {
	case Regular:
		return n.data.size
	case Symlink:
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
	if n.kind == Regular {
		for _, pg := range n.data.pages {
			if pg != nil {
				a.Blocks += PageSize / 512
			}
		}
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
	n.mode = mode & 0o7777
	n.ctime = n.disk.now()
}

// Chown sets the owner; -1 leaves one as it is.
func (n *Inode) Chown(uid, gid int32) {
	if uid != -1 {
		n.uid = uint32(uid)
	}
	if gid != -1 {
		n.gid = uint32(gid)
	}
	n.ctime = n.disk.now()
}

// SetTimes sets the times of last access and change.
func (n *Inode) SetTimes(atime, mtime int64) {
	n.atime, n.mtime, n.ctime = atime, mtime, n.disk.now()
}

// Readlink returns the target of a symbolic link.
func (n *Inode) Readlink() (string, syscall.Errno) {
	if n.kind != Symlink {
		return "", syscall.EINVAL
	}
	return n.target(), 0
}

// Names returns the sorted names of a directory's entries, without "." and
// "..". The slice stays as it is when the directory changes later.
func (n *Inode) Names() []string {
	if n.names == nil {
		n.names = make([]string, 0, n.size())
		for name := range n.entries {
			n.names = append(n.names, name)
		}
		sort.Strings(n.names)
	}
	return n.names
}

// Entry returns what a name of the directory stands for, or nil.
func (n *Inode) Entry(name string) *Inode {
	switch name {
	case ".":
		return n
	case "..":
		return n.parent
	}
	if !n.loaded {
		n.load()
	}
	return n.entries[name]
}

// size returns how many entries the directory has.
func (n *Inode) size() int {
	if !n.loaded {
		n.load()
	}
	return len(n.entries)
}

// Path returns the path of a directory from the root, as getcwd does.
func (n *Inode) Path() (string, syscall.Errno) {
	if n == n.disk.root {
		return "/", 0
	}
	path := ""
	for n != n.disk.root {
		up := n.parent
		if n.nlink == 0 || up == nil {
			return "", syscall.ENOENT
		}
		name := ""
		for _, candidate := range up.Names() {
			if up.entries[candidate] == n {
				name = candidate
				break
			}
		}
		path = "/" + name + path
		n = up
	}
	return path, 0
}

// A dirOp is one operation of a directory's log.
type dirOp struct {
	dir *Inode
	seq int // number among the directory's operations

	remove string // name that went away, if any
	add    string // name that came, if any
	node   *Inode // what add stands for

	pair *dirOp // the other half of a rename between two directories
}

// logEntry puts an operation in the directory's log.
func (n *Inode) logEntry(o *dirOp) {
	o.dir, o.seq = n, n.logged
	n.logged++
	n.names = nil
	n.mtime = n.disk.now()
	n.ctime = n.mtime
	n.dirLog = append(n.dirLog, o)
	if len(n.dirLog) > MaxLog {
		n.commitEntries(MaxLog / 2)
	}
}

// commitEntries makes the first count operations of the directory durable.
func (n *Inode) commitEntries(count int) {
	if count > 0 {
		n.keep = count
		commitDirs([]*Inode{n})
	}
}

// commitDirs makes the first keep operations of each directory durable. The
// two halves of a rename become durable together, and with each half all that
// its directory did before: so keep grows, and with it the list.
func commitDirs(dirs []*Inode) {
	first := 0 // of the directories that grew since they were looked at
	for todo := dirs; first < len(todo); first++ {
		n := todo[first]
		for _, o := range n.dirLog[:n.keep] {
			if o.pair == nil {
				continue
			}
			other := o.pair.dir
			if need := o.pair.seq - other.dropped + 1; need > other.keep {
				other.keep = need
				todo = append(todo, other)
			}
		}
		dirs = todo
	}
	for _, n := range dirs {
		for _, o := range n.dirLog[:n.keep] {
			if o.remove != "" {
				delete(n.durable, o.remove)
			}
			if o.add != "" {
				if n.durable == nil {
					n.durable = make(map[string]*Inode)
				}
				n.durable[o.add] = o.node
			}
		}
		n.dropped += n.keep
		if n.keep == len(n.dirLog) {
			clear(n.dirLog)
			n.dirLog = n.dirLog[:0]
		} else {
			n.dirLog = append([]*dirOp(nil), n.dirLog[n.keep:]...)
		}
		n.keep = 0
	}
}

// Sync makes the inode's content durable: a file's bytes and size, or a
// directory's entries.
func (n *Inode) Sync() syscall.Errno {
	switch n.kind {
	case Directory:
		n.commitEntries(len(n.dirLog))
	case Regular:
		n.commit(len(n.log))
	case Generated, Device, Fifo, Socket:
		return syscall.EINVAL
	}
	return 0
}

func cloneName(name string) string { return strings.Clone(name) }

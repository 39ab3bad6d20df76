package simfs

import (
	"encoding/binary"
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
	RdevNull    Rdev = 1<<8 | 3
	RdevZero    Rdev = 1<<8 | 5
	RdevFull    Rdev = 1<<8 | 7
	RdevRandom  Rdev = 1<<8 | 8
	RdevUrandom Rdev = 1<<8 | 9
)

// A Disk is the file system of one host. It outlives the host's processes.
type Disk struct {
	world  *sched.World
	random *sched.Stream
	clock  func() int64
	root   *Inode
	inodes uint64 // number given last
	walks  uint64 // number of the last walk over all inodes
	born   int64  // when it was made

	off       bool // the power is gone
	model     Model
	journal   []record
	committed uint64   // records that are durable
	dirty     []*Inode // with a log, or tainted
	arena     []byte   // for what logs keep
	arenaSize int

	maxPages, used int64 // limit of space; 0 is none
	maxLive, live  int64 // limit of inodes
	system         []presetFill
	rules          []*rule
	faulty         bool // there are rules
}

// New returns the disk of a new host: /dev with its devices, /etc, /proc,
// /tmp, /root, /run, /usr and /var, all of it durable. What /dev/urandom gives follows
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
	root.PresetDir("run", 0o755)
	root.PresetDir("tmp", 0o1777)
	u := root.PresetDir("usr", 0o755)
	u.presets = append(u.presets, presetUsr)
	v := root.PresetDir("var", 0o755)
	v.presets = append(v.presets, presetVar)
}

func presetDev(dev *Inode) {
	for _, device := range [...]struct {
		name string
		rdev Rdev
	}{{"null", RdevNull}, {"zero", RdevZero}, {"full", RdevFull}, {"random", RdevRandom}, {"urandom", RdevUrandom}} {
		n := dev.disk.newInode(Device, 0o666)
		n.rdev = device.rdev
		dev.preset(device.name, n)
	}
}

func presetUsr(u *Inode) {
	u.PresetDir("bin", 0o755)
	u.PresetDir("lib", 0o755)
	u.PresetDir("share", 0o755)
	u.PresetDir("local", 0o755).PresetDir("bin", 0o755)
}

func presetVar(v *Inode) {
	v.PresetDir("lib", 0o755)
	v.PresetDir("log", 0o755)
	v.PresetDir("tmp", 0o1777)
}

func (d *Disk) now() int64 {
	if d.clock != nil {
		return d.clock()
	}
	return d.world.Now()
}

// SetClock says what tells the times of files: the host's wall clock. Without it
// that is the world's time.
func (d *Disk) SetClock(now func() int64) { d.clock = now }

func (d *Disk) newInode(kind Kind, mode uint32) *Inode {
	d.inodes++
	now := d.now()
	n := &Inode{disk: d, ino: d.inodes, kind: kind, mode: mode & 0o7777, atime: now, mtime: now, ctime: now}
	if kind == Directory {
		n.nlink = 2
	}
	return n
}

// make is newInode for what a process makes in a directory: there may be no room.
func (dir *Inode) make(kind Kind, mode uint32) (*Inode, syscall.Errno) {
	d := dir.disk
	if errno := dir.makeFault(); errno != 0 {
		return nil, errno
	}
	if d.limited() {
		if d.maxLive > 0 && d.live >= d.maxLive {
			return nil, syscall.ENOSPC
		}
		d.live++
	}
	n := d.newInode(kind, mode)
	if dir.mode&syscall.S_ISGID != 0 { // inherited
		n.gid = dir.gid
		if kind == Directory {
			n.mode |= syscall.S_ISGID
		}
	}
	return n, 0
}

// Root returns the root directory.
func (d *Disk) Root() *Inode { return d.root }

// OpenFlags say how [Disk.Open] opens: the O_ flags that concern a path.
type OpenFlags struct {
	Create, Exclusive, Truncate bool
	DirectoryOnly, NoFollow     bool
	Write                       bool // opened for writing
	PathOnly                    bool // O_PATH
	Resolve                     Resolve
}

// Open finds or makes what path names.
func (d *Disk) Open(at *Inode, path string, f OpenFlags, mode uint32) (*Inode, syscall.Errno) {
	if f.Create {
		f.Resolve |= creating
	}
	p, errno := d.walk(at, path, !f.NoFollow && !(f.Create && f.Exclusive), f.Resolve)
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
		if p.dir.listing != nil {
			return nil, syscall.EACCES
		}
		n, errno = p.dir.make(Regular, mode)
		if errno == 0 {
			d.link(p.dir, p.name, n)
		}
		return n, errno
	case f.Create && f.Exclusive:
		return nil, syscall.EEXIST
	case n.kind == SymbolicLink && f.DirectoryOnly && !f.Create:
		return nil, syscall.ENOTDIR
	case n.kind == SymbolicLink && !f.PathOnly:
		return nil, syscall.ELOOP
	case n.kind == Directory && (f.Write || f.Create || f.Truncate):
		return nil, syscall.EISDIR
	case n.kind != Directory && f.DirectoryOnly:
		return nil, syscall.ENOTDIR
	case n.kind == Generated && f.Write:
		if n.mode&0o200 == 0 {
			return nil, syscall.EACCES
		}
		n.plain()
	case n.kind == Socket && !f.PathOnly:
		return nil, syscall.ENXIO
	}
	if f.Truncate && n.kind == Regular {
		return n, n.Truncate(0)
	}
	return n, 0
}

// readDevice is read on a character device.
func (d *Disk) readDevice(dev Rdev, b []byte) (int, syscall.Errno) {
	switch dev {
	case RdevNull:
		return 0, 0
	case RdevZero, RdevFull:
		zero(b)
		return len(b), 0
	case RdevRandom, RdevUrandom:
		Fill(d.random, b)
		return len(b), 0
	}
	return 0, syscall.ENXIO
}

// writeDevice is write on a character device.
func (d *Disk) writeDevice(dev Rdev, b []byte) (int, syscall.Errno) {
	if dev == RdevFull {
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

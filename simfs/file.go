package simfs

import (
	"syscall"
	"unsafe"

	"github.com/dstkit/dst/sched"
)

// ReadAt copies what the file holds at off into b and tells how much that was;
// 0 is the end of the file. Devices give what they give. The buffer may be the
// program's memory.
func (n *Inode) ReadAt(b []byte, off int64) (int, syscall.Errno) {
	switch n.kind {
	case Regular:
		if n.memory != nil {
			n.memory.Pull(off, int64(len(b)))
		}
		if n.bad != nil || n.disk.faulty {
			return n.readFaulty(b, off)
		}
		return n.data.readAt(b, off), 0
	case Directory:
		return 0, syscall.EISDIR
	case Device:
		return n.disk.readDevice(n.rdev, b)
	case Generated:
		if c := n.Content(); off < int64(len(c)) {
			return move(b, c[off:]), 0
		}
		return 0, 0
	}
	return 0, syscall.EINVAL
}

// WriteAt writes b, which may be the program's memory, at off. The file grows
// as needed. On a disk that is full it writes what there is room for.
func (n *Inode) WriteAt(b []byte, off int64) (int, syscall.Errno) {
	switch n.kind {
	case Regular:
	case Directory:
		return 0, syscall.EISDIR
	case Device:
		return n.disk.writeDevice(n.rdev, b)
	default:
		return 0, syscall.EINVAL
	}
	if len(b) == 0 {
		return 0, 0
	}
	if off < 0 || off >= MaxSize {
		return 0, syscall.EFBIG
	}
	b = b[:min(int64(len(b)), MaxSize-off)]
	if n.memory != nil {
		n.memory.Pull(off, int64(len(b)))
	}
	if n.disk.faulty {
		if errno := n.writeFault(); errno != 0 {
			return 0, errno
		}
	}
	if len(n.bad) > 0 {
		if errno := n.mended(off, int64(len(b))); errno != 0 {
			return 0, errno
		}
	}
	if n.disk.limited() {
		room := n.disk.room(&n.data, off, int64(len(b)))
		if room == 0 {
			return 0, syscall.ENOSPC
		}
		b = b[:room]
	}
	kept := n.disk.keep(len(b)) // the log's own, in one piece
	sched.CopyIn(kept, unsafe.Pointer(unsafe.SliceData(b)))
	n.touchData()
	for done := 0; done < len(b); {
		at := off + int64(done)
		part := kept[done:min(len(b), done+PageSize-int(at%PageSize))]
		n.put(part, at)
		done += len(part)
	}
	if n.memory != nil {
		n.memory.Push(off, kept)
	}
	return len(b), 0
}

// keep returns memory for what the log keeps. Small pieces come from one that is
// larger.
func (d *Disk) keep(n int) []byte {
	const largest = 1 << 15
	if n > largest/8 {
		return make([]byte, n)
	}
	if n > len(d.arena) {
		d.arenaSize = min(largest, max(1<<10, 2*d.arenaSize, 2*n))
		d.arena = make([]byte, d.arenaSize)
	}
	b := d.arena[:n:n]
	d.arena = d.arena[n:]
	return b
}

// Store is a write to a page by way of a mapping: it was made in memory, and
// part, which the disk keeps, is what is found there now.
func (n *Inode) Store(part []byte, off int64) {
	if off >= n.data.size {
		return // beyond the end of the file: the page's rest is nobody's
	}
	part = part[:min(int64(len(part)), n.data.size-off)]
	n.touchData()
	n.put(part, off)
}

// put writes a part of a page, which the log keeps, to the page cache.
func (n *Inode) put(part []byte, at int64) {
	o := op{kind: opWrite, off: at, data: part}
	o.extends = at+int64(len(part)) > n.data.size
	if pg := n.data.at(at / PageSize); pg == nil || len(pg.b) == 0 {
		o.allocates = true
		if pg == nil && n.disk.limited() {
			n.disk.used++
		}
	}
	n.data.put(part, at)
	if n.tainted {
		// The medium may lack what the cache has of the page: it gets all of it.
		index := at / PageSize
		o.off = index * PageSize
		o.data = append([]byte(nil), n.data.pages[index].b...)
		o.data = o.data[:min(int64(len(o.data)), n.data.size-o.off)]
		o.extends = o.extends || n.data.size > n.synced.size
		o.allocates = o.allocates || n.synced.at(index) == nil
	}
	n.logOp(o)
}

// touchData is what a write does to a file's attributes.
func (n *Inode) touchData() {
	n.mtime = n.disk.now()
	n.ctime = n.mtime
	n.changed()
}

// Truncate sets the size of a regular file.
func (n *Inode) Truncate(size int64) syscall.Errno {
	switch {
	case n.kind == Directory:
		return syscall.EISDIR
	case n.kind != Regular || size < 0:
		return syscall.EINVAL
	case size > MaxSize:
		return syscall.EFBIG
	}
	if n.memory != nil {
		n.memory.Pull(0, max(size, n.data.size))
	}
	n.disk.record(record{kind: recData, node: n}).save(n)
	n.touchData()
	n.dataSeq = n.metaSeq
	if size == n.data.size {
		return 0
	}
	if n.disk.limited() {
		n.disk.used -= n.data.allocated()
	}
	n.data.truncate(size)
	if n.disk.limited() {
		n.disk.used += n.data.allocated()
	}
	n.logOp(op{kind: opTruncate, off: size})
	n.setMark()
	if size == 0 {
		n.emptied, n.delayed = true, false
	}
	if n.memory != nil {
		n.memory.Resize(size)
	}
	return 0
}

// Modes of [Inode.Allocate], as fallocate takes them.
const (
	AllocKeepSize = 0x01
	AllocPunch    = 0x02
	AllocZero     = 0x10
)

// Allocatable reports whether Allocate knows the mode.
func Allocatable(mode int) bool {
	return mode&^(AllocKeepSize|AllocPunch|AllocZero) == 0 && (mode&AllocPunch == 0 || mode == AllocPunch|AllocKeepSize)
}

// Allocate is fallocate: it reserves space for a range, or with AllocPunch
// gives it back, or with AllocZero makes it zeroes.
func (n *Inode) Allocate(mode int, off, length int64) syscall.Errno {
	switch {
	case n.kind == Directory:
		return syscall.EISDIR
	case n.kind == Fifo:
		return syscall.ESPIPE
	case n.kind != Regular:
		return syscall.ENODEV
	case off < 0 || length <= 0:
		return syscall.EINVAL
	case !Allocatable(mode):
		return syscall.EOPNOTSUPP
	case off+length > MaxSize || off+length < 0:
		return syscall.EFBIG
	}
	end := off + length
	if n.memory != nil {
		n.memory.Pull(off, length)
	}
	limited := n.disk.limited()
	if limited && mode&AllocPunch == 0 && n.disk.used+n.data.holes(off, end) > n.disk.maxPages {
		return syscall.ENOSPC
	}
	n.disk.record(record{kind: recData, node: n}).save(n)
	n.touchData()
	n.dataSeq = n.metaSeq
	if limited {
		n.disk.used -= n.data.allocated()
	}
	o := op{kind: opReserve, off: off, end: end, size: n.data.size}
	switch {
	case mode&AllocPunch != 0:
		o.kind = opPunch
	case mode&AllocZero != 0:
		o.kind = opZero
	}
	if mode&AllocKeepSize == 0 {
		o.size = max(o.size, end)
	}
	o.apply(&n.data)
	if limited {
		n.disk.used += n.data.allocated()
	}
	n.logOp(o)
	n.setMark()
	if n.memory != nil {
		n.memory.Resize(n.data.size)
		if o.kind != opReserve {
			for at := off; at < min(end, n.data.size); {
				part := zeroes[:min(PageSize, min(end, n.data.size)-at)]
				n.memory.Push(at, part)
				at += int64(len(part))
			}
		}
	}
	return 0
}

// SeekData finds the next data, or with hole the next hole, from off on: the
// SEEK_DATA and SEEK_HOLE of lseek. Space that was only reserved is a hole.
func (n *Inode) SeekData(off int64, hole bool) (int64, syscall.Errno) {
	size := n.data.size
	if off < 0 || off >= size {
		return 0, syscall.ENXIO
	}
	for at := off; at < size; at = (at/PageSize + 1) * PageSize {
		if data := len(n.data.at(at/PageSize).bytes()) > 0; data != hole {
			return at, 0
		}
	}
	if hole {
		return size, 0
	}
	return 0, syscall.ENXIO
}

// Memory is what the kernel keeps behind mappings of a file. The disk tells it
// of changes, and asks it for those that were made there.
type Memory interface {
	// Pull has the kernel call [Inode.Store] for what was written in a range.
	Pull(off, length int64)
	// Push writes b, which was written to the file, to the memory.
	Push(off int64, b []byte)
	// Resize tells the file's new size.
	Resize(size int64)
}

// EachPage calls f for each page of a regular file that holds something.
func (n *Inode) EachPage(f func(off int64, b []byte)) {
	for i, pg := range n.data.pages {
		if b := pg.bytes(); len(b) > 0 {
			f(int64(i)*PageSize, b)
		}
	}
}

// Page returns what the page cache holds of the page at off, without the zeroes
// at its end. The caller must not change or keep it.
func (n *Inode) Page(off int64) []byte { return n.data.at(off / PageSize).bytes() }

// SetMemory says what is behind the file's mappings; nil if there are none.
func (n *Inode) SetMemory(m Memory) { n.memory = m }

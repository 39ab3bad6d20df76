package simfs

import (
	"syscall"
	"unsafe"

	"github.com/dstkit/dst/sched"
)

const (
	// PageSize is the size of a page of the page cache.
	PageSize = 4096
	// MaxLog is how many operations an inode's log holds before its oldest
	// half is written back.
	MaxLog = 4096
	// MaxSize bounds the size of a file: a sparse file costs its page table.
	MaxSize = 1 << 34
)

// A page holds up to PageSize bytes; the rest of it is zero. A page that both
// states of an inode share is never changed in place.
type page struct {
	b      []byte
	shared bool
}

// content is a file's bytes. A nil page is a hole.
type content struct {
	pages []*page
	size  int64
}

// move copies to memory that may be the program's.
func move(dst, src []byte) int {
	n := min(len(dst), len(src))
	if n > 0 {
		sched.CopyOut(unsafe.Pointer(unsafe.SliceData(dst)), src[:n])
	}
	return n
}

var zeroes [PageSize]byte

// zero clears memory that may be the program's.
func zero(dst []byte) {
	for len(dst) > 0 {
		dst = dst[move(dst, zeroes[:]):]
	}
}

// readAt copies what lies at off and tells how much that was.
func (c *content) readAt(b []byte, off int64) int {
	if off >= c.size {
		return 0
	}
	b = b[:min(int64(len(b)), c.size-off)]
	for done := 0; done < len(b); {
		index, from := (off+int64(done))/PageSize, int((off+int64(done))%PageSize)
		part := b[done:min(len(b), done+PageSize-from)]
		n := 0
		if index < int64(len(c.pages)) && c.pages[index] != nil {
			if pg := c.pages[index].b; from < len(pg) {
				n = move(part, pg[from:])
			}
		}
		zero(part[n:])
		done += len(part)
	}
	return len(b)
}

// put writes b, which must not cross a page, at off.
func (c *content) put(b []byte, off int64) {
	index, from := int(off/PageSize), int(off%PageSize)
	for len(c.pages) <= index {
		c.pages = append(c.pages, nil)
	}
	pg := c.pages[index]
	end := from + len(b)
	switch {
	case pg == nil:
		pg = &page{}
		c.pages[index] = pg
	case pg.shared:
		pg = &page{b: append(make([]byte, 0, max(end, len(pg.b))), pg.b...)}
		c.pages[index] = pg
	}
	if end > len(pg.b) {
		if end > cap(pg.b) {
			grown := make([]byte, len(pg.b), min(PageSize, max(end, 2*cap(pg.b))))
			copy(grown, pg.b)
			pg.b = grown
		}
		old := len(pg.b)
		pg.b = pg.b[:end]
		if old < from {
			clear(pg.b[old:from])
		}
	}
	copy(pg.b[from:], b)
	c.size = max(c.size, off+int64(len(b)))
}

// truncate sets the size.
func (c *content) truncate(size int64) {
	if size < c.size {
		keep := int((size + PageSize - 1) / PageSize)
		if keep < len(c.pages) {
			clear(c.pages[keep:])
			c.pages = c.pages[:keep]
		}
		if rest := int(size % PageSize); rest != 0 && keep == len(c.pages) && c.pages[keep-1] != nil {
			if pg := c.pages[keep-1]; len(pg.b) > rest {
				c.pages[keep-1] = &page{b: append([]byte(nil), pg.b[:rest]...)}
			}
		}
	}
	c.size = size
}

// share makes c the same as from; both then hold the same pages.
func (c *content) share(from *content) {
	clear(c.pages)
	c.pages = append(c.pages[:0], from.pages...)
	c.size = from.size
	for _, pg := range c.pages {
		if pg != nil {
			pg.shared = true
		}
	}
}

// An op is one operation of a file's log: a write within a page, or, if data
// is nil, a change of size.
type op struct {
	off  int64 // or the new size
	data []byte
}

func (o *op) apply(c *content) {
	if o.data == nil {
		c.truncate(o.off)
	} else {
		c.put(o.data, o.off)
	}
}

// commit makes the first count operations of the log durable.
func (n *Inode) commit(count int) {
	if count == 0 {
		return
	}
	if count == len(n.log) {
		// The usual case: the durable state becomes the current one. What was
		// changed by few operations is not worth walking the page table for.
		if count < len(n.data.pages) {
			for i := range n.log {
				n.log[i].apply(&n.synced)
			}
		} else {
			n.synced.share(&n.data)
		}
		clear(n.log)
		n.log = n.log[:0]
		return
	}
	for i := range n.log[:count] {
		n.log[i].apply(&n.synced)
	}
	rest := copy(n.log, n.log[count:])
	clear(n.log[rest:])
	n.log = n.log[:rest]
}

func (n *Inode) logOp(o op) {
	if len(n.log) >= MaxLog {
		n.commit(MaxLog / 2)
	}
	n.log = append(n.log, o)
}

// ReadAt copies what the file holds at off into b and tells how much that was;
// 0 is the end of the file. Devices give what they give. The buffer may be the
// program's memory.
func (n *Inode) ReadAt(b []byte, off int64) (int, syscall.Errno) {
	switch n.kind {
	case Regular:
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
// as needed.
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
	if off < 0 || off+int64(len(b)) > MaxSize {
		return 0, syscall.EFBIG
	}
	kept := make([]byte, len(b)) // the log's own, in one piece
	sched.CopyIn(kept, unsafe.Pointer(unsafe.SliceData(b)))
	for done := 0; done < len(b); {
		at := off + int64(done)
		part := kept[done:min(len(b), done+PageSize-int(at%PageSize))]
		n.data.put(part, at)
		n.logOp(op{off: at, data: part})
		done += len(part)
	}
	n.mtime = n.disk.now()
	n.ctime = n.mtime
	return len(b), 0
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
	n.mtime = n.disk.now()
	n.ctime = n.mtime
	if size == n.data.size {
		return 0
	}
	n.data.truncate(size)
	n.logOp(op{off: size})
	return 0
}

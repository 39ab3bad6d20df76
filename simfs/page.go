package simfs

import (
	"unsafe"

	"github.com/dstkit/dst/sched"
)

const (
	// PageSize is the size of a page of the page cache, and of a block.
	PageSize = 4096
	// SectorSize is what the medium writes in one piece.
	SectorSize = 512
	// MaxLog is how many operations an inode's log holds before its oldest
	// half is written back.
	MaxLog = 4096
	// MaxSize bounds the size of a file: a sparse file costs its page table.
	MaxSize = 1 << 34
)

// A page holds up to PageSize bytes; the rest of it is zero. One without bytes
// is allocated and not written. A page that both states of an inode share is
// never changed in place.
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

// at returns a page, nil for a hole.
func (c *content) at(index int64) *page {
	if index >= int64(len(c.pages)) {
		return nil
	}
	return c.pages[index]
}

// bytes returns what a page holds, without the zeroes at its end.
func (p *page) bytes() []byte {
	if p == nil {
		return nil
	}
	return p.b
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
		if pg := c.at(index).bytes(); from < len(pg) {
			n = move(part, pg[from:])
		}
		zero(part[n:])
		done += len(part)
	}
	return len(b)
}

// own returns a page that may be changed, of at least size bytes.
func (c *content) own(index, size int) *page {
	for len(c.pages) <= index {
		c.pages = append(c.pages, nil)
	}
	pg := c.pages[index]
	switch {
	case pg == nil:
		pg = &page{}
		c.pages[index] = pg
	case pg.shared:
		pg = &page{b: append(make([]byte, 0, max(size, len(pg.b))), pg.b...)}
		c.pages[index] = pg
	}
	if old := len(pg.b); size > old {
		if size > cap(pg.b) {
			grown := make([]byte, old, min(PageSize, max(size, 2*cap(pg.b))))
			copy(grown, pg.b)
			pg.b = grown
		}
		pg.b = pg.b[:size]
		clear(pg.b[old:])
	}
	return pg
}

// replace puts another page in the place of one.
func (c *content) replace(index int64, pg *page) {
	for int64(len(c.pages)) <= index {
		c.pages = append(c.pages, nil)
	}
	c.pages[index] = pg
}

// put writes b, which must not cross a page, at off.
func (c *content) put(b []byte, off int64) {
	from := int(off % PageSize)
	pg := c.own(int(off/PageSize), from+len(b))
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

// erase makes a range read as zeroes: whole pages of it become holes, or with
// keep stay allocated.
func (c *content) erase(off, end int64, keep bool) {
	for off < end {
		index, from := off/PageSize, int(off%PageSize)
		to := int(min(PageSize, int64(from)+end-off))
		switch pg := c.at(index); {
		case from == 0 && to == PageSize:
			if keep {
				for int64(len(c.pages)) <= index {
					c.pages = append(c.pages, nil)
				}
				c.pages[index] = &page{}
			} else if pg != nil {
				c.pages[index] = nil
			}
		case pg == nil:
			if keep {
				c.own(int(index), 0)
			}
		case from < len(pg.b):
			pg = c.own(int(index), 0)
			clear(pg.b[from:min(to, len(pg.b))])
		}
		off += int64(to - from)
	}
}

// reserve allocates the pages of a range that are holes.
func (c *content) reserve(off, end int64) {
	for index := off / PageSize; index*PageSize < end; index++ {
		if c.at(index) == nil {
			c.own(int(index), 0)
		}
	}
}

// holes counts the pages of a range that are not allocated.
func (c *content) holes(off, end int64) (n int64) {
	for index := off / PageSize; index*PageSize < end; index++ {
		if c.at(index) == nil {
			n++
		}
	}
	return n
}

// allocated counts the pages.
func (c *content) allocated() (n int64) {
	for _, pg := range c.pages {
		if pg != nil {
			n++
		}
	}
	return n
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

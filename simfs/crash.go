package simfs

import (
	"cmp"
	"slices"

	"github.com/dstkit/dst/sched"
)

// A Model says what a loss of power may leave.
type Model uint8

const (
	// Ordered is ext4 as Linux mounts it: data=ordered, delayed allocation,
	// auto_da_alloc.
	Ordered Model = iota
	// Any promises no more than POSIX does: whatever was not synced is kept,
	// lost or torn by itself, in any order.
	Any
)

func (m Model) String() string {
	if m == Any {
		return "Any"
	}
	return "Ordered"
}

// SetModel says what a loss of power may leave, from now on. The zero Model,
// which a disk has at first, is Ordered.
func (d *Disk) SetModel(m Model) {
	sched.Enter()
	defer sched.Leave()
	d.model = m
}

// A chooser makes the choices of a loss of power; 0 is always the one that
// loses nothing. A [sched.Stream] is one.
type chooser interface {
	N(n int) int
}

var _ chooser = (*sched.Stream)(nil)

// Crash is what the disk sees of a killed process: nothing. The page cache is
// the kernel's and keeps what was written.
func (d *Disk) Crash() {}

// SyncAll makes everything durable, as sync(2) does.
func (d *Disk) SyncAll() {
	for _, n := range slices.Clone(d.dirtyFiles()) {
		n.sync(false)
	}
	d.commit(d.seq())
	for _, n := range d.all() {
		n.synSeq = d.seq()
	}
}

// PowerOff is told that the power is gone, before the processes are: what the
// kernel would do when they end, such as closing files, has no effect on the
// medium. PowerLoss has to follow.
func (d *Disk) PowerOff() { d.off = true }

// PowerLoss is the loss of power: of what was not synced, s decides what is
// left, within the model. Nothing is drawn where there is no choice.
//
// Processes must be gone: what they had open is not valid any more.
func (d *Disk) PowerLoss(s *sched.Stream) { d.lose(s) }

func (d *Disk) lose(c chooser) {
	d.off = false
	files := d.dirtyFiles()
	end := d.seq()
	durable := end
	if d.model == Any {
		d.loseEntries(c)
	} else if n := len(d.journal); n > 0 {
		k := n - c.N(n+1)
		durable = d.committed + uint64(k)
		d.undo(k)
	}
	for _, n := range files {
		if n.tainted {
			n.reload()
		}
		if n.nlink > 0 && len(n.log) > 0 {
			if d.model == Any {
				n.recoverAny(c)
			} else {
				n.recover(c, durable)
			}
		}
		n.forget()
	}
	clear(d.dirty)
	d.dirty = d.dirty[:0]
	clear(d.journal)
	d.journal = d.journal[:0]
	d.committed = end
	d.recount()
}

// forget makes the content of a file all that there is.
func (n *Inode) forget() {
	n.logBase += uint64(len(n.log))
	n.log, n.marks = nil, nil
	n.dirty, n.delayed, n.emptied, n.tainted = false, false, false, false
	n.metaSeq, n.dataSeq = 0, 0
}

// dirtyFiles returns the files with a log or a tainted medium, by number.
func (d *Disk) dirtyFiles() []*Inode {
	kept := d.dirty[:0]
	for _, n := range d.dirty {
		if n.memory != nil {
			n.memory.Pull(0, n.data.size)
		}
		if len(n.log) > 0 || n.tainted {
			kept = append(kept, n)
		} else {
			n.dirty = false
		}
	}
	clear(d.dirty[len(kept):])
	d.dirty = kept
	slices.SortFunc(kept, func(a, b *Inode) int { return cmp.Compare(a.ino, b.ino) })
	return kept
}

// recover decides what is left of a file whose journal is durable up to a
// sequence number.
//
// First how many of its operations made it there as far as they concern size
// and blocks: those are a prefix, for a file is written back in order. Then for
// each page that was written, which of its versions are on the medium: the one
// that came with the page's blocks at least, and any later one, sector by
// sector.
func (n *Inode) recover(c chooser, durable uint64) {
	may := 0 // operations that the journal allows
	for may < len(n.log) && n.log[may].at <= durable {
		may++
	}
	must := 0
	for _, m := range n.marks {
		if m.at <= durable && m.upto > n.logBase {
			must = max(must, int(m.upto-n.logBase))
		}
	}
	keep := must
	growths := 0
	for _, o := range n.log[must:may] {
		if o.extends {
			growths++
		}
	}
	if growths > 0 {
		growths -= c.N(growths + 1)
	}
	for i := must; i < may; i++ {
		if !n.log[i].extends {
			continue
		}
		if growths == 0 {
			break
		}
		growths--
		keep = i + 1
	}
	kept := content{}
	kept.share(&n.synced)
	for i := range n.log[:keep] {
		n.log[i].apply(&kept)
	}
	for _, w := range n.written() {
		if w.index*PageSize < kept.size {
			n.recoverPage(c, &kept, w, keep, may)
		}
	}
	n.data.share(&kept)
	n.synced.share(&kept)
}

// written is a page, and the operations of the log that concern it.
type written struct {
	index int64
	ops   []int
}

// written returns the pages that writes of the log concern, by index.
func (n *Inode) written() []written {
	var pages []written
	if len(n.log) == 1 && n.log[0].kind == opWrite {
		return []written{{n.log[0].off / PageSize, []int{0}}}
	}
	type write struct {
		index int64
		op    int
	}
	var writes []write
	for i, o := range n.log {
		if o.kind == opWrite {
			writes = append(writes, write{o.off / PageSize, i})
		}
	}
	slices.SortStableFunc(writes, func(a, b write) int { return cmp.Compare(a.index, b.index) })
	ops := make([]int, len(writes))
	for i, w := range writes {
		ops[i] = w.op
		if k := len(pages); k > 0 && pages[k-1].index == w.index {
			pages[k-1].ops = pages[k-1].ops[:len(pages[k-1].ops)+1]
		} else {
			pages = append(pages, written{w.index, ops[i : i+1]})
		}
	}
	return pages
}

// recoverPage decides which version of a page is left. The operations below
// keep are known to be there as far as they allocate, those from may on cannot
// be.
func (n *Inode) recoverPage(c chooser, kept *content, w written, keep, may int) {
	start, end := w.index*PageSize, (w.index+1)*PageSize
	visible := int(min(PageSize, kept.size-start))
	// The first version that may be there is the durable one, or the last that
	// came with an operation which is known to be there.
	first, stop := 0, len(n.log)
	base := n.synced.at(w.index)
	solid := len(base.bytes()) > 0 // the page has blocks, and something in them
	for i := range n.log {
		o := &n.log[i]
		if o.kind == opWrite {
			if i < keep && o.extends && o.off/PageSize == w.index {
				first, solid = i+1, true
			}
			continue
		}
		if o.kind == opReserve || o.kind == opTruncate && o.off >= end || o.kind != opTruncate && (o.off >= end || o.end <= start) {
			continue
		}
		if i >= keep {
			stop = i // what came later is in blocks that this one gave anew
			break
		}
		// Cutting or clearing a part of a page writes the page first.
		first = i + 1
		whole := o.kind == opTruncate && o.off <= start || o.kind != opTruncate && o.off <= start && o.end >= end
		if whole {
			solid = false
		}
	}
	// The versions from first on, as far as they can be seen.
	var later [32]int
	versions := later[:0]
	changed := 0 // sectors, as bits
	for _, i := range w.ops {
		from := int(n.log[i].off - start)
		if i < first || i >= stop || from >= visible {
			continue
		}
		if !solid && len(versions) == 0 && i >= may {
			break // cannot have blocks
		}
		versions = append(versions, i)
		to := min(from+len(n.log[i].data), visible)
		for s := from / SectorSize; s*SectorSize < to; s++ {
			changed |= 1 << s
		}
	}
	if len(versions) == 0 {
		return
	}
	// limits[s] is how many of the versions sector s has seen.
	var limits [PageSize / SectorSize]int
	set := func(count int) {
		for s := range limits {
			limits[s] = count
		}
	}
	set(len(versions))
	if !solid {
		// Blocks come with a whole version of the page, or not at all.
		if first := len(versions) - c.N(len(versions)+1); first == 0 {
			if keepsReserved(n.log[:keep], base, w.index) {
				kept.replace(w.index, &page{})
			} else {
				kept.replace(w.index, nil)
			}
			return
		} else if first < len(versions) {
			choose(c, &limits, changed, first, len(versions))
		}
	} else {
		choose(c, &limits, changed, 0, len(versions))
	}
	// Put the page together.
	var b [PageSize]byte
	copy(b[:], base.bytes())
	for i := range n.log[:first] {
		n.log[i].applyPage(&b, start)
	}
	for k, i := range versions {
		o := &n.log[i]
		at := int(o.off - start)
		for from := at; from < at+len(o.data); {
			to := min((from/SectorSize+1)*SectorSize, at+len(o.data))
			if limits[from/SectorSize] > k {
				copy(b[from:to], o.data[from-at:])
			}
			from = to
		}
	}
	kept.replace(w.index, &page{b: append([]byte(nil), b[:visible]...)})
}

// applyPage is apply for the one page that begins at start.
func (o *op) applyPage(b *[PageSize]byte, start int64) {
	from, to := o.off-start, o.end-start
	switch o.kind {
	case opWrite:
		if from >= 0 && from < PageSize {
			copy(b[from:], o.data)
		}
		return
	case opReserve:
		return
	case opTruncate:
		to = PageSize
	}
	if from = max(from, 0); from < min(to, PageSize) {
		clear(b[from:min(to, PageSize)])
	}
}

// keepsReserved reports whether a page without data is allocated all the same.
func keepsReserved(log []op, base *page, index int64) bool {
	reserved := base != nil
	for _, o := range log {
		switch {
		case o.kind == opTruncate && o.off <= index*PageSize, o.kind == opPunch && o.off <= index*PageSize && o.end >= (index+1)*PageSize:
			reserved = false
		case (o.kind == opReserve || o.kind == opZero) && o.off < (index+1)*PageSize && o.end > index*PageSize:
			reserved = true
		}
	}
	return reserved
}

// choose sets how many versions each sector has seen, between low and high:
// all of them, one number for the page, or torn.
func choose(c chooser, limits *[PageSize / SectorSize]int, changed, low, high int) {
	n := high - low + 1
	if n == 1 {
		return
	}
	one := changed&(changed-1) == 0
	how := 1
	if !one {
		how = c.N(3)
	}
	switch how {
	case 1:
		count := high - c.N(n)
		for s := range limits {
			limits[s] = count
		}
	case 2:
		for s := range limits {
			if changed>>s&1 != 0 {
				limits[s] = high - c.N(n)
			}
		}
	}
}

// all returns every inode that the tree or the journal reaches, by number.
func (d *Disk) all() []*Inode {
	d.walks++
	d.root.mark = d.walks
	found := []*Inode{d.root}
	visit := func(n *Inode) {
		if n != nil && n.mark != d.walks {
			n.mark = d.walks
			found = append(found, n)
		}
	}
	for i := range d.journal {
		r := &d.journal[i]
		visit(r.dir)
		visit(r.dir2)
		visit(r.node)
		visit(r.old)
	}
	for i := 0; i < len(found); i++ {
		for _, child := range found[i].entries {
			visit(child) // in any order: sorted below
		}
	}
	slices.SortFunc(found, func(a, b *Inode) int { return cmp.Compare(a.ino, b.ino) })
	return found
}

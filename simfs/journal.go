package simfs

// The journal is one for the disk, as that of ext4: every change of names, of
// attributes, and every truncation is a record of it, in order. What a loss of
// power leaves of it is its first k records. So the records are kept as far as
// they may still be lost, with what it takes to undo them, last first.

type recordKind uint8

const (
	recAdd      recordKind = iota // node was entered into dir as name
	recRemove                     // node was removed from dir
	recRename                     // dir, name became dir2, name2, and replaced old
	recExchange                   // node at dir, name and old at dir2, name2 changed places
	recAttr                       // node had another mode or owner, or other times
	recData                       // node's file was truncated, or its blocks were allocated: a mark
)

// A record is one change of metadata.
type record struct {
	kind        recordKind
	dir, dir2   *Inode
	name, name2 string
	node, old   *Inode
	mode        uint32 // recAttr: as they were before
	uid, gid    uint32
	stamps      [4]stamp // what the inodes concerned showed before
	stamped     int
}

// A stamp is the times of an inode.
type stamp struct {
	n                   *Inode
	atime, mtime, ctime int64
}

// A mark says: once the journal is durable up to at, the file's operations
// below upto are on the medium, as far as they allocate blocks or change its
// size. A truncation is one, and so is what makes ext4 allocate early.
type mark struct {
	at, upto uint64
}

// maxJournal is how many records may be lost. Beyond that the oldest half is
// committed.
const maxJournal = 4096

// seq is the number of records ever made.
func (d *Disk) seq() uint64 { return d.committed + uint64(len(d.journal)) }

// record enters a record. The pointer is good until the next one.
func (d *Disk) record(r record) *record {
	if len(d.journal) >= maxJournal {
		d.commit(d.committed + maxJournal/2)
	}
	d.journal = append(d.journal, r)
	return &d.journal[len(d.journal)-1]
}

// save keeps what an inode shows before it changes.
func (r *record) save(nodes ...*Inode) {
	for _, n := range nodes {
		if n != nil && r.stamped < len(r.stamps) {
			r.stamps[r.stamped] = stamp{n, n.atime, n.mtime, n.ctime}
			r.stamped++
		}
	}
}

// commit makes the journal durable up to a sequence number.
func (d *Disk) commit(upto uint64) {
	if upto <= d.committed {
		return
	}
	count := int(upto - d.committed)
	d.committed = upto
	if count == len(d.journal) {
		clear(d.journal)
		d.journal = d.journal[:0]
		return
	}
	rest := copy(d.journal, d.journal[count:])
	clear(d.journal[rest:])
	d.journal = d.journal[:rest]
}

// undo takes back the records from the i-th on.
func (d *Disk) undo(i int) {
	for k := len(d.journal) - 1; k >= i; k-- {
		d.journal[k].undo()
	}
	clear(d.journal)
	d.journal = d.journal[:0]
}

func (r *record) undo() {
	switch r.kind {
	case recAdd:
		r.dir.unset(r.name)
		r.node.unlinked(r.dir)
	case recRemove:
		r.dir.set(r.name, r.node)
		r.node.linked(r.dir)
	case recRename:
		r.dir2.unset(r.name2)
		r.dir.set(r.name, r.node)
		if r.node.kind == Directory {
			r.dir2.nlink--
			r.dir.nlink++
		}
		if r.old != nil {
			r.dir2.set(r.name2, r.old)
			r.old.linked(r.dir2)
		}
	case recExchange:
		r.dir.set(r.name, r.node)
		r.dir2.set(r.name2, r.old)
		moveLinks(r.dir2, r.dir, r.node, r.old)
	case recAttr:
		r.node.mode, r.node.uid, r.node.gid = r.mode, r.uid, r.gid
	}
	for _, s := range r.stamps[:r.stamped] {
		s.n.atime, s.n.mtime, s.n.ctime = s.atime, s.mtime, s.ctime
	}
}

// linked counts a name that n got in dir.
func (n *Inode) linked(dir *Inode) {
	if n.kind == Directory {
		n.nlink = 2
		dir.nlink++
		return
	}
	n.nlink++
}

// unlinked counts a name that n lost in dir.
func (n *Inode) unlinked(dir *Inode) {
	if n.kind == Directory {
		n.nlink = 0
		dir.nlink--
		return
	}
	n.nlink--
}

// moveLinks counts what an exchange does to the directories: a went from dir x
// to y, and b from y to x.
func moveLinks(x, y, a, b *Inode) {
	if a.kind == Directory {
		x.nlink--
		y.nlink++
	}
	if b.kind == Directory {
		y.nlink--
		x.nlink++
	}
}

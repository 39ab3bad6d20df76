package simfs

import (
	"encoding/binary"
	"hash/fnv"
	"slices"

	"github.com/dstkit/dst/sched"
)

// A Snapshot is a disk as it was: a copy that nothing changes. Its methods
// may be called from any goroutine of the world.
type Snapshot struct {
	disk *Disk
}

// Snapshot copies the disk as processes see it now, synced or not. Content is
// shared until one side changes it, so a snapshot costs what its tree costs.
func (d *Disk) Snapshot() *Snapshot {
	sched.Enter()
	defer sched.Leave()
	c := d.clone()
	c.forgetLogs()
	return &Snapshot{c}
}

// ReadFile returns the content of a file.
func (s *Snapshot) ReadFile(path string) ([]byte, error) { return s.disk.ReadFile(path) }

// List returns the sorted names in a directory.
func (s *Snapshot) List(path string) ([]string, error) { return s.disk.List(path) }

// Digest is the same for snapshots with the same tree: names, links, modes,
// owners, sizes and contents. Times and inode numbers do not count.
func (s *Snapshot) Digest() uint64 {
	sched.Enter()
	defer sched.Leave()
	return s.disk.digest()
}

// Restore makes the disk what the snapshot shows, all of it durable: of this
// host, or of another. What the system puts on a disk (/dev, /proc, …) stays
// the host's own. No process of the host should have files open: do it while the
// host is down, or before its main has begun.
func (d *Disk) Restore(s *Snapshot) {
	sched.Enter()
	defer sched.Leave()
	d.reset()
	d.graft(d.root, s.disk.root, map[*Inode]*Inode{})
	d.recount()
}

// graft copies what lies beneath src, of another disk, into dst.
func (d *Disk) graft(dst, src *Inode, copies map[*Inode]*Inode) {
	dst.copyAttr(src)
	if !src.loaded && len(src.presets) > 0 {
		return // as the system made it
	}
	dst.size() // loads
	for _, name := range slices.Clone(dst.Names()) {
		if child := dst.entries[name]; src.entries[name] == nil && !child.system {
			dst.unset(name)
			child.unlinked(dst)
		}
	}
	for _, name := range src.Names() {
		child := src.entries[name]
		mine := dst.entries[name]
		if child.system {
			continue
		}
		if mine != nil && child.kind != Directory {
			dst.unset(name)
			mine.unlinked(dst)
		}
		if child.kind == Directory {
			if mine == nil || mine.kind != Directory {
				mine = d.newInode(Directory, child.mode)
				dst.set(name, mine)
				mine.linked(dst)
			}
			d.graft(mine, child, copies)
			continue
		}
		mine = copies[child]
		if mine == nil {
			mine = d.newInode(child.kind, child.mode)
			mine.copyAttr(child)
			mine.rdev, mine.target, mine.gen = child.rdev, child.target, child.gen
			mine.data.share(&child.data)
			mine.synced.share(&child.data)
			copies[child] = mine
		}
		dst.set(name, mine)
		mine.linked(dst)
	}
	dst.copyAttr(src)
}

func (n *Inode) copyAttr(from *Inode) {
	n.mode, n.uid, n.gid = from.mode, from.uid, from.gid
	n.atime, n.mtime, n.ctime = from.atime, from.mtime, from.ctime
}

// clone copies the disk with its journal and logs.
func (d *Disk) clone() *Disk {
	d.dirtyFiles() // mappings tell what was written
	c := *d
	c.arena, c.arenaSize = nil, 0
	copies := map[*Inode]*Inode{}
	all := d.all()
	for _, n := range d.dirty {
		if n.mark != d.walks {
			all = append(all, n)
		}
	}
	slab := make([]Inode, len(all))
	for i, n := range all {
		m := &slab[i]
		*m = *n
		m.disk, m.Attached, m.memory, m.mark, m.opens = &c, nil, nil, 0, 0
		m.data, m.synced = content{}, content{}
		m.data.share(&n.data)
		m.synced.share(&n.synced)
		m.log, m.marks = slices.Clone(n.log), slices.Clone(n.marks)
		m.presets = slices.Clone(n.presets)
		copies[n] = m
	}
	for i := range slab {
		m := &slab[i]
		if p := copies[m.parent]; p != nil {
			m.parent = p
		}
		if m.entries != nil {
			entries := make(map[string]*Inode, len(m.entries))
			for name, child := range m.entries { // into another map: in any order
				entries[name] = copies[child]
			}
			m.entries = entries
		}
	}
	c.root = copies[d.root]
	c.journal = slices.Clone(d.journal)
	for i := range c.journal {
		r := &c.journal[i]
		r.dir, r.dir2, r.node, r.old = copies[r.dir], copies[r.dir2], copies[r.node], copies[r.old]
		for k := range r.stamps[:r.stamped] {
			r.stamps[k].n = copies[r.stamps[k].n]
		}
	}
	c.dirty = slices.Clone(d.dirty)
	for i, n := range c.dirty {
		c.dirty[i] = copies[n]
	}
	c.rules, c.faulty = nil, false
	return &c
}

// forgetLogs makes all that the disk shows durable.
func (d *Disk) forgetLogs() {
	for _, n := range d.dirty {
		n.synced.share(&n.data)
		n.forget()
	}
	d.dirty = nil
	d.commit(d.seq())
}

// digest is a hash of the tree.
func (d *Disk) digest() uint64 {
	h := fnv.New64a()
	numbers := map[*Inode]int{}
	var b []byte
	var page [PageSize]byte
	var walk func(dir *Inode)
	walk = func(dir *Inode) {
		if !dir.loaded && len(dir.presets) > 0 {
			return
		}
		for _, name := range dir.Names() {
			n := dir.entries[name]
			if n == nil || n.system {
				continue
			}
			number, again := numbers[n]
			if !again {
				number = len(numbers) + 1
				numbers[n] = number
			}
			b = append(append(b[:0], name...), 0, byte(n.kind))
			b = binary.AppendUvarint(b, uint64(number))
			b = binary.AppendUvarint(b, uint64(n.mode))
			b = binary.AppendUvarint(b, uint64(n.uid)<<32|uint64(n.gid))
			if n.kind == SymbolicLink {
				b = append(append(b, n.target()...), 0)
			}
			b = binary.AppendUvarint(b, uint64(n.data.size))
			h.Write(b)
			if n.kind == Regular && !again {
				for off := int64(0); off < n.data.size; off += PageSize {
					pg := n.data.at(off / PageSize).bytes()
					if len(pg) == 0 {
						h.Write(zeroes[:1])
						continue
					}
					clear(page[copy(page[:], pg):])
					h.Write(page[:min(PageSize, n.data.size-off)])
				}
			}
			if n.kind == Directory {
				walk(n)
			}
			h.Write(zeroes[:1])
		}
	}
	walk(d.root)
	return h.Sum64()
}

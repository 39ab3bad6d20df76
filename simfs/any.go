package simfs

import "slices"

// The model Any: each name and each write that was not synced is kept or lost
// by itself.

// A slot is a name in a directory.
type slot struct {
	dir  *Inode
	name string
}

// loseEntries decides for each name that changed since its directory was
// synced what it stands for: what it did before, after any of the changes, or
// now. Modes, owners and times go the same way, inode by inode.
func (d *Disk) loseEntries(c chooser) {
	var order []slot
	seen := map[slot][]*Inode{} // what the name stood for, oldest first
	change := func(seq uint64, dir *Inode, name string, before, after *Inode) {
		s := slot{dir, name}
		if seq < dir.synSeq {
			return // durable, as what came before it
		}
		if seen[s] == nil {
			order = append(order, s)
			seen[s] = []*Inode{before}
		}
		seen[s] = append(seen[s], after)
	}
	attrs := []int{}
	for i := range d.journal {
		r, seq := &d.journal[i], d.committed+uint64(i)
		switch r.kind {
		case recAdd:
			change(seq, r.dir, r.name, nil, r.node)
		case recRemove:
			change(seq, r.dir, r.name, r.node, nil)
		case recRename:
			change(seq, r.dir, r.name, r.node, nil)
			change(seq, r.dir2, r.name2, r.old, r.node)
		case recExchange:
			change(seq, r.dir, r.name, r.node, r.old)
			change(seq, r.dir2, r.name2, r.old, r.node)
		case recAttr:
			if seq >= r.node.synSeq {
				attrs = append(attrs, i)
			}
		}
	}
	for k := len(attrs) - 1; k >= 0; k-- {
		if c.N(2) == 1 {
			d.journal[attrs[k]].undo()
		}
	}
	for _, s := range order {
		versions := seen[s]
		v := versions[len(versions)-1-c.N(len(versions))]
		s.dir.unset(s.name)
		if v != nil {
			s.dir.set(s.name, v)
		}
	}
	d.repair()
}

// repair is what fsck does: a directory has one name, everything is counted
// anew, and what nothing leads to is gone.
func (d *Disk) repair() {
	all := d.all()
	for _, n := range all {
		n.nlink = 0
	}
	d.walks++
	d.root.nlink, d.root.mark = 2, d.walks
	queue := []*Inode{d.root}
	for len(queue) > 0 {
		dir := queue[0]
		queue = queue[1:]
		for _, name := range sortedNames(dir.entries) {
			child := dir.entries[name]
			if child.kind == Directory {
				if child.mark == d.walks {
					dir.unset(name)
					continue
				}
				child.mark = d.walks
				queue = append(queue, child)
			}
			child.parent, child.name = dir, name
			child.linked(dir)
		}
	}
}

func sortedNames(entries map[string]*Inode) []string {
	names := make([]string, 0, len(entries))
	for name := range entries {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// recoverAny decides what is left of a file: one of the sizes that it had since
// it was synced, and of each write to a page all, nothing, or a part.
func (n *Inode) recoverAny(c chooser) {
	kept := content{}
	kept.share(&n.synced)
	size := n.synced.size
	if len(n.log) > 0 {
		if i := len(n.log) - c.N(len(n.log)+1); i > 0 {
			size = n.log[i-1].size
		}
	}
	for i := range n.log {
		o := &n.log[i]
		if o.kind != opWrite {
			if c.N(2) == 0 {
				o.apply(&kept)
			}
			continue
		}
		data, off := o.data, o.off
		switch c.N(3) {
		case 1:
			continue
		case 2:
			cut := c.N(len(data) + 1)
			if c.N(2) == 0 {
				data = data[:cut]
			} else {
				data, off = data[cut:], off+int64(cut)
			}
		}
		if len(data) > 0 {
			kept.put(data, off)
		}
	}
	kept.truncate(size)
	n.data.share(&kept)
	n.synced.share(&kept)
}

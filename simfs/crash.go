package simfs

import (
	"github.com/dstkit/dst/sched"
)

// Crash is what the disk sees of a killed process: nothing. The page cache is
// the kernel's and keeps what was written.
func (d *Disk) Crash() {}

// SyncAll makes everything durable, as sync(2) does.
func (d *Disk) SyncAll() {
	for _, n := range d.all() {
		n.Sync()
	}
}

// all returns every inode that either state of the tree reaches, by number.
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
	for i := 0; i < len(found); i++ {
		n := found[i]
		for _, child := range n.entries {
			visit(child) // in any order: sorted below
		}
		for _, child := range n.durable {
			visit(child)
		}
		for _, o := range n.dirLog {
			visit(o.node)
		}
	}
	sortInodes(found)
	return found
}

// PowerLoss is the loss of power: of each inode's log, the first operations
// are kept and the others lost; how many is drawn from s, and zero loses
// nothing. An inode without a log takes no draw. A rename between directories
// that either of them keeps is kept by both, with all that came before it.
//
// Processes must be gone: what they had open is not valid any more.
func (d *Disk) PowerLoss(s *sched.Stream) {
	inodes := d.all()
	var dirs []*Inode
	for _, n := range inodes {
		if len(n.dirLog) > 0 {
			n.keep = len(n.dirLog) - s.N(len(n.dirLog)+1)
			dirs = append(dirs, n)
		}
	}
	commitDirs(dirs)
	for _, n := range inodes {
		switch n.kind {
		case Directory:
			n.dropped += len(n.dirLog)
			n.dirLog, n.names = nil, nil
			clear(n.entries)
			for name, child := range n.durable {
				n.set(name, child)
			}
		case Regular:
			if len(n.log) == 0 {
				continue
			}
			n.commit(len(n.log) - s.N(len(n.log)+1))
			clear(n.log)
			n.log = n.log[:0]
			n.data.share(&n.synced)
		}
	}
	d.recount()
}

// recount sets parents and numbers of links by the tree, as fsck does.
func (d *Disk) recount() {
	inodes := d.all()
	for _, n := range inodes {
		n.nlink = 0
	}
	d.root.nlink, d.root.parent = 2, d.root
	for _, dir := range inodes {
		for _, child := range dir.entries {
			child.nlink++
			if child.kind == Directory {
				child.nlink = max(child.nlink, 2)
				child.parent = dir
				dir.nlink++
			}
		}
	}
}

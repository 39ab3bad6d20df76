package simfs

import "syscall"

// The log of a file is what happened to its content since it was last synced.
// A write is logged page by page.

type opKind uint8

const (
	opWrite    opKind = iota
	opTruncate        // to off
	opPunch           // off to end became a hole
	opZero            // off to end became zeroes, and allocated
	opReserve         // off to end was allocated
)

// An op is one operation of a file's log.
type op struct {
	kind      opKind
	extends   bool // the file grew
	allocates bool // the page was a hole, or reserved only
	off, end  int64
	data      []byte
	size      int64  // of the file afterwards
	at        uint64 // records that the journal held then; with its own, if it has one
}

func (o *op) apply(c *content) {
	switch o.kind {
	case opWrite:
		c.put(o.data, o.off)
	case opTruncate:
		c.truncate(o.off)
	case opPunch:
		c.erase(o.off, o.end, false)
	case opZero:
		c.erase(o.off, o.end, true)
		c.size = max(c.size, o.size)
	case opReserve:
		c.reserve(o.off, o.end)
		c.size = max(c.size, o.size)
	}
}

// logOp enters an operation that the page cache has seen.
func (n *Inode) logOp(o op) {
	if len(n.log) >= MaxLog {
		n.writeBack(MaxLog / 2)
	}
	n.markDirty()
	o.size, o.at = n.data.size, n.disk.seq()
	if o.extends || o.allocates {
		n.delayed = true
	}
	n.log = append(n.log, o)
}

// markDirty enters the file in the disk's list of those that may lose something.
func (n *Inode) markDirty() {
	if !n.dirty {
		n.dirty = true
		n.disk.dirty = append(n.disk.dirty, n)
	}
}

// ops is how many operations the file has seen.
func (n *Inode) ops() uint64 { return n.logBase + uint64(len(n.log)) }

// setMark ties what the file has seen so far to the journal's last record.
func (n *Inode) setMark() {
	n.marks = append(n.marks, mark{n.disk.seq(), n.ops()})
}

// allocate gives blocks to what was written: they are in the journal from
// here on, and what they hold is on the medium before that is.
func (n *Inode) allocate() {
	if !n.delayed {
		return
	}
	n.delayed = false
	n.disk.record(record{kind: recData, node: n})
	n.changed()
	n.dataSeq = n.metaSeq
	n.setMark()
}

// writeBack makes the first count operations of the log durable, as a flusher
// does, in order.
func (n *Inode) writeBack(count int) {
	n.disk.commit(n.log[count-1].at)
	for i := range n.log[:count] {
		n.log[i].apply(&n.synced)
	}
	rest := copy(n.log, n.log[count:])
	clear(n.log[rest:])
	n.log = n.log[:rest]
	n.logBase += uint64(count)
}

// Sync makes the inode durable, as fsync does, or with dataOnly as fdatasync
// does: a file's bytes and size, or a directory's entries; and the journal as
// far as the inode is concerned.
func (n *Inode) Sync(dataOnly bool) syscall.Errno {
	switch n.kind {
	case Regular, Directory:
	case Fifo, Socket, Device, Generated:
		return syscall.EINVAL
	default:
		return 0
	}
	if n.disk.faulty {
		if done, errno := n.syncFault(); done {
			return errno
		}
	}
	n.sync(dataOnly)
	return 0
}

// sync is Sync on a disk without faults.
func (n *Inode) sync(dataOnly bool) {
	if n.memory != nil {
		n.memory.Pull(0, n.data.size)
	}
	d := n.disk
	if d.model == Any {
		n.synSeq = d.seq()
	} else {
		upto := n.metaSeq
		if dataOnly {
			upto = n.dataSeq
		}
		if n.delayed {
			upto = d.seq() // the blocks are allocated now, at the journal's end
		}
		d.commit(upto)
	}
	if n.kind == Regular {
		n.writeOut()
	}
}

// writeOut makes the content durable as it is.
func (n *Inode) writeOut() {
	if len(n.log) > 0 {
		var f *Faults
		if n.disk.faulty {
			f = n.mediumFaults()
		}
		switch {
		case f != nil:
			n.writeFaulty(f)
		case n.tainted, len(n.log) < len(n.data.pages):
			// What was changed by few operations is not worth walking the page
			// table for.
			for i := range n.log {
				n.log[i].apply(&n.synced)
			}
		default:
			n.synced.share(&n.data)
		}
	}
	n.endLog()
}

// endLog forgets the operations so far.
func (n *Inode) endLog() {
	n.logBase += uint64(len(n.log))
	clear(n.log)
	n.log, n.marks = n.log[:0], n.marks[:0]
	n.delayed = false
}

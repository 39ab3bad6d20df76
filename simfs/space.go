package simfs

import "github.com/dstkit/dst/sched"

// SetSize limits the disk to a number of bytes and of inodes from now on: beyond
// that there is ENOSPC. What is there stays. 0 is no limit, which is what a disk
// has at first.
func (d *Disk) SetSize(bytes, inodes int64) {
	sched.Enter()
	defer sched.Leave()
	d.maxPages, d.maxLive = (bytes+PageSize-1)/PageSize, inodes
	d.recount()
}

// limited reports whether space is counted.
func (d *Disk) limited() bool { return d.maxPages > 0 || d.maxLive > 0 }

// room returns how many of the n bytes at off of a file there is space for.
func (d *Disk) room(c *content, off, n int64) int64 {
	if d.maxPages == 0 {
		return n
	}
	free := d.maxPages - d.used
	for at := off; at < off+n; at = (at/PageSize + 1) * PageSize {
		if c.at(at/PageSize) != nil {
			continue
		}
		if free--; free < 0 {
			return at - off
		}
	}
	return n
}

// A Usage is what statfs tells, in blocks of PageSize bytes.
type Usage struct {
	Blocks, Free       int64
	Inodes, FreeInodes int64
}

// Usage tells how full the disk is. One without limits shows 64 GiB and 4
// million inodes.
func (d *Disk) Usage() Usage {
	used, live := d.used, d.live
	if !d.limited() {
		used, live = 0, 0
		for _, n := range d.all() {
			if n.nlink > 0 || n.opens > 0 {
				live++
				used += n.data.allocated()
			}
		}
	}
	u := Usage{Blocks: 64 << 30 / PageSize, Inodes: 4 << 20}
	if d.maxPages > 0 {
		u.Blocks = d.maxPages
	}
	if d.maxLive > 0 {
		u.Inodes = d.maxLive
	}
	u.Free, u.FreeInodes = max(0, u.Blocks-used), max(0, u.Inodes-live)
	return u
}

// recount finds out what is in use on a disk with limits.
func (d *Disk) recount() {
	d.used, d.live = 0, 0
	if !d.limited() {
		return
	}
	for _, n := range d.all() {
		if n.gone = n.nlink == 0 && n.opens == 0; !n.gone {
			d.live++
			d.used += n.data.allocated()
		}
	}
}

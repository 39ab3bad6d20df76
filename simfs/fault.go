package simfs

import (
	"fmt"
	"path"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"github.com/dstkit/dst/sched"
)

// Faults say how a disk misbehaves. The zero value is a disk that does not. Each
// number is a chance from 0 to 1; one that is 0 draws nothing.
type Faults struct {
	// How long calls take, in virtual time: the goroutine waits. Metadata is
	// everything that opens, makes, removes or renames.
	ReadLatency, WriteLatency, SyncLatency, MetadataLatency Latency

	ReadError  float64 // of each read: EIO
	WriteError float64 // of each write: EIO, and nothing is written
	NoSpace    float64 // of each write, and of making a file: ENOSPC
	ReadFlip   float64 // of each read: one bit of what is read is wrong, this once

	// SyncError is the chance that fsync fails with EIO. As on Linux, the
	// pages that were not written are clean from then on: the process reads
	// what it wrote, the next fsync succeeds, and what was not synced is lost
	// with the power. Each open file description is told once.
	SyncError float64
	// LyingSync is the chance that fsync does nothing and succeeds.
	LyingSync float64

	// What befalls each page that fsync writes back. It shows once the page cache is gone: after a loss of power, or
	// DropCaches. Writing the page again mends it.
	LostWrite   float64 // the medium keeps what it had
	Misdirected float64 // another page of the file gets it
	BitFlip     float64 // one bit is wrong
	BadSector   float64 // the page cannot be read: EIO
}

// A Latency is a distribution of durations, such as those of package simnet.
type Latency interface {
	Draw(*sched.Stream) time.Duration
}

// A rule is faults for some files.
type rule struct {
	patterns []string
	faults   Faults
}

// SetFaults makes the disk misbehave from now on. With patterns it does so for
// the files whose absolute path matches one: as [path.Match] does, or, if the
// pattern ends in a slash, because they lie beneath. The rule made last decides
// for a file; a rule for the same patterns replaces the one before. The zero
// Faults take a rule back. It panics if a pattern is malformed, or a chance is
// not within 0 and 1.
func (d *Disk) SetFaults(f Faults, patterns ...string) {
	sched.Enter()
	defer sched.Leave()
	for _, p := range patterns {
		if _, err := path.Match(p, "/"); err != nil || !strings.HasPrefix(p, "/") {
			panic(fmt.Sprintf("simfs: SetFaults: the pattern %q is malformed; want an absolute path, as path.Match takes it", p))
		}
	}
	for _, chance := range []float64{f.ReadError, f.WriteError, f.NoSpace, f.ReadFlip, f.SyncError, f.LyingSync, f.LostWrite, f.Misdirected, f.BitFlip, f.BadSector} {
		if !(chance >= 0 && chance <= 1) {
			panic(fmt.Sprintf("simfs: SetFaults: the chance %v is not within 0 and 1", chance))
		}
	}
	key := strings.Join(patterns, "\x00")
	kept := d.rules[:0]
	for _, r := range d.rules {
		if strings.Join(r.patterns, "\x00") != key {
			kept = append(kept, r)
		}
	}
	d.rules = kept
	if f != (Faults{}) {
		d.rules = append(d.rules, &rule{append([]string(nil), patterns...), f})
	}
	d.faulty = len(d.rules) > 0
}

// Heal takes all rules of SetFaults back. What the medium lost stays lost.
func (d *Disk) Heal() {
	sched.Enter()
	defer sched.Leave()
	d.rules, d.faulty = nil, false
}

// quiet keeps rules off while the test's own call lasts: that draws nothing. It
// returns what ends it.
func (d *Disk) quiet() (end func()) {
	was := d.faulty
	d.faulty = false
	return func() { d.faulty = was }
}

var noFaults Faults

// faults returns what holds for the inode.
func (n *Inode) faults() *Faults {
	where := ""
	for i := len(n.disk.rules) - 1; i >= 0; i-- {
		r := n.disk.rules[i]
		if len(r.patterns) == 0 {
			return &r.faults
		}
		if where == "" {
			where, _ = n.path()
		}
		for _, p := range r.patterns {
			if matches(p, where) {
				return &r.faults
			}
		}
	}
	return &noFaults
}

func matches(pattern, where string) bool {
	if strings.HasSuffix(pattern, "/") {
		return strings.HasPrefix(where, pattern)
	}
	ok, _ := path.Match(pattern, where)
	return ok
}

// draws is the stream that faults are drawn from.
func (d *Disk) draws() *sched.Stream { return d.world.Stream("disk") }

// A Class of calls takes its own time.
type Class uint8

const (
	ReadCall Class = iota
	WriteCall
	SyncCall
	MetadataCall
)

// Delay draws how long a call on the inode takes. A disk without latency draws
// nothing.
func (d *Disk) Delay(n *Inode, class Class) time.Duration {
	if !d.faulty {
		return 0
	}
	f := n.faults()
	l := [...]Latency{f.ReadLatency, f.WriteLatency, f.SyncLatency, f.MetadataLatency}[class]
	if l == nil || n.kind == Device || n.kind == Generated {
		return 0
	}
	return max(0, l.Draw(d.draws()))
}

// Slow reports whether Delay may return anything but 0.
func (d *Disk) Slow() bool { return d.faulty }

// readFaulty is ReadAt of a regular file that something may be wrong with.
func (n *Inode) readFaulty(b []byte, off int64) (int, syscall.Errno) {
	f, s := &noFaults, n.disk.draws()
	if n.disk.faulty {
		f = n.faults()
	}
	if s.Chance(f.ReadError) {
		return 0, syscall.EIO
	}
	if len(n.bad) > 0 {
		end := min(off+int64(len(b)), n.data.size)
		for index := off / PageSize; index*PageSize < end; index++ {
			if !n.bad[index] {
				continue
			}
			if index*PageSize <= off {
				return 0, syscall.EIO
			}
			b = b[:index*PageSize-off] // the read ends before it
			break
		}
	}
	got := n.data.readAt(b, off)
	if got > 0 && s.Chance(f.ReadFlip) {
		bit := s.N(got * 8)
		var v [1]byte
		sched.CopyIn(v[:], unsafe.Pointer(&b[bit/8]))
		v[0] ^= 1 << (bit % 8)
		move(b[bit/8:], v[:])
	}
	return got, 0
}

// writeFault tells what a write to the file fails with.
func (n *Inode) writeFault() syscall.Errno {
	f, s := n.faults(), n.disk.draws()
	switch {
	case s.Chance(f.WriteError):
		return syscall.EIO
	case s.Chance(f.NoSpace):
		return syscall.ENOSPC
	}
	return 0
}

// makeFault tells what making an entry in dir fails with.
func (dir *Inode) makeFault() syscall.Errno {
	if dir.disk.faulty && dir.disk.draws().Chance(dir.faults().NoSpace) {
		return syscall.ENOSPC
	}
	return 0
}

// mended is told that a write replaced what could not be read of a file. A part
// of a page that cannot be read cannot be replaced.
func (n *Inode) mended(off, length int64) syscall.Errno {
	for index := off / PageSize; index*PageSize < off+length; index++ {
		if !n.bad[index] {
			continue
		}
		start, end := index*PageSize, min((index+1)*PageSize, n.data.size)
		if off > start || off+length < end {
			return syscall.EIO
		}
		delete(n.bad, index)
	}
	return 0
}

// syncFault tells whether fsync of the inode goes wrong, and what it returns.
func (n *Inode) syncFault() (wrong bool, errno syscall.Errno) {
	f, s := n.faults(), n.disk.draws()
	switch {
	case s.Chance(f.LyingSync):
		return true, 0
	case s.Chance(f.SyncError):
		n.failWriteBack()
		return true, syscall.EIO
	}
	return false, 0
}

// failWriteBack is what a write-back that the medium refused does: the pages are
// clean, and only in the cache.
func (n *Inode) failWriteBack() {
	n.errSeq++
	if n.kind != Regular {
		return
	}
	if n.memory != nil {
		n.memory.Pull(0, n.data.size)
	}
	n.disk.commit(n.metaSeq)
	for i := range n.log {
		if o := &n.log[i]; o.kind != opWrite {
			o.apply(&n.synced)
		}
	}
	n.taint()
	n.endLog()
}

// ErrSeq counts the write-backs of the file that failed. An open file description
// that has seen fewer reports EIO once.
func (n *Inode) ErrSeq() uint32 { return n.errSeq }

// taint notes that the medium lacks what the cache has.
func (n *Inode) taint() {
	n.tainted = true
	n.markDirty()
}

// mediumFaults returns the faults that befall pages written back, or nil.
func (n *Inode) mediumFaults() *Faults {
	f := n.faults()
	if f.LostWrite > 0 || f.Misdirected > 0 || f.BitFlip > 0 || f.BadSector > 0 {
		return f
	}
	return nil
}

// writeFaulty writes the log back to a medium with faults.
func (n *Inode) writeFaulty(f *Faults) {
	var before content
	before.share(&n.synced)
	for i := range n.log {
		n.log[i].apply(&n.synced)
	}
	n.damage(f, &before)
}

// damage is what becomes of the pages that the log has just brought to the
// medium, which held before.
func (n *Inode) damage(f *Faults, before *content) {
	s := n.disk.draws()
	for _, w := range n.written() {
		pg := n.synced.at(w.index)
		if pg == nil || w.index*PageSize >= n.synced.size {
			continue
		}
		delete(n.badMedium, w.index)
		lost, astray := s.Chance(f.LostWrite), s.Chance(f.Misdirected)
		if lost || astray {
			old := &page{b: append([]byte(nil), before.at(w.index).bytes()...)}
			n.synced.replace(w.index, old)
			if pages := (n.synced.size + PageSize - 1) / PageSize; astray && pages > 1 {
				to := (w.index + 1 + s.Int64N(pages-1)) % pages
				b := pg.b
				if room := n.synced.size - to*PageSize; int64(len(b)) > room {
					b = b[:room]
				}
				n.synced.replace(to, &page{b: append([]byte(nil), b...)})
			}
			n.taint()
			continue
		}
		if len(pg.b) > 0 && s.Chance(f.BitFlip) {
			bit := s.N(len(pg.b) * 8)
			wrong := &page{b: append([]byte(nil), pg.b...)}
			wrong.b[bit/8] ^= 1 << (bit % 8)
			n.synced.replace(w.index, wrong)
			n.taint()
		}
		if s.Chance(f.BadSector) {
			if n.badMedium == nil {
				n.badMedium = map[int64]bool{}
			}
			n.badMedium[w.index] = true
			n.taint()
		}
	}
}

// DropCaches empties the page cache of what is clean, as writing to
// /proc/sys/vm/drop_caches does: reads show what is on the medium.
func (d *Disk) DropCaches() {
	sched.Enter()
	defer sched.Leave()
	for _, n := range d.dirtyFiles() {
		if n.tainted && len(n.log) == 0 {
			n.reload()
		}
	}
}

// reload makes the cache show what is on the medium.
func (n *Inode) reload() {
	n.data.share(&n.synced)
	n.tainted = false
	n.bad = nil
	for index := range n.badMedium { // into another map: in any order
		if n.bad == nil {
			n.bad = map[int64]bool{}
		}
		n.bad[index] = true
	}
}

// Destroy replaces the disk by a new one: nothing of what was on it is left, and
// what the system puts on a new disk is there again. No process of the host
// should have files open.
func (d *Disk) Destroy() {
	sched.Enter()
	defer sched.Leave()
	d.reset()
}

// reset empties the disk.
func (d *Disk) reset() {
	clear(d.journal)
	clear(d.dirty)
	d.journal, d.dirty = d.journal[:0], d.dirty[:0]
	root := d.root
	clear(root.entries)
	root.names, root.presets, root.loaded = nil, nil, false
	root.nlink, root.mode = 2, 0o755
	root.presets = append(root.presets, presetRoot)
	for _, s := range d.system {
		d.addPreset(s.name, s.fill)
	}
	d.recount()
}

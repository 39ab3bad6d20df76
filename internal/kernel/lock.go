//go:build linux && (amd64 || arm64)

package kernel

import (
	"math"
	"syscall"

	"github.com/dstkit/dst/simfs"
)

// fileState is what the kernel keeps of a regular file or directory that locks
// or mappings concern: its Attached.
type fileState struct {
	node    *simfs.Inode
	ranges  []rangeLock
	whole   []wholeLock
	waiting []*file // with calls that wait for a lock of the file
	memory  *memory
}

// stateOf returns the inode's state, with create made if there is none.
func stateOf(n *simfs.Inode, create bool) *fileState {
	s, _ := n.Attached.(*fileState)
	if s == nil && create && n.Attached == nil {
		s = &fileState{node: n}
		n.Attached = s
	}
	return s
}

// tidy forgets the state when nothing is left of it.
func (s *fileState) tidy() {
	if len(s.ranges) == 0 && len(s.whole) == 0 && len(s.waiting) == 0 && s.memory == nil {
		s.node.Attached = nil
	}
}

// A rangeLock is a lock of fcntl on the bytes from start up to end. Its owner is
// the process (POSIX) or an open file description (OFD).
type rangeLock struct {
	p          *Process
	f          *file
	write      bool
	start, end int64
}

// A wholeLock is one of flock.
type wholeLock struct {
	f     *file
	write bool
}

// wake lets those that wait for a lock try again.
func (s *fileState) wake() {
	waiting := s.waiting
	s.waiting = nil
	for _, f := range waiting {
		f.wakeAll()
	}
}

// conflict returns a lock of somebody else that is in the way of l, or nil.
func (s *fileState) conflict(l rangeLock) *rangeLock {
	for i := range s.ranges {
		o := &s.ranges[i]
		if (o.p != l.p || o.f != l.f) && (o.write || l.write) && o.start < l.end && l.start < o.end {
			return o
		}
	}
	return nil
}

// set replaces what the owner of l has in its range: by l, or with unlock by
// nothing. Neighbours of one kind become one.
func (s *fileState) set(l rangeLock, unlock bool) {
	kept := make([]rangeLock, 0, len(s.ranges)+2)
	for _, o := range s.ranges {
		switch {
		case o.p != l.p || o.f != l.f || o.end < l.start || l.end < o.start:
			kept = append(kept, o)
			continue
		case !unlock && o.write == l.write: // they touch
			l.start, l.end = min(l.start, o.start), max(l.end, o.end)
			continue
		}
		if o.start < l.start {
			left := o
			left.end = min(o.end, l.start)
			kept = append(kept, left)
		}
		if o.end > l.end {
			right := o
			right.start = max(o.start, l.end)
			kept = append(kept, right)
		}
	}
	if !unlock {
		kept = append(kept, l)
	}
	s.ranges = kept
	s.wake()
}

// sysRecordLock is what fcntl does with locks. A host has one process, so its
// POSIX locks are in the way of OFD locks only, and the other way round; EDEADLK
// cannot be.
func (p *Process) sysRecordLock(c *Call, f *file, cmd int) (uintptr, syscall.Errno) {
	var fl syscall.Flock_t
	if errno := get(&fl, c.Ptr[2]); errno != 0 {
		return 0, errno
	}
	ofd := cmd >= fOfdGetlk
	query := cmd == syscall.F_GETLK || cmd == fOfdGetlk
	switch {
	case f.kind != kindDisk || f.node == nil:
		return 0, syscall.EBADF
	case ofd && fl.Pid != 0:
		return 0, syscall.EINVAL
	}
	var base int64
	switch fl.Whence {
	case 0:
	case 1:
		base = f.off
	case 2:
		base = f.node.Size()
	default:
		return 0, syscall.EINVAL
	}
	l := rangeLock{p: p, write: fl.Type == syscall.F_WRLCK}
	if ofd {
		l.p, l.f = nil, f
	}
	l.start = base + fl.Start
	switch {
	case fl.Len > 0:
		if l.start > math.MaxInt64-fl.Len {
			return 0, syscall.EOVERFLOW
		}
		l.end = l.start + fl.Len
	case fl.Len < 0:
		l.start, l.end = l.start+fl.Len, l.start
	default:
		l.end = math.MaxInt64
	}
	switch {
	case l.start < 0:
		return 0, syscall.EINVAL
	case fl.Type != syscall.F_RDLCK && fl.Type != syscall.F_WRLCK && (fl.Type != syscall.F_UNLCK || query):
		return 0, syscall.EINVAL
	case query:
	case fl.Type == syscall.F_RDLCK && !f.readable(), fl.Type == syscall.F_WRLCK && !f.writable():
		return 0, syscall.EBADF
	}
	s := stateOf(f.node, true)
	if s == nil {
		return 0, syscall.EINVAL
	}
	defer s.tidy()
	unlock := fl.Type == syscall.F_UNLCK
	var other *rangeLock
	if !unlock {
		other = s.conflict(l)
	}
	switch {
	case query && other == nil:
		fl.Type = syscall.F_UNLCK
		return 0, put(c.Ptr[2], &fl)
	case query:
		fl = syscall.Flock_t{Type: syscall.F_RDLCK, Start: other.start, Pid: -1}
		if other.write {
			fl.Type = syscall.F_WRLCK
		}
		if other.end != math.MaxInt64 {
			fl.Len = other.end - other.start
		}
		if other.p != nil {
			fl.Pid = int32(other.p.pid)
		}
		return 0, put(c.Ptr[2], &fl)
	case other != nil && (cmd == syscall.F_SETLKW || cmd == fOfdSetlkw):
		return 0, p.waitLock(c, f, s)
	case other != nil:
		return 0, syscall.EAGAIN
	}
	f.flock = f.flock || ofd
	s.set(l, unlock)
	return 0, 0
}

// waitLock makes the call wait for the file's locks to change.
func (p *Process) waitLock(c *Call, f *file, s *fileState) syscall.Errno {
	s.waiting = append(s.waiting, f)
	return p.waitFor(c, f, 0)
}

func (p *Process) sysFlock(c *Call) (uintptr, syscall.Errno) {
	f := p.lookup(c.Arg[0])
	if f == nil || f.flags&oPath != 0 {
		return 0, syscall.EBADF
	}
	how := int(c.Arg[1])
	op := how &^ syscall.LOCK_NB
	switch op {
	case syscall.LOCK_SH, syscall.LOCK_EX, syscall.LOCK_UN:
	default:
		return 0, syscall.EINVAL
	}
	if f.kind != kindDisk {
		return 0, syscall.EBADF
	}
	s := stateOf(f.node, true)
	if s == nil {
		return 0, syscall.EINVAL
	}
	defer s.tidy()
	l := wholeLock{f, op == syscall.LOCK_EX}
	for i, o := range s.whole {
		if o.f != f {
			continue
		}
		if op != syscall.LOCK_UN && o.write == l.write {
			return 0, 0
		}
		// As on Linux, changing a lock gives up the old one first.
		s.whole = append(s.whole[:i], s.whole[i+1:]...)
		s.wake()
		break
	}
	if op == syscall.LOCK_UN {
		return 0, 0
	}
	for _, o := range s.whole {
		if o.write || l.write {
			if how&syscall.LOCK_NB != 0 {
				return 0, syscall.EAGAIN
			}
			return 0, p.waitLock(c, f, s)
		}
	}
	s.whole = append(s.whole, l)
	f.flock = true
	return 0, 0
}

// unlock ends the locks of an open file description, with it.
func (f *file) unlock() {
	s := stateOf(f.node, false)
	if s == nil {
		return
	}
	if f.flock {
		for i, o := range s.whole {
			if o.f == f {
				s.whole = append(s.whole[:i], s.whole[i+1:]...)
				break
			}
		}
		s.set(rangeLock{f: f, end: math.MaxInt64}, true)
	}
	for i := 0; i < len(s.waiting); {
		if s.waiting[i] == f {
			s.waiting = append(s.waiting[:i], s.waiting[i+1:]...)
		} else {
			i++
		}
	}
	s.tidy()
}

// unlockAll ends the process's POSIX locks on a file: whenever it closes a
// descriptor of it, as POSIX has it.
func (p *Process) unlockAll(n *simfs.Inode) {
	s := stateOf(n, false)
	if s == nil {
		return
	}
	for _, o := range s.ranges {
		if o.p == p {
			s.set(rangeLock{p: p, end: math.MaxInt64}, true)
			break
		}
	}
	s.tidy()
}

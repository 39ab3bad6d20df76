//go:build linux && (amd64 || arm64)

package kernel

import (
	"syscall"
	"unsafe"

	"github.com/dstkit/dst/sched"
)

// Events of epoll and poll; each comes with what else Linux gives with it.
const (
	epollIn        = syscall.EPOLLIN | syscall.EPOLLRDNORM
	epollOut       = syscall.EPOLLOUT | syscall.EPOLLWRNORM
	epollErr       = syscall.EPOLLERR
	epollHup       = syscall.EPOLLHUP
	epollRdHup     = syscall.EPOLLRDHUP
	epollEdge      = 1 << 31
	epollOneShot   = 1 << 30
	epollExclusive = 1 << 28
	epollPrivate   = 0xf << 28 // how, not what
	pollNval       = 0x20
)

const (
	sysEPOLLPWAIT2 = 441 // on every architecture
	epollDepth     = 4   // how deep epoll sets may lie in each other
)

// An epoll is a set of files to be watched.
type epoll struct {
	f       *file
	watches []*watch
	ready   []*watch // those that may have events, first come first
}

// A watch is one file in an epoll set.
type watch struct {
	ep     *epoll
	f      *file
	fd     uintptr
	events uint32 // asked for; after a shot, only how
	data   uint64
	listed bool // in ready
}

// events tells what a file is ready for.
func (f *file) events() (ev uint32) {
	switch f.kind {
	case kindUnix:
		return f.unix.events()
	case kindPipe:
		return f.pipeEvents()
	case kindEvent:
		return f.event.events()
	case kindTimer:
		return f.timer.events()
	case kindEpoll:
		if f.epoll.any() {
			return epollIn
		}
		return 0
	case kindStream:
		return f.sock.streamEvents()
	}
	r, w := f.ready()
	if r {
		ev |= epollIn
	}
	if f.kind == kindUDP && f.sock.udp.Failed() {
		ev |= epollErr
	}
	if w {
		ev |= epollOut
	}
	return ev
}

// streamEvents is events of a TCP socket.
func (s *socket) streamEvents() (ev uint32) {
	t := s.tcp
	if t.Readable() {
		ev |= epollIn
	}
	if t.Listening() {
		return ev
	}
	if t.Urgent() {
		ev |= syscall.EPOLLPRI
	}
	if t.PeerClosed() {
		ev |= epollIn | epollRdHup
	}
	if t.HangUp() {
		ev |= epollHup
	}
	if t.Failed() {
		ev |= epollErr
	}
	if t.Writable() {
		ev |= epollOut
	}
	return ev
}

// now is what the watch has to tell.
func (it *watch) now() uint32 { return it.f.events() & (it.events | epollErr | epollHup) }

// any tells whether a file of the set is ready.
func (ep *epoll) any() bool {
	for _, it := range ep.ready {
		if it.armed() && it.now() != 0 {
			return true
		}
	}
	return false
}

// armed is false after the one shot of EPOLLONESHOT.
func (it *watch) armed() bool { return it.events&^epollPrivate != 0 }

// notify is told of a change of the file that concerns the events in key.
func (it *watch) notify(key uint32) {
	if !it.armed() || key&(it.events|epollErr|epollHup) == 0 {
		return
	}
	it.list()
	it.ep.f.changedBy(epollIn)
}

// list enters the watch among those that may be ready.
func (it *watch) list() {
	if !it.listed {
		it.listed = true
		it.ep.ready = append(it.ep.ready, it)
	}
}

// look lists a watch that is new or was changed, if it is ready.
func (it *watch) look() {
	if it.armed() && it.now() != 0 {
		it.list()
		it.ep.f.changedBy(epollIn)
	}
}

func without(list []*watch, it *watch) []*watch {
	for i, other := range list {
		if other == it {
			copy(list[i:], list[i+1:])
			list[len(list)-1] = nil
			return list[:len(list)-1]
		}
	}
	return list
}

// remove takes the watch out of its set.
func (it *watch) remove() {
	it.f.watches = without(it.f.watches, it)
	it.ep.watches = without(it.ep.watches, it)
	it.ep.ready = without(it.ep.ready, it)
}

func (ep *epoll) close() {
	for len(ep.watches) > 0 {
		ep.watches[len(ep.watches)-1].remove()
	}
}

func (p *Process) sysEpollCreate(flags int) (uintptr, syscall.Errno) {
	if flags&^syscall.EPOLL_CLOEXEC != 0 {
		return 0, syscall.EINVAL
	}
	f := &file{kind: kindEpoll, owner: p, flags: syscall.O_RDWR}
	f.epoll = &epoll{f: f}
	return p.enterNew(f, flags != 0)
}

// holds tells how deep sets lie in ep, and whether target is one of them.
func (ep *epoll) holds(target *epoll, depth int) (int, bool) {
	if ep == target {
		return depth, true
	}
	deepest := depth
	for _, it := range ep.watches {
		if it.f.kind == kindEpoll && depth <= epollDepth {
			d, found := it.f.epoll.holds(target, depth+1)
			if found {
				return d, true
			}
			deepest = max(deepest, d)
		}
	}
	return deepest, false
}

// above tells how many sets the file lies in, one in the other.
func (f *file) above(depth int) int {
	deepest := depth
	for _, it := range f.watches {
		if depth <= epollDepth {
			deepest = max(deepest, it.ep.f.above(depth+1))
		}
	}
	return deepest
}

func (p *Process) sysEpollCtl(c *Call) (uintptr, syscall.Errno) {
	op := int(int32(c.Arg[1]))
	var ev syscall.EpollEvent
	if op != syscall.EPOLL_CTL_DEL {
		if errno := get(&ev, c.Ptr[3]); errno != 0 {
			return 0, errno
		}
	}
	ef, fd := p.lookup(c.Arg[0]), uintptr(uint32(c.Arg[2]))
	f := p.lookup(fd)
	switch {
	case ef == nil || ef.flags&oPath != 0 || f == nil || f.flags&oPath != 0:
		return 0, syscall.EBADF
	case !f.pollable():
		return 0, syscall.EPERM
	case ef == f || ef.kind != kindEpoll:
		return 0, syscall.EINVAL
	}
	ep := ef.epoll
	events := ev.Events
	data := *(*uint64)(unsafe.Pointer(&ev.Fd))
	if events&epollExclusive != 0 && op != syscall.EPOLL_CTL_DEL {
		const allowed = epollIn | epollOut | epollErr | epollHup | epollEdge | epollExclusive | 1<<29
		if op == syscall.EPOLL_CTL_MOD || f.kind == kindEpoll || events&^allowed != 0 {
			return 0, syscall.EINVAL
		}
	}
	if op == syscall.EPOLL_CTL_ADD && f.kind == kindEpoll {
		below, cycle := f.epoll.holds(ep, 1)
		if cycle || below+ef.above(0) > epollDepth {
			return 0, syscall.ELOOP
		}
	}
	var it *watch
	for _, other := range ep.watches {
		if other.f == f && other.fd == fd {
			it = other
		}
	}
	switch op {
	case syscall.EPOLL_CTL_ADD:
		if it != nil {
			return 0, syscall.EEXIST
		}
		it = &watch{ep: ep, f: f, fd: fd, events: events | epollErr | epollHup, data: data}
		ep.watches = append(ep.watches, it)
		f.watches = append(f.watches, it)
		it.look()
	case syscall.EPOLL_CTL_MOD:
		if it == nil {
			return 0, syscall.ENOENT
		}
		if it.events&epollExclusive != 0 {
			return 0, syscall.EINVAL
		}
		it.events, it.data = events|epollErr|epollHup, data
		it.look()
	case syscall.EPOLL_CTL_DEL:
		if it == nil {
			return 0, syscall.ENOENT
		}
		it.remove()
	default:
		return 0, syscall.EINVAL
	}
	return 0, 0
}

// sysEpollWait is epoll_wait and epoll_pwait, and epoll_pwait2 with a time that
// is not in milliseconds. Masks of signals are passed over.
func (p *Process) sysEpollWait(c *Call, timespec bool) (uintptr, syscall.Errno) {
	timeout := int64(int32(c.Arg[3])) * 1e6
	if timespec {
		timeout = -1
		if c.Ptr[3] != nil {
			var ts syscall.Timespec
			if errno := get(&ts, c.Ptr[3]); errno != 0 {
				return 0, errno
			}
			if !valid(&ts) {
				return 0, syscall.EINVAL
			}
			timeout = nanos(&ts)
		}
	}
	most := int(int32(c.Arg[2]))
	f := p.lookup(c.Arg[0])
	switch {
	case most <= 0 || most > 1<<31/int(unsafe.Sizeof(syscall.EpollEvent{})):
		return 0, syscall.EINVAL
	case c.Ptr[1] != nil && absurd(c.Ptr[1]):
		return 0, syscall.EFAULT
	case f == nil || f.flags&oPath != 0:
		return 0, syscall.EBADF
	case f.kind != kindEpoll:
		return 0, syscall.EINVAL
	}
	n, errno := f.epoll.collect(c.Ptr[1], most)
	if n > 0 || errno != 0 {
		return uintptr(n), errno
	}
	due, over := p.until(timeout)
	if over {
		return 0, 0
	}
	return 0, p.waitFor(c, f, due)
}

// until tells when a wait of timeout nanoseconds ends, 0 for never, and whether
// that is now. A timeout below zero is none.
func (p *Process) until(timeout int64) (due int64, over bool) {
	switch {
	case p.resumed:
		return p.deadline, p.expired
	case timeout == 0:
		return 0, true
	case timeout < 0:
		return 0, false
	}
	return p.k.w.Now() + p.virtual(timeout), false
}

// collect writes the events of the files that are ready. A file that is watched
// by level goes to the end of the line.
func (ep *epoll) collect(ptr unsafe.Pointer, most int) (int, syscall.Errno) {
	n := 0
	for todo := len(ep.ready); todo > 0 && n < most; todo-- {
		it := ep.ready[0]
		ev := uint32(0)
		if it.armed() {
			ev = it.now()
		}
		var out syscall.EpollEvent
		if ev != 0 {
			out.Events = ev
			*(*uint64)(unsafe.Pointer(&out.Fd)) = it.data
			if errno := put(unsafe.Add(ptr, uintptr(n)*unsafe.Sizeof(out)), &out); errno != 0 {
				if n > 0 {
					return n, 0
				}
				return 0, errno
			}
			n++
		}
		copy(ep.ready, ep.ready[1:])
		ep.ready = ep.ready[:len(ep.ready)-1]
		it.listed = false
		switch {
		case ev == 0:
		case it.events&epollOneShot != 0:
			it.events &= epollPrivate
		case it.events&epollEdge == 0:
			it.list()
		}
	}
	return n, 0
}

// A pollfd is one element of poll's array.
type pollfd struct {
	fd              int32
	events, revents int16
}

// sysPoll is poll and, with a timespec, ppoll.
func (p *Process) sysPoll(c *Call, timespec bool) (uintptr, syscall.Errno) {
	timeout := int64(int32(c.Arg[2])) * 1e6
	if timespec {
		timeout = -1
		if c.Ptr[2] != nil {
			var ts syscall.Timespec
			if errno := get(&ts, c.Ptr[2]); errno != 0 {
				return 0, errno
			}
			if !valid(&ts) {
				return 0, syscall.EINVAL
			}
			timeout = nanos(&ts)
		}
	}
	count := int(uint32(c.Arg[1]))
	if uint64(count) > p.nofile.cur {
		return 0, syscall.EINVAL
	}
	n, at := 0, func(i int) unsafe.Pointer { return unsafe.Add(c.Ptr[0], uintptr(i)*unsafe.Sizeof(pollfd{})) }
	for i := range count {
		var pf pollfd
		if errno := get(&pf, at(i)); errno != 0 {
			return 0, errno
		}
		if pf.revents = p.pollOne(&pf); pf.revents != 0 {
			n++
		}
		sched.CopyOut(unsafe.Add(at(i), unsafe.Offsetof(pf.revents)), bytesOf(&pf.revents))
	}
	due, over := p.until(timeout)
	if n > 0 || over {
		if timespec && c.Ptr[2] != nil {
			left := p.remaining(timeout, due)
			sched.CopyOut(c.Ptr[2], bytesOf(&left))
		}
		return uintptr(n), 0
	}
	errno := p.waitFor(c, nil, due)
	for i := range count {
		var pf pollfd
		if get(&pf, at(i)) == 0 && pf.fd >= 0 {
			p.block.also(p.lookup(uintptr(pf.fd)))
		}
	}
	return 0, errno
}

func (p *Process) pollOne(pf *pollfd) int16 {
	if pf.fd < 0 {
		return 0
	}
	f := p.lookup(uintptr(pf.fd))
	if f == nil || f.flags&oPath != 0 {
		return pollNval
	}
	return int16(f.events() & (uint32(uint16(pf.events)) | epollErr | epollHup))
}

// remaining is the time that was left of a wait when it ended.
func (p *Process) remaining(timeout, due int64) syscall.Timespec {
	if p.resumed {
		timeout = max(0, due-p.k.w.Now())
	}
	return syscall.NsecToTimespec(timeout)
}

// sysSelect is select and, with a timespec, pselect6. Simulated descriptors
// have numbers that no fd_set of C has room for; what is given here may be
// longer.
func (p *Process) sysSelect(c *Call, timespec bool) (uintptr, syscall.Errno) {
	timeout := int64(-1)
	if c.Ptr[4] != nil {
		var ts syscall.Timespec // or a timeval, which is as long
		if errno := get(&ts, c.Ptr[4]); errno != 0 {
			return 0, errno
		}
		if !timespec {
			ts.Sec += ts.Nsec / 1e6
			ts.Nsec = ts.Nsec % 1e6 * 1000
		}
		if !valid(&ts) {
			return 0, syscall.EINVAL
		}
		timeout = nanos(&ts)
	}
	count := int(int32(c.Arg[0]))
	if count < 0 {
		return 0, syscall.EINVAL
	}
	count = min(count, int(p.base)+len(p.high))
	for i := 1; i <= 3; i++ {
		if c.Ptr[i] != nil && absurd(c.Ptr[i]) {
			return 0, syscall.EFAULT
		}
	}
	// Twice, since the sets are changed only if the call does not wait.
	n := 0
	for word := 0; word*64 < count; word++ {
		got, _, errno := p.selectWord(c, word, count)
		if errno != 0 {
			return 0, errno
		}
		n += got
	}
	due, over := p.until(timeout)
	if n == 0 && !over {
		errno := p.waitFor(c, nil, due)
		for word := 0; word*64 < count; word++ {
			in, _ := selected(c, word, count)
			for bit, all := 0, in[0]|in[1]|in[2]; all != 0; bit, all = bit+1, all>>1 {
				if all&1 != 0 {
					p.block.also(p.lookup(uintptr(word*64 + bit)))
				}
			}
		}
		return 0, errno
	}
	for word := 0; word*64 < count; word++ {
		_, out, _ := p.selectWord(c, word, count)
		for i := range out {
			if c.Ptr[i+1] != nil {
				sched.CopyOut(unsafe.Add(c.Ptr[i+1], word*8), bytesOf(&out[i]))
			}
		}
	}
	if c.Ptr[4] != nil {
		left := p.remaining(timeout, due)
		if !timespec {
			left.Nsec /= 1000
		}
		sched.CopyOut(c.Ptr[4], bytesOf(&left))
	}
	return uintptr(n), 0
}

// selected reads 64 bits of each of select's three sets.
func selected(c *Call, word, count int) (in [3]uint64, any bool) {
	for i := range in {
		if c.Ptr[i+1] == nil {
			continue
		}
		sched.CopyIn(bytesOf(&in[i]), unsafe.Add(c.Ptr[i+1], word*8))
		if rest := count - word*64; rest < 64 {
			in[i] &= 1<<rest - 1
		}
		any = any || in[i] != 0
	}
	return in, any
}

// selectWord tells which of 64 descriptors are ready.
func (p *Process) selectWord(c *Call, word, count int) (n int, out [3]uint64, errno syscall.Errno) {
	in, any := selected(c, word, count)
	if !any {
		return 0, out, 0
	}
	wants := [3]uint32{
		epollIn | syscall.EPOLLRDBAND | epollHup | epollErr, epollOut | syscall.EPOLLWRBAND | epollErr, syscall.EPOLLPRI,
	}
	for bit := range 64 {
		mask := uint64(1) << bit
		if (in[0]|in[1]|in[2])&mask == 0 {
			continue
		}
		f := p.lookup(uintptr(word*64 + bit))
		if f == nil {
			return 0, out, syscall.EBADF
		}
		ev := f.events()
		for i, want := range wants {
			if in[i]&mask != 0 && ev&want != 0 {
				out[i] |= mask
				n++
			}
		}
	}
	return n, out, 0
}

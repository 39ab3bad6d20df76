//go:build linux && (amd64 || arm64)

package kernel

import (
	"syscall"
	"time"
	"unsafe"

	"github.com/dstkit/dst/sched"
)

const (
	pipePage    = 4096 // of Linux on the machines simulated; also PIPE_BUF
	pipePages   = 16   // a new pipe's
	pipeMaxSize = 1 << 31
)

// copying is how long a machine takes to move n bytes between a program and a
// pipe, at 10 GB/s. Else two ends that move data as fast as they can would do
// so ten times as fast as any machine, and a minute of it take many for real.
func copying(n int) time.Duration { return time.Duration(n / 10) }

// A pipe is what two ends, or a FIFO's many, have in common: pages of data, as
// Linux keeps them. A page is filled by later writes if they fit, and freed
// when it has been read to its end.
type pipe struct {
	pages []pipeChunk
	limit int // of pages
	spare [][]byte

	ends             []*file
	readers, writers int
	opened           [2]int // for reading and writing, ever
}

// A pipeChunk is a page in use: b is what was written to it.
type pipeChunk struct {
	b    []byte
	read int
}

func (pp *pipe) full() bool { return len(pp.pages) >= pp.limit }

// size is how many bytes wait to be read.
func (pp *pipe) size() (n int) {
	for i := range pp.pages {
		n += len(pp.pages[i].b) - pp.pages[i].read
	}
	return n
}

// notify tells the ends for reading, or those for writing, of events.
func (pp *pipe) notify(reading bool, key uint32) {
	for _, f := range pp.ends {
		if reading && f.readable() || !reading && f.writable() {
			f.changedBy(key)
		}
	}
}

// attach makes f an end of the pipe.
func (pp *pipe) attach(f *file) {
	f.kind, f.pipe = kindPipe, pp
	pp.ends = append(pp.ends, f)
	if f.readable() {
		pp.readers++
		pp.opened[0]++
	}
	if f.writable() {
		pp.writers++
		pp.opened[1]++
	}
	f.off = -1
}

// sysPipe is pipe2, and pipe with no flags.
func (p *Process) sysPipe(c *Call, flags int) (uintptr, syscall.Errno) {
	if flags&syscall.O_DIRECT != 0 {
		p.unsupported(c.Trap, syscall.O_DIRECT, "a pipe of packets")
		return 0, syscall.EINVAL
	}
	if flags&^(syscall.O_CLOEXEC|syscall.O_NONBLOCK) != 0 {
		return 0, syscall.EINVAL
	}
	pp := &pipe{limit: pipePages}
	status := flags & syscall.O_NONBLOCK
	r := &file{owner: p, flags: syscall.O_RDONLY | status}
	w := &file{owner: p, flags: syscall.O_WRONLY | status}
	pp.attach(r)
	pp.attach(w)
	return p.enterPair(r, w, flags&syscall.O_CLOEXEC != 0, c.Ptr[0])
}

// enterPair enters two new files and writes their descriptors to ptr.
func (p *Process) enterPair(a, b *file, cloexec bool, ptr unsafe.Pointer) (uintptr, syscall.Errno) {
	if absurd(ptr) {
		a.release()
		b.release()
		return 0, syscall.EFAULT
	}
	x, errno := p.enterNew(a, cloexec)
	if errno != 0 {
		b.release()
		return 0, errno
	}
	y, errno := p.enterNew(b, cloexec)
	if errno != 0 {
		p.lowest = min(p.lowest, int(x-p.base))
		p.drop(p.slotOf(x))
		return 0, errno
	}
	fds := [2]int32{int32(x), int32(y)}
	return 0, put(ptr, &fds)
}

// openFifo opens an end of a FIFO, which waits for the other unless it is told
// not to.
func (p *Process) openFifo(c *Call, f *file, flags int) (uintptr, syscall.Errno) {
	pp, other := f.pipe, 1
	if !f.readable() {
		other = 0
	}
	wait := false
	if pp != nil {
		wait = pp.opened[other] == p.progress // nobody came since, even for a moment
	} else {
		if pp, _ = f.node.Attached.(*pipe); pp == nil {
			pp = &pipe{limit: pipePages}
		}
		if !f.readable() && !f.blocking() && pp.readers == 0 {
			return 0, syscall.ENXIO
		}
		f.node.Attached = pp
		pp.attach(f)
		pp.notify(true, epollIn)
		pp.notify(false, epollOut)
		if f.readable() != f.writable() && [2]int{pp.readers, pp.writers}[other] == 0 {
			wait = f.blocking()
			f.off = int64(pp.opened[1])
		}
	}
	if wait {
		errno := p.waitFor(c, f, 0)
		p.block.opening, p.block.done = f, pp.opened[other]
		return 0, errno
	}
	if f.blocking() {
		f.off = -1
	}
	return p.enterNew(f, flags&syscall.O_CLOEXEC != 0)
}

// closePipe takes an end from its pipe.
func (f *file) closePipe() {
	pp := f.pipe
	for i, end := range pp.ends {
		if end == f {
			pp.ends = append(pp.ends[:i], pp.ends[i+1:]...)
			break
		}
	}
	if f.readable() {
		pp.readers--
	}
	if f.writable() {
		pp.writers--
	}
	if (pp.readers == 0) != (pp.writers == 0) {
		pp.notify(true, epollIn|epollErr|epollHup)
		pp.notify(false, epollOut|epollErr|epollHup)
	}
	if len(pp.ends) == 0 && f.node != nil {
		f.node.Attached = nil
	}
}

func (f *file) pipeEvents() (ev uint32) {
	pp := f.pipe
	if f.readable() {
		if len(pp.pages) > 0 {
			ev |= epollIn
		}
		// Who opened a FIFO before there ever was a writer is not told that
		// there is none.
		if pp.writers == 0 && int64(pp.opened[1]) != f.off {
			ev |= epollHup
		}
	}
	if f.writable() {
		if !pp.full() {
			ev |= epollOut
		}
		if pp.readers == 0 {
			ev |= epollErr
		}
	}
	return ev
}

// pipeSize is fcntl's F_GETPIPE_SZ and F_SETPIPE_SZ.
func (f *file) pipeSize(get bool, size uintptr) (uintptr, syscall.Errno) {
	if f.kind != kindPipe {
		return 0, syscall.EBADF
	}
	pp := f.pipe
	if !get {
		if size = uintptr(uint32(size)); size > pipeMaxSize {
			return 0, syscall.EINVAL
		}
		pages := 1
		for uintptr(pages*pipePage) < size {
			pages *= 2
		}
		if pages < len(pp.pages) {
			return 0, syscall.EBUSY
		}
		pp.limit = pages
		pp.notify(false, epollOut)
	}
	return uintptr(pp.limit * pipePage), 0
}

func (p *Process) readPipe(c *Call, f *file, b []byte) (uintptr, syscall.Errno) {
	if !f.readable() {
		return 0, syscall.EBADF
	}
	if len(b) == 0 {
		return 0, 0
	}
	pp := f.pipe
	wasFull := pp.full()
	n := 0
	for n < len(b) && len(pp.pages) > 0 {
		ch := &pp.pages[0]
		part := min(len(b)-n, len(ch.b)-ch.read)
		sched.CopyOut(unsafe.Pointer(&b[n]), ch.b[ch.read:][:part])
		n += part
		if ch.read += part; ch.read == len(ch.b) {
			pp.spare = append(pp.spare, ch.b[:0])
			copy(pp.pages, pp.pages[1:])
			pp.pages[len(pp.pages)-1] = pipeChunk{}
			pp.pages = pp.pages[:len(pp.pages)-1]
		}
	}
	switch {
	case n > 0:
		p.k.w.Spend(copying(n))
		if wasFull && !pp.full() {
			pp.notify(false, epollOut)
		}
		return uintptr(n), 0
	case pp.writers == 0:
		return 0, 0
	case !f.blocking():
		return 0, syscall.EAGAIN
	}
	return 0, p.waitFor(c, f, 0)
}

// fill writes as much of b as there is room for.
func (pp *pipe) fill(b []byte) int {
	n := 0
	// The odd part of a write goes where the last one ended, if it fits.
	if odd := len(b) % pipePage; odd > 0 && len(pp.pages) > 0 {
		if ch := &pp.pages[len(pp.pages)-1]; len(ch.b)+odd <= pipePage {
			ch.b = grow(ch.b, b[:odd])
			n = odd
		}
	}
	for n < len(b) && !pp.full() {
		part := min(len(b)-n, pipePage)
		var page []byte
		if k := len(pp.spare); k > 0 {
			page, pp.spare = pp.spare[k-1], pp.spare[:k-1]
		}
		pp.pages = append(pp.pages, pipeChunk{b: grow(page, b[n:n+part])})
		n += part
	}
	return n
}

// grow appends what lies in the program's memory.
func grow(dst, src []byte) []byte {
	at := len(dst)
	need := at + len(src)
	if need > cap(dst) {
		bigger := make([]byte, at, max(need, min(2*cap(dst), pipePage)))
		copy(bigger, dst)
		dst = bigger
	}
	dst = dst[:need]
	sched.CopyIn(dst[at:], unsafe.Pointer(unsafe.SliceData(src)))
	return dst
}

func (p *Process) writePipe(c *Call, f *file, b []byte) (uintptr, syscall.Errno) {
	if !f.writable() {
		return 0, syscall.EBADF
	}
	if len(b) == 0 {
		return 0, 0
	}
	pp, done := f.pipe, p.progress
	if pp.readers > 0 {
		if n := pp.fill(b[done:]); n > 0 {
			done += n
			p.k.w.Spend(copying(n))
			pp.notify(true, epollIn)
		}
	}
	switch {
	case done == len(b):
	case pp.readers == 0:
		p.Signal(syscall.SIGPIPE)
		if done == 0 {
			return 0, syscall.EPIPE
		}
	case f.blocking():
		errno := p.waitFor(c, f, 0)
		p.block.done = done
		return 0, errno
	case done == 0:
		return 0, syscall.EAGAIN
	}
	return uintptr(done), 0
}

// readSpecial is read on what is neither a socket nor of the disk.
func (p *Process) readSpecial(c *Call, f *file, b []byte) (uintptr, syscall.Errno) {
	switch f.kind {
	case kindPipe:
		return p.readPipe(c, f, b)
	case kindEvent:
		return p.readEvent(c, f, b)
	case kindTimer:
		return p.readTimer(c, f, b)
	}
	return 0, syscall.EINVAL
}

// writeSpecial is write, as readSpecial is read.
func (p *Process) writeSpecial(c *Call, f *file, b []byte) (uintptr, syscall.Errno) {
	switch f.kind {
	case kindPipe:
		return p.writePipe(c, f, b)
	case kindEvent:
		return p.writeEvent(c, f, b)
	}
	return 0, syscall.EINVAL
}

// vectorSpecial is readv and writev, as readSpecial is read. What a vector
// writes to a pipe, up to a page, is not divided.
func (p *Process) vectorSpecial(c *Call, f *file, count int, write bool) (uintptr, syscall.Errno) {
	total, done := 0, p.progress
	for i := range count {
		b, errno := iovec(c.Ptr[1], i)
		if errno != 0 {
			if total == 0 {
				return 0, errno
			}
			break
		}
		if write && f.kind == kindPipe && count > 1 && total == 0 && done == 0 {
			if whole, errno := p.gatherVector(c.Ptr[1], count); errno == 0 && len(whole) <= pipePage {
				return p.writeSpecial(c, f, whole)
			}
		}
		if total+len(b) <= done { // written before the call waited
			total += len(b)
			continue
		}
		skip := max(0, done-total)
		p.progress = 0
		var n uintptr
		switch {
		case write:
			n, errno = p.writeSpecial(c, f, b[skip:])
		case total > 0 && f.kind == kindPipe && len(f.pipe.pages) == 0:
			return uintptr(total), 0
		default:
			n, errno = p.readSpecial(c, f, b)
		}
		if errno == errBlock && write {
			p.block.done += total + skip
			return 0, errno
		}
		if errno != 0 {
			if total == 0 {
				return 0, errno
			}
			break
		}
		total += skip + int(n)
		if skip+int(n) < len(b) {
			break
		}
	}
	return uintptr(total), 0
}

// gatherVector copies a vector of at most the size of scratch together.
func (p *Process) gatherVector(base unsafe.Pointer, count int) ([]byte, syscall.Errno) {
	m := syscall.Msghdr{Iov: (*syscall.Iovec)(base), Iovlen: uint64(count)}
	return p.gather(&m)
}

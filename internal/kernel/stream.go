//go:build linux && (amd64 || arm64)

package kernel

import (
	"syscall"
	"unsafe"

	"github.com/dstkit/dst/sched"
	"github.com/dstkit/dst/simnet"
)

// connectStream is connect(2) of a TCP socket. Who may not wait is told
// EINPROGRESS, and finds the socket writable, and what came of it in SO_ERROR.
func (p *Process) connectStream(c *Call, f *file, a *sockaddr) (uintptr, syscall.Errno) {
	t := f.sock.tcp
	if a.family == syscall.AF_UNSPEC {
		errno := t.Disconnect()
		f.renamed()
		return 0, errno
	}
	if errno := f.sock.suits(a); errno != 0 {
		return 0, errno
	}
	errno := t.Connect(a.addr)
	f.renamed()
	if errno == syscall.EINPROGRESS && f.blocking() && t.Writable() {
		errno = t.Connect(a.addr) // the outcome is there already
	}
	if errno != syscall.EINPROGRESS && errno != syscall.EALREADY || !f.blocking() || p.expired {
		return 0, errno
	}
	return 0, p.waitFor(c, f, p.due(f.sock.opts.sndTimeout))
}

func (p *Process) sysListen(c *Call) (uintptr, syscall.Errno) {
	f, errno := p.socketOf(c.Arg[0])
	switch {
	case errno != 0:
		return 0, errno
	case f.kind == kindUnix:
		return 0, f.unix.listen(int(int32(c.Arg[1])))
	case f.kind != kindStream:
		return 0, syscall.EOPNOTSUPP
	}
	// A negative backlog counts as a huge one; somaxconn bounds it.
	backlog := min(uint32(c.Arg[1]), maxBacklog)
	errno = f.sock.tcp.Listen(int(backlog))
	f.renamed()
	return 0, errno
}

// maxBacklog is net.core.somaxconn.
const maxBacklog = 4096

// sysAccept is accept and accept4.
func (p *Process) sysAccept(c *Call) (uintptr, syscall.Errno) {
	f, errno := p.socketOf(c.Arg[0])
	if errno != 0 {
		return 0, errno
	}
	if f.kind == kindUnix {
		return p.acceptUnix(c, f)
	}
	flags := 0
	if c.Trap == syscall.SYS_ACCEPT4 {
		flags = int(c.Arg[3])
	}
	switch {
	case flags&^(syscall.SOCK_CLOEXEC|noBlock) != 0:
		return 0, syscall.EINVAL
	case f.kind != kindStream:
		return 0, syscall.EOPNOTSUPP
	case uint64(p.opened) >= p.nofile.cur:
		return 0, syscall.EMFILE // the connection stays in the queue
	}
	t, errno := f.sock.tcp.Accept()
	if errno == syscall.EAGAIN {
		errno = p.mayBlock(c, f, 0)
	}
	if errno != 0 {
		return 0, errno
	}
	s := &socket{family: f.sock.family, kind: f.sock.kind, protocol: f.sock.protocol, tcp: t, opts: f.sock.opts}
	s.opts.kept = append([]keptOption(nil), s.opts.kept...)
	n := &file{kind: kindStream, owner: p, flags: syscall.O_RDWR | flags&noBlock, sock: s}
	t.Notify = n.changed
	fd, errno := p.enterNew(n, flags&syscall.SOCK_CLOEXEC != 0)
	if errno == 0 && c.Ptr[1] != nil {
		var raw rawSockaddr
		peer := t.RemoteAddr()
		size := raw.encode(s.family, peer, p.scopeOf(peer.Addr()))
		if errno = putSockaddr(c.Ptr[1], c.Ptr[2], bytesOf(&raw)[:size]); errno != 0 {
			p.drop(p.slotOf(fd))
			p.lowest = min(p.lowest, int(fd-p.base))
		}
	}
	return fd, errno
}

// sendStream sends what b or, if m is given, its vector holds. Where the call
// may wait, it does until all is sent.
func (p *Process) sendStream(c *Call, f *file, b []byte, m *syscall.Msghdr, flags int) (uintptr, syscall.Errno) {
	t, done := f.sock.tcp, p.progress
	for {
		part, last := b[min(done, len(b)):], true
		if m != nil {
			var errno syscall.Errno
			if part, last, errno = p.gatherFrom(m, done); errno != 0 {
				return partly(done, errno)
			}
		}
		if done > 0 && t.Failed() {
			return uintptr(done), 0 // the error is for the next call
		}
		n, errno := 0, syscall.Errno(0)
		if last && flags&syscall.MSG_OOB != 0 {
			n, errno = t.SendUrgent(part)
		} else {
			n, errno = t.Send(part, !last || flags&msgMore != 0)
		}
		done += n
		switch {
		case errno == syscall.EAGAIN || errno == 0 && n < len(part):
			if !f.blocking() || flags&syscall.MSG_DONTWAIT != 0 || p.expired {
				return partly(done, syscall.EAGAIN)
			}
			return 0, p.waitAt(c, f, p.due(f.sock.opts.sndTimeout), done)
		case errno == syscall.EPIPE && done == 0 && flags&msgNoSignal == 0:
			p.Signal(syscall.SIGPIPE)
			return 0, errno
		case errno != 0:
			return partly(done, errno)
		case last:
			return uintptr(done), 0
		}
	}
}

// partly is the result of a call that came to an error after it had done some
// of its work: that hides the error.
func partly(done int, errno syscall.Errno) (uintptr, syscall.Errno) {
	if done > 0 {
		return uintptr(done), 0
	}
	return 0, errno
}

// gatherFrom returns a part of what m's vector holds, from a place on, and
// whether it is the last: as it lies in the program's memory if that is long,
// else copied together.
func (p *Process) gatherFrom(m *syscall.Msghdr, skip int) (part []byte, last bool, errno syscall.Errno) {
	if m.Iovlen > maxIovecs {
		return nil, true, syscall.EMSGSIZE
	}
	n, count := 0, int(m.Iovlen)
	for i := range count {
		b, errno := iovec(unsafe.Pointer(m.Iov), i)
		if errno != 0 {
			return nil, true, errno
		}
		if skip >= len(b) {
			skip -= len(b)
			continue
		}
		b, skip = b[skip:], 0
		if len(b) >= len(p.scratch)/4 {
			if n > 0 {
				return p.scratch[:n], false, 0
			}
			return b, i == count-1, 0
		}
		part := min(len(b), len(p.scratch)-n)
		sched.CopyIn(p.scratch[n:n+part], unsafe.Pointer(unsafe.SliceData(b)))
		if n += part; part < len(b) {
			return p.scratch[:n], false, 0
		}
	}
	return p.scratch[:n], true, 0
}

// receiveStream reads into b or, if m is given, to where its vector says. It
// waits for the first byte or, with MSG_WAITALL, for all.
func (p *Process) receiveStream(c *Call, f *file, b []byte, m *syscall.Msghdr, flags int) (uintptr, syscall.Errno) {
	switch {
	case flags&syscall.MSG_ERRQUEUE != 0:
		return 0, syscall.EAGAIN
	case flags&syscall.MSG_OOB != 0:
		return p.receiveUrgent(f.sock.tcp, b, m, flags)
	}
	want, errno := len(b), syscall.Errno(0)
	if m != nil {
		if want, errno = vectorSize(m); errno != 0 {
			return 0, errno
		}
	}
	if want == 0 {
		if _, errno = f.sock.tcp.Recv(nil, true); errno == syscall.EAGAIN {
			errno = 0
		}
		return 0, errno
	}
	done := p.progress
	if flags&syscall.MSG_PEEK != 0 {
		n := 0
		if n, errno = f.sock.tcp.Recv(p.scratch[:min(want, len(p.scratch))], true); errno == 0 {
			if m != nil {
				scatter(m, p.scratch[:n])
			} else if n > 0 {
				sched.CopyOut(unsafe.Pointer(unsafe.SliceData(b)), p.scratch[:n])
			}
		}
		if done = n; flags&syscall.MSG_WAITALL != 0 && errno == 0 && 0 < n && n < want && n == f.sock.tcp.Unread() && !f.sock.tcp.PeerClosed() {
			if wait := p.mayBlockAt(c, f, flags, 0); wait == errBlock {
				return 0, wait
			}
		}
	} else {
		for errno == 0 && done < want && !(done > 0 && (f.sock.tcp.Failed() || f.sock.tcp.AtMark())) {
			part, n := b[min(done, len(b)):], 0
			if m != nil {
				part = vectorPart(m, done)
			}
			if flags&syscall.MSG_TRUNC != 0 { // to be dropped
				part = p.scratch[:min(len(part), len(p.scratch))]
			}
			if n, errno = f.sock.tcp.Recv(part, false); n == 0 {
				break
			}
			done += n
		}
	}
	if errno == syscall.EAGAIN && (done == 0 || done < want && flags&syscall.MSG_WAITALL != 0) {
		if wait := p.mayBlockAt(c, f, flags, done); wait == errBlock {
			return 0, wait
		}
	}
	return partly(done, errno)
}

// receiveUrgent is a receive with MSG_OOB, which never waits.
func (p *Process) receiveUrgent(t *simnet.TCP, b []byte, m *syscall.Msghdr, flags int) (uintptr, syscall.Errno) {
	room := len(b)
	if m != nil {
		var errno syscall.Errno
		if room, errno = vectorSize(m); errno != 0 {
			return 0, errno
		}
	}
	v, ok, errno := t.RecvUrgent(flags&syscall.MSG_PEEK != 0)
	switch {
	case !ok:
		return 0, errno
	case room == 0:
		return 0, 0
	case m != nil:
		scatter(m, []byte{v})
	default:
		sched.CopyOut(unsafe.Pointer(unsafe.SliceData(b)), []byte{v})
	}
	return 1, 0
}

// vectorSize checks m's vector, and returns how much it has room for.
func vectorSize(m *syscall.Msghdr) (n int, errno syscall.Errno) {
	for i := range int(m.Iovlen) {
		b, errno := iovec(unsafe.Pointer(m.Iov), i)
		if errno != 0 {
			return 0, errno
		}
		n += len(b)
	}
	return n, 0
}

// vectorPart returns the element of m's vector that a place lies in, from there
// on.
func vectorPart(m *syscall.Msghdr, skip int) []byte {
	for i := range int(m.Iovlen) {
		b, _ := iovec(unsafe.Pointer(m.Iov), i)
		if skip < len(b) {
			return b[skip:]
		}
		skip -= len(b)
	}
	return nil
}

// scatter copies what the kernel has to where m's vector says.
func scatter(m *syscall.Msghdr, data []byte) {
	for n := 0; n < len(data); {
		part := vectorPart(m, n)
		part = part[:min(len(part), len(data)-n)]
		sched.CopyOut(unsafe.Pointer(unsafe.SliceData(part)), data[n:n+len(part)])
		n += len(part)
	}
}

// lingers tells whether the close of f has to wait: until what was sent is
// confirmed, or the linger time has passed.
func (f *file) lingers() bool {
	return f.kind == kindStream && f.sock.tcp.LingerOn && f.sock.tcp.LingerTime > 0 && f.sock.tcp.Lingering()
}

//go:build linux && (amd64 || arm64)

package kernel

import (
	"syscall"
	"unsafe"

	"github.com/dstkit/dst/sched"
)

const (
	maxUnixControl = 20480 // net.core.optmem_max
	maxRights      = 253   // descriptors in one message
	msgCmsgCloexec = 0x40000000
)

// A rider is what goes with a message beside its bytes.
type rider struct {
	files   []*file // of SCM_RIGHTS; the message takes references of its own
	cred    ucred   // of SCM_CREDENTIALS
	hasCred bool
}

// sendUnix is send, sendto and write.
func (p *Process) sendUnix(c *Call, u *unixSock, b []byte, flags int, to unsafe.Pointer, toLen uintptr) (uintptr, syscall.Errno) {
	var a unixAddr
	if errno := a.get(to, toLen); errno != 0 {
		return 0, errno
	}
	var r rider
	return p.sendRider(c, u, b, flags, &a, &r)
}

// sendMsgUnix is sendmsg and writev; m is in kernel memory, and points to the
// program's.
func (p *Process) sendMsgUnix(c *Call, u *unixSock, m *syscall.Msghdr, flags int) (uintptr, syscall.Errno) {
	var a unixAddr
	if m.Name != nil {
		if errno := a.get(unsafe.Pointer(m.Name), uintptr(m.Namelen)); errno != 0 {
			return 0, errno
		}
	}
	if m.Iovlen > maxIovecs {
		return 0, syscall.EMSGSIZE
	}
	var b []byte
	for i := range int(m.Iovlen) {
		part, errno := iovec(unsafe.Pointer(m.Iov), i)
		switch {
		case errno != 0:
			return 0, errno
		case m.Iovlen == 1:
			b = part
		case len(part) > 0:
			at := len(b)
			b = append(b, make([]byte, len(part))...)
			sched.CopyIn(b[at:], unsafe.Pointer(&part[0]))
		}
	}
	var r rider
	if m.Controllen > 0 && p.progress == 0 {
		if errno := p.rights(m, &r); errno != 0 {
			return 0, errno
		}
	}
	return p.sendRider(c, u, b, flags, &a, &r)
}

// rights decodes the control messages of a send.
func (p *Process) rights(m *syscall.Msghdr, r *rider) syscall.Errno {
	if m.Controllen > maxUnixControl {
		return syscall.ENOBUFS
	}
	if absurd(unsafe.Pointer(m.Control)) {
		return syscall.EFAULT
	}
	all := make([]byte, m.Controllen)
	sched.CopyIn(all, unsafe.Pointer(m.Control))
	for len(all) >= cmsgHeader {
		h, data, rest := nextControl(all)
		if h == nil {
			return syscall.EINVAL
		}
		all = rest
		switch {
		case h.Level != syscall.SOL_SOCKET:
		case h.Type == syscall.SCM_RIGHTS:
			if len(r.files)+len(data)/4 > maxRights {
				return syscall.EINVAL
			}
			for ; len(data) >= 4; data = data[4:] {
				f := p.lookup(uintptr(*(*uint32)(unsafe.Pointer(&data[0]))))
				if f == nil {
					return syscall.EBADF
				}
				r.files = append(r.files, f)
			}
		case h.Type == syscall.SCM_CREDENTIALS:
			if len(data) != int(unsafe.Sizeof(r.cred)) {
				return syscall.EINVAL
			}
			r.cred, r.hasCred = *(*ucred)(unsafe.Pointer(&data[0])), true
			if int(r.cred.pid) != p.pid {
				return syscall.ESRCH
			}
		default:
			return syscall.EINVAL
		}
	}
	return 0
}

// dropRights drops the files that are under way between the process's sockets:
// they may hold each other open.
func (p *Process) dropRights() {
	for i := range p.high {
		f := p.high[i].f
		if f == nil || f.kind != kindUnix {
			continue
		}
		for _, m := range f.unix.queue {
			files := m.files
			m.files = nil
			for _, f := range files {
				f.unref()
			}
		}
	}
}

func (p *Process) sendRider(c *Call, u *unixSock, b []byte, flags int, a *unixAddr, r *rider) (uintptr, syscall.Errno) {
	if flags&syscall.MSG_OOB != 0 {
		if u.kind == syscall.SOCK_STREAM {
			p.unsupported(c.Trap, syscall.MSG_OOB, "urgent data of a Unix socket")
		}
		return 0, syscall.EOPNOTSUPP
	}
	if u.kind == syscall.SOCK_STREAM {
		return p.sendUnixStream(c, u, b, flags, a, r)
	}
	return p.sendUnixDgram(c, u, b, flags, a, r)
}

// error takes the pending error.
func (u *unixSock) error() syscall.Errno {
	errno := u.err
	u.err = 0
	return errno
}

// put enters a message in the queue of o. b is the program's memory.
func (u *unixSock) put(o *unixSock, b []byte, size int, r *rider) {
	m := u.p.message(len(b))
	m.from, m.size, m.cred = u, size, nobodyCred
	if len(b) > 0 {
		sched.CopyIn(m.b, unsafe.Pointer(&b[0]))
	}
	if r != nil {
		for _, f := range r.files {
			f.refs++
		}
		m.files = r.files
	}
	if r != nil && r.hasCred {
		m.cred = r.cred
	} else if u.passCred || o.passCred {
		m.cred = u.p.cred()
	}
	u.charged += size
	o.queue = append(o.queue, m)
	o.changed(epollIn | syscall.EPOLLRDBAND)
}

func (p *Process) sendUnixStream(c *Call, u *unixSock, b []byte, flags int, a *unixAddr, r *rider) (uintptr, syscall.Errno) {
	done := p.progress
	p.progress = 0 // sendmmsg has more to send
	if a.n != 0 {
		if u.state == unixConnected {
			return 0, syscall.EISCONN
		}
		return 0, syscall.EOPNOTSUPP
	}
	o := u.peer
	if o == nil {
		return 0, syscall.ENOTCONN
	}
	broken := u.wrShut
	for done < len(b) && !broken {
		if errno := u.error(); errno != 0 {
			if done > 0 {
				break
			}
			return 0, errno
		}
		if u.charged >= u.sndbuf {
			errno := p.waitUnix(c, u, flags, u.f.sock.opts.sndTimeout)
			if errno == errBlock {
				p.block.done = done
				return 0, errno
			}
			if done > 0 {
				break
			}
			return 0, errno
		}
		if broken = o.dead || o.rdShut; broken {
			break
		}
		const head, pages = 4096 - 320, 32768
		n := min(len(b)-done, u.sndbuf/2-64, head+pages)
		rest := min(n, (max(0, n-head)+4095)&^4095)
		u.put(o, b[done:done+n], charge(n-rest, rest), r)
		done, r = done+n, nil
	}
	if broken && done == 0 {
		if flags&syscall.MSG_NOSIGNAL == 0 {
			p.Signal(syscall.SIGPIPE)
		}
		return 0, syscall.EPIPE
	}
	return uintptr(done), 0
}

func (p *Process) sendUnixDgram(c *Call, u *unixSock, b []byte, flags int, a *unixAddr, r *rider) (uintptr, syscall.Errno) {
	o, named := u.peer, a.n != 0
	if u.kind == syscall.SOCK_SEQPACKET {
		if errno := u.error(); errno != 0 {
			return 0, errno
		}
		if u.state != unixConnected {
			return 0, syscall.ENOTCONN
		}
		named = false
	}
	switch {
	case named && !a.valid():
		return 0, syscall.EINVAL
	case !named && o == nil:
		return 0, syscall.ENOTCONN
	}
	if u.passCred {
		u.autobind()
	}
	if len(b) > u.sndbuf-32 {
		return 0, syscall.EMSGSIZE
	}
	if errno := u.error(); errno != 0 {
		return 0, errno
	}
	switch {
	case u.wrShut:
		return 0, syscall.EPIPE
	case u.charged >= u.sndbuf:
		return 0, p.waitUnix(c, u, flags, u.f.sock.opts.sndTimeout)
	}
	if named {
		var errno syscall.Errno
		if o, errno = p.findUnix(u.kind, a.name()); errno != 0 {
			return 0, errno
		}
	}
	switch {
	case o.dead:
		if u.stream() {
			return 0, syscall.EPIPE
		}
		u.connectDgram(nil)
		return 0, syscall.ECONNREFUSED
	case !o.takes(u):
		return 0, syscall.EPERM
	case o.rdShut:
		return 0, syscall.EPIPE
	case o != u && o.peer != u && o.full():
		errno := p.waitUnix(c, u, flags, u.f.sock.opts.sndTimeout)
		o.await(u)
		return 0, errno
	}
	const head = 16384 - 320
	rest := (max(0, len(b)-head) + 4095) &^ 4095
	rest = min(rest, len(b))
	u.put(o, b, charge(len(b)-rest, rest), r)
	return uintptr(len(b)), 0
}

// A sink is where what was received goes: the program's memory, in one piece or
// as a vector.
type sink struct {
	b        []byte
	iov      unsafe.Pointer
	next, of int
}

// open tells whether there is room, and makes b the place.
func (s *sink) open() bool {
	for len(s.b) == 0 && s.next < s.of {
		b, errno := iovec(s.iov, s.next)
		if errno != 0 {
			s.of = s.next
			break
		}
		s.b = b
		s.next++
	}
	return len(s.b) > 0
}

// write copies as much as there is room for.
func (s *sink) write(src []byte) (n int) {
	for n < len(src) && s.open() {
		part := min(len(src)-n, len(s.b))
		sched.CopyOut(unsafe.Pointer(&s.b[0]), src[n:n+part])
		s.b = s.b[part:]
		n += part
	}
	return n
}

// skip passes over what was written before the call waited.
func (s *sink) skip(n int) {
	for n > 0 && s.open() {
		part := min(n, len(s.b))
		s.b = s.b[part:]
		n -= part
	}
}

// A receipt is what a receive tells beside the bytes.
type receipt struct {
	from  *unixSock
	files []*file // the receiver's to unref
	cred  ucred
	flags int32
}

// leave gives up the files of a receipt.
func (rc *receipt) leave() {
	for _, f := range rc.files {
		f.unref()
	}
	rc.files = nil
}

// take passes the files of a message on, or with peek shares them.
func (rc *receipt) take(m *unixMsg, peek bool) {
	rc.from, rc.cred = m.from, m.cred
	if len(m.files) == 0 {
		return
	}
	rc.files = m.files
	if !peek {
		m.files = nil
		return
	}
	for _, f := range rc.files {
		f.refs++
	}
}

// receiveUnix is recvfrom and read.
func (p *Process) receiveUnix(c *Call, u *unixSock, b []byte, flags int, from, fromLen unsafe.Pointer) (uintptr, syscall.Errno) {
	s := sink{b: b}
	var rc receipt
	n, errno := p.pull(c, u, &s, flags, &rc)
	rc.leave()
	if errno == 0 && from != nil {
		var raw [maxSockaddr]byte
		errno = putSockaddr(from, fromLen, rc.name(&raw))
	}
	return uintptr(n), errno
}

// name is the sender's address; nothing if it has none.
func (rc *receipt) name(raw *[maxSockaddr]byte) []byte {
	if rc.from == nil || rc.from.addr == "" {
		return nil
	}
	return encodeUnix(raw, rc.from.addr)
}

// receiveMsgUnix is recvmsg and readv; m is in kernel memory, and points to the
// program's.
func (p *Process) receiveMsgUnix(c *Call, u *unixSock, m *syscall.Msghdr, flags int) (uintptr, syscall.Errno) {
	if m.Iovlen > maxIovecs {
		return 0, syscall.EMSGSIZE
	}
	s := sink{iov: unsafe.Pointer(m.Iov), of: int(m.Iovlen)}
	var rc receipt
	n, errno := p.pull(c, u, &s, flags, &rc)
	if errno != 0 {
		return 0, errno
	}
	m.Flags = rc.flags | int32(flags&msgCmsgCloexec)
	if m.Name != nil {
		var raw [maxSockaddr]byte
		b := rc.name(&raw)
		if room := min(int(int32(m.Namelen)), len(b)); room > 0 {
			if absurd(unsafe.Pointer(m.Name)) {
				rc.leave()
				return 0, syscall.EFAULT
			}
			sched.CopyOut(unsafe.Pointer(m.Name), b[:room])
		}
		m.Namelen = uint32(len(b))
	} else {
		m.Namelen = 0
	}
	errno = p.putRights(u, m, flags, &rc)
	rc.leave()
	return uintptr(n), errno
}

// putRights writes the control messages, and enters the files that came.
func (p *Process) putRights(u *unixSock, m *syscall.Msghdr, flags int, rc *receipt) syscall.Errno {
	room := int(min(m.Controllen, maxUnixControl))
	m.Controllen = 0
	if m.Control == nil {
		room = 0
	}
	if room > 0 && absurd(unsafe.Pointer(m.Control)) {
		return syscall.EFAULT
	}
	used := 0
	one := func(typ int32, data []byte) {
		if room-used < cmsgHeader {
			m.Flags |= syscall.MSG_CTRUNC
			return
		}
		if len(data) > room-used-cmsgHeader {
			m.Flags |= syscall.MSG_CTRUNC
			data = data[:room-used-cmsgHeader]
		}
		h := syscall.Cmsghdr{Len: uint64(cmsgHeader + len(data)), Level: syscall.SOL_SOCKET, Type: typ}
		at := unsafe.Add(unsafe.Pointer(m.Control), used)
		sched.CopyOut(at, bytesOf(&h))
		if len(data) > 0 {
			sched.CopyOut(unsafe.Add(at, cmsgHeader), data)
		}
		used = min(room, used+cmsgAlign(int(h.Len)))
	}
	if u.passCred && rc.from != nil {
		one(syscall.SCM_CREDENTIALS, bytesOf(&rc.cred))
	}
	if len(rc.files) > 0 {
		var data []byte
		fit := max(0, (room-used-cmsgHeader)/4)
		for _, f := range rc.files[:min(fit, len(rc.files))] {
			fd, errno := p.enter(f, flags&msgCmsgCloexec != 0, 0)
			if errno != 0 {
				break
			}
			n := uint32(fd)
			data = append(data, bytesOf(&n)...)
		}
		if len(data) > 0 {
			one(syscall.SCM_RIGHTS, data)
		}
		if len(data)/4 < len(rc.files) {
			m.Flags |= syscall.MSG_CTRUNC
		}
	}
	m.Controllen = uint64(used)
	return 0
}

// pull moves what has arrived to s.
func (p *Process) pull(c *Call, u *unixSock, s *sink, flags int, rc *receipt) (int, syscall.Errno) {
	if flags&syscall.MSG_ERRQUEUE != 0 {
		return 0, syscall.EAGAIN
	}
	if u.kind == syscall.SOCK_STREAM {
		return p.pullUnixStream(c, u, s, flags, rc)
	}
	return p.pullUnixDgram(c, u, s, flags, rc)
}

func (p *Process) pullUnixStream(c *Call, u *unixSock, s *sink, flags int, rc *receipt) (int, syscall.Errno) {
	if u.state != unixConnected || flags&syscall.MSG_OOB != 0 {
		return 0, syscall.EINVAL
	}
	peek := flags&syscall.MSG_PEEK != 0
	copied := p.progress
	p.progress = 0
	s.skip(copied)
	for i := 0; s.open(); {
		if i == len(u.queue) {
			if copied > 0 && (peek || flags&syscall.MSG_WAITALL == 0) {
				break
			}
			if u.err != 0 && copied == 0 {
				return 0, u.error()
			}
			if u.err != 0 || u.rdShut {
				break
			}
			errno := p.waitUnix(c, u, flags, u.f.sock.opts.rcvTimeout)
			if errno == errBlock {
				if !peek {
					p.block.done = copied
				}
				return 0, errno
			}
			if copied > 0 {
				break
			}
			return 0, errno
		}
		m := u.queue[i]
		if rc.from != nil && u.passCred && rc.cred != m.cred {
			break // of another process
		}
		rc.take(m, peek)
		n := s.write(m.b[m.read:])
		copied += n
		switch {
		case peek:
			i++
		case m.read+n < len(m.b):
			m.read += n
		default:
			u.take(m)
		}
		if rc.files != nil {
			break
		}
	}
	return copied, 0
}

func (p *Process) pullUnixDgram(c *Call, u *unixSock, s *sink, flags int, rc *receipt) (int, syscall.Errno) {
	switch {
	case u.kind == syscall.SOCK_SEQPACKET && u.state != unixConnected:
		return 0, syscall.ENOTCONN
	case flags&syscall.MSG_OOB != 0:
		return 0, syscall.EOPNOTSUPP
	case u.err != 0:
		return 0, u.error()
	}
	if len(u.queue) == 0 {
		waits := u.f.blocking() && flags&syscall.MSG_DONTWAIT == 0
		if u.rdShut && (waits || u.kind == syscall.SOCK_SEQPACKET) {
			return 0, 0
		}
		return 0, p.waitUnix(c, u, flags, u.f.sock.opts.rcvTimeout)
	}
	m := u.queue[0]
	rc.take(m, flags&syscall.MSG_PEEK != 0)
	n := s.write(m.b)
	if n < len(m.b) {
		rc.flags |= syscall.MSG_TRUNC
		if flags&syscall.MSG_TRUNC != 0 {
			n = len(m.b)
		}
	}
	if flags&syscall.MSG_PEEK == 0 {
		u.take(m)
	}
	return n, 0
}

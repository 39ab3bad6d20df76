//go:build linux && (amd64 || arm64)

package kernel

import (
	"net/netip"
	"syscall"
	"unsafe"

	"github.com/dstkit/dst/sched"
	"github.com/dstkit/dst/simnet"
)

// maxDatagram is more than any datagram holds.
const maxDatagram = 1<<16 - 1

// send sends one datagram; b is the program's memory. Without an address (a
// length of 0) it goes to the connected peer.
func (p *Process) send(c *Call, f *file, b []byte, flags int, to unsafe.Pointer, toLen uintptr) (uintptr, syscall.Errno) {
	if to == nil {
		toLen = 0
	}
	if f.kind == kindUnix {
		return p.sendUnix(c, f.unix, b, flags, to, toLen)
	}
	a, errno := getSockaddr(to, toLen)
	if errno != 0 {
		return 0, errno
	}
	switch f.kind {
	case kindUDP:
		return p.sendUDP(c, f.sock, b, flags, &a, nil)
	case kindNetlink:
		return p.sendNetlink(c, f.sock, b)
	case kindStream:
		return p.sendStream(c, f, b, nil, flags)
	}
	return 0, syscall.ENOTSOCK
}

func (p *Process) sendUDP(c *Call, s *socket, b []byte, flags int, a *sockaddr, ctl *simnet.Control) (uintptr, syscall.Errno) {
	if flags&syscall.MSG_OOB != 0 {
		return 0, syscall.EOPNOTSUPP
	}
	if len(b) > maxDatagram {
		return 0, syscall.EMSGSIZE
	}
	var to netip.AddrPort
	var scoped simnet.Control
	if a.length != 0 {
		if s.family == syscall.AF_INET {
			switch {
			case a.length < syscall.SizeofSockaddrInet4:
				return 0, syscall.EINVAL
			case a.family != syscall.AF_INET && a.family != syscall.AF_UNSPEC:
				return 0, syscall.EAFNOSUPPORT
			}
			to = a.addr
		} else {
			switch a.family {
			case syscall.AF_INET6:
				if a.length < minSockaddr6 {
					return 0, syscall.EINVAL
				}
				to = a.addr
			case syscall.AF_INET:
				if s.udp.V6Only() {
					return 0, syscall.ENETUNREACH
				}
				if a.length < syscall.SizeofSockaddrInet4 {
					return 0, syscall.EINVAL
				}
				to = a.addr
			case syscall.AF_UNSPEC: // to the peer
			default:
				return 0, syscall.EINVAL
			}
		}
		if to.IsValid() && to.Port() == 0 {
			return 0, syscall.EINVAL
		}
		if a.scope != 0 && (ctl == nil || ctl.Interface == 0) {
			if ctl == nil {
				ctl = &scoped
			}
			ctl.Interface = a.scope
		}
	}
	n, errno := s.udp.Send(b, to, ctl)
	return uintptr(n), errno
}

func (p *Process) sysSendto(c *Call) (uintptr, syscall.Errno) {
	f, errno := p.socketOf(c.Arg[0])
	if errno != 0 {
		return 0, errno
	}
	b, errno := buffer(c.Ptr[1], c.Arg[2])
	if errno != 0 {
		return 0, errno
	}
	return p.send(c, f, b, int(c.Arg[3]), c.Ptr[4], c.Arg[5])
}

func (p *Process) sysSendmsg(c *Call) (uintptr, syscall.Errno) {
	f, errno := p.socketOf(c.Arg[0])
	if errno != 0 {
		return 0, errno
	}
	var m syscall.Msghdr
	if errno := get(&m, c.Ptr[1]); errno != 0 {
		return 0, errno
	}
	return p.sendMsg(c, f, &m, int(c.Arg[2]))
}

// sendMsg sends the datagram that m describes; m is in kernel memory, and
// points to the program's.
func (p *Process) sendMsg(c *Call, f *file, m *syscall.Msghdr, flags int) (uintptr, syscall.Errno) {
	if f.kind == kindUnix {
		return p.sendMsgUnix(c, f.unix, m, flags)
	}
	var a sockaddr
	if m.Name != nil {
		var errno syscall.Errno
		if a, errno = getSockaddr(unsafe.Pointer(m.Name), uintptr(m.Namelen)); errno != 0 {
			return 0, errno
		}
	}
	if f.kind == kindStream {
		return p.sendStream(c, f, nil, m, flags)
	}
	b, errno := p.gather(m)
	if errno != 0 {
		return 0, errno
	}
	if f.kind == kindNetlink {
		return p.sendNetlink(c, f.sock, b)
	}
	if m.Controllen == 0 {
		return p.sendUDP(c, f.sock, b, flags, &a, nil)
	}
	var ctl simnet.Control
	if errno := p.getControl(c, f.sock, m, &ctl); errno != 0 {
		return 0, errno
	}
	return p.sendUDP(c, f.sock, b, flags, &a, &ctl)
}

// gather returns what m's vector holds: as it lies in the program's memory if
// that is in one piece, else copied together.
func (p *Process) gather(m *syscall.Msghdr) ([]byte, syscall.Errno) {
	switch {
	case m.Iovlen > maxIovecs:
		return nil, syscall.EMSGSIZE
	case m.Iovlen == 1:
		return iovec(unsafe.Pointer(m.Iov), 0)
	}
	n := 0
	for i := range int(m.Iovlen) {
		b, errno := iovec(unsafe.Pointer(m.Iov), i)
		if errno != 0 {
			return nil, errno
		}
		if len(b) == 0 {
			continue
		}
		if n+len(b) > len(p.scratch) {
			return nil, syscall.EMSGSIZE
		}
		sched.CopyIn(p.scratch[n:n+len(b)], unsafe.Pointer(unsafe.SliceData(b)))
		n += len(b)
	}
	return p.scratch[:n], 0
}

// next takes the next datagram of a socket, or makes the call wait for one.
func (p *Process) next(c *Call, f *file, flags int) (*simnet.Datagram, syscall.Errno) {
	d, errno := f.sock.udp.Recv(flags&syscall.MSG_PEEK != 0)
	if errno == syscall.EAGAIN && f.blocking() && f.sock.udp.ReadShut() {
		return nil, 0
	}
	if errno == syscall.EAGAIN {
		errno = p.mayBlock(c, f, flags)
	}
	return d, errno
}

// receive takes one datagram into b, which is the program's memory.
func (p *Process) receive(c *Call, f *file, b []byte, flags int, from, fromLen unsafe.Pointer) (uintptr, syscall.Errno) {
	switch f.kind {
	case kindUnix:
		return p.receiveUnix(c, f.unix, b, flags, from, fromLen)
	case kindStream:
		n, errno := p.receiveStream(c, f, b, nil, flags)
		if errno == 0 && from != nil {
			errno = putSockaddr(from, fromLen, nil) // it tells of no sender
		}
		return n, errno
	case kindNetlink:
		n, full, errno := p.receiveNetlink(c, f, b, flags)
		if errno == 0 && from != nil {
			sa := syscall.RawSockaddrNetlink{Family: syscall.AF_NETLINK}
			errno = putSockaddr(from, fromLen, bytesOf(&sa))
		}
		if flags&syscall.MSG_TRUNC != 0 {
			n = full
		}
		return uintptr(n), errno
	}
	if flags&syscall.MSG_ERRQUEUE != 0 {
		d, _, errno := f.sock.udp.NextFailure()
		if errno != 0 {
			return 0, errno
		}
		return p.deliver(f, d, b, flags, d.To, from, fromLen)
	}
	d, errno := p.next(c, f, flags)
	if errno != 0 {
		return 0, errno
	}
	if d == nil {
		return 0, 0 // shut down
	}
	return p.deliver(f, d, b, flags, d.From, from, fromLen)
}

// deliver copies a datagram and its address to where recvfrom wants them.
func (p *Process) deliver(f *file, d *simnet.Datagram, b []byte, flags int, addr netip.AddrPort, from, fromLen unsafe.Pointer) (uintptr, syscall.Errno) {
	var errno syscall.Errno
	n := min(len(b), len(d.Payload))
	if n > 0 {
		sched.CopyOut(unsafe.Pointer(unsafe.SliceData(b)), d.Payload[:n])
	}
	if flags&syscall.MSG_TRUNC != 0 {
		n = len(d.Payload)
	}
	if from != nil {
		var raw rawSockaddr
		size := raw.encode(f.sock.family, addr, d.Interface)
		errno = putSockaddr(from, fromLen, bytesOf(&raw)[:size])
	}
	if flags&(syscall.MSG_PEEK|syscall.MSG_ERRQUEUE) != syscall.MSG_PEEK {
		d.Release()
	}
	return uintptr(n), errno
}

func (p *Process) sysRecvfrom(c *Call) (uintptr, syscall.Errno) {
	f, errno := p.socketOf(c.Arg[0])
	if errno != 0 {
		return 0, errno
	}
	b, errno := buffer(c.Ptr[1], c.Arg[2])
	if errno != 0 {
		return 0, errno
	}
	return p.receive(c, f, b, int(c.Arg[3]), c.Ptr[4], c.Ptr[5])
}

func (p *Process) sysRecvmsg(c *Call) (uintptr, syscall.Errno) {
	f, errno := p.socketOf(c.Arg[0])
	if errno != 0 {
		return 0, errno
	}
	var m syscall.Msghdr
	if errno := get(&m, c.Ptr[1]); errno != 0 {
		return 0, errno
	}
	n, errno := p.receiveMsg(c, f, &m, int(c.Arg[2]))
	if errno == 0 {
		putMsghdr(c.Ptr[1], &m)
	}
	return n, errno
}

// putMsghdr writes the fields of m that recvmsg changes.
func putMsghdr(ptr unsafe.Pointer, m *syscall.Msghdr) {
	sched.CopyOut(unsafe.Add(ptr, unsafe.Offsetof(m.Namelen)), bytesOf(&m.Namelen))
	sched.CopyOut(unsafe.Add(ptr, unsafe.Offsetof(m.Controllen)), bytesOf(&m.Controllen))
	sched.CopyOut(unsafe.Add(ptr, unsafe.Offsetof(m.Flags)), bytesOf(&m.Flags))
}

// receiveMsg takes one datagram to where m says; m is in kernel memory, and
// points to the program's.
func (p *Process) receiveMsg(c *Call, f *file, m *syscall.Msghdr, flags int) (uintptr, syscall.Errno) {
	if m.Iovlen > maxIovecs {
		return 0, syscall.EMSGSIZE
	}
	if f.kind == kindUnix {
		return p.receiveMsgUnix(c, f.unix, m, flags)
	}
	var d *simnet.Datagram
	var payload []byte
	var from netip.AddrPort
	var failure simnet.Failure
	switch f.kind {
	case kindStream:
		n, errno := p.receiveStream(c, f, nil, m, flags)
		if m.Name != nil {
			m.Namelen = 0 // it tells of no sender
		}
		if m.Flags = 0; flags&syscall.MSG_OOB != 0 {
			m.Flags = syscall.MSG_OOB
		}
		if errno != 0 {
			m.Controllen = 0
			return n, errno
		}
		return n, p.putStreamControl(f.sock, m)
	case kindNetlink:
		r, errno := p.nextNetlink(c, f, flags)
		if errno != 0 {
			return 0, errno
		}
		payload = r
	default:
		var errno syscall.Errno
		if flags&syscall.MSG_ERRQUEUE != 0 {
			d, failure, errno = f.sock.udp.NextFailure()
			flags &^= syscall.MSG_PEEK
		} else {
			d, errno = p.next(c, f, flags)
		}
		if errno != 0 {
			return 0, errno
		}
		if d == nil {
			m.Namelen, m.Controllen, m.Flags = 0, 0, 0
			return 0, 0
		}
		payload, from = d.Payload, d.From
		if flags&syscall.MSG_ERRQUEUE != 0 {
			from = d.To
		}
		if flags&syscall.MSG_PEEK == 0 {
			defer d.Release()
		}
	}
	n := 0
	for i := 0; i < int(m.Iovlen) && n < len(payload); i++ {
		b, errno := iovec(unsafe.Pointer(m.Iov), i)
		if errno != 0 {
			return 0, errno
		}
		if part := min(len(b), len(payload)-n); part > 0 {
			sched.CopyOut(unsafe.Pointer(unsafe.SliceData(b)), payload[n:n+part])
			n += part
		}
	}
	m.Flags = 0
	if n < len(payload) {
		m.Flags |= syscall.MSG_TRUNC
		if flags&syscall.MSG_TRUNC != 0 {
			n = len(payload)
		}
	}
	if m.Name == nil {
		m.Namelen = 0
	} else {
		var raw rawSockaddr
		var b []byte
		if d == nil {
			sa := (*syscall.RawSockaddrNetlink)(unsafe.Pointer(&raw))
			sa.Family = syscall.AF_NETLINK
			b = bytesOf(sa)
		} else {
			b = bytesOf(&raw)[:raw.encode(f.sock.family, from, d.Interface)]
		}
		if room := min(int(int32(m.Namelen)), len(b)); room < 0 {
			return 0, syscall.EINVAL
		} else if room > 0 {
			if absurd(unsafe.Pointer(m.Name)) {
				return 0, syscall.EFAULT
			}
			sched.CopyOut(unsafe.Pointer(m.Name), b[:room])
		}
		m.Namelen = uint32(len(b))
	}
	switch {
	case d == nil:
		m.Controllen = 0
		return uintptr(n), 0
	case failure.Errno != 0:
		m.Flags |= syscall.MSG_ERRQUEUE
		var cb controlBuf
		cb.addFailure(f.sock.family, &failure)
		return uintptr(n), cb.put(m)
	case d.Segment == 0 && !f.sock.opts.wantsControl():
		m.Controllen = 0
		return uintptr(n), 0
	}
	return uintptr(n), p.putControl(f.sock, d, m)
}

// An mmsghdr is one element of sendmmsg and recvmmsg.
type mmsghdr struct {
	hdr syscall.Msghdr
	n   uint32
	_   uint32
}

// sysMmsg is sendmmsg and, with receive, recvmmsg.
func (p *Process) sysMmsg(c *Call, receive bool) (uintptr, syscall.Errno) {
	f, errno := p.socketOf(c.Arg[0])
	if errno != 0 {
		return 0, errno
	}
	count := min(int(uint32(c.Arg[2])), maxIovecs)
	flags := int(c.Arg[3])
	if receive && c.Ptr[4] != nil {
		p.unsupported(c.Trap, 0, "a timeout") // which Linux gets wrong, too
	}
	for i := range count {
		var m mmsghdr
		ptr := unsafe.Add(c.Ptr[1], uintptr(i)*unsafe.Sizeof(m))
		errno := get(&m.hdr, ptr)
		n := uintptr(0)
		switch {
		case errno != 0:
		case receive:
			if n, errno = p.receiveMsg(c, f, &m.hdr, flags&^msgWaitForOne); errno == 0 {
				putMsghdr(ptr, &m.hdr)
			}
			flags |= syscall.MSG_DONTWAIT // what came so far is returned
		default:
			n, errno = p.sendMsg(c, f, &m.hdr, flags)
			if f.kind == kindStream || f.kind == kindUnix {
				flags |= syscall.MSG_DONTWAIT // as above: only the first waits
			}
		}
		p.progress = 0
		if errno != 0 {
			if i > 0 {
				return uintptr(i), 0
			}
			return 0, errno
		}
		size := uint32(n)
		sched.CopyOut(unsafe.Add(ptr, unsafe.Offsetof(m.n)), bytesOf(&size))
	}
	return uintptr(count), 0
}

const msgWaitForOne = 0x10000

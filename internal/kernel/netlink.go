//go:build linux && (amd64 || arm64)

package kernel

import (
	"math/bits"
	"net/netip"
	"syscall"
	"unsafe"

	"github.com/dstkit/dst/sched"
	"github.com/dstkit/dst/simnet"
)

// maxNetlink bounds a datagram of a dump, as the page that package syscall
// reads into does.
const maxNetlink = 4096

// bindNetlink gives a netlink socket its address: the port number asked for,
// or the pid, or, if another socket has that, one that no process has.
func (p *Process) bindNetlink(s *socket, a *sockaddr, ptr unsafe.Pointer) syscall.Errno {
	var sa syscall.RawSockaddrNetlink
	switch {
	case a.length < unsafe.Sizeof(sa), a.family != syscall.AF_NETLINK:
		return syscall.EINVAL
	}
	if errno := get(&sa, ptr); errno != 0 {
		return errno
	}
	if sa.Pid != 0 && s.portID != 0 && sa.Pid != s.portID {
		return syscall.EINVAL
	}
	if s.portID = sa.Pid; sa.Pid == 0 {
		p.nameNetlink(s)
	}
	return 0
}

func (p *Process) nameNetlink(s *socket) {
	if s.portID != 0 {
		return
	}
	s.portID = uint32(p.pid)
	for i := range p.high {
		if f := p.high[i].f; f != nil && f.sock != nil && f.sock != s && f.kind == kindNetlink && f.sock.portID == s.portID {
			p.cookies++
			s.portID = ^uint32(4096) - p.cookies
			return
		}
	}
}

// sendNetlink is a request to the kernel.
func (p *Process) sendNetlink(c *Call, s *socket, b []byte) (uintptr, syscall.Errno) {
	p.nameNetlink(s)
	var req [256]byte
	n := min(len(b), len(req))
	if n == 0 {
		return 0, 0
	}
	sched.CopyIn(req[:n], unsafe.Pointer(unsafe.SliceData(b)))
	h := (*syscall.NlMsghdr)(unsafe.Pointer(&req[0]))
	if n < syscall.NLMSG_HDRLEN || h.Len < syscall.NLMSG_HDRLEN || int(h.Len) > len(b) {
		return uintptr(len(b)), 0 // Linux drops it without a word
	}
	if h.Flags&syscall.NLM_F_REQUEST == 0 || h.Type < syscall.NLMSG_MIN_TYPE {
		return uintptr(len(b)), 0
	}
	family := byte(syscall.AF_UNSPEC)
	if n > syscall.NLMSG_HDRLEN {
		family = req[syscall.NLMSG_HDRLEN]
	}
	d := dump{port: s.portID, seq: h.Seq}
	dumping := h.Flags&syscall.NLM_F_DUMP == syscall.NLM_F_DUMP
	switch {
	case dumping && h.Type == syscall.RTM_GETLINK:
		for _, ifi := range p.stack.Interfaces() {
			d.link(&ifi)
		}
		d.done()
	case dumping && h.Type == syscall.RTM_GETADDR:
		for _, ifi := range p.stack.Interfaces() {
			for _, a := range ifi.Addrs {
				if fam := familyOf(a.Addr().Is4()); family == syscall.AF_UNSPEC || family == fam {
					d.address(&ifi, a, fam)
				}
			}
		}
		d.done()
	default:
		p.unsupported(c.Trap, uint64(h.Type), "netlink message "+itoa(int(h.Type)))
		d.begin(syscall.NLMSG_ERROR, 0)
		d.uint32(^uint32(syscall.EOPNOTSUPP) + 1)
		d.b = append(d.b, req[:syscall.NLMSG_HDRLEN]...)
		d.end()
		d.flush()
	}
	s.replies = append(s.replies, d.out...)
	return uintptr(len(b)), 0
}

func familyOf(v4 bool) byte {
	if v4 {
		return syscall.AF_INET
	}
	return syscall.AF_INET6
}

// nextNetlink takes the next datagram from the kernel.
func (p *Process) nextNetlink(c *Call, f *file, flags int) ([]byte, syscall.Errno) {
	s := f.sock
	if len(s.replies) == 0 {
		return nil, p.mayBlock(c, f, flags)
	}
	r := s.replies[0]
	if flags&syscall.MSG_PEEK == 0 {
		s.replies = s.replies[1:]
	}
	return r, 0
}

func (p *Process) receiveNetlink(c *Call, f *file, b []byte, flags int) (n, full int, errno syscall.Errno) {
	r, errno := p.nextNetlink(c, f, flags)
	if errno != 0 {
		return 0, 0, errno
	}
	if n = min(len(b), len(r)); n > 0 {
		sched.CopyOut(unsafe.Pointer(unsafe.SliceData(b)), r[:n])
	}
	return n, len(r), 0
}

// A dump puts the datagrams of an answer together.
type dump struct {
	port, seq uint32
	out       [][]byte
	b         []byte // the datagram being made
	start     int    // of the message being made
}

func (d *dump) uint16(v uint16) { d.b = append(d.b, byte(v), byte(v>>8)) }
func (d *dump) uint32(v uint32) { d.b = append(d.b, byte(v), byte(v>>8), byte(v>>16), byte(v>>24)) }

func (d *dump) begin(typ uint16, flags uint16) {
	d.start = len(d.b)
	d.uint32(0) // the length comes in the end
	d.uint16(typ)
	d.uint16(flags)
	d.uint32(d.seq)
	d.uint32(d.port)
}

func (d *dump) attr(typ uint16, value ...byte) {
	d.uint16(uint16(syscall.SizeofRtAttr + len(value)))
	d.uint16(typ)
	d.b = append(d.b, value...)
	for len(d.b)%4 != 0 {
		d.b = append(d.b, 0)
	}
}

func (d *dump) attr32(typ uint16, v uint32) {
	d.attr(typ, byte(v), byte(v>>8), byte(v>>16), byte(v>>24))
}

func (d *dump) end() {
	n := len(d.b) - d.start
	*(*uint32)(unsafe.Pointer(&d.b[d.start])) = uint32(n)
	if len(d.b) > maxNetlink && d.start > 0 {
		last := append([]byte(nil), d.b[d.start:]...)
		d.out = append(d.out, d.b[:d.start:d.start])
		d.b = last
	}
}

func (d *dump) flush() {
	if len(d.b) > 0 {
		d.out = append(d.out, d.b)
		d.b = nil
	}
}

// done ends a dump, in a datagram of its own.
func (d *dump) done() {
	d.flush()
	d.begin(syscall.NLMSG_DONE, syscall.NLM_F_MULTI)
	d.uint32(0)
	d.end()
	d.flush()
}

// hardwareType is ARPHRD_LOOPBACK or ARPHRD_ETHER.
func hardwareType(ifi *simnet.Iface) uint16 {
	if ifi.Flags&syscall.IFF_LOOPBACK != 0 {
		return syscall.ARPHRD_LOOPBACK
	}
	return syscall.ARPHRD_ETHER
}

// link adds an RTM_NEWLINK message.
func (d *dump) link(ifi *simnet.Iface) {
	d.begin(syscall.RTM_NEWLINK, syscall.NLM_F_MULTI)
	d.b = append(d.b, syscall.AF_UNSPEC, 0)
	d.uint16(hardwareType(ifi))
	d.uint32(uint32(ifi.Index))
	d.uint32(ifi.Flags)
	d.uint32(0)
	d.attr(syscall.IFLA_IFNAME, append([]byte(ifi.Name), 0)...)
	d.attr32(syscall.IFLA_TXQLEN, 1000)
	d.attr32(syscall.IFLA_MTU, uint32(ifi.MTU))
	d.attr(syscall.IFLA_ADDRESS, ifi.HardwareAddr[:]...)
	all := [6]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}
	if hardwareType(ifi) == syscall.ARPHRD_LOOPBACK {
		all = [6]byte{}
	}
	d.attr(syscall.IFLA_BROADCAST, all[:]...)
	d.end()
}

// address adds an RTM_NEWADDR message.
func (d *dump) address(ifi *simnet.Iface, a netip.Prefix, family byte) {
	const permanent = 0x80 // IFA_F_PERMANENT
	scope := byte(syscall.RT_SCOPE_UNIVERSE)
	switch {
	case a.Addr().IsLoopback():
		scope = syscall.RT_SCOPE_HOST
	case a.Addr().IsLinkLocalUnicast():
		scope = syscall.RT_SCOPE_LINK
	}
	d.begin(syscall.RTM_NEWADDR, syscall.NLM_F_MULTI)
	d.b = append(d.b, family, byte(a.Bits()), permanent, scope)
	d.uint32(uint32(ifi.Index))
	raw := a.Addr().AsSlice()
	d.attr(syscall.IFA_ADDRESS, raw...)
	if family == syscall.AF_INET {
		d.attr(syscall.IFA_LOCAL, raw...)
		if scope != syscall.RT_SCOPE_HOST && a.Bits() < 31 {
			all := append([]byte(nil), raw...)
			mask := bits.ReverseBytes32(^uint32(0) >> a.Bits())
			for i := range all {
				all[i] |= byte(mask >> (8 * i))
			}
			d.attr(syscall.IFA_BROADCAST, all...)
		}
		d.attr(syscall.IFA_LABEL, append([]byte(ifi.Name), 0)...)
	}
	d.end()
}

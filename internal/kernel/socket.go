//go:build linux && (amd64 || arm64)

package kernel

import (
	"net/netip"
	"syscall"
	"unsafe"

	"github.com/dstkit/dst/simnet"
)

// Constants that package syscall lacks.
const (
	protoMPTCP  = 262
	sioOutq     = syscall.TIOCOUTQ
	sioInq      = syscall.TIOCINQ
	sioAtMark   = 0x8905
	msgMore     = 0x8000
	noBlock     = syscall.SOCK_NONBLOCK
	kindOfSock  = 0xf
	msgNoSignal = syscall.MSG_NOSIGNAL
)

// A socket is what a file of a socket kind has more.
type socket struct {
	family   int
	kind     int // SOCK_DGRAM, …
	protocol int
	udp      *simnet.UDP // kindUDP
	tcp      *simnet.TCP // kindStream
	opts     options

	cookie uint64 // SO_COOKIE, 0 until asked for

	portID  uint32   // kindNetlink: own address, 0 before bind
	replies [][]byte // kindNetlink: datagrams to be read

	label string // for reports, made when first needed
}

func (s *socket) name() string {
	if s.label == "" {
		local, remote := s.addrs()
		s.label = "udp " + local.String()
		if s.tcp != nil {
			s.label = "tcp " + local.String()
		}
		if remote.IsValid() {
			s.label += "->" + remote.String()
		}
	}
	return s.label
}

// addrs returns the addresses of an IP socket; that of the peer is not valid
// if there is none.
func (s *socket) addrs() (local, remote netip.AddrPort) {
	if s.tcp != nil {
		return s.tcp.LocalAddr(), s.tcp.RemoteAddr()
	}
	return s.udp.LocalAddr(), s.udp.RemoteAddr()
}

// v6only tells whether an AF_INET6 socket is for IPv6 alone.
func (s *socket) v6only() bool {
	if s.tcp != nil {
		return s.tcp.V6Only()
	}
	return s.udp.V6Only()
}

// renamed forgets what reports call the socket.
func (f *file) renamed() {
	f.sock.label = ""
	for _, pd := range f.polls {
		pd.half[0].reason, pd.half[1].reason = "", ""
	}
}

func (p *Process) sysSocket(c *Call) (uintptr, syscall.Errno) {
	family, typ, proto := int(c.Arg[0]), int(c.Arg[1]), int(c.Arg[2])
	if typ&^(kindOfSock|syscall.SOCK_CLOEXEC|noBlock) != 0 {
		return 0, syscall.EINVAL
	}
	s := &socket{family: family, kind: typ & kindOfSock, protocol: proto}
	f := &file{owner: p, flags: syscall.O_RDWR | typ&noBlock, sock: s}
	refuse := func(errno syscall.Errno, what string) (uintptr, syscall.Errno) {
		p.unsupported(c.Trap, uint64(family)<<32|uint64(s.kind)<<16|uint64(uint16(proto)), what)
		return 0, errno
	}
	switch family {
	case syscall.AF_INET, syscall.AF_INET6:
		switch s.kind {
		case syscall.SOCK_DGRAM:
			switch proto {
			case 0, syscall.IPPROTO_UDP:
				s.protocol = syscall.IPPROTO_UDP
			case syscall.IPPROTO_ICMP, syscall.IPPROTO_ICMPV6:
				return refuse(syscall.EACCES, "an ICMP socket") // as outside of net.ipv4.ping_group_range
			default:
				return 0, syscall.EPROTONOSUPPORT
			}
			f.kind = kindUDP
			s.udp = p.stack.NewUDP(family)
			s.udp.Notify = f.changed
		case syscall.SOCK_STREAM:
			switch proto {
			case 0, syscall.IPPROTO_TCP:
				s.protocol = syscall.IPPROTO_TCP
			case protoMPTCP: // package net asks at its start, and falls back
				return 0, syscall.EPROTONOSUPPORT
			default:
				return 0, syscall.EPROTONOSUPPORT
			}
			f.kind = kindStream
			s.tcp = p.stack.NewTCP(family)
			s.tcp.Notify = f.changed
		case syscall.SOCK_RAW:
			return refuse(syscall.EPROTONOSUPPORT, "a raw IP socket")
		default:
			return refuse(syscall.ESOCKTNOSUPPORT, "socket type "+itoa(s.kind))
		}
	case syscall.AF_NETLINK:
		if s.kind != syscall.SOCK_RAW && s.kind != syscall.SOCK_DGRAM {
			return 0, syscall.ESOCKTNOSUPPORT
		}
		if proto != syscall.NETLINK_ROUTE {
			return refuse(syscall.EPROTONOSUPPORT, "netlink protocol "+itoa(proto))
		}
		f.kind = kindNetlink
	case syscall.AF_UNIX:
		if errno := f.newUnix(); errno != 0 {
			return 0, errno
		}
	case syscall.AF_PACKET:
		return refuse(syscall.EAFNOSUPPORT, "a packet socket")
	default:
		return refuse(syscall.EAFNOSUPPORT, "address family "+itoa(family))
	}
	s.opts.init()
	return p.enterNew(f, typ&syscall.SOCK_CLOEXEC != 0)
}

// socketOf returns the socket of a descriptor.
func (p *Process) socketOf(fd uintptr) (*file, syscall.Errno) {
	f := p.lookup(fd)
	switch {
	case f == nil || f.flags&oPath != 0:
		return nil, syscall.EBADF
	case f.sock == nil:
		return nil, syscall.ENOTSOCK
	}
	return f, 0
}

func (p *Process) sysBind(c *Call) (uintptr, syscall.Errno) {
	f, errno := p.socketOf(c.Arg[0])
	if errno != 0 {
		return 0, errno
	}
	if f.kind == kindUnix {
		return 0, p.bindUnix(f.unix, c.Ptr[1], c.Arg[2])
	}
	a, errno := getSockaddr(c.Ptr[1], c.Arg[2])
	if errno != 0 {
		return 0, errno
	}
	s := f.sock
	switch s.family {
	case syscall.AF_NETLINK:
		return 0, p.bindNetlink(s, &a, c.Ptr[1])
	case syscall.AF_INET:
		if a.length < syscall.SizeofSockaddrInet4 {
			return 0, syscall.EINVAL
		}
		// AF_UNSPEC stands for AF_INET if the address is the wildcard.
		if a.family != syscall.AF_INET && (a.family != syscall.AF_UNSPEC || !a.addr.Addr().IsUnspecified()) {
			return 0, syscall.EAFNOSUPPORT
		}
	case syscall.AF_INET6:
		if a.length < minSockaddr6 {
			return 0, syscall.EINVAL
		}
		if a.family != syscall.AF_INET6 {
			return 0, syscall.EAFNOSUPPORT
		}
	}
	if a.scope == 0 && a.addr.Addr().IsLinkLocalUnicast() && a.family == syscall.AF_INET6 {
		return 0, syscall.EINVAL // which link?
	}
	if f.kind == kindStream {
		errno = s.tcp.Bind(a.addr)
	} else {
		errno = s.udp.Bind(a.addr)
	}
	f.renamed()
	return 0, errno
}

func (p *Process) sysConnect(c *Call) (uintptr, syscall.Errno) {
	f, errno := p.socketOf(c.Arg[0])
	if errno != 0 {
		return 0, errno
	}
	if f.kind == kindUnix {
		return 0, p.connectUnix(c, f.unix)
	}
	a, errno := getSockaddr(c.Ptr[1], c.Arg[2])
	if errno != 0 {
		return 0, errno
	}
	s := f.sock
	if a.length < 2 {
		return 0, syscall.EINVAL
	}
	switch f.kind {
	case kindNetlink:
		if a.family != syscall.AF_NETLINK {
			return 0, syscall.EINVAL
		}
		return 0, 0
	case kindStream:
		return p.connectStream(c, f, &a)
	}
	if a.family == syscall.AF_UNSPEC {
		s.udp.Disconnect()
		f.renamed()
		return 0, 0
	}
	if errno := s.suits(&a); errno != 0 {
		return 0, errno
	}
	errno = s.udp.Connect(a.addr)
	f.renamed()
	return 0, errno
}

// suits tells whether a connect address is one that the socket can take.
func (s *socket) suits(a *sockaddr) syscall.Errno {
	// Of IPv6, a UDP socket takes IPv4 addresses too.
	if s.family == syscall.AF_INET6 && (a.family != syscall.AF_INET || s.tcp != nil) {
		switch {
		case a.length < minSockaddr6:
			return syscall.EINVAL
		case a.family != syscall.AF_INET6:
			return syscall.EAFNOSUPPORT
		}
		return 0
	}
	switch {
	case s.family == syscall.AF_INET6 && s.udp.V6Only():
		return syscall.EAFNOSUPPORT
	case a.length < syscall.SizeofSockaddrInet4:
		return syscall.EINVAL
	case a.family != syscall.AF_INET:
		return syscall.EAFNOSUPPORT
	}
	return 0
}

// sysSockname is getsockname and, with peer, getpeername.
func (p *Process) sysSockname(c *Call, peer bool) (uintptr, syscall.Errno) {
	f, errno := p.socketOf(c.Arg[0])
	if errno != 0 {
		return 0, errno
	}
	if f.kind == kindUnix {
		return 0, f.unix.sockname(c, peer)
	}
	var raw rawSockaddr
	var n uint32
	switch s := f.sock; f.kind {
	case kindNetlink:
		sa := syscall.RawSockaddrNetlink{Family: syscall.AF_NETLINK, Pid: s.portID}
		if peer {
			sa.Pid = 0
		}
		return 0, putSockaddr(c.Ptr[1], c.Ptr[2], bytesOf(&sa))
	default:
		addr, remote := s.addrs()
		if peer {
			if addr = remote; !addr.IsValid() {
				return 0, syscall.ENOTCONN
			}
			f.renamed() // a connect has come to its end, perhaps
		}
		n = raw.encode(s.family, addr, p.scopeOf(addr.Addr()))
	}
	return 0, putSockaddr(c.Ptr[1], c.Ptr[2], bytesOf(&raw)[:n])
}

// scopeOf is the interface that a link-local address is about: the only one
// that has such.
func (p *Process) scopeOf(a netip.Addr) int {
	if a.Is6() && a.IsLinkLocalUnicast() {
		return 2
	}
	return 0
}

func (p *Process) sysShutdown(c *Call) (uintptr, syscall.Errno) {
	f, errno := p.socketOf(c.Arg[0])
	if errno != 0 {
		return 0, errno
	}
	how := int(c.Arg[1])
	switch {
	case f.kind == kindNetlink:
		return 0, syscall.EOPNOTSUPP
	case how < 0 || how > 2:
		return 0, syscall.EINVAL
	case f.kind == kindUnix:
		f.unix.shutdown(how != syscall.SHUT_WR, how != syscall.SHUT_RD)
		return 0, 0
	case f.kind == kindStream:
		return 0, f.sock.tcp.Shutdown(how != syscall.SHUT_WR, how != syscall.SHUT_RD)
	}
	return 0, f.sock.udp.Shutdown(how != syscall.SHUT_WR, how != syscall.SHUT_RD)
}

func (p *Process) sysIoctl(c *Call) (uintptr, syscall.Errno) {
	f := p.lookup(c.Arg[0])
	if f == nil || f.flags&oPath != 0 {
		return 0, syscall.EBADF
	}
	ptr := c.Ptr[2]
	switch req := int(uint32(c.Arg[1])); req {
	case syscall.TCGETS, syscall.TIOCGWINSZ, syscall.TIOCGPGRP, syscall.TCSETS:
		return 0, syscall.ENOTTY
	case sioInq:
		var n int32
		switch {
		case f.kind == kindUDP:
			n = int32(f.sock.udp.NextSize())
		case f.kind == kindPipe:
			n = int32(f.pipe.size())
		case f.kind == kindUnix:
			var errno syscall.Errno
			if n, errno = f.unix.nextSize(); errno != 0 {
				return 0, errno
			}
		case f.kind == kindStream:
			if f.sock.tcp.Listening() {
				return 0, syscall.EINVAL
			}
			n = int32(f.sock.tcp.Unread())
		case f.kind == kindDisk && !f.node.IsDir():
			n = int32(f.node.Size() - f.off)
		case f.sock != nil:
		default:
			return 0, syscall.ENOTTY
		}
		return 0, put(ptr, &n)
	case sioAtMark:
		if f.sock == nil {
			return 0, syscall.ENOTTY
		}
		if f.kind != kindStream {
			return 0, syscall.EINVAL
		}
		n := b2i(f.sock.tcp.AtMark())
		return 0, put(ptr, &n)
	case sioOutq:
		if f.sock == nil {
			return 0, syscall.ENOTTY
		}
		var n int32
		switch f.kind {
		case kindStream:
			if f.sock.tcp.Listening() {
				return 0, syscall.EINVAL
			}
			n = int32(f.sock.tcp.Unsent())
		case kindUnix:
			n = int32(f.unix.charged)
		}
		return 0, put(ptr, &n)
	case syscall.SIOCGIFINDEX, syscall.SIOCGIFNAME, syscall.SIOCGIFFLAGS, syscall.SIOCGIFMTU, syscall.SIOCGIFADDR,
		syscall.SIOCGIFNETMASK, syscall.SIOCGIFHWADDR, syscall.SIOCGIFBRDADDR:
		if f.sock == nil {
			return 0, syscall.ENOTTY
		}
		return 0, p.interfaceRequest(req, ptr)
	case 0x5421: // FIONBIO
		var on int32
		if errno := get(&on, ptr); errno != 0 {
			return 0, errno
		}
		f.flags &^= syscall.O_NONBLOCK
		if on != 0 {
			f.flags |= syscall.O_NONBLOCK
		}
		return 0, 0
	}
	p.unsupported(c.Trap, uint64(uint32(c.Arg[1])), "request 0x"+hexa(uint64(uint32(c.Arg[1])))+" on "+f.name())
	return 0, syscall.ENOTTY
}

func hexa(v uint64) string {
	const digits = "0123456789abcdef"
	if v < 16 {
		return digits[v : v+1]
	}
	return hexa(v/16) + digits[v%16:v%16+1]
}

// An ifreq is the argument of the SIOCGIF requests.
type ifreq struct {
	name [syscall.IFNAMSIZ]byte
	data [24]byte
}

func (p *Process) interfaceRequest(req int, ptr unsafe.Pointer) syscall.Errno {
	var r ifreq
	if errno := get(&r, ptr); errno != 0 {
		return errno
	}
	name := zeroEnded(r.name[:])
	index := int(*(*int32)(unsafe.Pointer(&r.data)))
	for _, ifi := range p.stack.Interfaces() {
		if req == syscall.SIOCGIFNAME && ifi.Index != index || req != syscall.SIOCGIFNAME && ifi.Name != string(name) {
			continue
		}
		clear(r.data[:])
		switch req {
		case syscall.SIOCGIFNAME:
			clear(r.name[:])
			copy(r.name[:], ifi.Name)
			*(*int32)(unsafe.Pointer(&r.data)) = int32(index)
		case syscall.SIOCGIFINDEX:
			*(*int32)(unsafe.Pointer(&r.data)) = int32(ifi.Index)
		case syscall.SIOCGIFMTU:
			*(*int32)(unsafe.Pointer(&r.data)) = int32(ifi.MTU)
		case syscall.SIOCGIFFLAGS:
			*(*uint16)(unsafe.Pointer(&r.data)) = uint16(ifi.Flags)
		case syscall.SIOCGIFHWADDR:
			*(*uint16)(unsafe.Pointer(&r.data)) = hardwareType(&ifi)
			copy(r.data[2:], ifi.HardwareAddr[:])
		default:
			prefix, ok := address4(&ifi)
			if !ok {
				return syscall.EADDRNOTAVAIL
			}
			addr := prefix.Addr().As4()
			mask := ^uint32(0) << (32 - prefix.Bits())
			for i := range addr {
				m := byte(mask >> (24 - 8*i))
				switch req {
				case syscall.SIOCGIFNETMASK:
					addr[i] = m
				case syscall.SIOCGIFBRDADDR:
					addr[i] |= ^m
				}
			}
			var raw rawSockaddr
			raw.encode(syscall.AF_INET, netip.AddrPortFrom(netip.AddrFrom4(addr), 0), 0)
			copy(r.data[:16], bytesOf(&raw))
		}
		return put(ptr, &r)
	}
	return syscall.ENODEV
}

// address4 is the interface's IPv4 address.
func address4(ifi *simnet.Iface) (netip.Prefix, bool) {
	for _, a := range ifi.Addrs {
		if a.Addr().Is4() {
			return a, true
		}
	}
	return netip.Prefix{}, false
}

func zeroEnded(b []byte) []byte {
	for i, c := range b {
		if c == 0 {
			return b[:i]
		}
	}
	return b
}

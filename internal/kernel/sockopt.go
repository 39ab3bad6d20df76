//go:build linux && (amd64 || arm64)

package kernel

import (
	"net/netip"
	"syscall"
	"unsafe"

	"github.com/dstkit/dst/sched"
)

// Options that package syscall lacks.
const (
	soSndBufForce = 32
	soRcvBufForce = 33
	soProtocol    = 38
	soDomain      = 39
	soReusePort   = 15
	soIncomingCPU = 49

	ipMulticastAll  = 49
	ipPmtuDont      = 0
	ipPmtuDo        = 2
	ipPmtuProbe     = 3
	ipBindNoPort    = 24
	ipUnicastIf     = 50
	ip6MulticastAll = 29
	ip6DontFrag     = 62
	ip6UnicastIf    = 76
	ip6AutoFlow     = 70

	udpCork    = 1
	udpSegment = 103
	udpGRO     = 104
	solUDP     = 17
	solMPTCP   = 284
)

// options are a socket's options that the network does not keep. What only
// has to be read back is in set.
type options struct {
	recvPktinfo, recvTTL, recvTOS           bool
	recvPktinfo6, recvHopLimit, recvTClass  bool
	rcvTimeout, sndTimeout                  int64
	reuseAddr, reusePort, broadcast         bool
	keepAlive, oobInline, recvErr, recvErr6 bool
	priority, pmtu, pmtu6                   int32
	linger                                  [2]int32
	device                                  string
	kept                                    []keptOption
}

// A keptOption is an option that changes nothing here and is read back.
type keptOption struct{ level, name, value int32 }

type membership struct {
	group   netip.Addr
	ifindex int
}

func (o *options) init() { o.pmtu, o.pmtu6 = 1, 1 } // IP_PMTUDISC_WANT

func (o *options) wantsControl() bool {
	return o.recvPktinfo || o.recvTTL || o.recvTOS || o.recvPktinfo6 || o.recvHopLimit || o.recvTClass
}

func (o *options) keep(level, name int, value int32) {
	for i := range o.kept {
		if k := &o.kept[i]; int(k.level) == level && int(k.name) == name {
			k.value = value
			return
		}
	}
	o.kept = append(o.kept, keptOption{int32(level), int32(name), value})
}

func (o *options) look(level, name int, value int32) int32 {
	for _, k := range o.kept {
		if int(k.level) == level && int(k.name) == name {
			return k.value
		}
	}
	return value
}

func b2i(b bool) int32 {
	if b {
		return 1
	}
	return 0
}

// An optval is the value that setsockopt was given.
type optval struct {
	ptr    unsafe.Pointer
	length int
	b      [40]byte
	n      int32 // as an int, or as the byte that some options of IP may be
}

// int32 tells whether the value holds an int.
func (v *optval) full() bool { return v.length >= 4 }

func (p *Process) sysSetsockopt(c *Call) (uintptr, syscall.Errno) {
	f, errno := p.socketOf(c.Arg[0])
	if errno != 0 {
		return 0, errno
	}
	level, name := int(int32(c.Arg[1])), int(int32(c.Arg[2]))
	v := optval{ptr: c.Ptr[3], length: int(int32(c.Arg[4]))}
	if v.length < 0 {
		return 0, syscall.EINVAL
	}
	if v.length > 0 {
		if absurd(v.ptr) {
			return 0, syscall.EFAULT
		}
		sched.CopyIn(v.b[:min(v.length, len(v.b))], v.ptr)
	}
	if v.full() {
		v.n = *(*int32)(unsafe.Pointer(&v.b[0]))
	} else {
		v.n = int32(v.b[0])
	}
	switch {
	case f.kind == kindUnix && (level != syscall.SOL_SOCKET || f.unix.ownOption(name)):
		return 0, f.unix.setOption(level, name, &v)
	case level == syscall.SOL_SOCKET:
		return 0, p.setSocket(c, f, name, &v)
	case f.kind == kindNetlink:
		return 0, syscall.ENOPROTOOPT
	case level == syscall.IPPROTO_IP:
		return 0, p.setIP(c, f, name, &v)
	case level == syscall.IPPROTO_IPV6 && f.sock.family == syscall.AF_INET6:
		return 0, p.setIPv6(c, f, name, &v)
	case level == syscall.IPPROTO_TCP && f.kind == kindStream:
		return 0, p.setTCP(c, f, name, &v)
	case level == solUDP && f.kind == kindUDP && name == udpCork && v.full() && v.n == 0:
		return 0, 0
	}
	return 0, p.noOption(c, f, level, name)
}

// noOption is the answer to an option that is not modelled. UDP_SEGMENT and
// UDP_GRO are refused as a kernel would that is older than they are: programs
// ask for them, and do without.
func (p *Process) noOption(c *Call, f *file, level, name int) syscall.Errno {
	if level == solUDP && (name == udpSegment || name == udpGRO) {
		return syscall.ENOPROTOOPT
	}
	if level == syscall.IPPROTO_TCP && f.kind != kindStream || level == solMPTCP || level == syscall.IPPROTO_IPV6 && f.sock.family == syscall.AF_INET {
		return syscall.ENOPROTOOPT // Linux does not have them on this socket either
	}
	p.unsupported(c.Trap, uint64(uint32(level))<<32|uint64(uint32(name)), "option "+itoa(name)+" of level "+itoa(level))
	return syscall.ENOPROTOOPT
}

func (p *Process) setSocket(c *Call, f *file, name int, v *optval) syscall.Errno {
	s := f.sock
	o, u, t := &s.opts, s.udp, s.tcp
	switch name {
	case syscall.SO_RCVTIMEO, syscall.SO_SNDTIMEO:
		if v.length < int(unsafe.Sizeof(syscall.Timeval{})) {
			return syscall.EINVAL
		}
		tv := (*syscall.Timeval)(unsafe.Pointer(&v.b[0]))
		if tv.Usec < 0 || tv.Usec >= 1e6 {
			return syscall.EDOM
		}
		d := tv.Nano()
		if tv.Sec < 0 {
			d = -1
		}
		if name == syscall.SO_RCVTIMEO {
			o.rcvTimeout = d
		} else {
			o.sndTimeout = d
		}
		return 0
	case syscall.SO_BINDTODEVICE:
		dev := zeroEnded(v.b[:min(v.length, syscall.IFNAMSIZ-1)])
		if len(dev) > 0 && p.stack.InterfaceByName(string(dev)) == 0 {
			return syscall.ENODEV
		}
		o.device = string(dev)
		if len(dev) > 0 {
			p.unsupported(c.Trap, syscall.SO_BINDTODEVICE, "SO_BINDTODEVICE is kept and has no effect")
		}
		return 0
	case syscall.SO_ATTACH_FILTER, syscall.SO_DETACH_FILTER:
		return p.noOption(c, f, syscall.SOL_SOCKET, name)
	}
	if !v.full() {
		return syscall.EINVAL
	}
	on := v.n != 0
	switch name {
	case syscall.SO_REUSEADDR:
		if o.reuseAddr = on; u != nil {
			u.ReuseAddr = on
		} else if t != nil {
			t.ReuseAddr = on
		}
	case soReusePort:
		if o.reusePort = on; u != nil {
			u.ReusePort = on
		} else if t != nil {
			t.ReusePort = on
		}
	case syscall.SO_BROADCAST:
		if o.broadcast = on; u != nil {
			u.Broadcast = on
		}
	case syscall.SO_RCVBUF, soRcvBufForce:
		if u != nil {
			u.SetRcvBuf(int(v.n), name == soRcvBufForce)
		} else if t != nil {
			t.SetRcvBuf(int(v.n), name == soRcvBufForce)
		}
	case syscall.SO_SNDBUF, soSndBufForce:
		if u != nil {
			u.SetSndBuf(int(v.n), name == soSndBufForce)
		} else if t != nil {
			t.SetSndBuf(int(v.n), name == soSndBufForce)
		}
	case syscall.SO_KEEPALIVE:
		if o.keepAlive = on; t != nil {
			t.SetKeepAlive(on)
		}
	case syscall.SO_OOBINLINE:
		o.oobInline = on
	case syscall.SO_LINGER:
		if v.length < 8 {
			return syscall.EINVAL
		}
		o.linger = *(*[2]int32)(unsafe.Pointer(&v.b[0]))
		if o.linger[0] = b2i(o.linger[0] != 0); t != nil {
			s.setLinger()
		}
	case syscall.SO_PRIORITY:
		o.priority = v.n
	case syscall.SO_MARK:
		return syscall.EPERM
	case syscall.SO_DONTROUTE, syscall.SO_RCVLOWAT, soIncomingCPU:
		o.keep(syscall.SOL_SOCKET, name, v.n)
	case syscall.SO_ERROR, syscall.SO_TYPE, soProtocol, soDomain, syscall.SO_ACCEPTCONN:
		return syscall.ENOPROTOOPT
	default:
		return p.noOption(c, f, syscall.SOL_SOCKET, name)
	}
	return 0
}

func (p *Process) setIP(c *Call, f *file, name int, v *optval) syscall.Errno {
	s := f.sock
	o, u := &s.opts, s.udp
	on := v.n != 0
	switch name {
	case syscall.IP_PKTINFO:
		o.recvPktinfo = on
		return 0
	case syscall.IP_RECVTTL:
		o.recvTTL = on
		return 0
	case syscall.IP_RECVTOS:
		o.recvTOS = on
		return 0
	case syscall.IP_RECVERR:
		o.recvErr = on // there is nothing in the error queue
		return 0
	case syscall.IP_MTU_DISCOVER:
		if v.n < 0 || v.n > 5 {
			return syscall.EINVAL
		}
		if o.pmtu = v.n; u != nil {
			u.DontFragment = v.n == ipPmtuDo || v.n == ipPmtuProbe
		}
		return 0
	case syscall.IP_FREEBIND, syscall.IP_TRANSPARENT, ipBindNoPort, ipUnicastIf:
		o.keep(syscall.IPPROTO_IP, name, v.n)
		if on && name != ipBindNoPort {
			p.unsupported(c.Trap, uint64(name), "option "+itoa(name)+" of IP is kept and has no effect")
		}
		return 0
	case syscall.IP_TTL, syscall.IP_TOS:
		if v.length < 1 {
			return syscall.EINVAL
		}
		switch t := s.tcp; {
		case name == syscall.IP_TTL && t != nil:
			return t.SetTTL(int(v.n))
		case name == syscall.IP_TTL:
			return u.SetTTL(int(v.n))
		case t != nil:
			return t.SetTOS(int(uint8(v.n)))
		}
		return u.SetTOS(int(uint8(v.n)))
	}
	if u == nil {
		return p.noOption(c, f, syscall.IPPROTO_IP, name)
	}
	switch name {
	case syscall.IP_MULTICAST_TTL:
		if v.length < 1 {
			return syscall.EINVAL
		}
		return u.SetMulticastTTL(int(v.n))
	case syscall.IP_MULTICAST_LOOP:
		if v.length < 1 {
			return syscall.EINVAL
		}
		u.MulticastLoop = on
	case ipMulticastAll:
		if v.n != 0 && v.n != 1 {
			return syscall.EINVAL
		}
		u.MulticastAll = on
		o.keep(syscall.IPPROTO_IP, name, v.n)
	case syscall.IP_MULTICAST_IF:
		ifindex := 0
		switch {
		case v.length >= syscall.SizeofIPMreqn:
			_, addr, index := v.mreqn()
			ifindex = index
			if index == 0 && !addr.IsUnspecified() {
				if ifindex = p.stack.InterfaceByAddr(addr); ifindex == 0 {
					return syscall.EADDRNOTAVAIL
				}
			}
		case v.length >= 4:
			at := 0
			if v.length >= syscall.SizeofIPMreq {
				at = 4
			}
			if addr := netip.AddrFrom4([4]byte(v.b[at : at+4])); !addr.IsUnspecified() {
				if ifindex = p.stack.InterfaceByAddr(addr); ifindex == 0 {
					return syscall.EADDRNOTAVAIL
				}
			}
		default:
			return syscall.EINVAL
		}
		return u.SetMulticastInterface(ifindex)
	case syscall.IP_ADD_MEMBERSHIP, syscall.IP_DROP_MEMBERSHIP:
		if v.length < syscall.SizeofIPMreq {
			return syscall.EINVAL
		}
		group, addr, ifindex := v.mreqn()
		if ifindex == 0 && !addr.IsUnspecified() {
			if ifindex = p.stack.InterfaceByAddr(addr); ifindex == 0 {
				return syscall.ENODEV
			}
		}
		return p.membership(s, group, ifindex, name == syscall.IP_ADD_MEMBERSHIP)
	default:
		return p.noOption(c, f, syscall.IPPROTO_IP, name)
	}
	return 0
}

// mreqn decodes a struct ip_mreqn, or the ip_mreq that it begins with.
func (v *optval) mreqn() (group, addr netip.Addr, ifindex int) {
	group, addr = netip.AddrFrom4([4]byte(v.b[0:4])), netip.AddrFrom4([4]byte(v.b[4:8]))
	if v.length >= syscall.SizeofIPMreqn {
		ifindex = int(*(*int32)(unsafe.Pointer(&v.b[8])))
	}
	return group, addr, ifindex
}

// membership joins or leaves a group, and notes it for /proc/net/igmp.
func (p *Process) membership(s *socket, group netip.Addr, ifindex int, join bool) syscall.Errno {
	var errno syscall.Errno
	if join {
		errno = s.udp.Join(group, ifindex)
	} else {
		errno = s.udp.Leave(group, ifindex)
	}
	if errno != 0 {
		return errno
	}
	if ifindex == 0 {
		ifindex = 2
	}
	m := membership{group, ifindex}
	if join {
		s.joined = append(s.joined, m)
		return 0
	}
	for i := range s.joined {
		if s.joined[i] == m {
			s.joined = append(s.joined[:i], s.joined[i+1:]...)
			break
		}
	}
	return 0
}

func (p *Process) setIPv6(c *Call, f *file, name int, v *optval) syscall.Errno {
	s := f.sock
	o, u := &s.opts, s.udp
	if name == syscall.IPV6_JOIN_GROUP || name == syscall.IPV6_LEAVE_GROUP {
		if v.length < syscall.SizeofIPv6Mreq {
			return syscall.EINVAL
		}
		if u == nil {
			return syscall.ENOPROTOOPT
		}
		group, ifindex := netip.AddrFrom16([16]byte(v.b[:16])), int(*(*int32)(unsafe.Pointer(&v.b[16])))
		return p.membership(s, group, ifindex, name == syscall.IPV6_JOIN_GROUP)
	}
	if !v.full() {
		return syscall.EINVAL
	}
	on := v.n != 0
	switch name {
	case syscall.IPV6_V6ONLY:
		if u != nil {
			return u.SetV6Only(on)
		}
		return s.tcp.SetV6Only(on)
	case syscall.IPV6_RECVPKTINFO:
		o.recvPktinfo6 = on
	case syscall.IPV6_RECVHOPLIMIT:
		o.recvHopLimit = on
	case syscall.IPV6_RECVTCLASS:
		o.recvTClass = on
	case syscall.IPV6_RECVERR:
		o.recvErr6 = on
	case syscall.IPV6_MTU_DISCOVER:
		if v.n < 0 || v.n > 5 {
			return syscall.EINVAL
		}
		if o.pmtu6 = v.n; u != nil {
			u.DontFragment = v.n == ipPmtuDo || v.n == ipPmtuProbe
		}
	case ip6DontFrag:
		o.keep(syscall.IPPROTO_IPV6, name, b2i(on))
		if u != nil {
			u.DontFragment = on || o.pmtu6 == ipPmtuDo || o.pmtu6 == ipPmtuProbe
		}
	case ip6AutoFlow, ip6UnicastIf:
		o.keep(syscall.IPPROTO_IPV6, name, v.n)
	case syscall.IPV6_TCLASS, syscall.IPV6_UNICAST_HOPS:
		switch t := s.tcp; {
		case name == syscall.IPV6_TCLASS && t != nil:
			return t.SetTrafficClass(int(v.n))
		case name == syscall.IPV6_TCLASS:
			return u.SetTrafficClass(int(v.n))
		case t != nil:
			return t.SetHopLimit(int(v.n))
		}
		return u.SetHopLimit(int(v.n))
	default:
		if u == nil {
			return p.noOption(c, f, syscall.IPPROTO_IPV6, name)
		}
		switch name {
		case syscall.IPV6_MULTICAST_HOPS:
			return u.SetMulticastHops(int(v.n))
		case syscall.IPV6_MULTICAST_LOOP:
			if v.n != 0 && v.n != 1 {
				return syscall.EINVAL
			}
			u.MulticastLoop6 = on
		case syscall.IPV6_MULTICAST_IF:
			return u.SetMulticastInterface6(int(v.n))
		case ip6MulticastAll:
			o.keep(syscall.IPPROTO_IPV6, name, v.n)
		default:
			return p.noOption(c, f, syscall.IPPROTO_IPV6, name)
		}
	}
	return 0
}

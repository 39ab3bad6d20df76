//go:build linux && (amd64 || arm64)

package kernel

import (
	"syscall"
	"unsafe"

	"github.com/dstkit/dst/sched"
)

func (p *Process) sysGetsockopt(c *Call) (uintptr, syscall.Errno) {
	f, errno := p.socketOf(c.Arg[0])
	if errno != 0 {
		return 0, errno
	}
	level, name := int(int32(c.Arg[1])), int(int32(c.Arg[2]))
	var room int32
	if errno := get(&room, c.Ptr[4]); errno != 0 {
		return 0, errno
	}
	if room < 0 {
		return 0, syscall.EINVAL
	}
	if f.kind == kindNetlink && level != syscall.SOL_SOCKET {
		return 0, syscall.ENOPROTOOPT
	}
	if level == syscall.IPPROTO_TCP && f.kind == kindStream && (name == syscall.TCP_INFO || name == syscall.TCP_CONGESTION) {
		return 0, p.readTCP(c, f, name, room)
	}
	var buf optbuf
	v, n, errno := p.getOption(c, f, level, name, int(room), &buf)
	if errno != 0 {
		return 0, errno
	}
	if n < 0 { // an int
		n = 4
		*(*int32)(unsafe.Pointer(&buf[0])) = v
		// Options of IP that fit a byte may be read as one.
		if level == syscall.IPPROTO_IP && room > 0 && room < 4 && v >= 0 && v <= 255 {
			n = 1
		}
	}
	n = min(n, int(room))
	if n > 0 {
		if absurd(c.Ptr[3]) {
			return 0, syscall.EFAULT
		}
		sched.CopyOut(c.Ptr[3], buf[:n])
	}
	room = int32(n)
	return 0, put(c.Ptr[4], &room)
}

// An optbuf has room for the value of an option that is no int.
type optbuf [64]byte

// getOption returns an option's value: an int, with n negative, or n bytes of
// buf.
func (p *Process) getOption(c *Call, f *file, level, name, room int, buf *optbuf) (v int32, n int, errno syscall.Errno) {
	s := f.sock
	if f.kind == kindUnix && (level != syscall.SOL_SOCKET || f.unix.ownOption(name)) {
		return f.unix.getOption(level, name, buf)
	}
	o, u, t := &s.opts, s.udp, s.tcp
	if v, errno, ok := s.keptOption(level, name); ok {
		return v, -1, errno
	}
	switch level {
	case syscall.SOL_SOCKET:
		switch name {
		case syscall.SO_TIMESTAMP, soTimestampNS, soTimestampNew, soTimestampNSNew:
			return b2i(o.stamp == name), -1, 0
		case soRxqOvfl:
			return b2i(o.rxqOvfl), -1, 0
		case soBindToIfindex:
			return int32(s.device()), -1, 0
		case syscall.SO_NO_CHECK:
			return o.look(level, name, 0), -1, 0
		case syscall.SO_BSDCOMPAT:
			return 0, -1, 0
		case syscall.SO_PEERCRED: // of a socket that is no Unix socket: nobody
			*(*[3]int32)(unsafe.Pointer(buf)) = [3]int32{0, -1, -1}
			return 0, 12, 0
		case soPeerGroups:
			return 0, 0, syscall.ENODATA
		case soCookie:
			if room < 8 {
				return 0, 0, syscall.EINVAL
			}
			if s.cookie == 0 {
				p.k.cookies++
				s.cookie = p.k.cookies
			}
			*(*uint64)(unsafe.Pointer(buf)) = s.cookie
			return 0, 8, 0
		case soMeminfo:
			return 0, s.meminfo((*[9]uint32)(unsafe.Pointer(buf))), 0
		case syscall.SO_TYPE:
			return int32(s.kind), -1, 0
		case soProtocol:
			return int32(s.protocol), -1, 0
		case soDomain:
			return int32(s.family), -1, 0
		case syscall.SO_ERROR:
			if u != nil {
				v = int32(u.PendingError())
			} else if t != nil {
				v = int32(t.PendingError())
			}
			return v, -1, 0
		case syscall.SO_REUSEADDR:
			return b2i(o.reuseAddr), -1, 0
		case soReusePort:
			return b2i(o.reusePort), -1, 0
		case syscall.SO_BROADCAST:
			return b2i(o.broadcast), -1, 0
		case syscall.SO_RCVBUF:
			switch {
			case u != nil:
				v = int32(u.RcvBuf())
			case t != nil:
				v = int32(t.RcvBuf())
			default:
				v = 212992
			}
			return v, -1, 0
		case syscall.SO_SNDBUF:
			switch {
			case u != nil:
				v = int32(u.SndBuf())
			case t != nil:
				v = int32(t.SndBuf())
			default:
				v = 212992
			}
			return v, -1, 0
		case syscall.SO_OOBINLINE:
			return b2i(t != nil && t.Inline()), -1, 0
		case syscall.SO_KEEPALIVE:
			return b2i(o.keepAlive), -1, 0
		case syscall.SO_ACCEPTCONN:
			return b2i(t != nil && t.Listening()), -1, 0
		case syscall.SO_RCVLOWAT:
			return o.look(level, name, 1), -1, 0
		case syscall.SO_LINGER:
			*(*[2]int32)(unsafe.Pointer(buf)) = o.linger
			return 0, 8, 0
		case syscall.SO_RCVTIMEO, syscall.SO_SNDTIMEO:
			d := o.rcvTimeout
			if name == syscall.SO_SNDTIMEO {
				d = o.sndTimeout
			}
			*(*syscall.Timeval)(unsafe.Pointer(buf)) = syscall.NsecToTimeval(max(d, 0))
			return 0, 16, 0
		case syscall.SO_BINDTODEVICE:
			index := s.device()
			if index == 0 {
				return 0, 0, 0
			}
			if room < syscall.IFNAMSIZ {
				return 0, 0, syscall.EINVAL
			}
			for _, ifi := range p.stack.Interfaces() {
				if ifi.Index == index {
					return 0, copy(buf[:], ifi.Name) + 1, 0
				}
			}
			return 0, 0, syscall.ENODEV
		}
	case syscall.IPPROTO_IP:
		switch name {
		case syscall.IP_PKTINFO:
			return b2i(o.recvPktinfo), -1, 0
		case syscall.IP_RECVTTL:
			return b2i(o.recvTTL), -1, 0
		case syscall.IP_RECVTOS:
			return b2i(o.recvTOS), -1, 0
		case syscall.IP_RECVERR:
			return b2i(o.recvErr), -1, 0
		case syscall.IP_MTU_DISCOVER:
			return o.pmtu, -1, 0
		case syscall.IP_FREEBIND, syscall.IP_TRANSPARENT, ipBindNoPort, ipUnicastIf, ipMinTTL, syscall.IP_ROUTER_ALERT:
			return o.look(level, name, 0), -1, 0
		case ipOrigDstAddr:
			return b2i(o.recvOrigDst), -1, 0
		case syscall.IP_OPTIONS: // none
			return 0, 0, 0
		}
		if u == nil {
			switch name {
			case ipMulticastAll:
				return o.look(level, name, b2i(s.family == syscall.AF_INET)), -1, 0
			case syscall.IP_MULTICAST_TTL:
				return 1, -1, 0
			case syscall.IP_MULTICAST_IF:
				return 0, 4, 0
			case syscall.IP_TTL:
				return int32(t.TTL()), -1, 0
			case syscall.IP_TOS:
				return int32(t.TOS()), -1, 0
			case syscall.IP_MTU:
				return p.pathMTU(s)
			}
			break
		}
		switch name {
		case syscall.IP_TTL:
			return int32(u.TTL()), -1, 0
		case syscall.IP_TOS:
			return int32(u.TOS()), -1, 0
		case syscall.IP_MULTICAST_TTL:
			return int32(u.MulticastTTL()), -1, 0
		case syscall.IP_MULTICAST_LOOP:
			return b2i(u.MulticastLoop), -1, 0
		case ipMulticastAll:
			// An IPv6 socket says no until it is set.
			return o.look(level, name, b2i(s.family == syscall.AF_INET)), -1, 0
		case syscall.IP_MULTICAST_IF: // the address given, of which only the number was kept
			return 0, 4, 0
		case syscall.IP_MTU:
			return p.pathMTU(s)
		}
	case syscall.IPPROTO_IPV6:
		if s.family != syscall.AF_INET6 {
			return 0, 0, syscall.EOPNOTSUPP
		}
		switch name {
		case syscall.IPV6_V6ONLY:
			return b2i(s.v6only()), -1, 0
		case syscall.IPV6_RECVPKTINFO:
			return b2i(o.recvPktinfo6), -1, 0
		case syscall.IPV6_RECVHOPLIMIT:
			return b2i(o.recvHopLimit), -1, 0
		case syscall.IPV6_RECVTCLASS:
			return b2i(o.recvTClass), -1, 0
		case syscall.IPV6_RECVERR:
			return b2i(o.recvErr6), -1, 0
		case syscall.IPV6_MTU_DISCOVER:
			return o.pmtu6, -1, 0
		case ip6DontFrag, ip6UnicastIf, ip6MinHopCount, ip6FreeBind, ip6Transparent:
			return o.look(level, name, 0), -1, 0
		case ip6OrigDstAddr:
			return b2i(o.recvOrigDst6), -1, 0
		case ip6PathMTU:
			return p.pathMTUInfo(s, room, buf)
		}
		if u == nil {
			switch name {
			case syscall.IPV6_TCLASS:
				return int32(t.TrafficClass()), -1, 0
			case syscall.IPV6_UNICAST_HOPS:
				return int32(t.HopLimit()), -1, 0
			case syscall.IPV6_MTU:
				return p.pathMTU(s)
			}
			break
		}
		switch name {
		case syscall.IPV6_TCLASS:
			return int32(u.TrafficClass()), -1, 0
		case syscall.IPV6_UNICAST_HOPS:
			return int32(u.HopLimit()), -1, 0
		case syscall.IPV6_MULTICAST_HOPS:
			return int32(u.MulticastHops()), -1, 0
		case syscall.IPV6_MULTICAST_LOOP:
			return b2i(u.MulticastLoop6), -1, 0
		case ip6MulticastAll:
			return b2i(u.MulticastAll6), -1, 0
		case syscall.IPV6_MULTICAST_IF:
			return int32(u.MulticastInterface6()), -1, 0
		case syscall.IPV6_MTU:
			return p.pathMTU(s)
		}
	case syscall.IPPROTO_TCP:
		if f.kind == kindStream && name == tcpULP {
			return 0, 0, 0 // none
		}
		if f.kind == kindStream {
			v, errno = p.getTCP(c, f, name)
			return v, -1, errno
		}
	case solUDP:
		switch {
		case u == nil:
		case name == udpCork:
			return 0, -1, 0
		case name == udpSegment:
			return int32(u.Segment), -1, 0
		case name == udpGRO:
			return b2i(u.GRO), -1, 0
		}
	}
	errno = p.noOption(c, f, level, name)
	if s.family == syscall.AF_INET && level != syscall.SOL_SOCKET && level != syscall.IPPROTO_IP &&
		!(level == solUDP && f.kind == kindUDP) && !(level == syscall.IPPROTO_TCP && f.kind == kindStream) {
		errno = syscall.EOPNOTSUPP // a level that an IPv4 socket does not have
	}
	return 0, 0, errno
}

// meminfo is SO_MEMINFO: what the buffers hold and may hold, and drops.
func (s *socket) meminfo(m *[9]uint32) int {
	if u := s.udp; u != nil {
		*m = [9]uint32{0: uint32(u.RcvMem()), 1: uint32(u.RcvBuf()), 3: uint32(u.SndBuf()), 8: uint32(u.Drops())}
	} else if t := s.tcp; t != nil {
		*m = [9]uint32{0: uint32(t.Unread()), 1: uint32(t.RcvBuf()), 3: uint32(t.SndBuf()), 5: uint32(t.Unsent())}
	}
	return int(unsafe.Sizeof(*m))
}

// pathMTUInfo is IPV6_PATHMTU, a struct ip6_mtuinfo.
func (p *Process) pathMTUInfo(s *socket, room int, buf *optbuf) (v int32, n int, errno syscall.Errno) {
	const size = syscall.SizeofSockaddrInet6 + 4
	if room < size {
		return 0, 0, syscall.EINVAL
	}
	mtu, _, errno := p.pathMTU(s)
	if errno != 0 {
		return 0, 0, errno
	}
	_, peer := s.addrs()
	(*rawSockaddr)(unsafe.Pointer(buf)).encode(syscall.AF_INET6, peer, 0)
	*(*int32)(unsafe.Pointer(&buf[syscall.SizeofSockaddrInet6])) = mtu
	return 0, size, 0
}

// pathMTU is IP_MTU: what the way to the peer takes.
func (p *Process) pathMTU(s *socket) (v int32, n int, errno syscall.Errno) {
	_, peer := s.addrs()
	if !peer.IsValid() {
		return 0, 0, syscall.ENOTCONN
	}
	v = int32(p.stack.PathMTU(peer.Addr()))
	return v, -1, 0
}

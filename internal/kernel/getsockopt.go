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
	var buf [16]byte
	v, n, errno := p.getOption(c, f, level, name, &buf)
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

// getOption returns an option's value: an int, with n negative, or n bytes of
// buf.
func (p *Process) getOption(c *Call, f *file, level, name int, buf *[16]byte) (v int32, n int, errno syscall.Errno) {
	s := f.sock
	if f.kind == kindUnix && (level != syscall.SOL_SOCKET || f.unix.ownOption(name)) {
		return f.unix.getOption(level, name, buf)
	}
	o, u, t := &s.opts, s.udp, s.tcp
	switch level {
	case syscall.SOL_SOCKET:
		switch name {
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
		case syscall.SO_KEEPALIVE:
			return b2i(o.keepAlive), -1, 0
		case syscall.SO_OOBINLINE:
			return b2i(o.oobInline), -1, 0
		case syscall.SO_PRIORITY:
			return o.priority, -1, 0
		case syscall.SO_ACCEPTCONN:
			return b2i(t != nil && t.Listening()), -1, 0
		case syscall.SO_MARK, syscall.SO_DONTROUTE:
			return o.look(level, name, 0), -1, 0
		case syscall.SO_RCVLOWAT, syscall.SO_SNDLOWAT:
			return o.look(level, name, 1), -1, 0
		case soIncomingCPU:
			return o.look(level, name, -1), -1, 0
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
			if o.device == "" {
				return 0, 0, 0
			}
			return 0, copy(buf[:], o.device) + 1, 0
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
		case syscall.IP_FREEBIND, syscall.IP_TRANSPARENT, ipBindNoPort, ipUnicastIf:
			return o.look(level, name, 0), -1, 0
		}
		if u == nil {
			switch name {
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
		case ip6DontFrag, ip6UnicastIf:
			return o.look(level, name, 0), -1, 0
		case ip6AutoFlow, ip6MulticastAll:
			return o.look(level, name, 1), -1, 0
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
		case syscall.IPV6_MULTICAST_IF:
			return int32(u.MulticastInterface6()), -1, 0
		case syscall.IPV6_MTU:
			return p.pathMTU(s)
		}
	case syscall.IPPROTO_TCP:
		if f.kind == kindStream {
			v, errno = p.getTCP(c, f, name)
			return v, -1, errno
		}
	case solUDP:
		if name == udpCork {
			return 0, -1, 0
		}
	}
	errno = p.noOption(c, f, level, name)
	if s.family == syscall.AF_INET && level != syscall.SOL_SOCKET && level != syscall.IPPROTO_IP && level != solUDP && f.kind == kindUDP {
		errno = syscall.EOPNOTSUPP // a level that an IPv4 socket does not have
	}
	return 0, 0, errno
}

// pathMTU is IP_MTU: what the way to the peer takes.
func (p *Process) pathMTU(s *socket) (v int32, n int, errno syscall.Errno) {
	_, peer := s.addrs()
	if !peer.IsValid() {
		return 0, 0, syscall.ENOTCONN
	}
	index := 1
	if p.stack.InterfaceByAddr(peer.Addr().Unmap()) == 0 {
		index = 2
	}
	for _, ifi := range p.stack.Interfaces() {
		if ifi.Index == index {
			v = int32(ifi.MTU)
		}
	}
	return v, -1, 0
}

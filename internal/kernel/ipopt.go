//go:build linux && (amd64 || arm64)

package kernel

import (
	"math/bits"
	"net/netip"
	"syscall"
	"unsafe"
)

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
	case ipOrigDstAddr:
		o.recvOrigDst = on
		return 0
	case syscall.IP_RECVERR:
		if o.recvErr = on; u != nil {
			u.RecvErr = on
		}
		return 0
	case ipMinTTL:
		if v.length < 1 || v.n < 0 || v.n > 255 {
			return syscall.EINVAL
		}
		if s.tcp != nil {
			s.tcp.MinTTL = int(v.n)
		}
		o.keep(syscall.IPPROTO_IP, name, v.n)
		return 0
	case syscall.IP_MTU_DISCOVER:
		if v.n < 0 || v.n > 5 {
			return syscall.EINVAL
		}
		if o.pmtu = v.n; u != nil {
			u.SetMTUDiscover(v.n == ipPmtuDo, v.n == ipPmtuProbe)
		}
		return 0
	case syscall.IP_FREEBIND, syscall.IP_TRANSPARENT:
		if v.length < 1 {
			return syscall.EINVAL
		}
		return s.setFreeBind(syscall.IPPROTO_IP, name, on)
	case ipBindNoPort:
		if u != nil {
			u.NoPort = on
		} else {
			s.tcp.NoPort = on
		}
		o.keep(syscall.IPPROTO_IP, name, b2i(on))
		return 0
	case ipUnicastIf:
		return s.setUnicastIf(p, syscall.IPPROTO_IP, name, v)
	case syscall.IP_OPTIONS:
		if v.length == 0 {
			return 0
		}
		return p.noOption(c, f, syscall.IPPROTO_IP, name)
	case syscall.IP_ROUTER_ALERT:
		return syscall.EINVAL
	case syscall.IP_TTL, syscall.IP_TOS:
		if v.length < 1 && name == syscall.IP_TTL {
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
		switch name {
		case syscall.IP_MULTICAST_TTL, syscall.IP_MULTICAST_IF, ipRecvFragSize,
			syscall.IP_UNBLOCK_SOURCE, syscall.IP_BLOCK_SOURCE, syscall.IP_ADD_SOURCE_MEMBERSHIP, syscall.IP_DROP_SOURCE_MEMBERSHIP,
			mcastJoinGroup, mcastLeaveGroup, mcastBlockSource, mcastUnblockSource, mcastJoinSourceGroup, mcastLeaveSource:
			return syscall.EINVAL
		case syscall.IP_ADD_MEMBERSHIP, syscall.IP_DROP_MEMBERSHIP:
			return syscall.EPROTO
		case ipMulticastAll:
			if v.n != 0 && v.n != 1 || v.length < 1 {
				return syscall.EINVAL
			}
			o.keep(syscall.IPPROTO_IP, name, v.n)
			return 0
		case syscall.IP_MULTICAST_LOOP:
			if v.length < 1 {
				return syscall.EINVAL
			}
		}
		return p.keepOption(c, f, syscall.IPPROTO_IP, name, v)
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
		if v.n != 0 && v.n != 1 || v.length < 1 {
			return syscall.EINVAL
		}
		u.MulticastAll = on
		o.keep(syscall.IPPROTO_IP, name, v.n)
	case syscall.IP_UNBLOCK_SOURCE, syscall.IP_BLOCK_SOURCE, syscall.IP_ADD_SOURCE_MEMBERSHIP, syscall.IP_DROP_SOURCE_MEMBERSHIP:
		return p.sourceIP(s, name, v)
	case mcastJoinGroup, mcastLeaveGroup, mcastBlockSource, mcastUnblockSource, mcastJoinSourceGroup, mcastLeaveSource:
		return p.groupRequest(s, name, v)
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
		if name == syscall.IP_ADD_MEMBERSHIP {
			return u.Join(group, ifindex)
		}
		return u.Leave(group, ifindex)
	default:
		return p.keepOption(c, f, syscall.IPPROTO_IP, name, v)
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

// setFreeBind is IP_FREEBIND, IP_TRANSPARENT and their kin of IPv6.
func (s *socket) setFreeBind(level, name int, on bool) syscall.Errno {
	if s.udp != nil {
		s.udp.FreeBind = on
	} else {
		s.tcp.FreeBind = on
	}
	s.opts.keep(level, name, b2i(on))
	return 0
}

// setUnicastIf is IP_UNICAST_IF and IPV6_UNICAST_IF, whose value is in network
// byte order.
func (s *socket) setUnicastIf(p *Process, level, name int, v *optval) syscall.Errno {
	if v.length != 4 {
		return syscall.EINVAL
	}
	index := int(bits.ReverseBytes32(uint32(v.n)))
	if index != 0 && !p.hasInterface(index) {
		return syscall.EADDRNOTAVAIL
	}
	if s.udp != nil {
		s.udp.SetUnicastInterface(index)
	} else {
		s.tcp.SetUnicastInterface(index)
	}
	s.opts.keep(level, name, v.n)
	return 0
}

func (p *Process) hasInterface(index int) bool {
	for _, ifi := range p.stack.Interfaces() {
		if ifi.Index == index {
			return true
		}
	}
	return false
}

// sourceIP is an option with a struct ip_mreq_source: group, interface by its
// address, source.
func (p *Process) sourceIP(s *socket, name int, v *optval) syscall.Errno {
	if v.length < 12 {
		return syscall.EINVAL
	}
	addr := func(at int) netip.Addr { return netip.AddrFrom4([4]byte(v.b[at : at+4])) }
	ifindex := 0
	if a := addr(4); !a.IsUnspecified() {
		if ifindex = p.stack.InterfaceByAddr(a); ifindex == 0 {
			return syscall.ENODEV
		}
	}
	u, group, source := s.udp, addr(0), addr(8)
	switch name {
	case syscall.IP_ADD_SOURCE_MEMBERSHIP:
		return u.JoinSource(group, source, ifindex)
	case syscall.IP_DROP_SOURCE_MEMBERSHIP:
		return u.LeaveSource(group, source, ifindex)
	case syscall.IP_BLOCK_SOURCE:
		return u.BlockSource(group, source, ifindex)
	}
	return u.UnblockSource(group, source, ifindex)
}

// groupRequest is an option with a struct group_req or group_source_req, of
// RFC 3678, which are the same for both families.
func (p *Process) groupRequest(s *socket, name int, v *optval) syscall.Errno {
	size := sizeofGroupSourceReq
	if name == mcastJoinGroup || name == mcastLeaveGroup {
		size = sizeofGroupReq
	}
	if v.length < size {
		return syscall.EINVAL
	}
	var addrs [2]netip.Addr
	for i := range (size - 8) / maxSockaddr {
		raw := (*rawSockaddr)(unsafe.Pointer(&v.b[8+i*maxSockaddr]))
		switch {
		case v.level == syscall.IPPROTO_IP && raw.family == syscall.AF_INET:
			addrs[i] = netip.AddrFrom4(raw.flow)
		case v.level == syscall.IPPROTO_IPV6 && raw.family == syscall.AF_INET6:
			addrs[i] = netip.AddrFrom16(raw.addr)
		case v.level == syscall.IPPROTO_IP && size == sizeofGroupReq:
			return syscall.EINVAL
		default:
			return syscall.EADDRNOTAVAIL
		}
	}
	u, group, source, ifindex := s.udp, addrs[0], addrs[1], int(*(*int32)(unsafe.Pointer(&v.b[0])))
	switch name {
	case mcastJoinGroup:
		return u.Join(group, ifindex)
	case mcastLeaveGroup:
		return u.Leave(group, ifindex)
	case mcastJoinSourceGroup:
		return u.JoinSource(group, source, ifindex)
	case mcastLeaveSource:
		return u.LeaveSource(group, source, ifindex)
	case mcastBlockSource:
		return u.BlockSource(group, source, ifindex)
	}
	return u.UnblockSource(group, source, ifindex)
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
		if name == syscall.IPV6_JOIN_GROUP {
			return u.Join(group, ifindex)
		}
		return u.Leave(group, ifindex)
	}
	switch name {
	case mcastJoinGroup, mcastLeaveGroup, mcastBlockSource, mcastUnblockSource, mcastJoinSourceGroup, mcastLeaveSource:
		if u == nil {
			return syscall.EINVAL
		}
		return p.groupRequest(s, name, v)
	case syscall.IPV6_MULTICAST_HOPS, syscall.IPV6_MULTICAST_IF:
		if u == nil {
			return syscall.ENOPROTOOPT
		}
		if !v.full() {
			return syscall.EINVAL
		}
	case ip6DontFrag, ip6AutoFlow, ip6RecvFragSize: // what is short counts as 0
		if !v.full() {
			v.n = 0
		}
	case syscall.IPV6_V6ONLY, syscall.IPV6_RECVPKTINFO, syscall.IPV6_RECVHOPLIMIT, syscall.IPV6_RECVTCLASS, syscall.IPV6_RECVERR,
		syscall.IPV6_MTU_DISCOVER, syscall.IPV6_TCLASS, syscall.IPV6_UNICAST_HOPS, syscall.IPV6_MULTICAST_LOOP, ip6MulticastAll,
		ip6UnicastIf, ip6OrigDstAddr, ip6MinHopCount, ip6FreeBind, ip6Transparent:
		if !v.full() {
			return syscall.EINVAL
		}
	default:
		if !v.full() && s.ruleOf(syscall.IPPROTO_IPV6, name) != nil {
			return syscall.EINVAL
		}
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
		if o.recvErr6 = on; u != nil {
			u.RecvErr6 = on
		}
	case ip6OrigDstAddr:
		o.recvOrigDst6 = on
	case ip6MinHopCount:
		if v.n < 0 || v.n > 255 {
			return syscall.EINVAL
		}
		if s.tcp != nil {
			s.tcp.MinHops = int(v.n)
		}
		o.keep(syscall.IPPROTO_IPV6, name, v.n)
	case ip6FreeBind, ip6Transparent:
		return s.setFreeBind(syscall.IPPROTO_IPV6, name, on)
	case ip6UnicastIf:
		return s.setUnicastIf(p, syscall.IPPROTO_IPV6, name, v)
	case syscall.IPV6_MTU_DISCOVER:
		if v.n < 0 || v.n > 5 {
			return syscall.EINVAL
		}
		if o.pmtu6 = v.n; u != nil {
			u.SetMTUDiscover(v.n == ipPmtuDo, v.n == ipPmtuProbe)
		}
	case ip6DontFrag:
		o.keep(syscall.IPPROTO_IPV6, name, b2i(on))
		if u != nil {
			u.DontFragment = on || o.pmtu6 == ipPmtuDo || o.pmtu6 == ipPmtuProbe
		}
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
			return p.keepOption(c, f, syscall.IPPROTO_IPV6, name, v)
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
			u.MulticastAll6 = on
		default:
			return p.keepOption(c, f, syscall.IPPROTO_IPV6, name, v)
		}
	}
	return 0
}

package simnet

import (
	"net/netip"
	"syscall"
)

// A route is where a packet goes.
type route struct {
	dst     netip.Addr // the zero address replaced
	src     netip.Addr // source address
	cast    cast
	local   bool  // does not leave the host
	ifindex int   // the interface it leaves by, or that owns a local address
	path    *path // to the host that has the address, or a NAT; nil if none has, or cast is not unicast
	beyond  *path // the next, if that leads to a NAT
}

// route finds the way to dst. A src that is not valid is chosen; oif is the
// interface asked for, or 0. Where Linux would need a route that machines
// usually have (for groups and 255.255.255.255), eth0 has it; there is none to
// other networks.
func (s *Stack) route(dst, src netip.Addr, oif int) (r route, errno syscall.Errno) {
	if oif != 0 && oif != lo && oif != eth0 {
		return r, syscall.ENODEV
	}
	if src.IsValid() && !s.isLocal(src) {
		return r, syscall.EINVAL
	}
	loAddr, ethAddr := loopback4, s.addr
	if !dst.Is4() {
		loAddr, ethAddr = loopback6, s.addr6
	}
	if dst.IsUnspecified() {
		dst = loAddr
		if src.IsValid() {
			dst = src
		}
	}
	r.dst, r.src, r.ifindex = dst, src, oif
	fromLo := src.IsValid() && src.IsLoopback()
	switch owner := s.InterfaceByAddr(dst); {
	case owner != 0:
		r.local, r.ifindex = true, owner
		if owner == eth0 {
			loAddr = ethAddr
		}
		if !src.IsValid() {
			r.src = loAddr
		}
		return r, 0
	case dst.IsMulticast(), dst == allBroadcast:
		r.cast = multicast
		if dst == allBroadcast {
			r.cast = broadcast
		}
		if oif == 0 && fromLo {
			r.ifindex = lo
		}
	case dst == loBroadcast:
		r.cast, r.ifindex = broadcast, lo
	case dst == ethBroadcast:
		r.cast = broadcast
	case dst.Is4() && ethNet.Contains(dst), !dst.Is4() && ethNet6.Contains(dst):
		if oif == lo {
			return r, syscall.ENETUNREACH
		}
		if to := s.n.neighbour(s, dst); to != nil {
			r.path = s.n.path(s, to)
			if to.gateway != nil && dst != to.addr && dst != to.addr6 {
				if next := s.n.neighbour(to, dst); next != nil {
					r.beyond = s.n.path(to, next)
				}
			}
		}
	default:
		return r, syscall.ENETUNREACH
	}
	if r.ifindex == 0 {
		r.ifindex = eth0
	}
	if r.ifindex == lo {
		if !dst.Is4() {
			return r, syscall.ENETUNREACH // lo has no route to IPv6 groups
		}
		r.local = true
		ethAddr = loAddr
	} else if !s.up {
		return r, syscall.ENETUNREACH
	} else if fromLo {
		return r, syscall.EINVAL // a loopback source may not leave the host
	}
	if !src.IsValid() {
		r.src = ethAddr
	}
	return r, 0
}

// firstMTU is the largest IP packet that the interface takes whole. A link that
// takes less than others lies beyond the interface, so to speak.
func (r *route) firstMTU(n *Network) int {
	switch {
	case r.local && r.cast == unicast || r.ifindex == lo:
		return loopbackMTU
	case r.beyond != nil:
		return min(r.path.link.mtu(), r.beyond.link.mtu())
	case r.path != nil:
		return max(n.def.mtu(), r.path.link.mtu())
	}
	return n.def.mtu()
}

// mtu is the largest IP packet that the way takes whole, as far as the host
// knows.
func (r *route) mtu(n *Network) int {
	mtu := r.firstMTU(n)
	if r.path != nil && len(r.path.from.narrow) > 0 {
		mtu = min(mtu, r.path.from.pathMTU(r.path))
	}
	return mtu
}

package simnet

import (
	"net/netip"
	"slices"
	"syscall"
)

// A membership is a group joined on an interface.
type membership struct {
	group   netip.Addr
	ifindex int
}

// A member is a socket's membership: of a group with all sources but those
// listed, or with those listed alone (RFC 3376, RFC 3810).
type member struct {
	membership
	only    bool // INCLUDE: those listed alone
	sources []netip.Addr
}

const (
	maxMemberships = 20 // net.ipv4.igmp_max_memberships, of one socket
	maxSources     = 10 // net.ipv4.igmp_max_msf
	maxSources6    = 64 // net.ipv6.mld_max_msf
)

// membership checks the arguments of Join and Leave.
func (u *UDP) membership(group netip.Addr, ifindex int) (membership, syscall.Errno) {
	group = plain(group)
	if ifindex == 0 {
		ifindex = eth0 // which has the route to groups
	}
	if ifindex != lo && ifindex != eth0 {
		return membership{}, syscall.ENODEV
	}
	return membership{group, ifindex}, 0
}

// place returns the index of a membership, or -1.
func (u *UDP) place(m membership) int {
	return slices.IndexFunc(u.joined, func(j member) bool { return j.membership == m })
}

// Groups calls f for each group that the socket joined, in order.
func (u *UDP) Groups(f func(group netip.Addr, ifindex int)) {
	for _, j := range u.joined {
		f(j.group, j.ifindex)
	}
}

// Join is IP_ADD_MEMBERSHIP or IPV6_JOIN_GROUP, by the group's family.
// Interface 0 lets the route to the group choose. A host that is down joins
// too.
func (u *UDP) Join(group netip.Addr, ifindex int) syscall.Errno {
	return u.join1(group, ifindex, false)
}

func (u *UDP) join1(group netip.Addr, ifindex int, only bool) syscall.Errno {
	if u.dead() {
		return syscall.EBADF
	}
	if !group.IsMulticast() {
		return syscall.EINVAL
	}
	m, errno := u.membership(group, ifindex)
	switch {
	case errno != 0:
		return errno
	case u.place(m) >= 0:
		return syscall.EADDRINUSE
	case m.group.Is4() && len(u.joined) >= maxMemberships:
		return syscall.ENOBUFS
	}
	if u.s.groups == nil {
		u.s.groups = map[membership]int{}
	}
	u.s.groups[m]++
	u.joined = append(u.joined, member{membership: m, only: only})
	return 0
}

// Leave is IP_DROP_MEMBERSHIP or IPV6_LEAVE_GROUP.
func (u *UDP) Leave(group netip.Addr, ifindex int) syscall.Errno {
	if u.dead() {
		return syscall.EBADF
	}
	if !group.Is4() && !group.IsMulticast() {
		return syscall.EINVAL
	}
	m, errno := u.membership(group, ifindex)
	if errno != 0 {
		return errno
	}
	i := u.place(m)
	if i < 0 {
		return syscall.EADDRNOTAVAIL
	}
	u.drop(i)
	return 0
}

// JoinSource is IP_ADD_SOURCE_MEMBERSHIP or MCAST_JOIN_SOURCE_GROUP: what
// comes from source to the group is received, too.
func (u *UDP) JoinSource(group, source netip.Addr, ifindex int) syscall.Errno {
	if errno := u.join1(group, ifindex, true); errno != 0 && errno != syscall.EADDRINUSE {
		return errno
	}
	return u.source(group, source, ifindex, true, true)
}

// LeaveSource is IP_DROP_SOURCE_MEMBERSHIP or MCAST_LEAVE_SOURCE_GROUP. With
// the last source the group is left.
func (u *UDP) LeaveSource(group, source netip.Addr, ifindex int) syscall.Errno {
	return u.source(group, source, ifindex, true, false)
}

// BlockSource is IP_BLOCK_SOURCE or MCAST_BLOCK_SOURCE: what comes from source
// to a group that was joined is not received.
func (u *UDP) BlockSource(group, source netip.Addr, ifindex int) syscall.Errno {
	return u.source(group, source, ifindex, false, true)
}

// UnblockSource is IP_UNBLOCK_SOURCE or MCAST_UNBLOCK_SOURCE.
func (u *UDP) UnblockSource(group, source netip.Addr, ifindex int) syscall.Errno {
	return u.source(group, source, ifindex, false, false)
}

// source adds a source to a membership of the one mode or the other, or
// removes it.
func (u *UDP) source(group, source netip.Addr, ifindex int, only, add bool) syscall.Errno {
	if u.dead() {
		return syscall.EBADF
	}
	if !group.IsMulticast() {
		return syscall.EINVAL
	}
	m, errno := u.membership(group, ifindex)
	if errno != 0 {
		return errno
	}
	at := u.place(m)
	if at < 0 {
		return syscall.EINVAL
	}
	j, source := &u.joined[at], plain(source)
	if j.only != only {
		if j.only || j.sources != nil { // once there was one, even
			return syscall.EINVAL
		}
		j.only = only // of all sources without exception, to a choice of them
	}
	i := slices.Index(j.sources, source)
	limit := maxSources
	if !m.group.Is4() {
		limit = maxSources6
	}
	switch {
	case !add && i < 0:
		return syscall.EADDRNOTAVAIL
	case !add && only && len(j.sources) == 1:
		u.drop(at)
	case !add:
		j.sources = slices.Delete(j.sources, i, i+1)
	case len(j.sources) >= limit:
		return syscall.ENOBUFS
	case i >= 0:
		return syscall.EADDRNOTAVAIL
	default:
		j.sources = append(j.sources, source)
	}
	return 0
}

// drop gives up a membership.
func (u *UDP) drop(i int) {
	m := u.joined[i].membership
	u.joined = slices.Delete(u.joined, i, i+1)
	if u.s.groups[m]--; u.s.groups[m] == 0 {
		delete(u.s.groups, m)
	}
}

// member tells whether the host takes what is sent to a group on an interface.
func (s *Stack) member(group netip.Addr, ifindex int) bool {
	return group == allNodes4 || group == allNodes6 || group == allNodesIf6 ||
		s.groups[membership{group, ifindex}] > 0
}

// accepts tells whether a socket takes what source sends to a group.
func (u *UDP) accepts(group, source netip.Addr, ifindex int) bool {
	if i := u.place(membership{group, ifindex}); i >= 0 {
		return slices.Contains(u.joined[i].sources, source) == u.joined[i].only
	}
	if group.Is4() {
		return u.MulticastAll
	}
	return u.MulticastAll6
}

// flood sends a datagram to a group or to all: a copy to each host that takes
// it, each with a fate of its own, and one to this host.
func (u *UDP) flood(p *Datagram) {
	s, n := u.s, u.s.n
	group := p.dst.Addr()
	if p.Interface == eth0 && (p.cast == broadcast || p.TTL > 0) {
		again := false
		for _, o := range n.stacks {
			if o != s && o.gateway == nil && o.behind == s.behind && (p.cast == broadcast || o.member(group, eth0)) {
				q := n.clone(p)
				q.again, again = again, true
				n.path(s, o).transmit(q)
			}
		}
	}
	loop := true // a broadcast, and what goes through lo, always comes back
	if p.cast == multicast && p.Interface == eth0 {
		if loop = u.MulticastLoop; !group.Is4() {
			loop = u.MulticastLoop6
		}
	}
	if !loop || p.cast == multicast && !s.member(group, p.Interface) {
		n.put(p)
		return
	}
	s.c.Local++
	n.note(Local, s, s, p)
	s.input(p)
}

// deliverAll gives a datagram to every socket that wants it. Nobody answers
// where there is none.
func (s *Stack) deliverAll(p *Datagram) {
	to := p.dst.Addr()
	if p.cast == multicast && !s.member(to, p.Interface) { // left it meanwhile
		s.n.put(p)
		return
	}
	var found *UDP // delivered to when the next is found, so that the last gets the original
	v4 := to.Is4()
	for u := s.udp[p.dst.Port()]; u != nil; u = u.next {
		if u.score(p.src, p.dst, p.Interface, v4) < 0 || p.cast == multicast && !u.accepts(to, p.src.Addr(), p.Interface) {
			continue
		}
		if found != nil {
			found.enqueue(s.n.clone(p))
		}
		found = u
	}
	if found == nil {
		s.c.NoPorts++
		s.n.note(NoPort, s, s, p)
		s.n.put(p)
		return
	}
	found.enqueue(p)
}

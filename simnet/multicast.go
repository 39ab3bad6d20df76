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

const maxMemberships = 20 // net.ipv4.igmp_max_memberships, of one socket

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

// Join is IP_ADD_MEMBERSHIP or IPV6_JOIN_GROUP, by the group's family.
// Interface 0 lets the route to the group choose. A host that is down joins
// too.
func (u *UDP) Join(group netip.Addr, ifindex int) syscall.Errno {
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
	case slices.Contains(u.joined, m):
		return syscall.EADDRINUSE
	case m.group.Is4() && len(u.joined) >= maxMemberships:
		return syscall.ENOBUFS
	}
	if u.s.groups == nil {
		u.s.groups = map[membership]int{}
	}
	u.s.groups[m]++
	u.joined = append(u.joined, m)
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
	i := slices.Index(u.joined, m)
	if i < 0 {
		return syscall.EADDRNOTAVAIL
	}
	u.drop(i)
	return 0
}

// drop gives up a membership.
func (u *UDP) drop(i int) {
	m := u.joined[i]
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

// accepts tells whether a socket takes what is sent to a group.
func (u *UDP) accepts(group netip.Addr, ifindex int) bool {
	return u.MulticastAll || slices.Contains(u.joined, membership{group, ifindex})
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
		if u.score(p.src, p.dst, v4) < 0 || p.cast == multicast && !u.accepts(to, p.Interface) {
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

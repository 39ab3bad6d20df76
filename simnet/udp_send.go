package simnet

import (
	"net/netip"
	"syscall"
)

// Send is sendmsg(2). A zero to means the connected peer; c may be nil. The
// payload is copied with [sched.CopyIn], so it may be the program's memory.
func (u *UDP) Send(payload []byte, to netip.AddrPort, c *Control) (int, syscall.Errno) {
	if u.dead() {
		return 0, syscall.EBADF
	}
	if u.port == 0 {
		if errno := u.autobind(); errno != 0 {
			return 0, errno
		}
	}
	if len(payload) > 0xffff {
		return 0, syscall.EMSGSIZE
	}
	n := u.s.n
	r := &u.way
	if c == nil {
		r = &u.cache[to.Addr().As16()[15]%uint8(len(u.cache))]
	}
	if c != nil || r.gen != n.gen || r.to != to {
		if errno := u.find(r, to, c); errno != 0 {
			return 0, errno
		}
	}
	if r.cast == broadcast && !u.Broadcast {
		return 0, syscall.EACCES
	}
	// The length field of UDP over IPv6 counts its own header only.
	size, limit := len(payload)+udpHeader, 0xffff
	if r.dst.Addr().Is4() {
		limit -= ipv4Header
	}
	segment := u.Segment
	if c != nil && c.SetSegment {
		segment = c.Segment
	}
	if segment >= len(payload) {
		segment = 0
	}
	if size > limit || segment == 0 && u.DontFragment && size+ipHeader(r.dst.Addr()) > u.mtu(r) {
		u.tooBig(r.dst, u.mtu(r), payload)
		return 0, syscall.EMSGSIZE
	}
	if u.err != 0 {
		return 0, u.PendingError()
	}
	if u.shutW {
		return 0, syscall.EPIPE
	}
	if segment == 0 {
		u.launch(r, payload, c, 0)
		return len(payload), 0
	}
	return u.sendSegments(r, payload, segment, c)
}

// mtu is the largest packet that may leave in one piece.
func (u *UDP) mtu(r *way) int {
	if u.Probe {
		return r.firstMTU(u.s.n)
	}
	return r.mtu(u.s.n)
}

// sendSegments sends a payload in datagrams of a size each (UDP_SEGMENT).
func (u *UDP) sendSegments(r *way, payload []byte, segment int, c *Control) (int, syscall.Errno) {
	n := u.s.n
	switch {
	case segment+udpHeader+ipHeader(r.dst.Addr()) > u.mtu(r):
		return 0, syscall.EMSGSIZE
	case len(payload) > segment*maxSegments, u.NoChecksum && r.dst.Addr().Is4():
		return 0, syscall.EINVAL
	}
	n.bursts++
	burst, way := n.bursts, *r // who receives may send, and use the cache
	for rest := payload; len(rest) > 0; {
		k := min(segment, len(rest))
		u.launch(&way, rest[:k], c, burst)
		rest = rest[k:]
	}
	return len(payload), 0
}

// maxSegments is how many datagrams one UDP_SEGMENT send may become
// (UDP_MAX_SEGMENTS).
const maxSegments = 128

// launch sends one datagram.
func (u *UDP) launch(r *way, payload []byte, c *Control, burst uint64) {
	n := u.s.n
	p := n.get(len(payload))
	p.fill(payload)
	p.proto, p.cast, p.burst = protoUDP, r.cast, burst
	p.src = netip.AddrPortFrom(r.src, u.port)
	p.dst = r.dst
	p.Interface = r.ifindex
	u.mark(p, c)
	switch {
	case r.cast != unicast:
		u.flood(p)
	case r.local:
		u.s.c.Local++
		n.note(Local, u.s, u.s, p)
		u.s.input(p)
	case r.path == nil:
		// Linux asks for the neighbour's address, gets no answer in three
		// seconds, and does not tell a socket without IP_RECVERR.
		u.s.c.NoNeighbour++
		n.note(NoNeighbour, u.s, nil, p)
		n.put(p)
	case u.DontFragment && r.path.tooBig(len(payload)+udpHeader+ipHeader(p.dst.Addr()), p.dst.Addr()):
		r.path.bounce(p)
	default:
		r.path.transmit(p)
	}
}

// find finds the way to an address.
func (u *UDP) find(w *way, to netip.AddrPort, c *Control) syscall.Errno {
	w.gen = 0
	a, port := u.raddr.Addr(), u.raddr.Port()
	if to.Addr().IsValid() {
		if to.Port() == 0 {
			return syscall.EINVAL
		}
		var errno syscall.Errno
		if a, errno = u.family(to.Addr()); errno != 0 {
			return errno
		}
		port = to.Port()
	} else if !u.raddr.IsValid() {
		return syscall.EDESTADDRREQ
	}
	var src netip.Addr
	oif := 0
	if c != nil {
		if src = plain(c.Source); src.IsUnspecified() {
			src = netip.Addr{}
		}
		oif = c.Interface
	}
	r, errno := u.resolve(a, src, oif)
	if errno != 0 {
		return errno
	}
	w.route = r
	w.dst = netip.AddrPortFrom(r.dst, port)
	w.to, w.gen = to, u.s.n.gen
	return 0
}

// mark sets the fields of the IP header.
func (u *UDP) mark(p *Datagram, c *Control) {
	ttl, tos := u.ttl, u.tos
	if !p.dst.Addr().Is4() {
		ttl, tos = u.hops, u.class
	}
	if p.cast == multicast {
		if ttl = u.mcTTL; !p.dst.Addr().Is4() {
			ttl = u.mcHops
		}
	}
	if c != nil {
		if c.TTL != 0 || c.SetTTL {
			ttl = c.TTL
		}
		if c.SetTOS {
			tos = c.TOS
		}
	}
	if ttl < 0 {
		ttl = defaultTTL
	}
	p.TTL, p.TOS = uint8(ttl), uint8(max(0, tos))
}

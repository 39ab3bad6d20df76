package simnet

import (
	"encoding/binary"
	"net/netip"
)

// udpInput finds the sockets that a datagram is for.
func (s *Stack) udpInput(p *Datagram) {
	if p.cast != unicast {
		s.deliverAll(p)
		return
	}
	if u := s.lookupUDP(p.src, p.dst, p.Interface); u != nil {
		u.enqueue(p)
		return
	}
	s.c.NoPorts++
	s.n.note(NoPort, s, s, p)
	s.refuse(p)
}

// lookupUDP finds the socket for a datagram to one host. A socket bound to the
// address comes before a wildcard, one connected to the sender before one
// that is not, an AF_INET socket before a dual-stack one, and the one bound
// last before older ones; of a SO_REUSEPORT group the addresses choose.
func (s *Stack) lookupUDP(src, dst netip.AddrPort, ifindex int) *UDP {
	first := s.udp[dst.Port()]
	if first == nil {
		return nil
	}
	var best *UDP
	score := -1
	v4 := dst.Addr().Is4()
	for u := first; u != nil; u = u.next {
		if v := u.score(src, dst, ifindex, v4); v > score {
			best, score = u, v
		}
	}
	if best != nil && best.inGroup && first.next != nil && !best.raddr.IsValid() {
		return s.choose(first, best, src, dst)
	}
	return best
}

// score tells how well a socket fits a datagram; negative if not at all.
func (u *UDP) score(src, dst netip.AddrPort, ifindex int, v4 bool) int {
	if v4 && !u.has4 || !v4 && !u.has6 {
		return -1
	}
	v := 0
	if u.device != 0 {
		if u.device != ifindex {
			return -1
		}
		v = 4
	}
	if u.laddr.IsValid() {
		if u.laddr != dst.Addr() {
			return -1
		}
		v += 16
	}
	if u.raddr.IsValid() {
		if u.raddr != src {
			return -1
		}
		v += 8
	}
	if v4 && !u.v6 {
		v++
	}
	return v
}

// choose picks one of the SO_REUSEPORT group that best belongs to, by a hash
// of the addresses: the same flow always meets the same socket.
func (s *Stack) choose(first, best *UDP, src, dst netip.AddrPort) *UDP {
	same := func(u *UDP) bool {
		return u.inGroup && !u.raddr.IsValid() && u.v6 == best.v6 && u.v6only == best.v6only &&
			u.laddr == best.laddr && u.device == best.device && u.has4 == best.has4 && u.has6 == best.has6
	}
	count := uint64(0)
	for u := first; u != nil; u = u.next {
		if same(u) {
			count++
		}
	}
	h := s.n.flow(src, dst)
	for u, k := first, h%count; ; u = u.next {
		if same(u) {
			if k == 0 {
				return u
			}
			k--
		}
	}
}

// flow is a hash of two addresses.
func (n *Network) flow(src, dst netip.AddrPort) uint64 {
	h := n.w.Seed() ^ uint64(src.Port())<<16 ^ uint64(dst.Port())
	for _, a := range [...]netip.Addr{src.Addr(), dst.Addr()} {
		b := a.As16()
		h = scramble(h ^ binary.BigEndian.Uint64(b[:8]))
		h = scramble(h ^ binary.BigEndian.Uint64(b[8:]))
	}
	return h
}

// scramble is the finalizer of splitmix64: each bit of x moves all others.
func scramble(x uint64) uint64 {
	x ^= x >> 30
	x *= 0xbf58476d1ce4e5b9
	x ^= x >> 27
	x *= 0x94d049bb133111eb
	return x ^ x>>31
}

// enqueue puts a datagram into the receive buffer, or drops it.
func (u *UDP) enqueue(p *Datagram) {
	p.truesize = truesize(len(p.Payload))
	p.Arrived = u.s.now()
	if u.GRO && p.burst != 0 && u.join(p) {
		return
	}
	if u.rmem > 0 && u.rmem+p.truesize > u.rcvbuf {
		u.drops++
		u.s.c.RcvbufErrors++
		u.s.n.note(BufferFull, u.s, u.s, p)
		u.s.n.put(p)
		return
	}
	u.rmem += p.truesize
	p.Drops = uint32(u.drops)
	u.s.c.InDatagrams++
	p.From, p.To = p.src, p.dst
	if u.v6 {
		p.From, p.To = u.form(p.src), u.form(p.dst)
	}
	if u.last == nil {
		u.first = p
	} else {
		u.last.next = p
	}
	u.last = p
	u.notify()
}

// join adds a datagram of a UDP_SEGMENT send to the one before it, if that
// came at the same moment, as UDP_GRO does: all have the same size but the
// last.
func (u *UDP) join(p *Datagram) bool {
	l := u.last
	if l == nil || l.burst != p.burst || l.Arrived != p.Arrived || l.src != p.src || l.dst != p.dst ||
		l.TOS != p.TOS || l.TTL != p.TTL || u.rmem+len(p.Payload) > u.rcvbuf {
		return false
	}
	size := l.Segment
	if size == 0 {
		size = len(l.Payload)
	}
	if len(l.Payload)%size != 0 || len(p.Payload) > size || len(l.Payload)+len(p.Payload) > 0xffff-udpHeader-ipv4Header {
		return false
	}
	l.Segment = size
	l.Payload = append(l.Payload, p.Payload...)
	l.buf = l.Payload
	before := l.truesize
	l.truesize = truesize(len(l.Payload))
	u.rmem += l.truesize - before
	u.s.n.put(p)
	return true
}

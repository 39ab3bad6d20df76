package simnet

import (
	"net/netip"
	"time"
)

// This file finds out what a path takes (RFC 1191, RFC 8201): a packet that
// must not be fragmented and is too large for the link is dropped there, and an
// ICMP packet comes back that says what would fit. That packet may be lost like
// any other; TCP then tries in vain until it gives up, as on Linux, where
// net.ipv4.tcp_mtu_probing is 0.

// A narrow is the MTU of a path that takes less than its interface.
type narrow struct {
	path  *path
	mtu   int
	until int64
}

const (
	pmtuTime = 10 * time.Minute // net.ipv4.route.mtu_expires
	minPMTU  = 552              // net.ipv4.route.min_pmtu: what takes less gets fragments
	minPMTU6 = 1280
)

// leastPMTU is what a path is never thought to take less than.
func leastPMTU(to netip.Addr) int {
	if to.Is4() {
		return minPMTU
	}
	return minPMTU6
}

// tooBig tells whether a packet that must not be fragmented is too large for
// the path. One that the path's faults swallow gets no answer.
func (p *path) tooBig(size int, to netip.Addr) bool {
	return p.clear && size > p.link.mtu() && size > leastPMTU(to)
}

// bounce drops a packet that is too large for the path, and sends back what
// says so.
func (p *path) bounce(d *Datagram) {
	q := p.n.unreachable(d, tooLarge)
	q.quote.mtu = p.link.mtu()
	p.n.note(Unreachable, p.from, p.to, d)
	p.n.put(d)
	p.n.path(p.to, p.from).transmit(q)
}

// learn notes what an ICMP packet says of the path to where the packet went
// that it answers.
func (s *Stack) learn(p *Datagram) {
	to := s.n.neighbour(s, p.dst.Addr())
	if to == nil {
		return
	}
	path, mtu := s.n.path(s, to), max(p.quote.mtu, leastPMTU(p.dst.Addr()))
	until := s.now() + int64(pmtuTime)
	for i := range s.narrow {
		if e := &s.narrow[i]; e.path == path {
			e.mtu, e.until = mtu, until
			return
		}
	}
	s.narrow = append(s.narrow, narrow{path, mtu, until})
}

// pathMTU is what is known of a path.
func (s *Stack) pathMTU(p *path) int {
	for _, e := range s.narrow {
		if e.path == p && s.now() < e.until {
			return e.mtu
		}
	}
	return 1 << 16
}

// PathMTU is IP_MTU: the largest packet that the way to an address takes whole,
// as far as the host knows; 0 if there is no way.
func (s *Stack) PathMTU(to netip.Addr) int {
	r, errno := s.route(plain(to), netip.Addr{}, 0)
	if errno != 0 {
		return 0
	}
	return r.mtu(s.n)
}

// narrowed is the news that segments in flight were too large: they are sent
// again, in smaller ones. The congestion window stays (RFC 1191, 6.5).
func (t *TCP) narrowed() {
	switch t.state {
	case established, closeWait, finWait1, closing, lastAck:
	default:
		return
	}
	t.s.n.tcpEnter()
	t.recovering, t.dupacks = false, 0
	t.recover = t.max
	t.nxt = t.una
	t.push()
	t.s.n.tcpLeave()
}

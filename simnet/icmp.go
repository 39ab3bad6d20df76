package simnet

import (
	"net/netip"
	"syscall"
)

// An icmpQuote is what an ICMP error says of the packet that it answers.
type icmpQuote struct {
	proto proto
	why   unreachable
	size  int // its payload, of which the error has the beginning
}

// unreachable is why a packet did not reach its destination.
type unreachable uint8

const (
	portUnreachable unreachable = iota
	hostUnreachable
	prohibited // by a filter: "communication administratively prohibited"
)

// errno is what Linux makes of it (icmp_err_convert).
func (u unreachable) errno() syscall.Errno {
	if u == portUnreachable {
		return syscall.ECONNREFUSED
	}
	return syscall.EHOSTUNREACH
}

// code is the code of ICMP's type 3 (RFC 792, RFC 1812) or ICMPv6's type 1 (RFC
// 4443).
func (u unreachable) code(v4 bool) byte {
	if v4 {
		return [...]byte{3, 1, 13}[u]
	}
	return [...]byte{4, 3, 1}[u]
}

// unreachable makes the ICMP error that answers a packet.
func (n *Network) unreachable(p *Datagram, why unreachable) *Datagram {
	const most = 520 // bytes of the payload
	q := n.get(min(len(p.Payload), most))
	copy(q.Payload, p.Payload)
	q.proto, q.cast = protoICMP, unicast
	q.quote = icmpQuote{p.proto, why, len(p.Payload)}
	q.src, q.dst, q.seg = p.src, p.dst, p.seg
	q.Interface, q.TTL, q.TOS = eth0, defaultTTL, 0
	return q
}

// refuse answers a datagram that no socket wants with ICMP port unreachable,
// which travels like any packet, and gives it back. Linux answers each host
// only so often; this does not count.
func (s *Stack) refuse(p *Datagram) {
	s.c.OutICMP++
	q := s.n.unreachable(p, portUnreachable)
	s.n.put(p)
	if s.isLocal(q.src.Addr()) {
		s.icmpInput(q)
	} else if to := s.n.neighbour(s, q.src.Addr()); to != nil {
		s.n.path(s, to).transmit(q)
	} else {
		s.c.NoNeighbour++
		s.n.note(NoNeighbour, s, nil, q)
		s.n.put(q)
	}
}

// icmpInput takes an ICMP error.
func (s *Stack) icmpInput(p *Datagram) {
	switch p.quote.proto {
	case protoTCP:
		s.n.tcpArrive(s, p)
		return
	case protoUDP:
		// Without IP_RECVERR an unreachable host is none of a socket's business:
		// it may pass.
		if p.quote.why != hostUnreachable {
			s.udpUnreachable(p.src, p.dst, p.quote.why.errno())
		}
	}
	s.n.put(p)
}

// udpUnreachable tells the socket that sent a datagram from src that dst cannot
// be reached, if it is connected to it: others cannot know whom an error is
// about.
func (s *Stack) udpUnreachable(src, dst netip.AddrPort, errno syscall.Errno) {
	if u := s.lookupUDP(dst, src); u != nil && u.raddr == dst {
		u.err = errno
		u.notify()
	}
}

// tcpUnreachable tells the socket whose segment did not reach its destination.
// It ends an attempt to connect; a connection goes on, and says so if it fails
// (RFC 1122, 4.2.3.9).
func (s *Stack) tcpUnreachable(p *Datagram) {
	errno := p.quote.why.errno()
	if t := s.conns[connection{p.src, p.dst}]; t != nil && p.seg.seq >= t.una && p.seg.seq <= t.max {
		if t.state == synSent || t.state == synRcvd && t.parent == nil {
			t.done(errno)
		} else if t.connected() {
			t.soft = errno
		}
	}
	s.n.put(p)
}

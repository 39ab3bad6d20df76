package simnet

import (
	"syscall"
)

// An icmpQuote is what an ICMP error says of the packet that it answers.
type icmpQuote struct {
	proto proto
	why   unreachable
	size  int // its payload, of which the error has the beginning
	mtu   int // with tooLarge: what would have fit
}

// unreachable is why a packet did not reach its destination.
type unreachable uint8

const (
	portUnreachable unreachable = iota
	hostUnreachable
	prohibited // by a filter: "communication administratively prohibited"
	tooLarge   // fragmentation needed, packet too big
)

// errno is what Linux makes of it (icmp_err_convert).
func (u unreachable) errno() syscall.Errno {
	switch u {
	case portUnreachable:
		return syscall.ECONNREFUSED
	case tooLarge:
		return syscall.EMSGSIZE
	}
	return syscall.EHOSTUNREACH
}

// code is the type and code of ICMP (RFC 792, RFC 1812) or ICMPv6 (RFC 4443).
func (u unreachable) code(v4 bool) (typ, code byte) {
	switch {
	case v4:
		return 3, [...]byte{3, 1, 13, 4}[u]
	case u == tooLarge:
		return 2, 0
	}
	return 1, [...]byte{4, 3, 1}[u]
}

// unreachable makes the ICMP error that answers a packet.
func (n *Network) unreachable(p *Datagram, why unreachable) *Datagram {
	most := 520 // bytes of the payload: 576 less the headers of IP, ICMP, IP and UDP
	if !p.dst.Addr().Is4() {
		most = 1184 // 1280 less those
	}
	q := n.get(min(len(p.Payload), most))
	copy(q.Payload, p.Payload)
	q.proto, q.cast = protoICMP, unicast
	q.quote = icmpQuote{p.proto, why, len(p.Payload), 0}
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
	if p.quote.why == tooLarge {
		s.learn(p)
	}
	switch p.quote.proto {
	case protoTCP:
		s.n.tcpArrive(s, p)
		return
	case protoUDP:
		s.udpUnreachable(p)
		return
	}
	s.n.put(p)
}

// udpUnreachable tells the socket that sent a datagram of what became of it: if
// it asked for a queue of errors, or is connected, since others cannot know whom
// an error is about. That a host is out of reach may pass, and is for the queue
// alone.
func (s *Stack) udpUnreachable(p *Datagram) {
	why, v4 := p.quote.why, p.dst.Addr().Is4()
	u := s.lookupUDP(p.dst, p.src, p.Interface)
	if u == nil {
		s.n.put(p)
		return
	}
	queues := u.queues(p.dst.Addr())
	if !queues && (u.raddr != p.dst || why == hostUnreachable) {
		s.n.put(p)
		return
	}
	f := Failure{Errno: why.errno(), Origin: originICMP, Offender: p.dst.Addr(), Info: uint32(p.quote.mtu)}
	if f.Type, f.Code = why.code(v4); !v4 {
		f.Origin = originICMP6
	}
	u.err = f.Errno
	if queues {
		u.fail(p, f)
	} else {
		s.n.put(p)
	}
	u.notify()
}

// tcpUnreachable tells the socket whose segment did not reach its destination.
// It ends an attempt to connect; a connection goes on, and says so if it fails
// (RFC 1122, 4.2.3.9).
func (s *Stack) tcpUnreachable(p *Datagram) {
	errno := p.quote.why.errno()
	if t := s.conns[connection{p.src, p.dst}]; t != nil && p.seg.seq >= t.una && p.seg.seq <= t.max {
		if p.quote.why == tooLarge {
			t.narrowed()
		} else if t.state == synSent || t.state == synRcvd && t.parent == nil {
			t.done(errno)
		} else if t.connected() {
			t.soft = errno
		}
	}
	s.n.put(p)
}

package simnet

import "net/netip"

// A segment is the TCP header of a packet. Sequence numbers have 64 bits, so
// that they do not wrap, and windows need no scaling.
type segment struct {
	flags    flags
	sacks    uint8           // how many of sack there are
	seq, ack int64           // of the first byte; next byte expected
	wnd      int             // bytes from ack that the sender of this takes
	mss      int             // in a SYN: the largest segment that its sender takes
	urg      int64           // what follows the urgent byte; 0: none
	ts, echo int64           // timestamps: when it was sent, and that of what it answers (0: of nothing)
	sack     [maxSacks]block // what the sender of this keeps beyond ack, the latest first (RFC 2018)
	from, to *TCP            // the socket that sent it, and the one that it guesses will receive it
}

// A block is a range of sequence numbers, from the first to what follows the
// last.
type block struct{ from, to int64 }

// maxSacks is how many blocks an ACK has room for beside timestamps.
const maxSacks = 3

type flags uint8

const (
	flagFIN flags = 1 << iota
	flagSYN
	flagRST
	flagACK
)

func (f flags) String() string {
	s := ""
	for i, name := range [...]string{"FIN", "SYN", "RST", "ACK"} {
		if f&(1<<i) != 0 {
			if s != "" {
				s += " "
			}
			s += name
		}
	}
	return s
}

// span is how many sequence numbers a segment takes.
func (g *segment) span(payload int) int64 {
	n := int64(payload)
	if g.flags&flagSYN != 0 {
		n++
	}
	if g.flags&flagFIN != 0 {
		n++
	}
	return n
}

const (
	tcpHeader  = 20
	minMSS     = 88    // the least that TCP_MAXSEG takes
	defaultMSS = 536   // before there is a connection
	leastMSS   = 48    // that a path's MTU can cause
	offload    = 64240 // 44 full segments: the most that travels as one over a perfect link
)

// connection is the key of a connection in a stack's table.
type connection struct{ local, remote netip.AddrPort }

// tcpEnter and tcpLeave enclose whatever may send a segment. What arrives
// meanwhile waits in the inbox until the outermost tcpLeave, so that no
// socket is entered while it is at work.
func (n *Network) tcpEnter() { n.depth++ }

func (n *Network) tcpLeave() {
	if n.depth == 1 {
		for p := n.inbox; p != nil; p = n.inbox {
			n.inbox = p.next
			p.next = nil
			if p.proto == protoICMP {
				p.at.tcpUnreachable(p)
			} else {
				p.at.tcpInput(p)
			}
		}
	}
	n.depth--
}

// tcpArrive puts a segment into the inbox.
func (n *Network) tcpArrive(s *Stack, p *Datagram) {
	p.at = s
	p.Arrived = s.now()
	if n.inbox == nil {
		n.inbox = p
	} else {
		n.inboxLast.next = p
	}
	n.inboxLast = p
	if n.depth == 0 {
		n.tcpEnter()
		n.tcpLeave()
	}
}

// tcpInput finds the socket that a segment is for.
func (s *Stack) tcpInput(p *Datagram) {
	g := &p.seg
	t := g.to
	if t == nil || !t.hashed || t.s != s || t.local != p.dst || t.remote != p.src {
		t = s.conns[connection{p.dst, p.src}]
	}
	if t != nil && t.until != 0 && t.until <= s.now() {
		t.destroy()
		t = nil
	}
	if t != nil && t.state == timeWait && g.flags&(flagSYN|flagRST|flagACK) == flagSYN && g.ts > t.tsRecent {
		t.destroy() // a new connection may follow the old one at once
		t = nil
	}
	if t != nil {
		t.input(p)
		return
	}
	if g.flags&(flagSYN|flagRST|flagACK) == flagSYN {
		if l := s.lookupListener(p.src, p.dst, p.Interface); l != nil {
			l.incoming(p)
			return
		}
	}
	s.c.NoPorts++
	s.n.note(NoPort, s, s, p)
	s.reset(p)
	s.n.put(p)
}

// reset answers a segment that belongs to no connection.
func (s *Stack) reset(p *Datagram) {
	g := &p.seg
	if g.flags&flagRST != 0 {
		return
	}
	r, errno := s.route(p.src.Addr(), p.dst.Addr(), 0)
	if errno != 0 {
		return
	}
	s.c.OutRsts++
	s.emit(s.n.rst(p), &r)
}

// rst makes the RST that answers a segment.
func (n *Network) rst(p *Datagram) *Datagram {
	g, q := &p.seg, n.get(0)
	q.seg = segment{flags: flagRST, seq: g.ack, to: g.from}
	if g.flags&flagACK == 0 {
		q.seg.flags, q.seg.seq, q.seg.ack = flagRST|flagACK, 0, g.seq+g.span(len(p.Payload))
	}
	q.proto, q.cast = protoTCP, unicast
	q.src, q.dst = p.dst, p.src
	q.Interface, q.TTL, q.TOS = eth0, defaultTTL, 0
	return q
}

// emit sends a segment on its way.
func (s *Stack) emit(p *Datagram, r *route) {
	p.proto, p.cast, p.Interface = protoTCP, unicast, r.ifindex
	switch {
	case r.local:
		s.c.Local++
		s.n.note(Local, s, s, p)
		s.n.tcpArrive(s, p)
	case r.path == nil:
		s.c.NoNeighbour++
		s.n.note(NoNeighbour, s, nil, p)
		s.n.put(p)
	default:
		r.path.transmit(p)
	}
}

package simnet

import (
	"net/netip"
	"unsafe"

	"github.com/dstkit/dst/sched"
)

// A Datagram is what a socket received. It comes from a pool: call Release
// when it was read, and keep nothing of it.
type Datagram struct {
	Payload   []byte         // kernel memory, valid until Release
	From      netip.AddrPort // in the form of the socket's family: a dual-stack socket sees ::ffff:10.0.0.2
	To        netip.AddrPort // where it was sent to: tells a broadcast or a group from the host's address (IP_PKTINFO's ipi_addr)
	Interface int            // the interface that the address belongs to (ipi_ifindex): 1 lo, 2 eth0
	TTL       uint8          // hops left (IP_RECVTTL, IPV6_RECVHOPLIMIT)
	TOS       uint8          // type of service, traffic class (IP_RECVTOS, IPV6_RECVTCLASS)
	Segment   int            // of several datagrams that UDP_GRO joined: the size of each but the last; else 0
	Arrived   int64          // virtual time (SO_TIMESTAMP)
	Drops     uint32         // how many the socket had dropped by then (SO_RXQ_OVFL)

	// What follows is the packet's life before it reaches the socket.

	proto    proto
	cast     cast           // to one host, to a group, to all
	src, dst netip.AddrPort // on the wire: never v4 mapped into v6
	n        *Network
	path     *path     // the way it takes; nil within a host
	seg      segment   // of TCP
	quote    icmpQuote // of ICMP: what it answers; seg is the header of a segment that it answers
	at       *Stack    // the host that a segment arrived at
	marks
	order    uint64      // its number among those sent on the path
	burst    uint64      // which UDP_SEGMENT send it is part of; 0: none
	truesize int         // what it counts for in the receive buffer
	buf      []byte      // Payload's memory, kept in the pool
	event    sched.Event // its arrival
	next     *Datagram   // in the pool, in a receive queue, or held
	free     bool        // in the pool
	failure  *Failure    // of one in an error queue
}

// marks are what is so of few packets.
type marks struct {
	received bool // waits for, or has passed, the line of the host that it is for
	severed  bool // its hosts are cut off from each other, though its path is not
	answer   bool // made by a rule: rules do not see it
	again    bool // one more copy of a broadcast
}

// proto is what a packet carries.
type proto uint8

const (
	protoUDP  proto = iota
	protoICMP       // destination unreachable; src and dst are those of the packet it answers
	protoTCP
)

func (p proto) String() string {
	switch p {
	case protoICMP:
		return "icmp"
	case protoTCP:
		return "tcp"
	}
	return "udp"
}

// cast is how many a packet is for.
type cast uint8

const (
	unicast cast = iota
	multicast
	broadcast
)

const (
	smallBuffer = 2048     // buffers up to this size are pooled without a limit
	maxBig      = 16 << 20 // larger ones, so many bytes
)

// get takes a packet with room for size bytes from the pool.
func (n *Network) get(size int) *Datagram {
	p := n.pool
	if size > smallBuffer && n.big != nil {
		p = n.big
		n.big = p.next
		n.bigBytes -= cap(p.buf)
	} else if p != nil {
		n.pool = p.next
	} else {
		p = &Datagram{n: n}
	}
	p.next = nil
	p.free = false
	p.burst, p.Segment = 0, 0
	p.marks = marks{}
	if cap(p.buf) < size {
		p.grow(size)
	}
	p.Payload = p.buf[:size]
	return p
}

func (p *Datagram) grow(size int) {
	c := 128
	for c < size {
		c *= 2
	}
	p.buf = make([]byte, c)
}

// put gives a packet back.
func (n *Network) put(p *Datagram) {
	if p.free {
		panic("simnet: datagram released twice")
	}
	p.free = true
	p.path = nil
	p.Payload = nil
	p.failure = nil
	if p.proto != protoUDP {
		p.seg.from, p.seg.to = nil, nil
	}
	if cap(p.buf) > smallBuffer {
		if n.bigBytes < maxBig {
			n.bigBytes += cap(p.buf)
			p.next, n.big = n.big, p
		}
		return // beyond that the garbage collector takes it
	}
	p.next, n.pool = n.pool, p
}

// Release gives the datagram back to the pool.
func (d *Datagram) Release() { d.n.put(d) }

// clone copies a packet that goes more than one way.
func (n *Network) clone(p *Datagram) *Datagram {
	q := n.get(len(p.Payload))
	copy(q.Payload, p.Payload)
	q.src, q.dst = p.src, p.dst
	q.proto, q.cast = p.proto, p.cast
	q.seg, q.quote, q.answer, q.burst = p.seg, p.quote, p.answer, p.burst
	q.Interface, q.TTL, q.TOS = p.Interface, p.TTL, p.TOS
	return q
}

// fill copies memory of the program into the packet.
func (p *Datagram) fill(payload []byte) {
	if len(payload) > 0 {
		sched.CopyIn(p.Payload, unsafe.Pointer(unsafe.SliceData(payload)))
	}
}

const (
	udpHeader  = 8
	ipv4Header = 20
	ipv6Header = 40
	fragHeader = 8 // IPv6's fragment extension
)

// ipHeader returns the size of the IP header that a packet to a needs.
func ipHeader(a netip.Addr) int {
	if a.Is4() {
		return ipv4Header
	}
	return ipv6Header
}

// fragments tells how many IP packets a datagram makes on a link, and their
// bytes in all.
func (p *Datagram) fragments(mtu int) (count, bytes int) {
	header := ipHeader(p.dst.Addr())
	if p.proto == protoTCP {
		header += tcpHeader // segments, each with a header
		each := max(mtu-header, 1)
		count = max(1, (len(p.Payload)+each-1)/each)
		return count, len(p.Payload) + count*header
	}
	data := len(p.Payload) + udpHeader
	if p.proto == protoICMP {
		data += header // quotes the header of what it answers
	}
	if header+data <= mtu {
		return 1, header + data
	}
	if header == ipv6Header {
		header += fragHeader
	}
	each := (mtu - header) &^ 7 // fragments begin at multiples of 8 bytes
	count = (data + each - 1) / each
	return count, data + count*header
}

// truesize is what Linux charges a receive buffer for a datagram: the memory
// of its buffer and bookkeeping, not its bytes. Found by measuring.
func truesize(payload int) int {
	const (
		skb      = 256 // struct sk_buff
		overhead = 384 // headers, alignment, struct skb_shared_info
		small    = 576 // the allocator's bucket for small packets
		maxAlloc = 32768
		page     = 4096
	)
	size := payload + overhead
	if size <= small {
		return skb + small
	}
	if size > maxAlloc {
		return skb + small + (payload+page-1)&^(page-1) // whole pages beside the headers
	}
	c := 1024
	for c < size {
		c *= 2
	}
	return skb + c
}

// arrival is a packet as an event: it is due at the end of its path.
type arrival Datagram

func (a *arrival) Fire() {
	p := (*Datagram)(a)
	p.path.inflight--
	p.path.arrive(p)
}

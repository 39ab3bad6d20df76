package simnet

import (
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/dstkit/dst/sched"
)

// A NAT says how a network address translator behaves, in the terms of RFC 4787
// (UDP) and RFC 5382 (TCP). The zero NAT is what most homes have: one mapping for
// each socket inside, whomever it sends to, which takes answers only from whom it
// has sent to.
type NAT struct {
	// Mapping says whether a socket keeps its public port when it sends to
	// another address, or another port. The default is EndpointIndependent;
	// AddressPortDependent is a "symmetric" NAT.
	Mapping Dependence

	// Filter says what a mapping takes: from anyone, or from whom the socket has
	// sent to. The default is AddressPortDependent.
	Filter Dependence

	// How long a mapping lives without a packet in either direction. Zero is
	// Linux's value, and for TCP the RFC's least.
	UDPTimeout    time.Duration // before there was an answer; 30 s
	UDPStream     time.Duration // since; 2 min
	TCPTimeout    time.Duration // of a connection; 2 h 4 min
	TCPTransitory time.Duration // of one that opens or has closed; 4 min

	// Reject answers what comes from outside and has no mapping: with RST, or ICMP
	// port unreachable. Otherwise it vanishes.
	Reject bool

	// NoHairpin drops what one host inside sends to the public address of another.
	NoHairpin bool
}

// Dependence is on how much of the other end's address something depends.
type Dependence uint8

const (
	DefaultDependence    Dependence = iota
	EndpointIndependent             // on nothing
	AddressDependent                // on its IP address
	AddressPortDependent            // on its IP address and port
)

func (d Dependence) String() string {
	if int(d) < len(dependenceNames) {
		return dependenceNames[d]
	}
	return fmt.Sprintf("Dependence(%d)", uint8(d))
}

var dependenceNames = [...]string{"default", "endpoint-independent", "address-dependent", "address- and port-dependent"}

// A Gateway is a NAT of a network.
type Gateway struct {
	n       *Network
	s       *Stack
	c       NAT
	inside  map[insideKey]*mapping // those that packets from inside find
	public  map[publicKey]*mapping // and those from outside; those that Rebind took from inside still hold their port
	list    []*mapping             // of public, in order of creation
	sweepAt int                    // when to look for expired ones
	ports   int                    // how many there are
	counter NATCounters
}

type insideKey struct {
	proto  proto
	inside netip.AddrPort
	remote netip.AddrPort // as far as Mapping depends on it
}

type publicKey struct {
	proto  proto
	public netip.AddrPort
}

// mapping is a public port.
type mapping struct {
	key     insideKey
	public  netip.AddrPort
	peers   map[netip.AddrPort]*peer // by the other end
	expires int64                    // when the last of them does
	static  bool                     // by Forward
	old     bool                     // Rebind took it away
}

// peer is what a mapping knows of one other end.
type peer struct {
	expires       int64
	answered      bool // packets went both ways
	finIn, finOut bool
	reset         bool
}

// NATCounters tell what became of the packets that reached a NAT: each is counted
// once, but for Mapped.
type NATCounters struct {
	Out        uint64 // from inside, and sent on
	In         uint64 // from outside, and sent on
	Hairpinned uint64 // from inside to the inside, by a public address
	Filtered   uint64 // from outside or hairpinned, without a mapping that takes them
	NoRoute    uint64 // from inside, to an address that cannot be reached from outside
	NoPorts    uint64 // from inside, and all ports are in use
	Expired    uint64 // had no hop left
	Mapped     uint64 // mappings made
}

// A Mapping is one that is alive.
type Mapping struct {
	Proto  string         // "udp" or "tcp"
	Inside netip.AddrPort // the socket
	Public netip.AddrPort // what the outside sees
}

// NAT declares a NAT and puts hosts behind it; other NATs can stand behind it as
// well. It is a node of the network with a name and addresses of its own, public
// ones of the segment that it is on. Hosts behind it keep theirs, which are
// private from now on: nothing reaches them from outside, unless by a mapping or
// [Gateway.Forward]. Its name is in /etc/hosts, as theirs are.
//
// Packets to the outside take two links: from the host to the NAT, and from the NAT
// on. Links, uplinks and all faults are asked for by the NAT's name: its uplink is
// that of all hosts behind it. Cut and Partition may name hosts on both sides of it, too.
// Hosts behind one NAT reach each other directly. Broadcasts and groups do not cross
// it. IPv6 is translated like IPv4. The public port is drawn from the stream "net".
func (n *Network) NAT(name string, c NAT, hosts ...string) *Gateway {
	sched.Enter()
	defer sched.Leave()
	c.fill()
	if len(hosts) == 0 {
		panic(fmt.Sprintf("simnet: NAT %q: needs a host behind it", name))
	}
	var inside []*Stack
	for _, host := range hosts {
		h := n.host("NAT", host)
		if h.behind != nil {
			panic(fmt.Sprintf("simnet: NAT %q: %q is behind the NAT %q already", name, host, h.behind.name))
		}
		inside = append(inside, h)
	}
	s := n.add("NAT", name)
	n.natCount++
	s.id = firstNAT + uint32(n.natCount)
	n.w.Name(s.id, name)
	g := &Gateway{n: n, s: s, c: c, inside: map[insideKey]*mapping{}, public: map[publicKey]*mapping{}, sweepAt: 64, ports: 65536 - firstPublic}
	s.gateway = g
	for _, h := range inside {
		h.behind = s
		n.fault(faultNAT, h, s)
	}
	n.refresh()
	n.tell("NAT %s (%v) for %s", name, s.addr, strings.Join(hosts, ", "))
	return g
}

const (
	firstNAT    = 1 << 20 // their numbers are no hosts'
	firstPublic = 1024    // the lowest port of a mapping that is not by Forward
)

func (c *NAT) fill() {
	if c.Mapping > AddressPortDependent || c.Filter > AddressPortDependent {
		panic(fmt.Sprintf("simnet: NAT: Mapping is %v and Filter %v, must be one of the constants", c.Mapping, c.Filter))
	}
	if c.Mapping == DefaultDependence {
		c.Mapping = EndpointIndependent
	}
	if c.Filter == DefaultDependence {
		c.Filter = AddressPortDependent
	}
	for _, t := range [...]struct {
		d   *time.Duration
		def time.Duration
	}{
		{&c.UDPTimeout, 30 * time.Second}, {&c.UDPStream, 2 * time.Minute},
		{&c.TCPTimeout, 2*time.Hour + 4*time.Minute}, {&c.TCPTransitory, 4 * time.Minute},
	} {
		switch {
		case *t.d < 0:
			panic(fmt.Sprintf("simnet: NAT: a timeout is %v, must not be negative", *t.d))
		case *t.d == 0:
			*t.d = t.def
		}
	}
}

// Name returns the NAT's name.
func (g *Gateway) Name() string { return g.s.name }

// Addr returns the NAT's public IPv4 address.
func (g *Gateway) Addr() netip.Addr { return g.s.addr }

// Addr6 returns the NAT's public IPv6 address.
func (g *Gateway) Addr6() netip.Addr { return g.s.addr6 }

// Rebind takes all mappings away, as a restart of the NAT or a new lease does. The
// next packet from inside gets another public port: a datagram arrives from an
// address that the other end has not seen; a TCP segment too, and is answered with
// RST, which ends the connection inside. What comes for an old port has no mapping.
// Ports that Forward opened stay.
func (g *Gateway) Rebind() {
	sched.Enter()
	defer sched.Leave()
	for _, m := range g.list {
		if !m.static && !m.old {
			m.old = true
			delete(g.inside, m.key)
		}
	}
	g.n.fault(faultRebind, g.s, nil)
	g.n.tell("NAT %s rebinds", g.s.name)
}

// Forward opens a public port, of "tcp" or "udp", for all: what comes for it goes to
// a port of a host inside.
func (g *Gateway) Forward(proto string, public uint16, host string, port uint16) {
	sched.Enter()
	defer sched.Leave()
	h := g.n.host("Forward", host)
	switch {
	case h.behind != g.s:
		panic(fmt.Sprintf("simnet: Forward: %q is not behind the NAT %q", host, g.s.name))
	case proto != "tcp" && proto != "udp":
		panic(fmt.Sprintf("simnet: Forward: protocol is %q, must be tcp or udp", proto))
	case public == 0 || port == 0:
		panic("simnet: Forward: port 0")
	}
	k := protoUDP
	if proto == "tcp" {
		k = protoTCP
	}
	for _, a := range [...][2]netip.Addr{{g.s.addr, h.addr}, {g.s.addr6, h.addr6}} {
		m := &mapping{
			key:    insideKey{proto: k, inside: netip.AddrPortFrom(a[1], port)},
			public: netip.AddrPortFrom(a[0], public), peers: map[netip.AddrPort]*peer{}, static: true,
		}
		if old := g.public[publicKey{k, m.public}]; old != nil && old.alive(g.n.w.Now()) {
			panic(fmt.Sprintf("simnet: Forward: %s port %d of the NAT %q is taken, by %v", proto, public, g.s.name, old.key.inside))
		} else if old != nil {
			g.remove(old)
		}
		g.add(m)
	}
	g.n.fault(faultForward, g.s, h)
	g.n.tell("NAT %s forwards %s port %d to %s port %d", g.s.name, proto, public, host, port)
}

// Mappings returns the mappings that are alive, in order of their creation.
func (g *Gateway) Mappings() (all []Mapping) {
	sched.Enter()
	defer sched.Leave()
	now := g.n.w.Now()
	for _, m := range g.list {
		if !m.old && m.alive(now) {
			all = append(all, Mapping{m.key.proto.String(), m.key.inside, m.public})
		}
	}
	return all
}

// Counters returns what became of the packets that reached the NAT.
func (g *Gateway) Counters() NATCounters {
	sched.Enter()
	defer sched.Leave()
	return g.counter
}

// neighbour is the node that a packet from s to a goes to next, or nil if nobody
// has that address.
func (n *Network) neighbour(s *Stack, a netip.Addr) *Stack {
	to := n.byAddr(a)
	switch {
	case to == nil || n.direct(s, to):
		return to
	case s.behind != nil:
		return s.behind
	}
	return nil // a private address, seen from outside
}

// direct tells whether a link leads from one node to another.
func (n *Network) direct(s, to *Stack) bool {
	return to.behind == s.behind || to == s.behind || to.behind == s
}

// forward takes a packet that has reached the NAT, and sends it on.
func (g *Gateway) forward(p *Datagram, from *Stack) {
	if p.TTL <= 1 {
		g.counter.Expired++
		g.drop(p)
		return
	}
	p.TTL--
	p.received = false
	if from.behind == g.s {
		g.out(p, from)
	} else {
		g.in(p, from)
	}
}

// own tells whether an address is one of the NAT's.
func (g *Gateway) own(a netip.Addr) bool { return a == g.s.addr || a == g.s.addr6 }

// out takes a packet from inside.
func (g *Gateway) out(p *Datagram, from *Stack) {
	now := g.n.w.Now()
	if p.proto == protoICMP { // answers a packet from p.src, which came in by a mapping
		m := g.find(insideKey{p.quote.proto, p.dst, p.src})
		next := g.n.neighbour(g.s, p.src.Addr())
		if m == nil || !m.alive(now) || next == nil || next.behind == g.s || g.own(p.src.Addr()) {
			g.counter.NoRoute++
			g.drop(p)
			return
		}
		p.dst = m.public
		g.counter.Out++
		g.send(p, from, next, p.src.Addr())
		return
	}
	hairpin := g.own(p.dst.Addr())
	next := g.n.neighbour(g.s, p.dst.Addr())
	if hairpin && g.c.NoHairpin || !hairpin && (next == nil || next.behind == g.s) {
		g.counter.NoRoute++
		g.drop(p)
		return
	}
	m := g.find(insideKey{p.proto, p.src, p.dst})
	if m == nil || !m.alive(now) {
		if m != nil {
			g.remove(m)
		}
		if m = g.create(insideKey{p.proto, p.src, p.dst}); m == nil {
			g.counter.NoPorts++
			g.drop(p)
			return
		}
	}
	g.touch(m, p, p.dst, false)
	p.src = m.public
	if hairpin {
		g.deliver(p, from)
		return
	}
	g.counter.Out++
	g.send(p, from, next, p.dst.Addr())
}

// in takes a packet from outside.
func (g *Gateway) in(p *Datagram, from *Stack) {
	if p.proto == protoICMP { // answers a packet from p.src, which went out by a mapping
		m := g.public[publicKey{p.quote.proto, p.src}]
		if m == nil || m.old || !m.alive(g.n.w.Now()) || m.peers[p.dst] == nil {
			g.counter.Filtered++
			g.drop(p)
			return
		}
		p.src = m.key.inside
		g.counter.In++
		g.send(p, from, g.n.neighbour(g.s, p.src.Addr()), p.src.Addr())
		return
	}
	g.deliver(p, from)
}

// deliver gives a packet to the host inside whose public address it is for.
func (g *Gateway) deliver(p *Datagram, from *Stack) {
	m := g.public[publicKey{p.proto, p.dst}]
	if m == nil || m.old || !g.takes(m, p.src) {
		g.counter.Filtered++
		var answer *Datagram
		if g.c.Reject && from.behind != g.s { // what is hairpinned is not from its sender any more
			answer = g.n.rejection(p, Reject)
		}
		g.drop(p)
		if answer != nil {
			g.n.path(g.s, from).transmit(answer)
		}
		return
	}
	g.touch(m, p, p.src, true)
	p.dst = m.key.inside
	if from.behind == g.s {
		g.counter.Hairpinned++
	} else {
		g.counter.In++
	}
	g.send(p, from, g.n.neighbour(g.s, p.dst.Addr()), p.dst.Addr())
}

// send lets a packet go on to the next node, unless the hosts that it is from and
// for are cut off from each other.
func (g *Gateway) send(p *Datagram, from, next *Stack, to netip.Addr) {
	if end := g.n.byAddr(to); end != nil && end != from {
		if e := from.pathTo(end); e != nil {
			p.severed = e.severed()
		}
	}
	g.n.path(g.s, next).transmit(p)
}

func (g *Gateway) drop(p *Datagram) {
	g.n.note(NATDropped, g.s, nil, p)
	g.n.put(p)
}

// find returns the mapping of a socket inside.
func (g *Gateway) find(k insideKey) *mapping { return g.inside[g.key(k)] }

// key leaves out what Mapping does not depend on.
func (g *Gateway) key(k insideKey) insideKey {
	if m := g.inside[insideKey{proto: k.proto, inside: k.inside}]; m != nil && m.static {
		return m.key
	}
	switch g.c.Mapping {
	case EndpointIndependent:
		k.remote = netip.AddrPort{}
	case AddressDependent:
		k.remote = netip.AddrPortFrom(k.remote.Addr(), 0)
	}
	return k
}

// create makes a mapping, with a port that is drawn; nil if none is free.
func (g *Gateway) create(k insideKey) *mapping {
	if len(g.list) >= g.sweepAt {
		g.sweep()
	}
	addr, now, at := g.s.addr, g.n.w.Now(), g.n.net.N(g.ports)
	if !k.inside.Addr().Is4() {
		addr = g.s.addr6
	}
	for i := range g.ports {
		public := netip.AddrPortFrom(addr, uint16(firstPublic+(at+i)%g.ports))
		if m := g.public[publicKey{k.proto, public}]; m != nil {
			if m.alive(now) {
				continue
			}
			g.remove(m)
		}
		m := &mapping{key: g.key(k), public: public, peers: map[netip.AddrPort]*peer{}}
		g.add(m)
		g.counter.Mapped++
		return m
	}
	return nil
}

func (g *Gateway) add(m *mapping) {
	g.inside[m.key] = m
	g.public[publicKey{m.key.proto, m.public}] = m
	g.list = append(g.list, m)
}

// remove forgets a mapping. It stays in the list until the next sweep.
func (g *Gateway) remove(m *mapping) {
	if g.inside[m.key] == m {
		delete(g.inside, m.key)
	}
	if k := (publicKey{m.key.proto, m.public}); g.public[k] == m {
		delete(g.public, k)
	}
	m.old = true
	m.expires, m.static = 0, false
}

// sweep forgets the mappings that have expired.
func (g *Gateway) sweep() {
	now := g.n.w.Now()
	kept := g.list[:0]
	for _, m := range g.list {
		if m.alive(now) {
			kept = append(kept, m)
		} else {
			g.remove(m)
		}
	}
	clear(g.list[len(kept):])
	g.list = kept
	g.sweepAt = max(64, 2*len(kept))
}

// alive tells whether a mapping has not expired. One that Rebind took away holds its
// port as long.
func (m *mapping) alive(now int64) bool { return m.static || m.expires > now }

// takes tells whether a mapping takes packets from outside that come from there.
func (g *Gateway) takes(m *mapping, from netip.AddrPort) bool {
	now := g.n.w.Now()
	switch {
	case m.static:
		return true
	case !m.alive(now):
		return false
	case g.c.Filter == EndpointIndependent:
		return true
	case g.c.Filter == AddressPortDependent:
		s := m.peers[from]
		return s != nil && s.expires > now
	}
	for remote, s := range m.peers {
		if remote.Addr() == from.Addr() && s.expires > now {
			return true
		}
	}
	return false
}

// touch notes a packet to or from the other end.
func (g *Gateway) touch(m *mapping, p *Datagram, remote netip.AddrPort, in bool) {
	now := g.n.w.Now()
	s := m.peers[remote]
	if s == nil {
		if len(m.peers)%64 == 63 {
			for r, o := range m.peers {
				if o.expires <= now {
					delete(m.peers, r)
				}
			}
		}
		s = &peer{}
		m.peers[remote] = s
	}
	was := s.expires
	if was <= now {
		*s = peer{}
	}
	opened := in == m.static // by the other end
	s.answered = s.answered || !opened
	d := g.c.UDPTimeout
	if p.proto == protoTCP {
		f := p.seg.flags
		if f&(flagSYN|flagACK) == flagSYN && (s.reset || s.finIn && s.finOut) {
			*s = peer{} // the addresses are used again
		}
		s.reset = s.reset || f&flagRST != 0
		s.finIn = s.finIn || in && f&flagFIN != 0
		s.finOut = s.finOut || !in && f&flagFIN != 0
		if d = g.c.TCPTimeout; !s.answered || s.reset || s.finIn && s.finOut {
			d = g.c.TCPTransitory
		}
	} else if s.answered {
		d = g.c.UDPStream
	}
	s.expires = now + int64(d)
	if s.expires >= m.expires {
		m.expires = s.expires
		return
	}
	if was < m.expires { // another one lives longer
		return
	}
	m.expires = 0
	for _, s := range m.peers {
		m.expires = max(m.expires, s.expires)
	}
}

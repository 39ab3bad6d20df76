package simnet

import (
	"encoding/binary"
	"fmt"
	"net/netip"

	"github.com/dstkit/dst/sched"
)

// Limits that Linux keeps in /proc/sys; see [Network].
const (
	defaultRmem = 212992 // net.core.rmem_default, rmem_max
	defaultWmem = 212992 // net.core.wmem_default, wmem_max
	defaultMTU  = 1500   // of eth0
	loopbackMTU = 65536  // of lo
	defaultTTL  = 64     // net.ipv4.ip_default_ttl

	firstEphemeral = 32768 // net.ipv4.ip_local_port_range
	lastEphemeral  = 60999
)

// A Network joins the hosts of one world: one Ethernet segment, 10.0.0.0/16
// and fd00::/64, without a router to anywhere else.
//
// Its methods that change or read what a test is interested in (links, faults,
// counters, names of hosts) may be called from any goroutine. The others
// ([New], AddHost, Lookup and all methods of [Stack], [UDP] and [TCP]) are for the
// simulated kernel and are called in kernel context.
type Network struct {
	// Trace, if set, is called for everything that happens to a packet. It runs
	// in kernel context and must not call the network. It changes nothing.
	Trace func(PacketEvent)

	// Told, if set, is told of each link and fault that the test asks for, as a
	// line such as "cut a > b", to be formatted when it is needed: the arguments
	// do not change. It runs in kernel context and changes nothing.
	Told func(format string, args ...any)

	RmemMax int // net.core.rmem_max: the cap on SO_RCVBUF
	WmemMax int // net.core.wmem_max: the cap on SO_SNDBUF

	w                *sched.World
	net              *sched.Stream // latency, loss and so on; ephemeral ports
	stacks           []*Stack      // hosts and NATs, in order of declaration
	hostCount        int           // hosts among them
	natCount         int           // NATs among them
	byName           map[string]*Stack
	def              Link          // of paths that have none of their own
	paths            []*path       // those that were used or named, in that order
	pool             *Datagram     // free packets
	big              *Datagram     // free packets with a buffer above smallBuffer
	bigBytes         int           // of these
	depth            int           // of tcpEnter
	inbox, inboxLast *Datagram     // segments that arrived meanwhile
	flows            uint64        // TCP connections begun
	bursts           uint64        // UDP_SEGMENT sends
	rules            []*activeRule // in the order in which they are asked
	ruling           string        // the rule that a packet's event is due to
	flaps            []*Flapping   // in order of beginning
	captures         []*Capture
	gen              uint64 // changes when a route that a socket remembers may be wrong

	dns *DNS // nil before it is first needed

	etcHosts   []byte // what EtcHosts returns …
	etcHostsOf int    // … for so many hosts
}

// New returns a network without hosts, whose links are perfect.
func New(w *sched.World) *Network {
	return &Network{
		w:       w,
		net:     w.Stream("net"),
		byName:  map[string]*Stack{},
		RmemMax: defaultRmem,
		WmemMax: defaultWmem,
		gen:     1,
	}
}

const (
	hostsPerOctet = 253 // .1 to .253 of each 10.0.x
	maxHosts      = 255 * hostsPerOctet
)

// AddHost declares a host and returns its network stack. Hosts get the
// addresses 10.0.0.1, 10.0.0.2, … 10.0.0.253, 10.0.1.1, … and fd00::1,
// fd00::2, … in order of declaration. It panics if the name is taken or cannot
// be a host's name.
func (n *Network) AddHost(name string) *Stack {
	s := n.add("AddHost", name)
	n.hostCount++
	s.id = uint32(n.hostCount)
	return s
}

// add declares a host or a NAT, which get their addresses alike.
func (n *Network) add(call, name string) *Stack {
	if err := checkName(name); err != "" {
		panic(fmt.Sprintf("simnet: %s: %s", call, err))
	}
	if s := n.byName[name]; s != nil && s.gateway != nil {
		panic(fmt.Sprintf("simnet: %s: %q is a NAT already", call, name))
	} else if s != nil {
		panic(fmt.Sprintf("simnet: %s: host %q exists already", call, name))
	}
	i := len(n.stacks)
	if i >= maxHosts {
		panic(fmt.Sprintf("simnet: %s: no address left after %d hosts", call, maxHosts))
	}
	a4 := [4]byte{10, 0, byte(i / hostsPerOctet), byte(1 + i%hostsPerOctet)}
	a6 := [16]byte{0: 0xfd}
	binary.BigEndian.PutUint32(a6[12:], uint32(i+1))
	s := n.newStack(name, i, netip.AddrFrom4(a4), netip.AddrFrom16(a6))
	n.stacks = append(n.stacks, s)
	n.byName[name] = s
	n.gen++
	return s
}

func (n *Network) newStack(name string, index int, addr, addr6 netip.Addr) *Stack {
	return &Stack{
		n:     n,
		name:  name,
		index: index,
		addr:  addr,
		addr6: addr6,
		up:    true,
		on:    true,
		udp:   map[uint16]*UDP{},
		tcp:   map[uint16]*bucket{},
		conns: map[connection]*TCP{},
	}
}

// Lookup returns the stack of the named host, or nil.
func (n *Network) Lookup(name string) *Stack { return n.byName[name] }

// Hosts returns the hosts' names in order of declaration.
func (n *Network) Hosts() []string {
	sched.Enter()
	defer sched.Leave()
	return n.hosts()
}

func (n *Network) hosts() []string {
	names := make([]string, 0, len(n.stacks))
	for _, s := range n.stacks {
		if s.gateway == nil {
			names = append(names, s.name)
		}
	}
	return names
}

// names are what a fault may be asked for.
func (n *Network) names() []string {
	names := make([]string, len(n.stacks))
	for i, s := range n.stacks {
		names[i] = s.name
	}
	return names
}

// byAddr returns the host that has an address on the segment, or nil.
func (n *Network) byAddr(a netip.Addr) *Stack {
	if a == nameServer4 || a == nameServer6 {
		return n.nameServer().server.stack
	}
	i := -1
	if a.Is4() {
		if b := a.As4(); b[0] == 10 && b[1] == 0 && b[3] >= 1 && b[3] <= hostsPerOctet {
			i = int(b[2])*hostsPerOctet + int(b[3]) - 1
		}
	} else {
		b := a.As16()
		if binary.BigEndian.Uint64(b[:8]) == 0xfd<<56 {
			if low := binary.BigEndian.Uint64(b[8:]); low <= uint64(len(n.stacks)) {
				i = int(low) - 1
			}
		}
	}
	if i < 0 || i >= len(n.stacks) {
		return nil
	}
	return n.stacks[i]
}

// path returns the way from one host to another.
func (n *Network) path(from, to *Stack) *path {
	if p := from.pathTo(to); p != nil {
		return p
	}
	p := &path{n: n, from: from, to: to, link: n.def}
	if to.index == serverIndex {
		p.partitioned = from.alone
		from.toServer = p
	} else {
		if from.index == serverIndex {
			p.partitioned = to.alone
		}
		if to.index >= len(from.paths) {
			from.paths = append(from.paths, make([]*path, len(n.stacks)-len(from.paths))...)
		}
		from.paths[to.index] = p
	}
	p.refresh()
	n.paths = append(n.paths, p)
	return p
}

// pathTo returns the way to another host, or nil if it was not used yet.
func (s *Stack) pathTo(to *Stack) *path {
	switch {
	case to.index == serverIndex:
		return s.toServer
	case to.index < len(s.paths):
		return s.paths[to.index]
	}
	return nil
}

// note adds a packet to the trace.
func (n *Network) note(what Verb, from, to *Stack, p *Datagram) {
	var f, t uint32
	if from != nil {
		f = from.ID()
	}
	if to != nil {
		t = to.ID()
	}
	n.w.Note(sched.KindPacket, f, uint64(what)<<56|uint64(p.proto)<<48|uint64(t)<<24|uint64(len(p.Payload)))
	if n.Trace != nil {
		n.trace(what, from, to, p)
	}
	for _, c := range n.captures {
		c.note(what, from, to, p)
	}
}

func (n *Network) trace(what Verb, from, to *Stack, p *Datagram) {
	e := PacketEvent{
		Time: n.w.Now(), Verb: what, Proto: p.proto.String(),
		Src: p.src, Dst: p.dst, Size: len(p.Payload),
	}
	if p.proto == protoTCP {
		e.Flags = p.seg.flags.String()
	}
	e.Rule = n.ruling
	if from != nil {
		e.From = from.name
	}
	if to != nil {
		e.To = to.name
	}
	n.Trace(e)
}

package simnet

import "net/netip"

// A Stack is the network side of one machine: its interfaces and addresses,
// and the sockets that live there. All of its methods are called in kernel
// context.
type Stack struct {
	n     *Network
	name  string
	index int // place in Network.stacks
	id    uint32
	addr  netip.Addr
	addr6 netip.Addr
	up    bool // eth0 is up: …
	down  bool // … not by Down, …
	flap  bool // … nor by FlapHost
	on    bool // the machine has power
	life  int  // counts Reset: sockets of an earlier life are closed

	gateway  *Gateway // what it does, if it is no host but a NAT
	behind   *Stack   // the NAT between it and the segment, or nil
	uplink   queue
	downlink queue

	toServer    *path               // to the name server; nil where unused
	alone       bool                // by Partition cut off from all that are not named, so from the name server
	paths       []*path             // by the other host's index; shorter, or nil, where unused
	udp         map[uint16]*UDP     // by local port, newest first, joined by UDP.next
	groups      map[membership]int  // how many sockets joined; nil before the first
	tcp         map[uint16]*bucket  // by local port
	conns       map[connection]*TCP // by addresses
	sockets     socketList
	narrow      []narrow // path MTUs that were found out
	waiting     *TCP     // connections in TIME_WAIT, oldest first, joined by wnext
	waitingLast *TCP
	c           HostCounters
}

// An Iface is one network interface of a host.
type Iface struct {
	Index        int            // 1 is lo, 2 is eth0
	Name         string         // "lo" or "eth0"
	MTU          int            // bytes
	Flags        uint32         // IFF_UP and so on, with Linux's values
	HardwareAddr [6]byte        // zero for lo
	Addrs        []netip.Prefix // with the host part kept: 10.0.0.1/16
}

// Interface numbers.
const (
	lo   = 1
	eth0 = 2
)

// Interface flags, with Linux's values.
const (
	iffUp        = 0x1
	iffBroadcast = 0x2
	iffLoopback  = 0x8
	iffRunning   = 0x40
	iffMulticast = 0x1000
	iffLowerUp   = 0x10000
)

var (
	loopback4    = netip.AddrFrom4([4]byte{127, 0, 0, 1})
	loopback6    = netip.IPv6Loopback()
	loNet        = netip.PrefixFrom(loopback4, 8)
	ethNet       = netip.PrefixFrom(netip.AddrFrom4([4]byte{10}), 16)
	ethNet6      = netip.PrefixFrom(netip.AddrFrom16([16]byte{0: 0xfd}), 64)
	loBroadcast  = netip.AddrFrom4([4]byte{127, 255, 255, 255})
	ethBroadcast = netip.AddrFrom4([4]byte{10, 0, 255, 255})
	allBroadcast = netip.AddrFrom4([4]byte{255, 255, 255, 255})
	allNodes4    = netip.AddrFrom4([4]byte{224, 0, 0, 1})
	allNodes6    = netip.IPv6LinkLocalAllNodes()
	allNodesIf6  = netip.AddrFrom16([16]byte{0: 0xff, 1: 1, 15: 1})
)

// Name returns the host's name.
func (s *Stack) Name() string { return s.name }

// ID returns the host's number within the network, from 1. NATs count by
// themselves.
func (s *Stack) ID() uint32 { return s.id }

// Addr returns the host's IPv4 address on eth0.
func (s *Stack) Addr() netip.Addr { return s.addr }

// Addr6 returns the host's IPv6 address on eth0.
func (s *Stack) Addr6() netip.Addr { return s.addr6 }

// Network returns the network that the host is part of.
func (s *Stack) Network() *Network { return s.n }

// Interfaces returns the host's interfaces as they are now.
func (s *Stack) Interfaces() []Iface {
	a := s.addr.As4()
	eth := Iface{
		Index: eth0, Name: "eth0", MTU: s.n.def.mtu(),
		Flags:        iffBroadcast | iffMulticast,
		HardwareAddr: [6]byte{2, 0, a[0], a[1], a[2], a[3]},
		Addrs: []netip.Prefix{
			netip.PrefixFrom(s.addr, ethNet.Bits()),
			netip.PrefixFrom(s.addr6, ethNet6.Bits()),
		},
	}
	if s.up {
		eth.Flags |= iffUp | iffRunning | iffLowerUp
	}
	return []Iface{{
		Index: lo, Name: "lo", MTU: loopbackMTU,
		Flags: iffUp | iffLoopback | iffRunning | iffLowerUp,
		Addrs: []netip.Prefix{netip.PrefixFrom(loopback4, 8), netip.PrefixFrom(loopback6, 128)},
	}, eth}
}

// InterfaceByAddr returns the number of the interface that has a local
// address, or 0: what IP_MULTICAST_IF and IP_ADD_MEMBERSHIP look up.
func (s *Stack) InterfaceByAddr(addr netip.Addr) int {
	switch addr = plain(addr); {
	case addr == s.addr || addr == s.addr6:
		return eth0
	case addr == loopback6 || loNet.Contains(addr) && addr != loBroadcast:
		return lo
	}
	return 0
}

// InterfaceByName returns the interface's number, or 0.
func (s *Stack) InterfaceByName(name string) int {
	switch name {
	case "lo":
		return lo
	case "eth0":
		return eth0
	}
	return 0
}

// Reset removes every socket and group membership: the process died. Nobody is
// notified. Packets that were sent already travel on. The kernel closes TCP
// sockets as the program would have done: their peers see FIN, or RST if the
// program had not read all that came.
func (s *Stack) Reset() {
	s.life++
	for _, first := range s.udp {
		for u := first; u != nil; u = u.next {
			u.purge()
		}
	}
	clear(s.udp)
	clear(s.groups)
	if s.on {
		s.resetTCP()
	} else {
		s.powerOffTCP()
	}
}

// PowerOff turns the machine off, sockets and all: what arrives for it meets
// silence, where a machine that is up answers that the port is closed.
func (s *Stack) PowerOff() {
	s.on = false
	s.Reset()
}

// PowerOn turns the machine on again.
func (s *Stack) PowerOn() { s.on = true }

// refresh works out whether eth0 is up.
func (s *Stack) refresh() {
	if up := !s.down && !s.flap; s.up != up {
		s.up = up
		s.n.gen++
	}
}

// isLocal tells whether the host has the address.
func (s *Stack) isLocal(a netip.Addr) bool { return s.InterfaceByAddr(a) != 0 }

func isBroadcast(a netip.Addr) bool {
	return a == allBroadcast || a == ethBroadcast || a == loBroadcast
}

// plain returns the address without a zone, and v4 as v4.
func plain(a netip.Addr) netip.Addr {
	if a.Is4() {
		return a
	}
	return a.Unmap().WithZone("")
}

// input takes a packet that arrived for this host.
func (s *Stack) input(p *Datagram) {
	switch p.proto {
	case protoUDP:
		s.udpInput(p)
	case protoICMP:
		s.icmpInput(p)
	case protoTCP:
		s.n.tcpArrive(s, p)
	}
}

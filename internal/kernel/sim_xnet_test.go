//go:build dstsim && linux && (amd64 || arm64)

package kernel_test

import (
	"fmt"
	"net"
	"time"

	"golang.org/x/net/ipv4"
	"golang.org/x/net/ipv6"
)

func init() {
	bodies["golang.org/x/net/ipv4"] = packets4
	bodies["golang.org/x/net/ipv6"] = packets6
}

// loopbackInterface is lo, on the machine and on a host.
func loopbackInterface(a *arm) *net.Interface {
	ifi, err := net.InterfaceByName("lo")
	if err != nil {
		a.must(err)
		return &net.Interface{}
	}
	return ifi
}

// packets4 is what programs do with an ipv4.PacketConn.
func packets4(a *arm) {
	c, err := net.ListenPacket("udp4", "0.0.0.0:0")
	a.must(err)
	defer c.Close()
	p, lo := ipv4.NewPacketConn(c), loopbackInterface(a)
	port := c.LocalAddr().(*net.UDPAddr).Port
	self := &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1), Port: port}

	a.say("SetTTL %v, SetTOS %v", p.SetTTL(33), p.SetTOS(0x2b))
	ttl, err := p.TTL()
	a.say("TTL %d, %v", ttl, err)
	tos, err := p.TOS()
	a.say("TOS %#x, %v", tos, err)
	for _, n := range []int{0, 256, -1} {
		a.say("SetTTL(%d): %v", n, p.SetTTL(n))
	}
	a.must(p.SetTTL(33))
	a.say("control: %v", p.SetControlMessage(ipv4.FlagTTL|ipv4.FlagDst|ipv4.FlagInterface, true))
	buf := make([]byte, 100)
	read := func(what string) {
		c.SetReadDeadline(time.Now().Add(50 * time.Millisecond))
		n, cm, src, err := p.ReadFrom(buf)
		if err != nil {
			a.say("%s: %v", what, err)
			return
		}
		if cm != nil {
			a.say("%s: %q from %v: ttl %d, dst %v, lo %v", what, buf[:n], src.(*net.UDPAddr).IP, cm.TTL, cm.Dst, cm.IfIndex == lo.Index)
		} else {
			a.say("%s: %q without control", what, buf[:n])
		}
	}
	write := func(what string, cm *ipv4.ControlMessage, to net.Addr) {
		n, err := p.WriteTo([]byte(what), cm, to)
		a.say("write %s: %d, %v", what, n, err)
		read(what)
	}
	write("plain", nil, self)
	write("ttl", &ipv4.ControlMessage{TTL: 7}, self)
	write("source", &ipv4.ControlMessage{Src: net.IPv4(127, 0, 0, 9)}, self)
	write("interface", &ipv4.ControlMessage{IfIndex: lo.Index}, self)
	write("no interface", &ipv4.ControlMessage{IfIndex: 77}, self)

	out := []ipv4.Message{
		{Buffers: [][]byte{[]byte("one"), []byte("and two")}, Addr: self},
		{Buffers: [][]byte{[]byte("three")}, Addr: self, OOB: (&ipv4.ControlMessage{TTL: 5}).Marshal()},
		{Buffers: [][]byte{nil}, Addr: self},
	}
	n, err := p.WriteBatch(out, 0)
	a.say("batch: %d, %v", n, err)
	in := make([]ipv4.Message, 5)
	for i := range in {
		in[i] = ipv4.Message{Buffers: [][]byte{make([]byte, 4), make([]byte, 20)}, OOB: ipv4.NewControlMessage(ipv4.FlagTTL | ipv4.FlagDst | ipv4.FlagInterface)}
	}
	for got := 0; got < 3; {
		c.SetReadDeadline(time.Now().Add(50 * time.Millisecond))
		n, err := p.ReadBatch(in[got:], 0)
		a.must(err)
		for _, m := range in[got : got+n] {
			var cm ipv4.ControlMessage
			err := cm.Parse(m.OOB[:m.NN])
			a.say("%d bytes %q%q, ttl %d, %v, flags %#x", m.N, m.Buffers[0], m.Buffers[1], cm.TTL, err, m.Flags)
		}
		if got += n; err != nil {
			break
		}
	}
	a.must(p.SetControlMessage(ipv4.FlagTTL|ipv4.FlagDst|ipv4.FlagInterface, false))
	write("control off", nil, self)

	group := &net.UDPAddr{IP: net.IPv4(232, 3, 2, 1), Port: port}
	a.must(p.SetControlMessage(ipv4.FlagDst, true))
	s, err := net.ListenPacket("udp4", "127.0.0.1:0") // else the source is an address of the machine
	a.must(err)
	defer s.Close()
	sender := ipv4.NewPacketConn(s)
	write = func(what string, cm *ipv4.ControlMessage, addr net.Addr) {
		n, err := sender.WriteTo([]byte(what), cm, addr)
		a.say("write %s: %d, %v", what, n, err)
		read(what)
	}
	a.say("interface: %v, %v", p.SetMulticastInterface(lo), sender.SetMulticastInterface(lo))
	ifi, err := p.MulticastInterface()
	a.say("is lo: %v, %v", ifi != nil && ifi.Name == "lo", err)
	a.say("multicast ttl: %v", p.SetMulticastTTL(3))
	mttl, err := p.MulticastTTL()
	a.say("%d, %v", mttl, err)
	loop, err := p.MulticastLoopback()
	a.say("loop %v, %v", loop, err)
	write("not a member", nil, group)
	a.say("join: %v, again: %v", p.JoinGroup(lo, group), p.JoinGroup(lo, group))
	write("member", nil, group)
	source := &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)}
	a.say("exclude: %v", p.ExcludeSourceSpecificGroup(lo, group, source))
	write("excluded", nil, group)
	a.say("include: %v", p.IncludeSourceSpecificGroup(lo, group, source))
	write("included", nil, group)
	a.say("leave: %v, again: %v", p.LeaveGroup(lo, group), p.LeaveGroup(lo, group))
	write("left", nil, group)
	a.say("join source: %v", p.JoinSourceSpecificGroup(lo, group, source))
	write("source's member", nil, group)
	a.say("join other source: %v", p.JoinSourceSpecificGroup(lo, group, &net.UDPAddr{IP: net.IPv4(127, 0, 0, 8)}))
	a.say("leave source: %v", p.LeaveSourceSpecificGroup(lo, group, source))
	write("other source's member", nil, group)
	a.say("loop off: %v", p.SetMulticastLoopback(false))

	t, err := net.Listen("tcp4", "127.0.0.1:0")
	a.must(err)
	defer t.Close()
	d, err := net.Dial("tcp4", t.Addr().String())
	a.must(err)
	defer d.Close()
	tc := ipv4.NewConn(d)
	a.say("tcp: %v, %v", tc.SetTTL(9), tc.SetTOS(0xb9))
	ttl, err = tc.TTL()
	tos, err2 := tc.TOS()
	a.say("tcp: %d, %v, %#x, %v", ttl, err, tos, err2)
}

// packets6 is what programs do with an ipv6.PacketConn. The loopback interface
// has no route to groups.
func packets6(a *arm) {
	c, err := net.ListenPacket("udp6", "[::]:0")
	a.must(err)
	defer c.Close()
	p, lo := ipv6.NewPacketConn(c), loopbackInterface(a)
	self := &net.UDPAddr{IP: net.IPv6loopback, Port: c.LocalAddr().(*net.UDPAddr).Port}
	a.say("SetHopLimit %v, SetTrafficClass %v", p.SetHopLimit(33), p.SetTrafficClass(0x2b))
	hops, err := p.HopLimit()
	class, err2 := p.TrafficClass()
	a.say("%d, %v, %#x, %v", hops, err, class, err2)
	for _, n := range []int{256, -2} {
		a.say("%d: %v, %v", n, p.SetHopLimit(n), p.SetTrafficClass(n))
	}
	flags := ipv6.FlagTrafficClass | ipv6.FlagHopLimit | ipv6.FlagSrc | ipv6.FlagDst | ipv6.FlagInterface | ipv6.FlagPathMTU
	a.say("control: %v", p.SetControlMessage(flags, true))
	buf := make([]byte, 100)
	read := func(what string) {
		c.SetReadDeadline(time.Now().Add(50 * time.Millisecond))
		n, cm, src, err := p.ReadFrom(buf)
		if err != nil {
			a.say("%s: %v", what, err)
			return
		}
		a.say("%s: %q from %v: class %#x, hops %d, dst %v, lo %v", what, buf[:n], src.(*net.UDPAddr).IP, cm.TrafficClass, cm.HopLimit, cm.Dst, cm.IfIndex == lo.Index)
	}
	write := func(what string, cm *ipv6.ControlMessage, to net.Addr) {
		n, err := p.WriteTo([]byte(what), cm, to)
		a.say("write %s: %d, %v", what, n, err)
		read(what)
	}
	write("plain", nil, self)
	write("hops", &ipv6.ControlMessage{HopLimit: 7, TrafficClass: 2}, self)
	write("source", &ipv6.ControlMessage{Src: net.IPv6loopback}, self)
	write("interface", &ipv6.ControlMessage{IfIndex: lo.Index}, self)
	n, err := p.WriteBatch([]ipv6.Message{{Buffers: [][]byte{[]byte("b"), []byte("atch")}, Addr: self}}, 0)
	a.say("batch: %d, %v", n, err)
	read("batch")
	a.must(p.SetControlMessage(ipv6.FlagPathMTU, true))
	d, err := net.Dial("udp6", fmt.Sprintf("[::1]:%d", self.Port))
	a.must(err)
	defer d.Close()
	mtu, err := ipv6.NewConn(d).PathMTU()
	a.say("path MTU %d, %v", mtu, err)
	_, err = ipv6.NewPacketConn(c).HopLimit()
	a.must(err)

	group := &net.UDPAddr{IP: net.ParseIP("ff3e::1234"), Port: self.Port}
	a.say("interface: %v", p.SetMulticastInterface(lo))
	ifi, err := p.MulticastInterface()
	a.say("is lo: %v, %v", ifi != nil && ifi.Name == "lo", err)
	a.say("hops: %v", p.SetMulticastHopLimit(3))
	mhops, err := p.MulticastHopLimit()
	a.say("%d, %v", mhops, err)
	loop, err := p.MulticastLoopback()
	a.say("loop %v, %v, %v", loop, err, p.SetMulticastLoopback(false))
	a.say("join: %v, again: %v", p.JoinGroup(lo, group), p.JoinGroup(lo, group))
	source := &net.UDPAddr{IP: net.IPv6loopback}
	a.say("exclude: %v, include: %v", p.ExcludeSourceSpecificGroup(lo, group, source), p.IncludeSourceSpecificGroup(lo, group, source))
	a.say("leave: %v, again: %v", p.LeaveGroup(lo, group), p.LeaveGroup(lo, group))
	a.say("source: %v, %v", p.JoinSourceSpecificGroup(lo, group, source), p.LeaveSourceSpecificGroup(lo, group, source))
	a.say("checksum: %v", p.SetChecksum(true, 2))
}

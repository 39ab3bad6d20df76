package simnet

import (
	"net/netip"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// natLAN is two hosts behind the NAT "home", which is 10.0.0.5, and two outside.
func natLAN(t testing.TB, c NAT) (*lan, *Gateway) {
	l := newLAN(t, 1, "in", "in2", "out", "out2")
	g := l.NAT("home", c, "in", "in2")
	if g.Addr() != netip.MustParseAddr("10.0.0.5") || g.Addr6() != netip.MustParseAddr("fd00::5") || g.Name() != "home" || l.Lookup("home").Name() != "home" {
		t.Fatal(g.Addr())
	}
	if h := l.Hosts(); !slices.Equal(h, []string{"in", "in2", "out", "out2"}) {
		t.Fatalf("hosts %q", h)
	}
	return l, g
}

// from receives one datagram and tells where it is from.
func (l *lan) from(u *UDP, want string) netip.AddrPort {
	l.Helper()
	d, errno := u.Recv(false)
	if errno != 0 || string(d.Payload) != want {
		l.Fatalf("received %v, %v; want %q", d, errno, want)
	}
	defer d.Release()
	return d.From
}

func (l *lan) sendTo(u *UDP, payload string, to netip.AddrPort) {
	l.Helper()
	if _, errno := u.Send([]byte(payload), to, nil); errno != 0 {
		l.Fatal(errno)
	}
}

func TestNAT(t *testing.T) {
	l, g := natLAN(t, NAT{})
	in, in2, out, out2 := l.socks["in"], l.socks["in2"], l.socks["out"], l.socks["out2"]

	// Out, under the NAT's address and a port of the mapping; the answer comes back
	// from where it was sent to.
	l.sendTo(in, "hello", l.addr("out"))
	p := l.from(out, "hello")
	if p.Addr() != g.Addr() || p.Port() == 7 || p.Port() < 1024 {
		t.Errorf("came from %v", p)
	}
	l.sendTo(out, "answer", p)
	if from := l.from(in, "answer"); from != l.addr("out") {
		t.Errorf("answer from %v", from)
	}
	// The same port for another destination, another for another host.
	l.sendTo(in, "x", l.addr("out2"))
	if q := l.from(out2, "x"); q != p {
		t.Errorf("%v, then %v: not endpoint-independent", p, q)
	}
	l.sendTo(in2, "x", l.addr("out"))
	p2 := l.from(out, "x")
	if p2.Addr() != g.Addr() || p2.Port() == p.Port() {
		t.Errorf("%v and %v", p, p2)
	}
	if m := g.Mappings(); !slices.Equal(m, []Mapping{{"udp", l.addr("in"), p}, {"udp", l.addr("in2"), p2}}) {
		t.Errorf("%v", m)
	}
	// Nobody comes in unasked: from another port, to another port, to the address
	// inside, which has no way from here.
	other := l.bind("out", inet4any, 9)
	l.sendTo(other, "unsolicited", p)
	l.sendTo(out, "unsolicited", netip.AddrPortFrom(g.Addr(), p.Port()^1))
	l.sendTo(out, "unsolicited", l.addr("in"))
	l.expect("in", in)
	l.expect("in2", in2)
	if c := g.Counters(); c != (NATCounters{Out: 3, In: 1, Filtered: 2, Mapped: 2}) {
		t.Errorf("%+v", c)
	}
	if c := l.HostCounters("out"); c.NoNeighbour != 1 {
		t.Errorf("%+v", c)
	}
	// Inside they reach each other as ever, and broadcasts stay inside.
	l.sendTo(in, "neighbour", l.addr("in2"))
	if from := l.from(in2, "neighbour"); from != l.addr("in") {
		t.Error(from)
	}
	in.Broadcast, out.Broadcast = true, true
	l.sendTo(in, "all", ap("255.255.255.255:7"))
	for h, want := range map[string]int{"in": 1, "in2": 1, "out": 0, "out2": 0} {
		if n := len(got(l.socks[h])); n != want {
			t.Errorf("%s got %d broadcasts", h, n)
		}
	}
	l.sendTo(out, "all", ap("255.255.255.255:7"))
	for h, want := range map[string]int{"in": 0, "in2": 0, "out": 1, "out2": 1} {
		if n := len(got(l.socks[h])); n != want {
			t.Errorf("%s got %d broadcasts", h, n)
		}
	}
	// A private address elsewhere, or one that is nobody's.
	l.NAT("office", NAT{}, "out2")
	l.sendTo(in, "x", l.addr("out2"))
	if c := g.Counters(); c.NoRoute != 1 {
		t.Errorf("%+v", c)
	}
	// From one NAT to another, neither of which has a mapping for it.
	l.sendTo(out2, "x", p)
	if c := g.Counters(); c.Filtered != 3 {
		t.Errorf("%+v", c)
	}
	l.conserved()
}

// TestNATFilter: whom a mapping lets in, and whether it is one for all.
func TestNATFilter(t *testing.T) {
	for _, c := range []struct {
		nat  NAT
		want string // who gets in by the port that "out" has seen; is it the same for out2
	}{
		{NAT{}, "out"},
		{NAT{Filter: AddressPortDependent}, "out"},
		{NAT{Filter: AddressDependent}, "out out:9"},
		{NAT{Filter: EndpointIndependent}, "out out:9 out2"},
		{NAT{Mapping: AddressDependent}, "out differs"},
		{NAT{Mapping: AddressPortDependent, Filter: EndpointIndependent}, "out out:9 out2 differs port-differs"},
	} {
		for _, v6 := range []bool{false, true} {
			l, _ := natLAN(t, c.nat)
			addr := func(host string, port uint16) netip.AddrPort {
				if v6 {
					return netip.AddrPortFrom(l.Lookup(host).Addr6(), port)
				}
				return netip.AddrPortFrom(l.Lookup(host).Addr(), port)
			}
			any := inet4any
			if v6 {
				any = inet6any
			}
			in, out, out9, out2 := l.bind("in", any, 1000), l.bind("out", any, 1000), l.bind("out", any, 9), l.bind("out2", any, 1000)
			l.sendTo(in, "x", addr("out", 1000))
			p := l.from(out, "x")
			if p.Addr() != addr("home", 0).Addr() {
				t.Errorf("from %v", p)
			}
			var in1 []string
			for _, s := range []struct {
				u    *UDP
				name string
			}{{out, "out"}, {out9, "out:9"}, {out2, "out2"}} {
				l.sendTo(s.u, s.name, p)
				in1 = append(in1, got(in)...)
			}
			l.sendTo(in, "x", addr("out2", 1000))
			if q := l.from(out2, "x"); q != p {
				in1 = append(in1, "differs")
			}
			l.sendTo(in, "x", addr("out", 9))
			if q := l.from(out9, "x"); q != p && c.nat.Mapping == AddressPortDependent {
				in1 = append(in1, "port-differs")
			} else if q != p {
				t.Errorf("%+v: %v, then %v", c.nat, p, q)
			}
			if s := strings.Join(in1, " "); s != c.want {
				t.Errorf("%+v: %s, want %s", c.nat, s, c.want)
			}
		}
	}
}

// TestNATTimeout: a mapping dies when it is not used, sooner as long as nobody has
// answered; the next datagram comes from another port.
func TestNATTimeout(t *testing.T) {
	l, g := natLAN(t, NAT{})
	in, out := l.socks["in"], l.socks["out"]
	say := func() netip.AddrPort {
		l.Helper()
		l.sendTo(in, "x", l.addr("out"))
		return l.from(out, "x")
	}
	p := say()
	l.wait(29 * time.Second)
	if say() != p {
		t.Error("died within 30 s")
	}
	l.wait(30 * time.Second)
	l.sendTo(out, "late", p)
	l.expect("in", in)
	q := say()
	if q == p || len(g.Mappings()) != 1 {
		t.Errorf("%v again; %v", q, g.Mappings())
	}
	l.sendTo(out, "answer", q)
	l.expect("in", in, "answer")
	l.wait(119 * time.Second)
	l.sendTo(out, "within two minutes", q)
	l.expect("in", in, "within two minutes")
	l.wait(121 * time.Second)
	l.sendTo(out, "late", q)
	l.expect("in", in)
	if len(g.Mappings()) != 0 {
		t.Error(g.Mappings())
	}
	l2, _ := natLAN(t, NAT{UDPTimeout: time.Hour})
	l2.sendTo(l2.socks["in"], "x", l2.addr("out"))
	p = l2.from(l2.socks["out"], "x")
	l2.wait(59 * time.Minute)
	l2.sendTo(l2.socks["out"], "x", p)
	l2.expect("in", l2.socks["in"], "x")
}

// TestNATRebindUDP: what QUIC meets: the server sees the next datagram come from
// another port; what it sends to the old one is lost, or refused by choice.
func TestNATRebindUDP(t *testing.T) {
	for _, reject := range []bool{false, true} {
		l, g := natLAN(t, NAT{Reject: reject})
		link := Link{Latency: Constant(10 * time.Millisecond)}
		l.SetLink("home", "out", link)
		in := l.udpTo("in", l.addr("out"))
		out := l.socks["out"]
		l.sendTo(in, "1", netip.AddrPort{})
		l.run()
		p := l.from(out, "1")
		back := l.udpTo("out", p) // hears of errors
		g.Rebind()
		l.sendTo(out, "to the old port", p)
		l.sendTo(back, "to the old port", netip.AddrPort{})
		l.run()
		l.expect("in", in)
		want := syscall.Errno(0)
		if reject {
			want = syscall.ECONNREFUSED
		}
		l.is("server", back.PendingError(), want)
		l.sendTo(in, "2", netip.AddrPort{})
		l.run()
		q := l.from(out, "2")
		if q.Addr() != p.Addr() || q == p {
			t.Errorf("%v, then %v", p, q)
		}
		l.sendTo(out, "to the new one", q)
		l.run()
		l.expect("in", in, "to the new one")
		l.conserved()
	}
}

// TestNATRebindTCP: the connection's next segment comes from nowhere, for the server,
// which answers RST; the server itself hears nothing, or RST by choice.
func TestNATRebindTCP(t *testing.T) {
	for _, c := range []struct {
		reject bool
		want   syscall.Errno // at the server, when it sends first
	}{{false, syscall.ETIMEDOUT}, {true, syscall.ECONNRESET}} {
		l, g := natLAN(t, NAT{Reject: c.reject})
		l.SetDefault(Link{Latency: Constant(10 * time.Millisecond)})
		ls := l.listen("out", "0.0.0.0:80", 10)
		pair := func() (x, y *TCP) {
			l.Helper()
			x = l.dial("in", "10.0.0.3:80")
			l.wait(time.Second)
			y = l.accept(ls)
			if r := y.RemoteAddr(); r.Addr() != g.Addr() || r == x.LocalAddr() {
				t.Errorf("accepted from %v", r)
			}
			l.sends(x, "request")
			l.sends(y, "answer")
			l.wait(time.Second)
			l.gets(x, "answer", again)
			l.gets(y, "request", again)
			return x, y
		}
		x, y := pair()
		g.Rebind()
		l.sends(x, "more")
		l.wait(time.Second)
		l.gets(x, "", syscall.ECONNRESET)
		l.state(y, established)

		x, y = pair()
		g.Rebind()
		l.sends(y, "more")
		l.wait(time.Hour)
		l.gets(y, "", c.want)
		l.state(x, established) // idle, it never hears
		l.conserved()
	}
}

// TestNATConnections: both ends of a connection, by IPv4 and IPv6; a mapping that times
// out cuts off one that is idle.
func TestNATConnections(t *testing.T) {
	l, g := natLAN(t, NAT{TCPTimeout: 5 * time.Minute})
	l.SetLink("in", "home", Link{Latency: Constant(time.Millisecond), Loss: 0.05})
	l.SetLink("home", "out", Link{Latency: Constant(10 * time.Millisecond), Loss: 0.05, Duplicate: 0.05})
	ls := l.listen("out", "[::]:80", 10)
	for _, to := range []string{"10.0.0.3:80", "[fd00::3]:80"} {
		x := l.dial("in", to)
		l.wait(10 * time.Second)
		y := l.accept(ls)
		text := strings.Repeat("0123456789", 6000)
		l.sends(x, text)
		l.wait(time.Minute)
		l.gets(y, text, again)
		l.sends(y, text)
		l.wait(time.Minute)
		l.gets(x, text, again)
		x.Close()
		l.wait(time.Minute)
		l.gets(y, "", 0)
		y.Close()
		l.wait(3 * time.Minute)
		if m := g.Mappings(); len(m) != 1 { // closed: four minutes
			t.Errorf("%v", m)
		}
		l.wait(2 * time.Minute)
		if m := g.Mappings(); len(m) != 0 {
			t.Errorf("%v", m)
		}
	}
	x := l.dial("in", "10.0.0.3:80")
	l.wait(10 * time.Second)
	y := l.accept(ls)
	l.wait(6 * time.Minute)
	l.sends(y, "news")
	l.wait(time.Minute)
	l.gets(x, "", again)
	l.sends(x, "are you there?")
	l.wait(time.Minute)
	l.gets(x, "", syscall.ECONNRESET)
	// Refused, and unreachable, come back through it.
	x = l.dial("in", "10.0.0.3:81")
	l.wait(10 * time.Second)
	l.is("nobody listens", x.PendingError(), syscall.ECONNREFUSED)
	l.conserved()
}

// TestNATErrors: ICMP errors cross it in both directions.
func TestNATErrors(t *testing.T) {
	for _, to := range []string{"10.0.0.3", "fd00::3"} {
		l, g := natLAN(t, NAT{})
		u := l.udpTo("in", netip.AddrPortFrom(netip.MustParseAddr(to), 99))
		l.sendTo(u, "anyone?", netip.AddrPort{})
		l.is("closed port outside", u.PendingError(), syscall.ECONNREFUSED)
		if c := g.Counters(); c.Out != 1 || c.In != 1 || c.Filtered != 0 {
			t.Errorf("%+v", c)
		}
		l.Rule("r", "reject with prohibited from home to out")
		x := l.dial("in", netip.AddrPortFrom(netip.MustParseAddr(to), 80).String())
		l.run()
		l.is("rejected outside", x.PendingError(), syscall.EHOSTUNREACH)
		l.Heal()
		// The program inside has closed its socket: the sender outside is refused.
		any := inet6any
		if netip.MustParseAddr(to).Is4() {
			any = inet4any
		}
		in, out := l.bind("in", any, 1000), l.bind("out", any, 1000)
		l.sendTo(in, "x", netip.AddrPortFrom(netip.MustParseAddr(to), 1000))
		p := l.from(out, "x")
		l.ok("connect", out.Connect(p))
		in.Close()
		l.sendTo(out, "x", netip.AddrPort{})
		l.is("closed port inside", out.PendingError(), syscall.ECONNREFUSED)
		l.conserved()
	}
}

func TestNATForwardAndHairpin(t *testing.T) {
	for _, c := range []NAT{{}, {NoHairpin: true}, {Filter: EndpointIndependent, Mapping: AddressPortDependent}} {
		l, g := natLAN(t, c)
		g.Forward("udp", 53, "in", 7)
		g.Forward("tcp", 80, "in2", 8080)
		l.sendTo(l.socks["out"], "ask", netip.AddrPortFrom(g.Addr(), 53))
		if from := l.from(l.socks["in"], "ask"); from != l.addr("out") {
			t.Error(from)
		}
		l.sendTo(l.socks["in"], "answer", l.addr("out"))
		if from := l.from(l.socks["out"], "answer"); from != netip.AddrPortFrom(g.Addr(), 53) {
			t.Errorf("answer from %v", from)
		}
		ls := l.listen("in2", "[::]:8080", 10)
		for _, to := range []string{"10.0.0.5:80", "[fd00::5]:80"} {
			for _, h := range []string{"out", "in"} {
				x := l.dial(h, to)
				l.wait(time.Second)
				if c.NoHairpin && h == "in" {
					l.state(x, synSent)
					continue
				}
				y := l.accept(ls)
				if public := y.RemoteAddr().Addr() == ap(to).Addr() || y.RemoteAddr().Addr().Unmap() == ap(to).Addr(); public != (h == "in") {
					t.Errorf("%s > %s: accepted from %v", h, to, y.RemoteAddr())
				}
				l.sends(x, "request")
				l.wait(time.Second)
				l.gets(y, "request", again)
				l.sends(y, "answer")
				l.wait(time.Second)
				l.gets(x, "answer", again)
			}
		}
		g.Rebind() // leaves what Forward opened
		l.sendTo(l.socks["out"], "ask", netip.AddrPortFrom(g.Addr(), 53))
		l.expect("in", l.socks["in"], "ask")
		k := g.Counters()
		if (k.Hairpinned > 0) == c.NoHairpin {
			t.Errorf("%+v", k)
		}
		l.conserved()
		for want, do := range map[string]func(){
			`simnet: Forward: udp port 53 of the NAT "home" is taken, by 10.0.0.1:7`: func() { g.Forward("udp", 53, "in", 8) },
			`simnet: Forward: "out" is not behind the NAT "home"`:                    func() { g.Forward("udp", 54, "out", 8) },
			`simnet: Forward: protocol is "ip", must be tcp or udp`:                  func() { g.Forward("ip", 54, "in", 8) },
			`simnet: Forward: port 0`:                                                func() { g.Forward("tcp", 0, "in", 8) },
		} {
			func() {
				defer func() {
					if r := recover(); r != want {
						t.Errorf("panic %v, want %s", r, want)
					}
				}()
				do()
			}()
		}
	}
}

// TestNATLinks: two links one after the other, an uplink that all share, and faults by
// the names of hosts on both sides.
func TestNATLinks(t *testing.T) {
	l, g := natLAN(t, NAT{})
	l.SetLink("in", "home", Link{Latency: Constant(time.Millisecond)})
	l.SetLink("home", "out", Link{Latency: Constant(20 * time.Millisecond), MTU: 1280})
	l.sendTo(l.socks["in"], "x", l.addr("out"))
	if d := l.run(); d != 21*time.Millisecond {
		t.Errorf("took %v", d)
	}
	p := l.from(l.socks["out"], "x")
	for what, f := range map[string]func(){
		"cut":       func() { l.Cut("in", "out"); l.Cut("out", "in") },
		"partition": func() { l.Partition([]string{"in"}, []string{"out"}) },
		"home cut":  func() { l.Partition([]string{"home"}) },
		"home down": func() { l.Down("home") },
	} {
		f()
		l.sendTo(l.socks["in"], what, l.addr("out"))
		l.sendTo(l.socks["out"], what, p)
		l.run()
		l.expect(what, l.socks["out"])
		l.expect(what, l.socks["in"])
		l.Heal()
		l.conserved()
	}
	u := l.socks["in"]
	u.DontFragment = true
	if _, errno := u.Send(make([]byte, 1253), l.addr("out"), nil); errno != syscall.EMSGSIZE {
		t.Errorf("larger than the MTU behind the NAT: %v", errno)
	}
	l.sendTo(u, strings.Repeat("x", 1252), l.addr("out"))
	l.run()
	got(l.socks["out"])
	l.SetUplink("home", Rate{Bandwidth: 8e5})
	for _, h := range []string{"in", "in2"} {
		l.sendTo(l.socks[h], strings.Repeat("x", 972), l.addr("out"))
	}
	if d := l.run(); d != 40*time.Millisecond {
		t.Errorf("the second took %v, want to wait for the first", d)
	}
	// The last hop: a TTL of 1 ends at the NAT.
	l.ok("TTL", u.SetTTL(1))
	l.sendTo(u, "x", l.addr("out"))
	l.run()
	if c := g.Counters(); c.Expired != 1 {
		t.Errorf("%+v", c)
	}
	l.conserved()
}

// TestNATNested: a NAT behind a NAT.
func TestNATNested(t *testing.T) {
	l := newLAN(t, 1, "in", "out")
	l.NAT("home", NAT{}, "in")
	outer := l.NAT("carrier", NAT{}, "home")
	l.send("in", "out", "x")
	p := l.from(l.socks["out"], "x")
	if p.Addr() != outer.Addr() {
		t.Errorf("from %v", p)
	}
	l.sendTo(l.socks["out"], "back", p)
	l.expect("in", l.socks["in"], "back")
	ls := l.listen("out", "0.0.0.0:80", 1)
	x := l.dial("in", "10.0.0.2:80")
	l.wait(time.Second)
	y := l.accept(ls)
	l.sends(y, "hi")
	l.wait(time.Second)
	l.gets(x, "hi", again)
	l.conserved()
}

// TestNATPorts: ports come back when mappings expire; until then they run out.
func TestNATPorts(t *testing.T) {
	l, g := natLAN(t, NAT{})
	const count = 500
	if g.ports != 65536-1024 {
		t.Errorf("%d ports", g.ports)
	}
	g.ports = count
	seen := map[netip.AddrPort]bool{}
	l.socks["out"].Notify = func() {
		d, _ := l.socks["out"].Recv(false)
		seen[d.From] = true
		d.Release()
	}
	s := l.Lookup("in")
	send := func(n int) {
		for port := range n {
			u := s.NewUDP(syscall.AF_INET)
			l.ok("bind", u.Bind(netip.AddrPortFrom(netip.IPv4Unspecified(), uint16(port+100))))
			l.sendTo(u, "x", l.addr("out"))
			u.Close()
		}
	}
	send(count + 10)
	if c := g.Counters(); len(seen) != count || c.NoPorts != 10 || c.Mapped != count {
		t.Errorf("%d ports, %+v", len(seen), c)
	}
	l.wait(time.Minute)
	send(100)
	if c := g.Counters(); c.NoPorts != 10 || c.Mapped != count+100 || len(g.list) > 3*count || len(g.Mappings()) != 100 {
		t.Errorf("%+v, %d mappings", c, len(g.list))
	}
	l.wait(time.Minute)
	send(1000)
	if len(g.list) > 3000 {
		t.Errorf("%d mappings are kept", len(g.list))
	}
}

// TestNATNameServer: the name server is outside; it can be named as hosts can.
func TestNATNameServer(t *testing.T) {
	l := newLAN(t, 1, "in", "out")
	g := l.NAT("home", NAT{}, "in")
	read, _ := l.capture(CaptureOptions{Hosts: []string{NameServer}})
	l.Rule("lose", "drop first udp to dns port 53")
	u := l.udpTo("in", netip.AddrPortFrom(nameServer4, 53))
	const query = "\x00\x01\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00\x03out\x00\x00\x01\x00\x01"
	for range 2 {
		l.sendTo(u, query, netip.AddrPort{})
	}
	l.wait(time.Second)
	if answers := got(u); len(answers) != 1 || answers[0][2]&0x80 == 0 {
		t.Errorf("%q", answers)
	}
	if all := read(); len(all) != 2 || all[0].src != g.Addr() || all[1].dst != g.Addr() || all[0].dport != 53 {
		t.Errorf("%v", all)
	}
	l.FlapHost(NameServer, Constant(time.Second), Constant(time.Hour))
	l.wait(2 * time.Second)
	l.sendTo(u, query, netip.AddrPort{})
	l.wait(time.Second)
	l.expect("down", u)
	l.Heal()
	l.sendTo(u, query, netip.AddrPort{})
	l.wait(time.Second)
	if n := len(got(u)); n != 1 {
		t.Errorf("%d answers", n)
	}
	l.conserved()
}

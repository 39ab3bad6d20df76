package simnet

import (
	"bytes"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dstkit/dst/sched"
)

// tempest runs UDP and TCP over links, lines, rules, NATs and flapping that change at
// random, and checks at each step that every packet is accounted for.
func tempest(t testing.TB, seed uint64, capture bool) (l *lan, nats []*Gateway) {
	l = newLAN(t, seed, "a", "b", "c", "d", "e").traced()
	nats = []*Gateway{l.NAT("n", NAT{Reject: seed%2 == 0}, "a", "b"), l.NAT("m", NAT{Filter: EndpointIndependent, UDPTimeout: time.Second}, "c")}
	var file bytes.Buffer
	if capture {
		l.Capture(&file, CaptureOptions{})
	}
	names := l.names()
	r := sched.NewStream(seed, "tempest")
	chance := func() float64 { return []float64{0, 0, 0, 0.1, 0.5}[r.N(5)] }
	dist := func() Dist {
		return []Dist{Constant(time.Millisecond), Uniform(0, 5*time.Millisecond), Exponential(3 * time.Millisecond)}[r.N(3)]
	}
	two := func() (string, string) { // with a link between them
		for {
			a, b := names[r.N(len(names))], names[r.N(len(names))]
			if x, y := l.Lookup(a), l.Lookup(b); a != b && (l.direct(x, y) || l.direct(y, x)) {
				return a, b
			}
		}
	}
	rate := func() Rate { return Rate{Bandwidth: int64(r.N(2) * 1e6), Queue: r.N(10000)} }
	rules := []string{
		"drop first 3 udp from a", "reject every 4th to port 7", "delay 1ms-9ms udp to n", "duplicate 20%", "corrupt 10% tcp data",
		"drop 2nd syn of each flow", "accept tcp to d", "drop 30% from d", "reject with prohibited every 9th tcp", "drop ack over 0 bytes",
	}
	listeners := map[string]*TCP{}
	for _, h := range []string{"a", "d", "e"} {
		listeners[h] = l.listen(h, "[::]:80", 4)
	}
	nats[0].Forward("tcp", 80, "a", 80)
	nats[0].Forward("udp", 7, "b", 7)
	var conns []*TCP
	inNAT := func() {
		for _, g := range nats {
			var arrived uint64
			for _, p := range l.paths {
				if p.to == g.s {
					arrived += p.c.Delivered
				}
			}
			if c := g.counter; arrived != c.Out+c.In+c.Hairpinned+c.Filtered+c.NoRoute+c.NoPorts+c.Expired {
				l.Fatalf("NAT %s: %d packets arrived: %+v", g.s.name, arrived, c)
			}
		}
	}
	for range 300 {
		switch r.N(20) {
		case 0, 1:
			a, b := two()
			k := Link{
				Latency: dist(), Loss: chance(), Duplicate: chance(), Reorder: chance(), Corrupt: chance(), DeliverCorrupt: r.N(2) == 0,
				InOrder: r.N(2) == 0, Bandwidth: int64(r.N(2) * 1e6), Queue: r.N(5000), MTU: 576 * r.N(2),
			}
			if r.N(3) == 0 {
				k.Burst = Burst{Begin: 0.1, End: 0.3}
			}
			l.SetLinkOneWay(a, b, k)
		case 2:
			l.SetUplink(names[r.N(len(names))], rate())
		case 3:
			l.SetDownlink(names[r.N(len(names))], rate())
		case 4:
			if text := rules[r.N(len(rules))]; l.rule(text) == nil {
				l.Rule(text, text)
			} else {
				l.RemoveRule(text)
			}
		case 5:
			a, b := two()
			host := r.N(2) == 0
			if slices.ContainsFunc(l.flaps, func(f *Flapping) bool { return (f.b == nil) == host }) {
				break // one of each kind at a time
			}
			if host {
				l.FlapHost(a, dist(), dist())
			} else {
				l.Flap(a, b, dist(), dist())
			}
		case 6:
			nats[r.N(2)].Rebind()
		case 7:
			a, b := two()
			[]func(){func() { l.Cut(a, b) }, func() { l.Hold(a, b) }, func() { l.Partition([]string{"a"}, []string{"d"}) }}[r.N(3)]()
		case 8, 9:
			l.Heal()
		case 10, 11:
			h := []string{"a", "b", "c", "d"}[r.N(4)]
			to := []string{"10.0.0.4:80", "[fd00::5]:80", "10.0.0.6:80"}[r.N(3)]
			if a := ap(to); l.Lookup(h).Addr() != a.Addr() && l.Lookup(h).up {
				conns = append(conns, l.dial(h, to))
			}
		case 12, 13:
			if len(conns) > 0 {
				c := conns[r.N(len(conns))]
				c.Send(make([]byte, r.N(9000)), false)
				if r.N(5) == 0 {
					c.Close()
				}
			}
		case 14:
			for _, h := range []string{"a", "d", "e"} {
				if y, errno := listeners[h].Accept(); errno == 0 {
					conns = append(conns, y)
				}
			}
		case 15, 16:
			l.wait(time.Duration(r.N(2e9)))
		default:
			h := l.hosts()[r.N(5)]
			to := []netip.AddrPort{l.addr("d"), l.addr("e"), netip.AddrPortFrom(nats[0].Addr(), 7), l.addr("a"), netip.AddrPortFrom(l.Lookup("e").Addr(), 99)}[r.N(5)]
			l.socks[h].Send(make([]byte, r.N(3000)), to, nil)
			if d, errno := l.socks["d"].Recv(false); errno == 0 {
				l.socks["d"].Send([]byte("answer"), d.From, nil)
				d.Release()
			}
		}
		l.conserved()
		inNAT()
	}
	for _, c := range conns {
		c.Close()
	}
	l.Heal()
	l.run()
	l.conserved()
	inNAT()
	if c := l.Total(); c.InFlight != 0 || c.Held != 0 || c.Queued != 0 {
		t.Fatalf("seed %d: something is left: %+v", seed, c)
	}
	if capture {
		if err := l.StopCaptures(); err != nil {
			t.Fatal(err)
		}
		var out, in uint64
		for _, p := range readCapture(t, file.Bytes()) {
			switch {
			case strings.HasSuffix(p.iface, " lo"), p.frag > 0:
			case p.in:
				in++
			default:
				out++
			}
		}
		if c := l.Total(); out != c.Sent || in != c.Delivered {
			t.Fatalf("seed %d: captured %d out, %d in: %+v", seed, out, in, c)
		}
	}
	return l, nats
}

// TestTempest: two runs are the same, though one is captured.
func TestTempest(t *testing.T) {
	seeds := uint64(60)
	if testing.Short() {
		seeds = 10
	}
	var sum Counters
	var nat NATCounters
	verbs := map[string]int{}
	for seed := range seeds {
		one, nats := tempest(t, seed, false)
		two, _ := tempest(t, seed, true)
		if !slices.Equal(one.log, two.log) || one.w.Fingerprint() != two.w.Fingerprint() || one.net.Draws() != two.net.Draws() {
			t.Fatalf("seed %d: two runs part", seed)
		}
		sum.add(one.Total())
		for _, g := range nats {
			c := g.Counters()
			nat.Out, nat.In, nat.Hairpinned, nat.Filtered = nat.Out+c.Out, nat.In+c.In, nat.Hairpinned+c.Hairpinned, nat.Filtered+c.Filtered
		}
		for _, line := range one.log {
			verb, _, _ := strings.Cut(line, " by ")
			verbs[verb[strings.LastIndexByte(verb, ' ')+1:]]++
		}
	}
	for v := Sent; int(v) < len(verbNames); v++ {
		if verbs[v.String()] == 0 && v != NoNeighbour && v != BufferFull {
			t.Errorf("no packet was ever %v", v)
		}
	}
	for what, n := range map[string]uint64{
		"BurstLost": sum.BurstLost, "RuleDrops": sum.RuleDrops, "QueueDrops": sum.QueueDrops, "QueueHigh": sum.QueueHigh, "Cut": sum.Cut,
		"Out": nat.Out, "In": nat.In, "Hairpinned": nat.Hairpinned, "Filtered": nat.Filtered,
	} {
		if n == 0 {
			t.Errorf("%s is 0: %+v, %+v", what, sum, nat)
		}
	}
}

// TestLinkScenario tells the story of rules, NATs and flapping.
func TestLinkScenario(t *testing.T) {
	l := newLAN(t, 42, "phone", "laptop", "server").traced()
	l.Told = func(format string, args ...any) { l.log = append(l.log, "= "+fmt.Sprintf(format, args...)) }
	say := func(s string) { l.log = append(l.log, "", "# "+s) }

	say("Two hosts behind a NAT with a slow uplink.")
	g := l.NAT("home", NAT{Reject: true}, "phone", "laptop")
	l.SetLink("home", "server", Link{Latency: Constant(10 * time.Millisecond)})
	l.SetUplink("home", Rate{Bandwidth: 1e6, Queue: 3000})
	l.send("phone", "server", strings.Repeat("x", 1000))
	l.send("laptop", "server", strings.Repeat("y", 1000))
	l.send("laptop", "server", strings.Repeat("z", 1000))
	l.wait(time.Second)

	say("The server answers; then the NAT gives the mappings new ports.")
	d, _ := l.socks["server"].Recv(false)
	phone := d.From
	l.sendTo(l.socks["server"], "answer", phone)
	l.wait(time.Second)
	g.Rebind()
	l.sendTo(l.socks["server"], "too late", phone)
	l.wait(time.Second)
	l.send("phone", "server", "from elsewhere")
	l.wait(time.Second)

	say("The first SYN is lost, the first answer comes late, and data is rejected.")
	l.listen("server", "0.0.0.0:80", 1)
	l.Rule("lose", "drop first syn to port 80")
	l.Rule("slow", "delay 200ms 1st syn-ack from server")
	l.Rule("filter", "reject tcp data to server port 80")
	x := l.dial("laptop", "10.0.0.3:80")
	l.wait(2 * time.Second)
	l.sends(x, "hello")
	l.wait(time.Second)

	say("Healed, and then the link flaps.")
	l.Heal()
	l.Flap("home", "server", Constant(time.Second), Constant(500*time.Millisecond))
	for range 4 {
		l.send("phone", "server", "x")
		l.wait(600 * time.Millisecond)
	}
	l.Heal()
	l.golden("testdata/links.txt")
}

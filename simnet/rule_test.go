package simnet

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// udpTo returns a UDP socket of the host that is connected.
func (l *lan) udpTo(host string, to netip.AddrPort) *UDP {
	l.Helper()
	family := syscall.AF_INET
	if !to.Addr().Is4() {
		family = syscall.AF_INET6
	}
	u := l.Lookup(host).NewUDP(family)
	l.ok("connect", u.Connect(to))
	return u
}

func (l *lan) counters(from, to string, check func(c Counters) bool) {
	l.Helper()
	if c := l.Counters(from, to); !check(c) {
		l.Errorf("%s > %s: %+v", from, to, c)
	}
}

// TestRuleWhich: the packets that a rule picks, seen by the receiver, and by the
// sender, whom nobody tells.
func TestRuleWhich(t *testing.T) {
	const all = "0123456789"
	for rule, want := range map[string]string{
		"drop":                          "",
		"drop first udp":                "123456789",
		"drop 2nd-4th udp from a to b":  "0456789",
		"drop every 3rd from a":         "013467 9",
		"drop after 7th to port 7":      "0123456",
		"drop first 2 udp from port 7":  "23456789",
		"drop udp from b":               all,
		"drop tcp":                      all,
		"drop to port 8":                all,
		"drop port 1-6,8-9":             all,
		"drop port 1,7":                 "",
		"drop over 0 bytes":             "",
		"drop over 1 bytes":             all,
		"drop 3rd of each flow":         "013456789",
		"accept every 2nd":              all,
		"duplicate 1st-2nd to b port 7": "00112 3456789",
	} {
		l := newLAN(t, 1, "a", "b")
		l.Rule("r", rule)
		for _, c := range all {
			l.send("a", "b", string(c))
		}
		if got := strings.Join(got(l.socks["b"]), ""); got != strings.ReplaceAll(want, " ", "") {
			t.Errorf("%s: got %q, want %q", rule, got, want)
		}
		if l.net.Draws() != 0 {
			t.Errorf("%s: draws", rule)
		}
		l.conserved()
	}
}

func TestRuleChance(t *testing.T) {
	l := newLAN(t, 1, "a", "b")
	l.socks["b"].SetRcvBuf(1<<30, true)
	l.Rule("some", "drop 10% udp to port 7")
	l.Rule("others", "delay 1ms-3ms tcp")
	for range 5000 {
		l.send("a", "b", "x")
		l.socks["a"].Send([]byte("x"), netip.AddrPortFrom(l.Lookup("b").Addr(), 8), nil)
	}
	c := l.RuleCounters("some")
	near(t, "hits", c.Hits, 500)
	if c.Seen != 5000 || l.net.Draws() != 5000 {
		t.Errorf("%+v, %d draws: a rule draws for what it is about", c, l.net.Draws())
	}
	if o := l.RuleCounters("others"); o.Seen != 0 || o.Hits != 0 {
		t.Errorf("%+v", o)
	}
	l.counters("a", "b", func(k Counters) bool { return k.RuleDrops == c.Hits })
}

// TestRuleOrder: the first that drops, rejects or accepts decides; the others add up.
func TestRuleOrder(t *testing.T) {
	l := newLAN(t, 1, "a", "b")
	l.Rule("late", "delay 1ms")
	l.Rule("later", "delay 2ms")
	l.Rule("spare", "accept to port 7 over 3 bytes")
	l.Rule("drop", "drop udp")
	l.Rule("never", "drop")
	if r := l.Rules(); !slices.Equal(r, []string{"late", "later", "spare", "drop", "never"}) {
		t.Errorf("%q", r)
	}
	l.send("a", "b", "abc")
	l.send("a", "b", "abcd")
	if d := l.run(); d != 3*time.Millisecond {
		t.Errorf("took %v", d)
	}
	l.expect("spared", l.socks["b"], "abcd")
	for name, want := range map[string]RuleCounters{"late": {2, 2}, "later": {2, 2}, "spare": {1, 1}, "drop": {1, 1}, "never": {0, 0}} {
		if c := l.RuleCounters(name); c != want {
			t.Errorf("%s: %+v, want %+v", name, c, want)
		}
	}
	l.RemoveRule("drop")
	l.send("a", "b", "abc")
	l.expect("never is next", l.socks["b"])
	l.Heal()
	if len(l.Rules()) != 0 || !l.path(l.Lookup("a"), l.Lookup("b")).plain {
		t.Error("Heal left a rule")
	}
	l.send("a", "b", "abc")
	l.expect("healed", l.socks["b"], "abc")
	l.conserved()
}

func TestRuleFunc(t *testing.T) {
	l := newLAN(t, 1, "a", "b")
	var seen []string
	l.RuleFunc("f", func(p *Packet) Verdict {
		seen = append(seen, fmt.Sprintf("%s>%s %s %v>%v %q syn=%v ack=%v fin=%v %d", p.From, p.To, p.Proto, p.Src, p.Dst, p.Payload, p.SYN, p.ACK, p.FIN, p.Count))
		if p.Proto == "udp" && string(p.Payload) == "bad" {
			return Drop
		}
		return Pass
	})
	l.send("a", "b", "bad")
	l.send("a", "b", "good")
	l.send("b", "a", "bad")
	l.expect("b", l.socks["b"], "good")
	l.expect("a", l.socks["a"])
	if c := l.RuleCounters("f"); c.Seen != 3 || c.Hits != 2 {
		t.Errorf("%+v", c)
	}
	want := []string{
		`a>b udp 10.0.0.1:7>10.0.0.2:7 "bad" syn=false ack=false fin=false 0`,
		`a>b udp 10.0.0.1:7>10.0.0.2:7 "good" syn=false ack=false fin=false 1`,
		`b>a udp 10.0.0.2:7>10.0.0.1:7 "bad" syn=false ack=false fin=false 1`,
	}
	if !slices.Equal(seen, want) {
		t.Errorf("%q", seen)
	}
	seen = nil
	l.listen("b", "0.0.0.0:80", 1)
	x := l.dial("a", "10.0.0.2:80")
	l.sends(x, "hi")
	l.run()
	if len(seen) < 4 || !strings.Contains(seen[0], "syn=true ack=false") || !strings.Contains(seen[1], "syn=true ack=true") || !strings.Contains(seen[3], `"hi" syn=false ack=true`) {
		t.Errorf("%q", seen)
	}
}

// TestRuleReject: the sender is told at once, by what the text says, and the receiver
// sees nothing. The answer takes the way back.
func TestRuleReject(t *testing.T) {
	link := Link{Latency: Constant(5 * time.Millisecond)}
	for _, c := range []struct {
		rule     string
		udp, tcp syscall.Errno
	}{
		{"reject", syscall.ECONNREFUSED, syscall.ECONNREFUSED},
		{"reject with port-unreachable", syscall.ECONNREFUSED, syscall.ECONNREFUSED},
		{"reject with host-unreachable", 0, syscall.EHOSTUNREACH},
		{"reject with prohibited", syscall.EHOSTUNREACH, syscall.EHOSTUNREACH},
	} {
		for _, to := range []string{"10.0.0.2", "fd00::2"} {
			for _, k := range []Link{link, {}} {
				l := newLAN(t, 1, "a", "b")
				l.SetDefault(k)
				server := l.bind("b", inet6any, 8)
				ls := l.listen("b", "[::]:80", 10)
				l.Rule("r", c.rule+" from a")
				a := netip.MustParseAddr(to)
				u := l.udpTo("a", netip.AddrPortFrom(a, 8))
				u.Send([]byte("x"), netip.AddrPort{}, nil)
				l.run()
				l.is(c.rule+" of a datagram", u.PendingError(), c.udp)
				x := l.dial("a", netip.AddrPortFrom(a, 80).String())
				l.wait(20 * time.Millisecond)
				l.is(c.rule+" of SYN", x.PendingError(), c.tcp)
				l.expect("receiver", server)
				if _, errno := ls.Accept(); errno != again {
					t.Errorf("%s: accepted %v", c.rule, errno)
				}
				l.counters("a", "b", func(c Counters) bool { return c.RuleDrops == 2 && c.Delivered == 0 })
				l.counters("b", "a", func(c Counters) bool { return c.Delivered == 2 && c.Sent == 2 })
				l.conserved()
			}
		}
	}
}

// TestRuleRejectConnection: what a rejected segment does to a connection that is there.
func TestRuleRejectConnection(t *testing.T) {
	l := newLAN(t, 1, "a", "b")
	l.SetDefault(Link{Latency: Constant(time.Millisecond)})
	ls := l.listen("b", "0.0.0.0:80", 10)
	pair := func() (x, y *TCP) {
		x = l.dial("a", "10.0.0.2:80")
		l.wait(10 * time.Millisecond)
		return x, l.accept(ls)
	}
	x, y := pair()
	l.Rule("r", "reject tcp data to port 80")
	l.sends(x, "hello")
	l.wait(10 * time.Millisecond)
	l.is("sender", x.PendingError(), syscall.ECONNRESET)
	l.gets(y, "", again) // nobody has told the other end
	l.state(y, established)

	// An ICMP error does not end it: it goes on, and tells if it has to give up.
	l.Heal()
	x, y = pair()
	l.Rule("r", "reject with host-unreachable tcp data to port 80")
	l.sends(x, "hello")
	l.wait(time.Second)
	l.is("sender", x.PendingError(), 0)
	l.RemoveRule("r")
	l.wait(time.Second)
	l.gets(y, "hello", again)
	l.Rule("r", "reject with host-unreachable tcp data to port 80")
	x.UserTimeout = 10 * time.Second
	l.sends(x, "hello")
	l.wait(time.Minute)
	l.is("sender in the end", x.PendingError(), syscall.EHOSTUNREACH)
	l.conserved()
}

// TestRuleTCP: what rules do to a connection shows as time.
func TestRuleTCP(t *testing.T) {
	l := newLAN(t, 1, "a", "b")
	l.SetDefault(Link{Latency: Constant(10 * time.Millisecond)})
	ls := l.listen("b", "0.0.0.0:80", 10)
	connect := func(rules ...string) (took time.Duration, y *TCP, x *TCP) {
		l.Helper()
		l.Heal()
		for _, r := range rules {
			l.Rule(r, r)
		}
		x = l.dial("a", "10.0.0.2:80")
		start := l.w.Elapsed()
		for !x.Writable() && l.w.Step() {
		}
		took = l.w.Elapsed() - start
		l.wait(time.Second)
		return took, l.accept(ls), x
	}
	for rule, want := range map[string]time.Duration{
		"drop udp":                      20 * time.Millisecond,
		"drop first syn to port 80":     1020 * time.Millisecond,
		"drop first 2 syn":              3020 * time.Millisecond,
		"drop first syn-ack from b":     1020 * time.Millisecond,
		"delay 200ms syn":               220 * time.Millisecond,
		"delay 100ms tcp from a":        120 * time.Millisecond,
		"duplicate tcp":                 20 * time.Millisecond,
		"drop first tcp data":           20 * time.Millisecond,
		"drop 1st syn-ack of each flow": 1020 * time.Millisecond,
		"corrupt 1st syn":               1020 * time.Millisecond,
	} {
		if took, _, _ := connect(rule); took != want {
			t.Errorf("%s: connecting took %v, want %v", rule, took, want)
		}
	}
	_, y, x := connect("drop every 3rd tcp data from a")
	text := strings.Repeat("0123456789", 6000)
	l.sends(x, text)
	l.wait(time.Minute)
	l.gets(y, text, again)
	if c := l.RuleCounters("drop every 3rd tcp data from a"); c.Hits < 10 || c.Seen < 3*c.Hits {
		t.Errorf("%+v", c)
	}
	// The last word is lost once: the end of the stream comes late.
	_, y, x = connect("drop first fin from a")
	x.Close()
	l.wait(100 * time.Millisecond)
	l.gets(y, "", again)
	l.wait(time.Second)
	l.gets(y, "", 0)
	l.conserved()
}

func TestRuleCorrupt(t *testing.T) {
	l := newLAN(t, 1, "a", "b")
	l.Rule("c", "corrupt first udp")
	l.send("a", "b", "x")
	l.send("a", "b", "y")
	l.expect("dropped by the checksum", l.socks["b"], "y")
	l.counters("a", "b", func(c Counters) bool { return c.Corrupted == 1 })
	l.Heal()
	l.SetDefault(Link{DeliverCorrupt: true})
	l.Rule("c", "corrupt first udp")
	l.send("a", "b", "x")
	if all := got(l.socks["b"]); len(all) != 1 || all[0] == "x" || len(all[0]) != 1 {
		t.Errorf("%q", all)
	}
	l.conserved()
}

// TestRuleToGroup: a rejected broadcast is not answered.
func TestRuleToGroup(t *testing.T) {
	l := newLAN(t, 1, "a", "b", "c")
	l.Rule("r", "reject udp to b")
	a := l.socks["a"]
	a.Broadcast = true
	a.Send([]byte("all"), ap("255.255.255.255:7"), nil)
	l.expect("b", l.socks["b"])
	l.expect("c", l.socks["c"], "all")
	l.counters("b", "a", func(c Counters) bool { return c.Sent == 0 })
}

func TestRuleMisuse(t *testing.T) {
	l := newLAN(t, 1, "a", "b")
	l.Rule("r", "drop udp")
	l.NAT("home", NAT{}, "a")
	for want, do := range map[string]func(){
		`simnet: Rule "x": rule "drop it": column 6: found "it", expected `:                                          func() { l.Rule("x", "drop it") },
		`simnet: Rule: no host "z"; known hosts: a, b, home`:                                                         func() { l.Rule("x", "drop to z") },
		`simnet: Rule: there is a rule "r" already; remove it first`:                                                 func() { l.Rule("r", "drop") },
		`simnet: Rule: there is no link between "a" and "b": "a" is behind the NAT "home", and its links lead there`: func() { l.Rule("x", "drop to a from b") },
		`simnet: Rule: a rule needs a name`:                                                                          func() { l.Rule("", "drop") },
		`simnet: RuleFunc "x": needs a function`:                                                                     func() { l.RuleFunc("x", nil) },
		`simnet: RemoveRule: no rule "x"; known rules: r`:                                                            func() { l.RemoveRule("x") },
		`simnet: RuleCounters: no rule "x"; known rules: r`:                                                          func() { l.RuleCounters("x") },
		`simnet: SetUplink: Bandwidth is -1, must not be negative`:                                                   func() { l.SetUplink("a", Rate{Bandwidth: -1}) },
		`simnet: SetLink: Burst.Begin is 0.1 and Burst.End is 0: the first burst would never end`: func() {
			l.SetLink("b", "home", Link{Burst: Burst{Begin: 0.1}})
		},
		`simnet: SetLink: there is no link between "a" and "b": "a" is behind the NAT "home", and its links lead there`: func() { l.SetLink("b", "a", Link{}) },
		`simnet: Hold: there is no link between "a" and "b": "a" is behind the NAT "home", and its links lead there`:    func() { l.Hold("a", "b") },
		`simnet: Flap: there is no link between "a" and "b": "a" is behind the NAT "home", and its links lead there`: func() {
			l.Flap("a", "b", Constant(1), Constant(1))
		},
		`simnet: FlapHost: needs a distribution of the times up, and one of the times down`: func() { l.FlapHost("a", nil, nil) },
		`simnet: AddHost: "home" is a NAT already`:                                          func() { l.AddHost("home") },
		`simnet: NAT: host "b" exists already`:                                              func() { l.NAT("b", NAT{}, "b") },
		`simnet: NAT "x": "a" is behind the NAT "home" already`:                             func() { l.NAT("x", NAT{}, "a") },
		`simnet: NAT "x": needs a host behind it`:                                           func() { l.NAT("x", NAT{}) },
		`simnet: NAT: a timeout is -1ns, must not be negative`:                              func() { l.NAT("x", NAT{UDPTimeout: -1}, "b") },
		`simnet: Capture: Limit is -1, must not be negative`:                                func() { l.Capture(nil, CaptureOptions{Limit: -1}) },
		`simnet: Capture: no host "z"; known hosts: a, b, home`:                             func() { l.Capture(nil, CaptureOptions{Hosts: []string{"z"}}) },
	} {
		func() {
			defer func() {
				if r, _ := recover().(string); r != want && !(strings.HasSuffix(want, "expected ") && strings.HasPrefix(r, want)) {
					t.Errorf("panic %v\nwant  %s", r, want)
				}
			}()
			do()
		}()
	}
}

// TestTimeoutReason: a connection that fails for want of a route says so (Linux's
// sk_err_soft), unless something got through since.
func TestTimeoutReason(t *testing.T) {
	for _, c := range []struct {
		up   bool
		want syscall.Errno
	}{{false, syscall.ENETUNREACH}, {true, syscall.ETIMEDOUT}} {
		l := newLAN(t, 1, "a", "b")
		x, _ := l.conn()
		l.Down("a")
		l.sends(x, "lost")
		l.wait(5 * time.Second)
		if c.up {
			l.Up("a")
			l.wait(5 * time.Second) // it gets through
			l.Cut("a", "b")
			l.sends(x, "lost as well")
		}
		l.wait(time.Hour)
		l.is("read", x.PendingError(), c.want)
	}
}

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

var (
	dns4 = netip.AddrPortFrom(nameServer4, dnsPort)
	dns6 = netip.AddrPortFrom(nameServer6, dnsPort)
)

// asks sends a question, such as "a.sim.internal A", from a socket.
func (l *lan) asks(u *UDP, question string) {
	l.Helper()
	f := strings.Fields(question)
	typ, _ := parseType(f[1])
	to := dns4
	if u.v6 {
		to = dns6
	}
	if _, errno := u.Send(query(f[0], typ, 1232).pack(), to, nil); errno != 0 {
		l.Fatalf("%s: %v", question, errno)
	}
}

// told reads the answers that a socket has, each as its code and data.
func (l *lan) told(u *UDP) (all []string) {
	l.Helper()
	for _, b := range got(u) {
		all = append(all, l.brief([]byte(b)))
	}
	return all
}

// brief writes an answer as its code and data.
func (l *lan) brief(b []byte) string {
	l.Helper()
	m, err := unpackMessage(b)
	if err != nil {
		return err.Error()
	}
	s := fmt.Sprint(m.flags & 0xf)
	if m.flags&dnsTruncatedFlag != 0 {
		s += " truncated"
	}
	if m.id != 7 {
		s += fmt.Sprintf(" id %d", m.id)
	}
	for _, r := range m.answers {
		s += " " + r.text()
	}
	return s
}

// expects asks, runs all events, and compares the answers.
func (l *lan) expects(u *UDP, question string, want ...string) {
	l.Helper()
	l.asks(u, question)
	l.run()
	if all := l.told(u); !slices.Equal(all, want) {
		l.Errorf("%s: %q, want %q", question, all, want)
	}
}

func TestDNSHosts(t *testing.T) {
	l := newLAN(t, 1, "a", "b")
	u4, u6 := l.bind("a", inet4any, 9), l.bind("a", inet6any, 10)
	l.AddHost("late")
	for _, u := range []*UDP{u4, u6} {
		l.expects(u, "b.sim.internal A", "0 10.0.0.2")
		l.expects(u, "B.Sim.Internal AAAA", "0 fd00::2")
		l.expects(u, "late.sim.internal A", "0 10.0.0.3")
		l.expects(u, "2.0.0.10.in-addr.arpa PTR", "0 b.sim.internal.")
		l.expects(u, "3."+strings.Repeat("0.", 28)+"d.f.ip6.arpa PTR", "3") // a digit short
		l.expects(u, "3.0."+strings.Repeat("0.", 28)+"d.f.ip6.arpa PTR", "0 late.sim.internal.")
		l.expects(u, "53.255.0.10.in-addr.arpa PTR", "0 dns.sim.internal.")
		l.expects(u, "9.0.0.10.in-addr.arpa PTR", "3")
		l.expects(u, "b A", "3")
		l.expects(u, "b.sim.internal MX", "0")
		l.expects(u, "sim.internal NS", "0 dns.sim.internal.")
		l.expects(u, "localhost A", "0 127.0.0.1")
	}
	l.AddHost("later")
	l.expects(u4, "later.sim.internal A", "0 10.0.0.4")
	d := l.DNS()
	d.Replace("b 5 A 10.0.0.1", "b 5 A 10.0.0.3")
	l.expects(u4, "b.sim.internal A", "0 10.0.0.1 10.0.0.3")
	l.expects(u4, "b.sim.internal AAAA", "0 fd00::2")
	d.Replace("b CNAME a")
	l.expects(u4, "b.sim.internal AAAA", "0 a.sim.internal. fd00::1")
	d.Replace("b A 10.0.0.2")
	if all := d.Records("b"); !slices.Equal(all, []string{"b.sim.internal. 60 IN A 10.0.0.2"}) {
		t.Errorf("records of b: %q", all)
	}
	if n := d.Remove("B", "AAAA"); n != 0 {
		t.Errorf("%d removed", n)
	}
	if n := d.Remove("B", "AAAA", "A"); n != 1 {
		t.Errorf("%d removed", n)
	}
	l.expects(u4, "b.sim.internal A", "3")
	if n, m := d.Asked("a", "b"), d.Asked("", "b.SIM.internal."); n != 10 || m != n || d.Asked("b", "") != 0 || d.Asked("", "") != d.Counters().Queries {
		t.Errorf("asked %d, %d times; %+v", n, m, d.Counters())
	}
	l.conserved()
	if l.net.Draws() != 0 {
		t.Errorf("%d draws", l.net.Draws())
	}
}

// Whoever asks nothing has no server.
func TestDNSUnused(t *testing.T) {
	l := newLAN(t, 1, "a", "b")
	l.send("a", "b", "x")
	l.Partition([]string{"a"})
	l.Heal()
	l.SetDefault(Link{Loss: 0.5})
	l.EtcResolvConf("a")
	if l.dns != nil || l.w.Step() {
		t.Errorf("there is a server, or an event")
	}
}

func TestDNSFaults(t *testing.T) {
	l := newLAN(t, 1, "a", "b")
	d := l.DNS()
	d.Add("x.example A 10.0.0.9", "y.example A 10.0.0.8")
	a, b := l.socks["a"], l.socks["b"]
	for answer, want := range map[DNSAnswer]string{
		DNSServFail: "2", DNSRefused: "5", DNSNotImp: "4", DNSFormErr: "1", DNSNXDomain: "3", DNSNoData: "0",
		DNSSilent: "", DNSTruncated: "0 truncated", DNSWrongID: "0 id 32775 10.0.0.9", DNSGarbage: errBadName.Error(),
	} {
		wants := []string{want}
		if want == "" {
			wants = nil
		}
		for _, f := range []DNSFault{{}, {Name: "X.example."}, {Name: "*.example"}, {Type: "A"}, {Host: "a"}, {Name: "x.example", Host: "a", Type: "a"}} {
			f.Answer = answer
			d.Fail(f)
			l.expects(a, "x.example A", wants...)
			d.Recover()
		}
		for _, f := range []DNSFault{{Name: "y.example"}, {Name: "*.x.example"}, {Type: "AAAA"}, {Host: "b"}, {Name: "x.example", Host: "b", Type: "a"}} {
			f.Answer = answer
			d.Fail(f)
			l.expects(a, "x.example A", "0 10.0.0.9")
			l.Heal()
		}
	}
	c := d.Counters()
	if c.Queries != 110 || c.Faults != 60 || c.Silent != 6 || c.Truncated != 6 || c.NXDomain != 6 || c.NoData != 6 || c.Errors != 24 || c.NoError != 62 || c.TCP != 0 {
		t.Errorf("%+v", c)
	}

	// The last one counts.
	d.Fail(DNSFault{Name: "x.example", Answer: DNSRefused})
	d.Fail(DNSFault{Delay: Constant(time.Second)})
	d.Fail(DNSFault{Host: "b", Answer: DNSNXDomain, Delay: Constant(2 * time.Second)})
	for u, want := range map[*UDP]string{a: "1s 0 10.0.0.9", b: "2s 3"} {
		l.asks(u, "x.example A")
		if got := fmt.Sprint(l.run(), " ", strings.Join(l.told(u), ";")); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	l.Heal()
	l.expects(b, "x.example A", "0 10.0.0.9")

	// A chance is drawn, and never in vain.
	before := l.net.Draws()
	d.Fail(DNSFault{Name: "x.example", Answer: DNSServFail, Chance: 0.5})
	l.expects(a, "y.example A", "0 10.0.0.8")
	if n := l.net.Draws() - before; n != 0 {
		t.Errorf("%d draws for another name", n)
	}
	failed := 0
	for range 200 {
		l.asks(a, "x.example A")
		l.run()
		if l.told(a)[0] == "2" {
			failed++
		}
	}
	if failed < 70 || failed > 130 {
		t.Errorf("%d of 200 failed", failed)
	}
}

func TestDNSStop(t *testing.T) {
	l := newLAN(t, 1, "a")
	d := l.DNS()
	u := l.socks["a"]
	u.Connect(dns4)
	d.Fail(DNSFault{Delay: Constant(time.Second)})
	l.asks(u, "a.sim.internal A")
	l.wait(time.Millisecond)
	d.Stop()
	d.Stop()
	l.expect("what was not answered is forgotten", u)
	l.wait(2 * time.Second)
	l.asks(u, "a.sim.internal A")
	l.is("refused", u.PendingError(), syscall.ECONNREFUSED)
	x := l.dial("a", "10.0.255.53:53")
	l.run()
	l.is("TCP refused", x.PendingError(), syscall.ECONNREFUSED)
	d.Start()
	d.Recover()
	l.expects(u, "a.sim.internal A", "0 10.0.0.1")
	d.Stop()
	l.Heal()
	l.expects(u, "a.sim.internal A", "0 10.0.0.1")
	d.Stop()
	l.w.Cancel(&d.server.wake)
	l.conserved()
}

// The name server is on a side, or beyond, as a host is.
func TestDNSPartition(t *testing.T) {
	l := newLAN(t, 1, "a", "b")
	a, b := l.socks["a"], l.socks["b"]
	const q = "a.sim.internal A"
	reach := func(what string, fromA, fromB bool) {
		t.Helper()
		for _, c := range []struct {
			u    *UDP
			want bool
		}{{a, fromA}, {b, fromB}} {
			l.asks(c.u, q)
			l.run()
			if got := len(l.told(c.u)) == 1; got != c.want {
				t.Errorf("%s: host %s: answered %v", what, c.u.s.name, got)
			}
		}
	}
	l.Partition([]string{"a"}) // before anybody asked
	reach("a alone", false, true)
	l.Mend("a", NameServer)
	reach("one way mended", false, true)
	l.Mend(NameServer, "a")
	reach("mended", true, true)
	l.Partition([]string{"a"})
	reach("a alone again", false, true)
	l.Heal()
	reach("healed", true, true)
	l.Partition([]string{"a"}, []string{"b"})
	reach("not named", true, true)
	l.Heal()
	l.Partition([]string{"a", NameServer}, []string{"b"})
	reach("on the side of a", true, false)
	l.Heal()
	l.Partition([]string{NameServer})
	reach("alone", false, false)
	l.Heal()
	l.Partition([]string{"a", NameServer})
	reach("with a", true, false)
	l.Heal()
	l.Cut(NameServer, "b")
	reach("the way back cut", true, false)
	l.Heal()
	l.Down(NameServer)
	reach("down", false, false)
	l.Heal()
	reach("healed", true, true)
	l.SetLink("a", NameServer, Link{Latency: Constant(time.Second)})
	l.asks(a, q)
	if d := l.run(); d != 2*time.Second || len(l.told(a)) != 1 {
		t.Errorf("answered after %v", d)
	}
	l.conserved()
	defer func() {
		if s := fmt.Sprint(recover()); !strings.Contains(s, "name server") {
			t.Errorf("a host called dns: %s", s)
		}
	}()
	l.AddHost("DNS")
}

// frame is queries as they are sent over TCP.
func frame(questions ...string) string {
	var s string
	for _, question := range questions {
		f := strings.Fields(question)
		typ, _ := parseType(f[1])
		b := query(f[0], typ).pack()
		s += string([]byte{byte(len(b) >> 8), byte(len(b))}) + string(b)
	}
	return s
}

// frames reads the answers that a connection has.
func (l *lan) frames(t *TCP) (all []string) {
	l.Helper()
	var in []byte
	buf := make([]byte, 4096)
	for {
		n, errno := t.Recv(buf, false)
		if n == 0 {
			if errno == 0 {
				all = append(all, "end")
			} else if errno != syscall.EAGAIN {
				all = append(all, errno.Error())
			}
			break
		}
		in = append(in, buf[:n]...)
	}
	var before []string
	for len(in) > 1 {
		size := int(in[0])<<8 | int(in[1])
		before = append(before, l.brief(in[2:2+size]))
		in = in[2+size:]
	}
	return append(before, all...)
}

func TestDNSOverTCP(t *testing.T) {
	l := newLAN(t, 1, "a")
	l.SetDefault(Link{Latency: Constant(10 * time.Millisecond)})
	d := l.DNS()
	d.Add("x.example A 10.0.0.9", "late.example A 10.0.0.8")
	for i := range 200 {
		d.Add(fmt.Sprintf(`huge.example TXT "%03d%s"`, i, strings.Repeat("x", 200)))
	}
	d.Fail(DNSFault{Name: "late.example", Delay: Constant(time.Second)})
	d.Fail(DNSFault{Name: "x.example", Answer: DNSTruncated}) // means nothing over TCP
	check := func(what string, x *TCP, want ...string) {
		t.Helper()
		if got := l.frames(x); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", what, got, want)
		}
	}
	for _, to := range []string{"10.0.255.53:53", "[fd00::ff:53]:53"} {
		x := l.dial("a", to)
		l.wait(50 * time.Millisecond)
		l.sends(x, frame("late.example A", "x.example A", "a.sim.internal A"))
		l.wait(500 * time.Millisecond)
		check("those that are not late", x, "0 10.0.0.9", "0 10.0.0.1")
		l.wait(time.Second)
		check("the one that is", x, "0 10.0.0.8")
		for _, c := range frame("x.example A") { // a byte at a time
			l.sends(x, string([]byte{byte(c)}))
			l.wait(50 * time.Millisecond)
		}
		check("in pieces", x, "0 10.0.0.9")
		l.sends(x, frame("huge.example TXT"))
		l.wait(5 * time.Second)
		if got := l.frames(x); len(got) != 1 || strings.Count(got[0], `" "`)+strings.Count(got[0], `"`) < 400 {
			t.Errorf("huge: %d answers", len(got))
		}
		l.wait(dnsIdle - 100*time.Millisecond - 5*time.Second)
		check("not idle for long enough", x)
		l.wait(time.Second)
		check("idle", x, "end")
		x.Close()

		x = l.dial("a", to)
		l.wait(50 * time.Millisecond)
		l.sends(x, frame("late.example A"))
		l.ok("shutdown", x.Shutdown(false, true))
		l.wait(500 * time.Millisecond)
		check("half closed", x)
		l.wait(time.Second)
		check("half closed, answered", x, "0 10.0.0.8", "end")
		x.Close()

		x = l.dial("a", to)
		l.wait(50 * time.Millisecond)
		l.sends(x, "\x00\x03abc\x00\x00"+frame("a.sim.internal A"))
		l.wait(50 * time.Millisecond)
		check("what is no query has no answer", x, "0 10.0.0.1")
		d.Stop()
		l.wait(50 * time.Millisecond)
		check("stopped", x, "end")
		d.Start()
		x.Close()
	}
	l.run()
	if d.server.conns != nil && len(d.server.conns) != 0 {
		t.Errorf("%d connections are left", len(d.server.conns))
	}
	l.conserved()
}

// A client that sends queries and reads no answer stalls itself only.
func TestDNSNoReader(t *testing.T) {
	l := newLAN(t, 1, "a")
	d := l.DNS()
	for i := range 200 {
		d.Add(fmt.Sprintf(`huge.example TXT "%03d%s"`, i, strings.Repeat("x", 200)))
	}
	x := l.dial("a", "10.0.255.53:53")
	l.wait(time.Millisecond)
	for range 10 {
		l.sends(x, frame("huge.example TXT"))
	}
	l.wait(time.Second)
	l.asks(l.socks["a"], "a.sim.internal A")
	l.wait(time.Second)
	if got := l.told(l.socks["a"]); !slices.Equal(got, []string{"0 10.0.0.1"}) {
		t.Errorf("meanwhile: %q", got)
	}
	if n := len(d.server.conns); n != 1 {
		t.Errorf("%d connections", n)
	}
	if d := l.run(); d > 2*dnsIdle || len(l.dns.server.conns) != 0 {
		t.Errorf("after %v %d connections are left", d, len(l.dns.server.conns))
	}
	l.is("given up", x.PendingError(), syscall.ECONNRESET)
}

func TestDNSMisuse(t *testing.T) {
	d := newLAN(t, 1, "a").DNS()
	for what, c := range map[string]struct {
		f    func()
		want string
	}{
		"record":    {func() { d.Add("a B c") }, `simnet: DNS.Add: record "a B c": there is no record of type "B"`},
		"cname":     {func() { d.Add("a CNAME b") }, "a CNAME stands alone"},
		"cnames":    {func() { d.Replace("x CNAME b", "x CNAME c") }, "a CNAME stands alone"},
		"name":      {func() { d.Remove("a..b") }, "empty label"},
		"type":      {func() { d.Remove("a", "AAA") }, `"AAA" is not a type`},
		"host":      {func() { d.Fail(DNSFault{Host: "nobody", Answer: DNSSilent}) }, `no host "nobody"; known hosts: a`},
		"nothing":   {func() { d.Fail(DNSFault{Name: "a"}) }, "neither an Answer nor a Delay"},
		"chance":    {func() { d.Fail(DNSFault{Chance: 2, Answer: DNSSilent}) }, "Chance is 2"},
		"answer":    {func() { d.Fail(DNSFault{Answer: 99}) }, "DNSAnswer(99)"},
		"fail type": {func() { d.Fail(DNSFault{Answer: DNSSilent, Type: "B"}) }, `DNS.Fail: "B"`},
	} {
		func() {
			defer func() {
				if s := fmt.Sprint(recover()); !strings.Contains(s, c.want) {
					t.Errorf("%s: %s, want %q", what, s, c.want)
				}
			}()
			c.f()
		}()
	}
	if s := (DNSFault{Host: "a", Name: "b", Type: "A", Chance: 0.5, Delay: Constant(time.Second), Answer: DNSServFail}).String(); s != "SERVFAIL, delay Constant(1s), chance 0.5, type A, name b, host a" {
		t.Error(s)
	}
}

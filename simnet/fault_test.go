package simnet

import (
	"net/netip"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/dstkit/dst/sched"
)

func TestRefusedOverLink(t *testing.T) {
	l := newLAN(t, 1, "a", "b")
	ms := Constant(time.Millisecond)
	l.SetDefault(Link{Latency: ms})
	u := l.Lookup("a").NewUDP(syscall.AF_INET)
	notified := 0
	u.Notify = func() { notified++ }
	closed := netip.AddrPortFrom(l.Lookup("b").Addr(), 99)
	u.Connect(closed)
	u.Send([]byte("x"), netip.AddrPort{}, nil)
	if u.Readable() {
		t.Error("too early")
	}
	if d := l.run(); d != 2*time.Millisecond || notified != 1 || !u.Readable() {
		t.Errorf("refused after %v", d)
	}
	if _, errno := u.Recv(false); errno != syscall.ECONNREFUSED {
		t.Error(errno)
	}
	// The answer is lost.
	l.SetLinkOneWay("b", "a", Link{Loss: 1})
	u.Send([]byte("x"), netip.AddrPort{}, nil)
	l.run()
	if _, errno := u.Recv(false); errno != syscall.EAGAIN {
		t.Error(errno)
	}
	l.SetLinkOneWay("b", "a", Link{})

	// The process dies: refused. The machine is off: silence.
	u.Connect(l.addr("b"))
	l.Lookup("b").Reset()
	u.Send([]byte("x"), netip.AddrPort{}, nil)
	l.run()
	if e := u.PendingError(); e != syscall.ECONNREFUSED {
		t.Error(e)
	}
	l.Lookup("b").PowerOff()
	u.Send([]byte("x"), netip.AddrPort{}, nil)
	l.run()
	if e := u.PendingError(); e != 0 {
		t.Error(e)
	}
	if c := l.Counters("a", "b"); c.Unreachable != 1 {
		t.Errorf("%+v", c)
	}
	l.Lookup("b").PowerOn()
	again := l.bind("b", inet4any, 7)
	u.Send([]byte("back"), netip.AddrPort{}, nil)
	l.run()
	l.expect("b", again, "back")
	l.conserved()
}

func TestReset(t *testing.T) {
	l := newLAN(t, 1, "a", "b")
	old := l.socks["b"]
	group := netip.MustParseAddr("239.1.1.1")
	old.Join(group, 0)
	l.send("a", "b", "unread")
	old.Notify = func() { t.Error("notified") }
	l.Lookup("b").Reset()
	u := l.bind("b", inet4any, 7)
	old.Close() // harmless
	old.Close()
	if _, errno := old.Recv(false); errno != syscall.EBADF {
		t.Error(errno)
	}
	if _, errno := old.Send(nil, l.addr("a"), nil); errno != syscall.EBADF {
		t.Error(errno)
	}
	l.socks["a"].Send([]byte("group"), netip.AddrPortFrom(group, 7), nil)
	l.send("a", "b", "new")
	l.expect("b", u, "new")
}

func TestPartition(t *testing.T) {
	reach := func(l *lan) (pairs string) {
		for _, a := range l.hosts() {
			for _, b := range l.hosts() {
				if a != b {
					l.send(a, b, "x")
					if len(got(l.socks[b])) == 1 {
						pairs += a + b + " "
					}
				}
			}
		}
		l.conserved()
		return strings.TrimSpace(pairs)
	}
	const all = "ab ac ad ba bc bd ca cb cd da db dc"
	for _, c := range []struct {
		name string
		do   func(l *lan)
		want string
	}{
		{"none", func(l *lan) {}, all},
		{"two sides, d unnamed", func(l *lan) { l.Partition([]string{"a"}, []string{"b", "c"}) }, "ad bc bd cb cd da db dc"},
		{"one side", func(l *lan) { l.Partition([]string{"a", "b"}) }, "ab ba cd dc"},
		{"all apart", func(l *lan) { l.Partition([]string{"a"}, []string{"b"}, []string{"c"}, []string{"d"}) }, ""},
		{"added", func(l *lan) { l.Partition([]string{"a"}, []string{"b"}); l.Partition([]string{"c"}, []string{"d"}) }, "ac ad bc bd ca cb da db"},
		{"cut", func(l *lan) { l.Cut("a", "b") }, "ac ad ba bc bd ca cb cd da db dc"},
		{"mended", func(l *lan) { l.Partition([]string{"a"}, []string{"b"}); l.Mend("a", "b") }, "ab ac ad bc bd ca cb cd da db dc"},
		{"healed", func(l *lan) { l.Partition([]string{"a", "b"}); l.Cut("a", "b"); l.Down("d"); l.Heal() }, all},
	} {
		l := newLAN(t, 1, "a", "b", "c", "d")
		c.do(l)
		if got := reach(l); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestFateWhenDue(t *testing.T) {
	l := newLAN(t, 1, "a", "b")
	l.SetDefault(Link{Latency: Constant(10 * time.Millisecond)})
	l.send("a", "b", "caught")
	l.w.StepUntil(l.w.Now() + int64(5*time.Millisecond))
	l.Cut("a", "b")
	l.run()
	l.expect("cut when due", l.socks["b"])
	l.send("a", "b", "cut when sent")
	l.Heal()
	l.run()
	l.expect("cut when sent", l.socks["b"])
	l.send("a", "b", "passes")
	l.Cut("a", "b")
	l.Heal()
	l.run()
	l.expect("cut only between", l.socks["b"], "passes")
	l.send("a", "b", "x")
	l.Down("b")
	l.run()
	l.expect("down when due", l.socks["b"])
	l.Up("b")
	l.send("b", "a", "sent before")
	l.Down("b")
	l.run()
	l.expect("from a host that went down", l.socks["a"], "sent before")
	if c := l.Counters("a", "b"); c.Cut != 2 || c.Unreachable != 1 || c.Delivered != 1 {
		t.Errorf("%+v", c)
	}
	l.conserved()
}

func TestHold(t *testing.T) {
	l := newLAN(t, 1, "a", "b")
	l.SetDefault(Link{Latency: Constant(10 * time.Millisecond)})
	l.send("a", "b", "1") // in flight when the hold begins
	l.Hold("a", "b")
	l.send("a", "b", "2")
	l.run()
	l.SetDefault(Link{})
	l.send("a", "b", "3")
	l.expect("held", l.socks["b"])
	if c := l.Counters("a", "b"); c.Held != 3 {
		t.Errorf("%+v", c)
	}
	l.conserved()
	l.send("b", "a", "back")
	l.expect("the other way", l.socks["a"], "back")
	l.Release("a", "b")
	l.expect("released", l.socks["b"], "1", "2", "3")
	l.send("a", "b", "4")
	l.expect("free", l.socks["b"], "4")
	l.Hold("a", "b")
	l.send("a", "b", "5")
	l.Cut("a", "b")
	l.Release("a", "b")
	l.expect("cut when released", l.socks["b"])
	l.conserved()
}

func TestMisuse(t *testing.T) {
	l := newLAN(t, 1, "a", "b")
	for _, c := range []struct {
		want string
		do   func()
	}{
		{`simnet: Partition: no host "x"; known hosts: a, b`, func() { l.Partition([]string{"x"}, []string{"a"}) }},
		{`simnet: Partition: host "a" is on two sides`, func() { l.Partition([]string{"a"}, []string{"a"}) }},
		{`simnet: Cut: no host "c"; known hosts: a, b`, func() { l.Cut("a", "c") }},
		{`simnet: SetLink: "a" to itself: traffic within a host meets no link`, func() { l.SetLink("a", "a", Link{}) }},
		{`simnet: Down: no host ""; known hosts: a, b`, func() { l.Down("") }},
		{`simnet: SetDefault: Loss is 1.5, must be between 0 and 1`, func() { l.SetDefault(Link{Loss: 1.5}) }},
		{`simnet: SetDefault: MTU is 12, must be 0 or at least 68`, func() { l.SetDefault(Link{MTU: 12}) }},
		{`simnet: AddHost: host "a" exists already`, func() { l.AddHost("a") }},
		{`simnet: AddHost: host name "a b" has ' ' at 1`, func() { l.AddHost("a b") }},
		{`simnet: AddHost: host name "10.0" looks like an address`, func() { l.AddHost("10.0") }},
		{`simnet: Uniform: min 2ns is above max 1ns`, func() { Uniform(2, 1) }},
		{`simnet: datagram released twice`, func() {
			l.send("a", "b", "x")
			d, _ := l.socks["b"].Recv(false)
			d.Release()
			d.Release()
		}},
	} {
		func() {
			defer func() {
				if r := recover(); r != c.want {
					t.Errorf("panic %v, want %s", r, c.want)
				}
			}()
			c.do()
		}()
	}
}

// storm runs random traffic over random links under random faults.
func storm(t testing.TB, seed uint64) *lan {
	l := newLAN(t, seed, "a", "b", "c", "d").traced()
	names := l.hosts()
	r := sched.NewStream(seed, "storm")
	host := func() string { return names[r.N(len(names))] }
	two := func() (string, string) {
		i := r.N(len(names))
		return names[i], names[(i+1+r.N(len(names)-1))%len(names)]
	}
	chance := func() float64 { return []float64{0, 0, 0.1, 0.9, 1}[r.N(5)] }
	for range 400 {
		a, b := two()
		switch r.N(14) {
		case 0:
			l.SetLink(a, b, Link{
				Latency: []Dist{nil, Constant(time.Millisecond), Uniform(0, 5*time.Millisecond), Exponential(time.Millisecond)}[r.N(4)],
				Loss:    chance(), Duplicate: chance(), Reorder: chance(), Corrupt: chance(),
				DeliverCorrupt: r.N(2) == 1, Bandwidth: int64(r.N(2) * 1e6), Queue: r.N(4000),
			})
		case 1:
			[]func(){func() { l.Partition([]string{a}, []string{b}) }, func() { l.Cut(a, b) }, func() { l.Hold(a, b) }, func() { l.Down(a) }}[r.N(4)]()
		case 2:
			[]func(){func() { l.Heal() }, func() { l.Mend(a, b) }, func() { l.Release(a, b) }, func() { l.Up(a) }}[r.N(4)]()
		case 3:
			u := l.socks[a]
			u.Broadcast = true
			u.Send([]byte("all"), netip.MustParseAddrPort("255.255.255.255:7"), nil)
		case 4:
			s := l.Lookup(a)
			s.PowerOff()
			s.PowerOn()
			l.socks[a] = l.bind(a, inet4any, 7)
		case 5:
			l.w.StepUntil(l.w.Now() + int64(r.N(3e6)))
		case 6:
			got(l.socks[host()])
		default:
			l.socks[a].Send(make([]byte, r.N(3000)), l.addr(b), nil)
		}
		l.conserved()
	}
	l.Heal()
	l.run()
	l.conserved()
	if c := l.Total(); c.InFlight != 0 || c.Held != 0 {
		t.Fatalf("seed %d: something is left: %+v", seed, c)
	}
	return l
}

func TestStorm(t *testing.T) {
	var sum Counters
	for seed := range uint64(100) {
		one, two := storm(t, seed), storm(t, seed)
		if !slices.Equal(one.log, two.log) || one.w.Fingerprint() != two.w.Fingerprint() {
			t.Fatalf("seed %d: two runs part", seed)
		}
		sum.add(one.Total())
	}
	if a, b := storm(t, 1), storm(t, 2); a.w.Fingerprint() == b.w.Fingerprint() {
		t.Error("two seeds gave one run")
	}
	if c := sum; c.Delivered == 0 || c.Lost == 0 || c.Duplicated == 0 || c.Reordered == 0 || c.Corrupted == 0 ||
		c.Mangled == 0 || c.QueueDrops == 0 || c.Cut == 0 || c.Unreachable == 0 {
		t.Errorf("something never happened: %+v", c)
	}
}

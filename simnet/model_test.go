package simnet

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/dstkit/dst/sched"
)

// lan is a network whose hosts have one socket each, bound to port 7.
type lan struct {
	testing.TB
	w *sched.World
	*Network
	socks map[string]*UDP
	log   []string // trace
}

func newLAN(t testing.TB, seed uint64, names ...string) *lan {
	l := &lan{TB: t, w: sched.New(seed), socks: map[string]*UDP{}}
	l.Network = New(l.w)
	for _, name := range names {
		l.AddHost(name)
		l.socks[name] = l.bind(name, inet4any, 7)
	}
	return l
}

const (
	inet4any = "0.0.0.0"
	inet6any = "::"
)

func (l *lan) bind(host, addr string, port uint16) *UDP {
	l.Helper()
	a := netip.MustParseAddr(addr)
	family := syscall.AF_INET6
	if a.Is4() {
		family = syscall.AF_INET
	}
	u := l.Lookup(host).NewUDP(family)
	if errno := u.Bind(netip.AddrPortFrom(a, port)); errno != 0 {
		l.Fatalf("bind %s: %v", addr, errno)
	}
	return u
}

func (l *lan) traced() *lan {
	l.Trace = func(e PacketEvent) { l.log = append(l.log, e.String()) }
	return l
}

// addr is where the host's socket is bound.
func (l *lan) addr(host string) netip.AddrPort {
	return netip.AddrPortFrom(l.Lookup(host).Addr(), 7)
}

// send sends from one host's socket to another's.
func (l *lan) send(from, to, payload string) {
	l.Helper()
	if n, errno := l.socks[from].Send([]byte(payload), l.addr(to), nil); errno != 0 || n != len(payload) {
		l.Fatalf("send %s>%s: %d, %v", from, to, n, errno)
	}
}

// got returns what a socket received, and empties it.
func got(u *UDP) (all []string) {
	for {
		d, errno := u.Recv(false)
		if errno != 0 {
			return all
		}
		all = append(all, string(d.Payload))
		d.Release()
	}
}

func (l *lan) expect(what string, u *UDP, want ...string) {
	l.Helper()
	if all := got(u); !slices.Equal(all, want) {
		l.Fatalf("%s: got %q, want %q", what, all, want)
	}
}

// run runs all events and tells how long that took.
func (l *lan) run() time.Duration {
	start := l.w.Elapsed()
	for l.w.Step() {
	}
	return l.w.Elapsed() - start
}

// conserved checks that no packet is unaccounted for.
func (l *lan) conserved() {
	l.Helper()
	for _, p := range l.paths {
		c := p.counters()
		if in, out := c.Sent+c.Duplicated, c.Delivered+c.Lost+c.Corrupted+c.QueueDrops+c.Cut+c.Unreachable+c.InFlight+c.Held; in != out {
			l.Fatalf("%s>%s: %d in, %d out: %+v", p.from.name, p.to.name, in, out, c)
		}
	}
}

func TestAddresses(t *testing.T) {
	n := New(sched.New(1))
	for i := range 600 {
		n.AddHost(fmt.Sprint("h", i))
	}
	for name, want := range map[string]string{
		"h0": "10.0.0.1 fd00::1", "h1": "10.0.0.2 fd00::2", "h252": "10.0.0.253 fd00::fd",
		"h253": "10.0.1.1 fd00::fe", "h506": "10.0.2.1 fd00::1fb",
	} {
		s := n.Lookup(name)
		if got := fmt.Sprint(s.Addr(), " ", s.Addr6()); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
	for _, s := range n.stacks {
		if n.byAddr(s.addr) != s || n.byAddr(s.addr6) != s {
			t.Fatalf("%s is not found by its address", s.name)
		}
	}
	for _, a := range []string{"10.0.0.0", "10.0.0.254", "10.0.9.1", "10.1.0.1", "fd00::", "fd00::1000", "fd00:0:0:1::1", "fd00::1:0:0:1"} {
		if s := n.byAddr(netip.MustParseAddr(a)); s != nil {
			t.Errorf("%s is %s", a, s.name)
		}
	}
	ifs := n.Lookup("h0").Interfaces()
	if len(ifs) != 2 || ifs[1].Addrs[0] != netip.MustParsePrefix("10.0.0.1/16") || ifs[1].Flags != 0x11043 || ifs[1].MTU != 1500 {
		t.Errorf("interfaces: %+v", ifs)
	}
	n.Down("h0")
	if f := n.Lookup("h0").Interfaces()[1].Flags; f&iffUp != 0 {
		t.Errorf("flags %#x while down", f)
	}
}

func TestPerfect(t *testing.T) {
	l := newLAN(t, 1, "a", "b")
	var want []string
	for i := range 100 {
		l.send("a", "b", fmt.Sprint(i))
		want = append(want, fmt.Sprint(i))
	}
	l.expect("at once, in order", l.socks["b"], want...)
	if l.net.Draws() != 0 {
		t.Errorf("a perfect link made %d draws", l.net.Draws())
	}
	if c := l.Counters("a", "b"); c.Sent != 100 || c.Delivered != 100 || c.Bytes != 190 {
		t.Errorf("%+v", c)
	}
	// Whom it is from, and for.
	six := l.bind("b", inet6any, 8)
	u := l.bind("a", inet6any, 9)
	for _, to := range []string{"::ffff:10.0.0.2", "fd00::2"} {
		if _, errno := u.Send([]byte("x"), netip.AddrPortFrom(netip.MustParseAddr(to), 8), &Control{TTL: 3, TOS: 4, SetTOS: true}); errno != 0 {
			t.Fatal(errno)
		}
		d, errno := six.Recv(true)
		if errno != 0 {
			t.Fatal(errno)
		}
		from := strings.Replace(to, "2", "1", 1)
		if d.From.String() != netip.AddrPortFrom(netip.MustParseAddr(from), 9).String() || d.To.Addr().String() != to || d.Interface != eth0 || d.TTL != 3 || d.TOS != 4 {
			t.Errorf("%+v", d)
		}
		if again, _ := six.Recv(false); again != d {
			t.Error("peeked another")
		}
		d.Release()
	}
}

func TestOwnAddress(t *testing.T) {
	l := newLAN(t, 1, "a", "b")
	l.Partition([]string{"a"}, []string{"b"})
	l.Down("a")
	l.SetDefault(Link{Loss: 1})
	l.send("a", "a", "self")
	l.expect("no link within a host", l.socks["a"], "self")
	if c := l.HostCounters("a"); c.Local != 1 || c.InDatagrams != 1 {
		t.Errorf("%+v", c)
	}
	if _, errno := l.socks["a"].Send([]byte("x"), l.addr("b"), nil); errno != syscall.ENETUNREACH {
		t.Errorf("send while down: %v", errno)
	}
	if errno := l.Lookup("a").NewUDP(syscall.AF_INET).Connect(l.addr("b")); errno != syscall.ENETUNREACH {
		t.Errorf("connect while down: %v", errno)
	}
}

func TestNoSuchPlace(t *testing.T) {
	l := newLAN(t, 1, "a")
	u := l.socks["a"]
	for to, want := range map[string]syscall.Errno{
		"10.0.7.7:1": 0, "10.0.0.0:1": 0, // on the segment: nobody answers
		"10.1.0.1:1": syscall.ENETUNREACH, "8.8.8.8:53": syscall.ENETUNREACH,
	} {
		if _, errno := u.Send([]byte("x"), netip.MustParseAddrPort(to), nil); errno != want {
			t.Errorf("%s: %v, want %v", to, errno, want)
		}
	}
	six := l.bind("a", inet6any, 9)
	for to, want := range map[string]syscall.Errno{"[fd00::77]:1": 0, "[2001:db8::1]:1": syscall.ENETUNREACH} {
		if _, errno := six.Send([]byte("x"), netip.MustParseAddrPort(to), nil); errno != want {
			t.Errorf("%s: %v, want %v", to, errno, want)
		}
	}
	if c := l.HostCounters("a"); c.NoNeighbour != 3 {
		t.Errorf("%+v", c)
	}
	// A host that comes later is found by a socket that remembers there was none.
	to := netip.MustParseAddrPort("10.0.0.2:7")
	u.Send([]byte("early"), to, nil)
	l.AddHost("b")
	l.socks["b"] = l.bind("b", inet4any, 7)
	u.Send([]byte("late"), to, nil)
	l.expect("b", l.socks["b"], "late")
}

func TestControl(t *testing.T) {
	l := newLAN(t, 1, "a", "b")
	u := l.bind("a", inet4any, 9)
	for _, c := range []struct {
		c    Control
		want syscall.Errno
	}{
		{Control{Interface: 2}, 0},
		{Control{Source: netip.MustParseAddr("10.0.0.1")}, 0},
		{Control{Source: netip.MustParseAddr("10.0.0.9")}, syscall.EINVAL},
		{Control{Source: loopback4}, syscall.EINVAL},
		{Control{Interface: 1}, syscall.ENETUNREACH},
		{Control{Interface: 9}, syscall.ENODEV},
	} {
		if _, errno := u.Send([]byte("x"), l.addr("b"), &c.c); errno != c.want {
			t.Errorf("%+v: %v, want %v", c.c, errno, c.want)
		}
	}
	l.expect("b", l.socks["b"], "x", "x")
}

func TestLatency(t *testing.T) {
	l := newLAN(t, 1, "a", "b")
	l.SetDefault(Link{Latency: Constant(5 * time.Millisecond)})
	l.send("a", "b", "1")
	l.send("a", "b", "2")
	l.expect("not yet", l.socks["b"])
	if c := l.Counters("a", "b"); c.InFlight != 2 {
		t.Errorf("%+v", c)
	}
	// The link becomes instant: what was sent before still comes first.
	l.SetDefault(Link{})
	l.send("a", "b", "3")
	l.expect("not yet", l.socks["b"])
	if d := l.run(); d != 5*time.Millisecond {
		t.Errorf("took %v", d)
	}
	l.expect("in order", l.socks["b"], "1", "2", "3")
	l.conserved()
	if l.net.Draws() != 0 {
		t.Error("a constant latency draws")
	}
}

func TestOneWay(t *testing.T) {
	l := newLAN(t, 1, "a", "b", "c")
	l.SetLinkOneWay("a", "b", Link{Loss: 1})
	l.SetDefault(Link{}) // leaves it alone
	l.send("a", "b", "x")
	l.send("b", "a", "y")
	l.send("a", "c", "z")
	l.expect("b", l.socks["b"])
	l.expect("a", l.socks["a"], "y")
	l.expect("c", l.socks["c"], "z")
	l.SetLink("a", "c", Link{Loss: 1})
	l.send("a", "c", "x")
	l.send("c", "a", "x")
	l.expect("c", l.socks["c"])
	l.expect("a", l.socks["a"])
	if c := l.Counters("a", "b"); c.Lost != 1 {
		t.Errorf("%+v", c)
	}
}

// rate sends count packets over a link and returns the counters.
func rate(t *testing.T, link Link, count int, size int) (Counters, *lan) {
	l := newLAN(t, 1, "a", "b")
	l.socks["b"].SetRcvBuf(1<<30, true)
	l.SetDefault(link)
	payload := strings.Repeat("p", size)
	for range count {
		l.send("a", "b", payload)
	}
	l.run()
	l.conserved()
	return l.Counters("a", "b"), l
}

func near(t *testing.T, what string, got uint64, want float64) {
	t.Helper()
	if f := float64(got); f < 0.9*want || f > 1.1*want {
		t.Errorf("%s: %d, want about %.0f", what, got, want)
	}
}

func TestChances(t *testing.T) {
	const count = 20000
	ms := Constant(time.Millisecond)
	c, _ := rate(t, Link{Loss: 0.1}, count, 10)
	near(t, "loss", c.Lost, 0.1*count)
	c, _ = rate(t, Link{Duplicate: 0.2, Latency: ms}, count, 10)
	near(t, "duplicate", c.Duplicated, 0.2*count)
	near(t, "delivered", c.Delivered, 1.2*count)
	c, l := rate(t, Link{Corrupt: 0.1}, count, 10)
	near(t, "corrupt", c.Corrupted, 0.1*count)
	for _, p := range got(l.socks["b"]) {
		if p != "pppppppppp" {
			t.Fatalf("received %q", p)
		}
	}
	c, l = rate(t, Link{Corrupt: 0.1, DeliverCorrupt: true}, count, 10)
	near(t, "mangled", c.Mangled, 0.1*count)
	bad := uint64(0)
	for _, p := range got(l.socks["b"]) {
		if p != "pppppppppp" {
			bad++
		}
	}
	if c.Delivered != count || bad != c.Mangled {
		t.Errorf("%d bad, %+v", bad, c)
	}
	// Five fragments: 7000 + 8 bytes in pieces of 1480.
	c, _ = rate(t, Link{Loss: 0.1}, count, 7000)
	near(t, "loss of fragments", c.Lost, (1-0.9*0.9*0.9*0.9*0.9)*count)
}

func TestReorder(t *testing.T) {
	l := newLAN(t, 1, "a", "b")
	l.SetDefault(Link{Latency: Constant(time.Millisecond), Reorder: 0.2, ReorderDelay: Constant(time.Second)})
	for i := range 100 {
		l.send("a", "b", string(rune('A'+i)))
	}
	l.run()
	all := got(l.socks["b"])
	held := all[100-int(l.Counters("a", "b").Reordered):]
	if len(held) < 5 || len(held) > 40 || slices.IsSorted(all) || !slices.IsSorted(held) || !slices.IsSorted(all[:100-len(held)]) {
		t.Errorf("order %q", all)
	}
	l.conserved()

	l = newLAN(t, 1, "a", "b")
	l.SetDefault(Link{Latency: Uniform(0, 10*time.Millisecond)})
	for i := range 100 {
		l.send("a", "b", string(rune('A'+i)))
	}
	l.run()
	if slices.IsSorted(got(l.socks["b"])) {
		t.Error("a varying latency kept the order")
	}
}

func TestBandwidth(t *testing.T) {
	l := newLAN(t, 1, "a", "b")
	// 1000-byte packets on the wire, 1 ms each; room for 5 that wait.
	l.SetDefault(Link{Bandwidth: 8e6, Queue: 5000, Latency: Constant(10 * time.Millisecond)})
	for range 20 {
		l.send("a", "b", strings.Repeat("p", 1000-28))
	}
	if d := l.run(); d != 15*time.Millisecond {
		t.Errorf("took %v", d)
	}
	c := l.Counters("a", "b")
	if c.Delivered != 5 || c.QueueDrops != 15 || c.Reordered != 0 {
		t.Errorf("%+v", c)
	}
	l.conserved()
	l.SetDefault(Link{Bandwidth: 1, Queue: 1})
	l.send("a", "b", "x") // one is always taken: 29 bytes, 232 s
	l.send("a", "b", "x")
	if d := l.run(); d != 232*time.Second || l.Counters("a", "b").QueueDrops != 16 {
		t.Errorf("took %v, %+v", d, l.Counters("a", "b"))
	}
}

func TestMTU(t *testing.T) {
	l := newLAN(t, 1, "a", "b")
	u := l.socks["a"]
	u.DontFragment = true
	send := func(size int) syscall.Errno {
		_, errno := u.Send(make([]byte, size), l.addr("b"), nil)
		return errno
	}
	if e := send(1472); e != 0 {
		t.Error(e)
	}
	if e := send(1473); e != syscall.EMSGSIZE {
		t.Error(e)
	}
	l.SetDefault(Link{MTU: 9000})
	if e := send(1473); e != 0 {
		t.Error(e)
	}
	u.DontFragment = false
	if e := send(65507); e != 0 {
		t.Error(e)
	}
	if n := len(got(l.socks["b"])); n != 3 {
		t.Errorf("received %d", n)
	}
	p := &Datagram{Payload: make([]byte, 1472), dst: netip.MustParseAddrPort("10.0.0.1:1")}
	for _, c := range []struct{ size, count, bytes int }{{1472, 1, 1500}, {1473, 2, 1521}, {7000, 5, 7108}} {
		p.Payload = make([]byte, c.size)
		if n, b := p.fragments(1500); n != c.count || b != c.bytes {
			t.Errorf("%d bytes make %d fragments of %d bytes", c.size, n, b)
		}
	}
}

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

func TestBroadcast(t *testing.T) {
	for _, to := range []string{"255.255.255.255:7", "10.0.255.255:7"} {
		l := newLAN(t, 1, "a", "b", "c", "d")
		addr := netip.MustParseAddrPort(to)
		a := l.socks["a"]
		if _, errno := a.Send([]byte("x"), addr, nil); errno != syscall.EACCES {
			t.Error(errno)
		}
		a.Broadcast = true
		l.Cut("a", "c")
		spec := l.bind("d", "10.0.0.4", 8)
		if _, errno := a.Send([]byte("x"), addr, nil); errno != 0 {
			t.Error(errno)
		}
		for host, want := range map[string]int{"a": 1, "b": 1, "c": 0, "d": 1} {
			if all := got(l.socks[host]); len(all) != want {
				t.Errorf("%s: %s got %q", to, host, all)
			}
		}
		// Nobody answers a broadcast to a closed port, and a socket bound to the
		// host's address does not get one.
		a.Send([]byte("x"), netip.AddrPortFrom(addr.Addr(), 8), nil)
		l.expect("bound to the address", spec)
		if c := l.HostCounters("d"); c.NoPorts != 1 || c.OutICMP != 0 {
			t.Errorf("%+v", c)
		}
		l.Down("a")
		if _, errno := a.Send([]byte("x"), addr, nil); errno != syscall.ENETUNREACH {
			t.Error(errno)
		}
		l.conserved()
	}
}

func TestMulticast(t *testing.T) {
	for _, c := range []struct{ any, group string }{{inet4any, "239.1.2.3"}, {inet6any, "ff02::1:2"}} {
		l := newLAN(t, 1, "a", "b", "c", "d")
		group := netip.MustParseAddr(c.group)
		socks := map[string]*UDP{}
		for _, h := range l.hosts() {
			socks[h] = l.bind(h, c.any, 5353)
			if h != "d" {
				if errno := socks[h].Join(group, 0); errno != 0 {
					t.Fatal(errno)
				}
			}
		}
		to := netip.AddrPortFrom(group, 5353)
		check := func(what, want string) {
			t.Helper()
			if _, errno := socks["a"].Send([]byte("x"), to, nil); errno != 0 {
				t.Fatal(errno)
			}
			reached := ""
			for _, h := range l.hosts() {
				for range got(socks[h]) {
					reached += h
				}
			}
			if reached != want {
				t.Errorf("%s: reached %q, want %q", what, reached, want)
			}
		}
		check("members, the sender too", "abc")
		socks["a"].MulticastLoop, socks["a"].MulticastLoop6 = false, false
		check("no loop", "bc")
		socks["b"].Leave(group, 0)
		check("left", "c")
		l.Cut("a", "c")
		check("each copy has its own fate", "")
		l.Heal()
		socks["a"].SetMulticastTTL(0)
		socks["a"].SetMulticastHops(0)
		socks["a"].MulticastLoop, socks["a"].MulticastLoop6 = true, true
		check("does not leave the host", "a")
		socks["c"].Close()
		socks["a"].SetMulticastTTL(1)
		socks["a"].SetMulticastHops(1)
		delete(socks, "c")
		socks["c"] = l.bind("c", c.any, 5353)
		check("closing leaves", "a")
		if d := l.Lookup("c").c; d.NoPorts != 0 {
			t.Errorf("%+v", d)
		}
		// Found by host discovery: every host is a member of all-nodes.
		to = netip.AddrPortFrom(map[bool]netip.Addr{true: allNodes4, false: allNodes6}[group.Is4()], 5353)
		check("all nodes", "abcd")
		l.conserved()
	}
}

func TestEphemeralPorts(t *testing.T) {
	l := newLAN(t, 1, "a")
	seen := map[uint16]bool{}
	for range lastEphemeral - firstEphemeral + 1 {
		u := l.bind("a", inet4any, 0)
		p := u.LocalAddr().Port()
		if seen[p] || p < firstEphemeral || p > lastEphemeral {
			t.Fatalf("port %d", p)
		}
		seen[p] = true
	}
	u := l.Lookup("a").NewUDP(syscall.AF_INET)
	if e := u.Bind(netip.MustParseAddrPort("0.0.0.0:0")); e != syscall.EADDRINUSE {
		t.Error(e)
	}
	if e := u.Connect(l.addr("a")); e != syscall.EAGAIN {
		t.Error(e)
	}
	if _, e := u.Send(nil, l.addr("a"), nil); e != syscall.EAGAIN {
		t.Error(e)
	}
}

func TestNotify(t *testing.T) {
	l := newLAN(t, 1, "a", "b")
	n := 0
	b := l.socks["b"]
	b.Notify = func() { n++ }
	l.send("a", "b", "x")
	if n != 1 || !b.Readable() || !b.Writable() || b.NextSize() != 1 {
		t.Error("data")
	}
	b.Shutdown(true, true)
	b.Close()
	if n != 3 {
		t.Errorf("notified %d times", n)
	}
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

func TestNames(t *testing.T) {
	l := newLAN(t, 1, "a", "b")
	if h := l.Hosts(); !slices.Equal(h, []string{"a", "b"}) {
		t.Errorf("hosts %q", h)
	}
	for got, want := range map[string]string{
		string(l.EtcHosts("a")):        "127.0.0.1\tlocalhost\n::1\tlocalhost ip6-localhost ip6-loopback\n10.0.0.1\ta\n10.0.0.2\tb\nfd00::1\ta\nfd00::2\tb\n",
		string(l.EtcHostname("a")):     "a\n",
		string(l.EtcNsswitchConf("a")): "hosts: files\n",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestDists(t *testing.T) {
	const count = 20000
	ms := time.Millisecond
	for _, c := range []struct {
		d              Dist
		mean, min, max time.Duration
	}{
		{Constant(ms), ms, ms, ms},
		{Uniform(ms, 3*ms), 2 * ms, ms, 3 * ms},
		{Exponential(ms), ms, 0, time.Second},
		{Normal(10*ms, ms), 10 * ms, 0, 20 * ms},
		{Pareto(ms, 3), 3 * ms / 2, ms, time.Hour},
		{Recorded(3*ms, ms, 2*ms), 2 * ms, ms, 3 * ms},
	} {
		s := sched.NewStream(1, "test")
		var sum time.Duration
		for range count {
			d := c.d.Draw(s)
			if d < c.min || d > c.max {
				t.Fatalf("%v drew %v", c.d, d)
			}
			sum += d
		}
		if mean := sum / count; mean < c.mean*95/100 || mean > c.mean*105/100 {
			t.Errorf("%v: mean %v, want %v", c.d, mean, c.mean)
		}
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

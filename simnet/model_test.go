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
		if in, out := c.Sent+c.Duplicated, c.Delivered+c.Lost+c.BurstLost+c.Corrupted+c.QueueDrops+c.RuleDrops+c.Cut+c.Unreachable+c.InFlight+c.Held; in != out {
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

func TestNames(t *testing.T) {
	l := newLAN(t, 1, "a", "b")
	if h := l.Hosts(); !slices.Equal(h, []string{"a", "b"}) {
		t.Errorf("hosts %q", h)
	}
	for got, want := range map[string]string{
		string(l.EtcHosts("a")):        "127.0.0.1\tlocalhost\n::1\tlocalhost ip6-localhost ip6-loopback\n10.0.0.1\ta\n10.0.0.2\tb\nfd00::1\ta\nfd00::2\tb\n",
		string(l.EtcHostname("a")):     "a\n",
		string(l.EtcNsswitchConf("a")): "hosts: files dns\n",
		string(l.EtcResolvConf("a")):   "nameserver 10.0.255.53\nsearch sim.internal\n",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

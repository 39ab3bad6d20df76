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

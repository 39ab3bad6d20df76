package simnet

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// TestUplink: what a host sends to all others shares one line.
func TestUplink(t *testing.T) {
	const size = 1000 - 28 // of 1000 bytes on the wire
	l := newLAN(t, 1, "a", "b", "c")
	l.SetUplink("a", Rate{Bandwidth: 8e6, Queue: 5000}) // 1 ms each, room for 5
	at := map[string][]time.Duration{}
	for _, h := range []string{"b", "c"} {
		l.socks[h].Notify = func() { at[h] = append(at[h], l.w.Elapsed()) }
	}
	for range 5 {
		l.send("a", "b", strings.Repeat("b", size))
		l.send("a", "c", strings.Repeat("c", size))
	}
	if c := l.HostCounters("a").Uplink; c != (LineCounters{Queued: 5000, QueueHigh: 5000, Drops: 5}) {
		t.Errorf("%+v", c)
	}
	l.send("b", "a", strings.Repeat("x", size))
	l.send("b", "c", "y")
	if len(got(l.socks["a"])) != 1 || len(at["c"]) != 1 {
		t.Error("others wait for the line of a")
	}
	l.run()
	ms := time.Millisecond
	if !slices.Equal(at["b"], []time.Duration{ms, 3 * ms, 5 * ms}) || !slices.Equal(at["c"], []time.Duration{0, 2 * ms, 4 * ms}) {
		t.Errorf("arrived at b %v, at c %v", at["b"], at["c"])
	}
	l.counters("a", "b", func(c Counters) bool { return c.Sent == 5 && c.Delivered == 3 && c.QueueDrops == 2 })
	l.counters("a", "c", func(c Counters) bool { return c.Sent == 5 && c.Delivered == 2 && c.QueueDrops == 3 })
	l.conserved()
	// A slower link behind it: the sum of both, and a queue of its own.
	l.SetLink("a", "b", Link{Bandwidth: 4e6, Queue: 2500})
	l.SetUplink("a", Rate{Bandwidth: 8e6})
	for range 5 {
		l.send("a", "b", strings.Repeat("b", size))
	}
	if d := l.run(); d != (1+4*2)*ms {
		t.Errorf("took %v", d)
	}
	l.counters("a", "b", func(c Counters) bool { return c.QueueDrops == 3 && c.QueueHigh == 2500 && c.Queued == 0 })
	l.conserved()
	l.SetUplink("a", Rate{})
	l.SetLink("a", "b", Link{})
	l.send("a", "b", "x")
	if d := l.run(); d != 0 || l.net.Draws() != 0 {
		t.Errorf("took %v", d)
	}
}

// TestDownlink: what a host receives from all others shares one line.
func TestDownlink(t *testing.T) {
	const size = 1000 - 28
	l := newLAN(t, 1, "a", "b", "c")
	l.SetDefault(Link{Latency: Constant(10 * time.Millisecond)})
	l.SetDownlink("c", Rate{Bandwidth: 8e6, Queue: 3000})
	for range 3 {
		l.send("a", "c", strings.Repeat("a", size))
		l.send("b", "c", strings.Repeat("b", size))
	}
	l.send("c", "a", "up")
	l.wait(10 * time.Millisecond)
	l.expect("the other way", l.socks["a"], "up")
	if c := l.HostCounters("c").Downlink; c != (LineCounters{Queued: 3000, QueueHigh: 3000, Drops: 3}) {
		t.Errorf("%+v", c)
	}
	l.conserved() // what waits is in flight
	l.counters("a", "c", func(c Counters) bool { return c.InFlight == 2 })
	l.Cut("a", "c") // takes what waits for the line
	if d := l.run(); d != 3*time.Millisecond {
		t.Errorf("took %v", d)
	}
	l.expect("c", l.socks["c"], strings.Repeat("b", size))
	l.counters("a", "c", func(c Counters) bool { return c.Cut == 2 && c.QueueDrops == 1 })
	l.conserved()
}

// TestBufferbloat: while TCP fills the queue of a slow uplink, a ping beside it waits
// behind what the queue holds; the way down stays fast. A short queue keeps the ping
// short, by dropping.
func TestBufferbloat(t *testing.T) {
	for _, c := range []struct {
		name     string
		queue    int
		low, top time.Duration
		drops    bool
	}{
		{"deep", 1 << 20, 800 * time.Millisecond, 8500 * time.Millisecond, false},
		{"short", 20000, 30 * time.Millisecond, 200 * time.Millisecond, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := newLAN(t, 1, "home", "server")
			l.SetDefault(Link{Latency: Constant(10 * time.Millisecond)})
			l.SetUplink("home", Rate{Bandwidth: 1e6, Queue: c.queue})
			l.SetDownlink("home", Rate{Bandwidth: 20e6})
			l.socks["server"].Notify = func() { // echoes
				if len(got(l.socks["server"])) > 0 {
					l.send("server", "home", "pong")
				}
			}
			ping := func() time.Duration {
				l.Helper()
				start := l.w.Elapsed()
				l.send("home", "server", "ping")
				for l.w.Elapsed() < start+time.Minute {
					if len(got(l.socks["home"])) > 0 {
						return l.w.Elapsed() - start
					}
					l.w.Step()
				}
				t.Fatal("no answer")
				return 0
			}
			idle := ping()
			if idle < 20*time.Millisecond || idle > 21*time.Millisecond {
				t.Errorf("idle: %v", idle)
			}
			ls := l.listen("server", "0.0.0.0:80", 1)
			x := l.dial("home", l.Lookup("server").Addr().String()+":80")
			l.wait(time.Second)
			y := l.accept(ls)
			sent := 0
			pump := func(limit int) {
				for buf := make([]byte, 8192); sent < limit; {
					n, errno := x.Send(buf, false)
					if sent += n; errno != 0 {
						break
					}
				}
			}
			x.Notify = func() {}
			read := func() {
				for buf := make([]byte, 65536); ; {
					if n, _ := y.Recv(buf, false); n == 0 {
						return
					}
				}
			}
			for range 100 { // ten seconds of upload
				pump(1 << 30)
				l.wait(100 * time.Millisecond)
				read()
			}
			loaded := l.HostCounters("home").Uplink
			if busy := ping(); busy < c.low || busy > c.top {
				t.Errorf("beside an upload: %v, want %v to %v", busy, c.low, c.top)
			} else {
				t.Logf("ping %v idle, %v beside an upload; %+v", idle, busy, loaded)
			}
			if (loaded.Drops > 0) != c.drops || loaded.QueueHigh > uint64(c.queue)+1500 {
				t.Errorf("%+v", loaded)
			}
			if d := l.HostCounters("home").Downlink; d.Drops != 0 || d.QueueHigh > 5000 {
				t.Errorf("the way down: %+v", d)
			}
			l.conserved()
		})
	}
}

// TestAsymmetric: each direction has its own bandwidth.
func TestAsymmetric(t *testing.T) {
	const size = 1000 - 28
	l := newLAN(t, 1, "a", "b")
	l.SetLinkOneWay("a", "b", Link{Bandwidth: 8e5})
	l.SetLinkOneWay("b", "a", Link{Bandwidth: 8e6})
	l.send("a", "b", strings.Repeat("x", size))
	if d := l.run(); d != 10*time.Millisecond {
		t.Errorf("up %v", d)
	}
	l.send("b", "a", strings.Repeat("x", size))
	if d := l.run(); d != time.Millisecond {
		t.Errorf("down %v", d)
	}
}

// TestInOrder: a latency that varies, and keeps the order; what Reorder picks does not.
func TestInOrder(t *testing.T) {
	send := func(k Link) (order string, l *lan) {
		l = newLAN(t, 1, "a", "b")
		l.SetDefault(k)
		for c := 'A'; c <= 'Z'; c++ {
			l.send("a", "b", string(c))
			l.wait(time.Millisecond)
		}
		l.run()
		l.conserved()
		return strings.Join(got(l.socks["b"]), ""), l
	}
	jitter := Uniform(0, 20*time.Millisecond)
	const sorted = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	if order, _ := send(Link{Latency: jitter}); order == sorted {
		t.Error("jitter kept the order")
	}
	order, l := send(Link{Latency: jitter, InOrder: true})
	if order != sorted || l.Counters("a", "b").Reordered != 0 {
		t.Errorf("%s, %+v", order, l.Counters("a", "b"))
	}
	_, free := send(Link{Latency: jitter})
	if l.net.Draws() != free.net.Draws() {
		t.Error("order draws")
	}
	if order, l = send(Link{Latency: jitter, InOrder: true, Reorder: 0.2}); order == sorted || l.Counters("a", "b").Reordered == 0 {
		t.Errorf("%s, %+v", order, l.Counters("a", "b"))
	}
	// Copies keep the order as well, and a rule's delay holds up what follows.
	order, _ = send(Link{Latency: jitter, InOrder: true, Duplicate: 1})
	if !slices.IsSorted([]byte(order)) || len(order) != 52 {
		t.Error(order)
	}
	l = newLAN(t, 1, "a", "b")
	l.SetDefault(Link{InOrder: true})
	l.Rule("late", "delay 1s first udp")
	l.send("a", "b", "1")
	l.send("a", "b", "2")
	if d := l.run(); d != time.Second {
		t.Errorf("took %v", d)
	}
	l.expect("b", l.socks["b"], "1", "2")
}

// TestBurst: loss comes in runs, of the length and share that the model says.
func TestBurst(t *testing.T) {
	const count = 50000
	l := newLAN(t, 1, "a", "b")
	l.socks["b"].SetRcvBuf(1<<30, true)
	l.SetDefault(Link{Burst: Burst{Begin: 0.01, End: 0.1}})
	var runs, lost, run int
	last := uint64(0)
	for range count {
		l.send("a", "b", "x")
		if c := l.Counters("a", "b").BurstLost; c > last {
			last = c
			if lost++; run == 0 {
				runs++
			}
			run++
		} else {
			run = 0
		}
	}
	near(t, "lost", uint64(lost), count*0.01/0.11)
	near(t, "mean length × 100", uint64(100*lost/runs), 1000)
	if c := l.Counters("a", "b"); c.BurstLost != uint64(lost) || c.Lost != 0 || len(got(l.socks["b"])) != count-lost {
		t.Errorf("%+v", c)
	}
	if l.net.Draws() != count {
		t.Errorf("%d draws", l.net.Draws())
	}
	l.conserved()

	c, _ := rate(t, Link{Burst: Burst{Begin: 0.5, End: 0.5, Loss: 0.2}, Loss: 0.1}, count, 10)
	near(t, "lost in half of the time", c.BurstLost, count*0.5*0.2)
	near(t, "of the rest", c.Lost, count*0.9*0.1)
	if s := (Link{InOrder: true, Burst: Burst{Begin: 0.5, End: 0.25, Loss: 0.2}}).String(); s != "Link{InOrder: true, Burst: {Begin: 0.5, End: 0.25, Loss: 0.2}}" {
		t.Error(s)
	}
	for want, r := range map[string]Rate{
		"unlimited": {}, "10 Mbit/s": {Bandwidth: 1e7}, "1 Gbit/s, queue of 9 bytes": {1e9, 9}, "1500 bit/s": {Bandwidth: 1500}, "64 kbit/s": {Bandwidth: 64000},
	} {
		if r.String() != want {
			t.Errorf("%v, want %s", r, want)
		}
	}
}

package simnet

import (
	"strings"
	"syscall"
	"testing"
	"time"
)

// Connections whose handshakes end when the accept queue is full stay half
// open; their peers think that they are connected.
func TestTCPBacklogOverflow(t *testing.T) {
	l := newLAN(t, 1, "a", "b")
	l.SetDefault(Link{Latency: Constant(10 * time.Millisecond)})
	ls := l.listen("b", "0.0.0.0:80", 1)
	var xs []*TCP
	for range 4 {
		xs = append(xs, l.dial("a", "10.0.0.2:80"))
	}
	l.wait(100 * time.Millisecond)
	for _, x := range xs {
		l.state(x, established)
	}
	if ls.accepted != 2 || ls.half != 2 {
		t.Fatalf("%d to accept, %d half open", ls.accepted, ls.half)
	}
	l.sends(xs[3], "early")
	l.accept(ls)
	l.accept(ls)
	l.wait(3 * time.Second)
	l.gets(l.accept(ls), "early", again) // its bytes confirmed the SYN ACK
	l.gets(l.accept(ls), "", again)
	if c := l.HostCounters("b"); c.ListenDrops == 0 || c.PassiveOpens != 4 {
		t.Errorf("%+v", c)
	}
}

func TestTCPReusePort(t *testing.T) {
	l := newLAN(t, 1, "a", "b")
	var ls [2]*TCP
	for i := range ls {
		ls[i] = l.Lookup("b").NewTCP(tcp4)
		ls[i].ReusePort = true
		l.ok("bind", ls[i].Bind(ap("0.0.0.0:80")))
		l.ok("listen", ls[i].Listen(1000))
	}
	for range 200 {
		l.dial("a", "10.0.0.2:80")
	}
	near(t, "the first", uint64(ls[0].accepted), 100)
	near(t, "the second", uint64(ls[1].accepted), 100)
}

// A side that waits in TIME_WAIT takes a new connection from the same port.
func TestTCPTimeWaitAgain(t *testing.T) {
	l := newLAN(t, 1, "a", "b")
	ls := l.listen("b", "0.0.0.0:80", 10)
	for range 3 {
		x := l.Lookup("a").NewTCP(tcp4)
		l.ok("bind", x.Bind(ap("0.0.0.0:5000")))
		l.is("connect", x.Connect(ap("10.0.0.2:80")), syscall.EINPROGRESS)
		l.state(x, established)
		y := l.accept(ls)
		y.Close()
		x.Close()
		l.state(y, timeWait)
		l.wait(time.Second)
	}
}

// A host has 28232 ephemeral ports for one peer. Those in TIME_WAIT count, on
// loopback addresses for a second.
func TestTCPPortsUsedUp(t *testing.T) {
	if testing.Short() {
		t.Skip("a second or two")
	}
	l := newLAN(t, 1, "a")
	ls := l.listen("a", "0.0.0.0:80", 10)
	use := func() syscall.Errno {
		x := l.Lookup("a").NewTCP(tcp4)
		defer x.Close()
		errno := x.Connect(ap("127.0.0.1:80"))
		if errno != syscall.EINPROGRESS {
			return errno
		}
		x.Close()
		l.accept(ls).Close()
		return 0
	}
	for range lastEphemeral - firstEphemeral + 1 {
		l.ok("connect", use())
	}
	l.is("one more", use(), syscall.EADDRNOTAVAIL)
	l.wait(time.Second)
	l.ok("a second later", use())
}

func TestTCPOrphan(t *testing.T) {
	t.Run("peer never closes", func(t *testing.T) {
		l := newLAN(t, 1, "a", "b")
		x, y := l.conn()
		y.Close()
		l.state(y, finWait2)
		l.wait(61 * time.Second)
		l.sends(x, "late")
		l.is("SO_ERROR", x.PendingError(), syscall.EPIPE)
		if len(l.Lookup("b").conns) != 0 {
			t.Error("the connection is still there")
		}
	})
	t.Run("peer unreachable", func(t *testing.T) {
		l := newLAN(t, 1, "a", "b")
		x, _ := l.conn()
		l.Partition([]string{"a"})
		l.sends(x, "last words")
		x.Close()
		if !x.Lingering() {
			t.Error("not lingering")
		}
		if d := l.run(); d < 100*time.Second || d > 220*time.Second {
			t.Errorf("gave up after %v", d)
		}
		if x.Lingering() || l.Lookup("a").sockets.first != nil {
			t.Error("something was left")
		}
	})
}

// Segments that make no sense, as an attacker or an old connection sends them.
func TestTCPStray(t *testing.T) {
	l := newLAN(t, 1, "a", "b")
	x, y := l.conn()
	stray := func(what string, f flags, seq, ack int64) {
		t.Helper()
		l.wait(time.Second) // ACKs are rare
		before := l.Counters("b", "a").Sent
		n := l.Network
		n.tcpEnter()
		p := x.segment(f, seq, 0)
		p.seg.ack = ack
		x.emit(p)
		n.tcpLeave()
		l.state(x, established)
		l.state(y, established)
		if sent := l.Counters("b", "a").Sent - before; sent != 1 {
			t.Errorf("%s: %d answers", what, sent)
		}
	}
	stray("RST in the window", flagRST, y.rcvNxt+100, 0)
	stray("SYN in the window", flagSYN, y.rcvNxt+100, 0)
	stray("SYN ACK again", flagSYN|flagACK, y.rcvNxt-1, x.rcvNxt)
	stray("ACK of what was not sent", flagACK, y.rcvNxt, y.max+1)
	stray("beyond the window", flagACK, y.redge+1, y.max)
	stray("before the window", flagACK, y.rcvNxt-1000, y.max)
	l.sends(x, "fine")
	l.gets(y, "fine", again)

	p := x.segment(flagRST, y.rcvNxt, 0)
	x.emit(p)
	l.gets(y, "", syscall.ECONNRESET)
}

func TestTCPDown(t *testing.T) {
	l := newLAN(t, 1, "a", "b")
	x, y := l.conn()
	l.Down("a")
	l.sends(x, "waits")
	l.wait(10 * time.Second)
	l.gets(y, "", again)
	ls := l.listen("a", "10.0.0.1:90", 1) // within the host all goes on
	l.dial("a", "10.0.0.1:90")
	l.accept(ls)
	l.Up("a")
	l.wait(20 * time.Second)
	l.gets(y, "waits", again)
}

func TestTCPDelayedAck(t *testing.T) {
	l := newLAN(t, 1, "a", "b")
	x, y := l.conn()
	x.SetNoDelay(true)
	for range quickAcks {
		l.sends(x, "x")
		if x.Unsent() != 0 {
			t.Fatal("an early ACK was delayed")
		}
	}
	l.sends(x, "x")
	l.wait(39 * time.Millisecond)
	if x.Unsent() != 1 {
		t.Error("not delayed")
	}
	l.wait(2 * time.Millisecond)
	if x.Unsent() != 0 {
		t.Error("not confirmed")
	}
	l.sends(x, strings.Repeat("x", 4000))
	if x.Unsent() != 0 {
		t.Error("two segments are not confirmed at once")
	}
	recv(y)
}

func TestTCPOptions(t *testing.T) {
	l := newLAN(t, 1, "a", "b")
	ls := l.listen("b", "[::]:80", 7)
	ls.SetNoDelay(true)
	ls.SetKeepAlive(true)
	l.ok("maxseg", ls.SetMaxSeg(500))
	ls.SetRcvBuf(8192, false)
	ls.SetSndBuf(8192, false)
	l.ok("ttl", ls.SetTTL(3))
	l.ok("hops", ls.SetHopLimit(4))
	l.ok("class", ls.SetTrafficClass(8))
	l.is("v6only", ls.SetV6Only(true), syscall.EINVAL)
	x := l.dial("a", "[fd00::2]:80")
	if i := ls.Info(); i.State != 10 || i.Unacked != 1 || i.Sacked != 7 {
		t.Errorf("%+v", i)
	}
	y := l.accept(ls)
	if !y.NoDelay() || !y.KeepAlive() || y.MaxSeg() != 500 || x.MaxSeg() != 500 || y.RcvBuf() != 16384 ||
		y.SndBuf() != 16384 || y.TTL() != 3 || y.HopLimit() != 4 || y.TrafficClass() != 8 || y.Family() != tcp6 {
		t.Error("options are not inherited")
	}
	l.sends(x, "twelve bytes")
	if i := y.Info(); i.State != 1 || i.BytesReceived != 12 || i.SndMSS != 500 || i.SndCwnd != 10 || i.PMTU != 1500 {
		t.Errorf("%+v", i)
	}
	if i := x.Info(); i.BytesAcked != 12 || i.TotalRetrans != 0 || i.RTO < rtoMin {
		t.Errorf("%+v", i)
	}
	only := l.Lookup("b").NewTCP(tcp6)
	l.ok("v6only", only.SetV6Only(true))
	l.is("mapped", only.Connect(ap("[::ffff:10.0.0.1]:1")), syscall.ENETUNREACH)
	l.ok("bind beside v4", only.Bind(ap("[::]:81")))
	l.ok("listen", only.Listen(1))
	l.is("v4 does not reach it", l.dial("a", "10.0.0.2:81").PendingError(), syscall.ECONNREFUSED)
}

// A slow start: ten segments at first, and twice as many each round trip.
func TestTCPSlowStart(t *testing.T) {
	l := newLAN(t, 1, "a", "b")
	l.SetDefault(Link{Latency: Constant(50 * time.Millisecond)})
	x, y := l.conn()
	x.SetSndBuf(1<<20, true)
	y.SetRcvBuf(1<<20, true)
	l.wait(time.Second)
	x.Send(make([]byte, 1<<19), false)
	for i, want := range []int{10, 20, 40} {
		l.wait(50 * time.Millisecond)
		got, _ := recv(y)
		segments := (len(got) + 1459) / 1460
		l.wait(50 * time.Millisecond)
		if segments < want-1 || segments > want+1 {
			t.Errorf("round trip %d: %d segments, want %d", i, segments, want)
		}
	}
}

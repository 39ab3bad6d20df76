package simnet

import (
	"bytes"
	"net/netip"
	"strings"
	"syscall"
	"testing"
	"time"
)

const (
	tcp4 = syscall.AF_INET
	tcp6 = syscall.AF_INET6
)

func ap(s string) netip.AddrPort { return netip.MustParseAddrPort(s) }

// wait lets virtual time pass.
func (l *lan) wait(d time.Duration) { l.w.StepUntil(l.w.Now() + int64(d)) }

func (l *lan) ok(what string, errno syscall.Errno) {
	l.Helper()
	l.is(what, errno, 0)
}

func (l *lan) is(what string, errno, want syscall.Errno) {
	l.Helper()
	if errno != want {
		l.Fatalf("%s: %v (%d), want %v", what, errno, errno, want)
	}
}

func (l *lan) state(t *TCP, want state) {
	l.Helper()
	if t.state != want {
		l.Fatalf("state %v, want %v", t.state, want)
	}
}

// listen returns a listening socket.
func (l *lan) listen(host, addr string, backlog int) *TCP {
	l.Helper()
	a := ap(addr)
	family := tcp6
	if a.Addr().Is4() {
		family = tcp4
	}
	t := l.Lookup(host).NewTCP(family)
	t.ReuseAddr = true
	l.ok("bind", t.Bind(a))
	l.ok("listen", t.Listen(backlog))
	return t
}

// dial begins a connection.
func (l *lan) dial(host, to string) *TCP {
	l.Helper()
	a, family := ap(to), tcp6
	if a.Addr().Is4() {
		family = tcp4
	}
	t := l.Lookup(host).NewTCP(family)
	l.is("connect", t.Connect(a), syscall.EINPROGRESS)
	return t
}

func (l *lan) accept(t *TCP) *TCP {
	l.Helper()
	c, errno := t.Accept()
	l.ok("accept", errno)
	return c
}

// pair returns a connection from a to b.
func (l *lan) conn() (x, y *TCP) {
	l.Helper()
	ls := l.listen("b", "0.0.0.0:80", 10)
	x = l.dial("a", "10.0.0.2:80")
	for range 1000 {
		if ls.Readable() || !l.w.Step() {
			break
		}
	}
	y = l.accept(ls)
	ls.Close()
	l.wait(time.Second)
	l.state(x, established)
	l.state(y, established)
	return x, y
}

func (l *lan) sends(t *TCP, s string) {
	l.Helper()
	n, errno := t.Send([]byte(s), false)
	l.ok("send", errno)
	if n != len(s) {
		l.Fatalf("sent %d of %d bytes", n, len(s))
	}
}

// recv returns all that is at hand and what comes after that: EAGAIN, an
// error, or 0 for the end.
func recv(t *TCP) (string, syscall.Errno) {
	var b bytes.Buffer
	buf := make([]byte, 4096)
	for {
		n, errno := t.Recv(buf, false)
		if n == 0 {
			return b.String(), errno
		}
		b.Write(buf[:n])
	}
}

func (l *lan) gets(t *TCP, want string, then syscall.Errno) {
	l.Helper()
	got, errno := recv(t)
	if got != want || errno != then {
		l.Fatalf("got %d bytes %.40q, then %v; want %d %.40q, then %v", len(got), got, errno, len(want), want, then)
	}
}

const again = syscall.EAGAIN

func TestTCPConnect(t *testing.T) {
	for name, link := range map[string]Link{"perfect": {}, "slow": {Latency: Constant(5 * time.Millisecond)}} {
		t.Run(name, func(t *testing.T) {
			l := newLAN(t, 1, "a", "b")
			l.SetDefault(link)
			ls := l.listen("b", "0.0.0.0:80", 10)
			_, errno := ls.Accept()
			l.is("accept", errno, again)
			x := l.dial("a", "10.0.0.2:80")
			if name == "slow" {
				l.is("connect again", x.Connect(ap("10.0.0.2:80")), syscall.EALREADY)
				if x.Writable() || x.RemoteAddr().IsValid() {
					t.Error("writable before it is connected")
				}
				_, errno := x.Send([]byte("x"), false)
				l.is("send", errno, again)
				l.gets(x, "", again)
			}
			l.wait(10 * time.Millisecond)
			l.state(x, established)
			if !x.Writable() || x.Readable() || x.HangUp() || x.PendingError() != 0 {
				t.Error("readiness")
			}
			l.ok("the outcome", x.Connect(ap("10.0.0.2:80")))
			l.is("connect again", x.Connect(ap("10.0.0.2:80")), syscall.EISCONN)
			l.wait(10 * time.Millisecond)
			y := l.accept(ls)
			if x.LocalAddr() != y.RemoteAddr() || x.RemoteAddr() != y.LocalAddr() || y.LocalAddr() != ap("10.0.0.2:80") {
				t.Errorf("addresses: %v %v, %v %v", x.LocalAddr(), x.RemoteAddr(), y.LocalAddr(), y.RemoteAddr())
			}
			if x.MaxSeg() != 1460 || y.MaxSeg() != 1460 {
				t.Errorf("MSS %d %d", x.MaxSeg(), y.MaxSeg())
			}
			l.sends(x, "hello")
			l.wait(10 * time.Millisecond)
			l.gets(y, "hello", again)
			l.sends(y, "world")
			l.wait(10 * time.Millisecond)
			l.gets(x, "world", again)

			// A proper end, one direction at a time.
			l.ok("shutdown", x.Shutdown(false, true))
			_, errno = x.Send([]byte("x"), false)
			l.is("send", errno, syscall.EPIPE)
			l.wait(10 * time.Millisecond)
			l.state(x, finWait2)
			l.state(y, closeWait)
			l.gets(y, "", 0)
			l.sends(y, "still")
			l.wait(10 * time.Millisecond)
			l.gets(x, "still", again)
			y.Close()
			l.wait(20 * time.Millisecond)
			l.gets(x, "", 0)
			l.state(x, timeWait)
			l.state(y, closed)
			x.Close()
			l.conserved()
			if l.run() > time.Second {
				t.Error("timers go on")
			}
		})
	}
}

func TestTCPRefused(t *testing.T) {
	l := newLAN(t, 1, "a", "b")
	x := l.dial("a", "10.0.0.2:81")
	if !x.Failed() || !x.HangUp() || !x.Readable() || !x.Writable() {
		t.Error("readiness")
	}
	l.is("SO_ERROR", x.PendingError(), syscall.ECONNREFUSED)
	l.is("cleared", x.PendingError(), 0)
	l.is("connect", x.Connect(ap("10.0.0.2:81")), syscall.ECONNABORTED)
	l.is("connect", x.Connect(ap("10.0.0.2:81")), syscall.EINPROGRESS)
	l.is("connect", x.Connect(ap("10.0.0.2:81")), syscall.ECONNREFUSED)
	l.listen("b", "0.0.0.0:81", 1)
	l.is("connect", x.Connect(ap("10.0.0.2:81")), syscall.EINPROGRESS)
	l.ok("connect", x.Connect(ap("10.0.0.2:81")))
	x = l.dial("a", "127.0.0.1:81")
	l.is("loopback", x.PendingError(), syscall.ECONNREFUSED)
}

func TestTCPUnreachable(t *testing.T) {
	l := newLAN(t, 1, "a", "b")
	connect := func(to string) syscall.Errno {
		family := tcp6
		if ap(to).Addr().Is4() {
			family = tcp4
		}
		return l.Lookup("a").NewTCP(family).Connect(ap(to))
	}
	l.is("foreign", connect("192.168.1.1:1"), syscall.ENETUNREACH)
	l.is("foreign 6", connect("[2001:db8::1]:1"), syscall.ENETUNREACH)
	l.is("group", connect("224.0.0.1:1"), syscall.ENETUNREACH)
	l.is("broadcast", connect("10.0.255.255:1"), syscall.ENETUNREACH)
	x := l.dial("a", "10.0.0.77:1") // a neighbour that nobody is
	l.wait(2 * time.Second)
	l.ok("not yet", x.PendingError())
	l.wait(2 * time.Second)
	l.is("no neighbour", x.PendingError(), syscall.EHOSTUNREACH)
	l.Down("a")
	l.is("down", connect("10.0.0.2:1"), syscall.ENETUNREACH)
	l.is("loopback", connect("127.0.0.1:1"), syscall.EINPROGRESS)
}

// The SYN is sent seven times, the SYN ACK six times.
func TestTCPSynRetries(t *testing.T) {
	l := newLAN(t, 1, "a", "b")
	l.listen("b", "0.0.0.0:80", 1)
	l.Cut("b", "a")
	x := l.dial("a", "10.0.0.2:80")
	l.wait(126 * time.Second)
	l.state(x, synSent)
	if c := l.Counters("a", "b"); c.Sent != 7 {
		t.Errorf("%d SYN", c.Sent)
	}
	l.wait(2 * time.Second)
	l.is("SO_ERROR", x.PendingError(), syscall.ETIMEDOUT)
	l.Mend("b", "a")
	l.run()

	l = newLAN(t, 1, "a", "b")
	ls := l.listen("b", "0.0.0.0:80", 1)
	l.Cut("b", "a")
	x = l.dial("a", "10.0.0.2:80")
	x.Close()
	d := l.run()
	if d < 63*time.Second || d > 64*time.Second || ls.half != 0 || len(l.Lookup("b").conns) != 0 {
		t.Errorf("half-open for %v", d)
	}
	if c := l.Counters("b", "a"); c.Sent != 6 {
		t.Errorf("%d SYN ACK", c.Sent)
	}
}

func TestTCPBacklog(t *testing.T) {
	l := newLAN(t, 1, "a", "b")
	ls := l.listen("b", "0.0.0.0:80", 1)
	var xs []*TCP
	for range 4 {
		xs = append(xs, l.dial("a", "10.0.0.2:80"))
	}
	for i, want := range []state{established, established, synSent, synSent} { // one more than the backlog
		l.state(xs[i], want)
	}
	l.accept(ls)
	l.accept(ls)
	_, errno := ls.Accept()
	l.is("accept", errno, again)
	l.wait(2 * time.Second) // SYN again after a second
	l.state(xs[3], established)
	l.accept(ls)
	l.accept(ls)

	// A socket that closes resets what it did not accept.
	x := l.dial("a", "10.0.0.2:80")
	ls.Close()
	l.gets(x, "", syscall.ECONNRESET)
	l.is("gone", l.dial("a", "10.0.0.2:80").PendingError(), syscall.ECONNREFUSED)
}

func TestTCPReset(t *testing.T) {
	t.Run("unread", func(t *testing.T) {
		l := newLAN(t, 1, "a", "b")
		x, y := l.conn()
		l.sends(y, "for x")
		l.sends(x, "nobody reads this")
		y.Close()
		l.gets(x, "for x", syscall.ECONNRESET)
		l.gets(x, "", 0)
		_, errno := x.Send([]byte("x"), false)
		l.is("send", errno, syscall.EPIPE)
		l.run()
	})
	t.Run("linger 0", func(t *testing.T) {
		l := newLAN(t, 1, "a", "b")
		x, y := l.conn()
		y.LingerOn = true
		y.Close()
		_, errno := x.Send([]byte("x"), false)
		l.is("send", errno, syscall.ECONNRESET)
		_, errno = x.Send([]byte("x"), false)
		l.is("send", errno, syscall.EPIPE)
		l.gets(x, "", 0)
	})
	t.Run("data after close", func(t *testing.T) {
		l := newLAN(t, 1, "a", "b")
		x, y := l.conn()
		y.Close()
		l.gets(x, "", 0)
		l.sends(x, "late")
		_, errno := x.Send([]byte("x"), false)
		l.is("send", errno, syscall.EPIPE)
		l.run()
	})
	t.Run("killed", func(t *testing.T) {
		l := newLAN(t, 1, "a", "b")
		x, y := l.conn()
		l.sends(y, "last words")
		l.Lookup("b").Reset()
		l.gets(x, "last words", 0)
		_, errno := y.Send([]byte("x"), false)
		l.is("send", errno, syscall.EBADF)
	})
	t.Run("killed with unread data", func(t *testing.T) {
		l := newLAN(t, 1, "a", "b")
		x, _ := l.conn()
		l.sends(x, "unread")
		l.Lookup("b").Reset()
		l.gets(x, "", syscall.ECONNRESET)
	})
	t.Run("power off", func(t *testing.T) {
		l := newLAN(t, 1, "a", "b")
		x, _ := l.conn()
		l.Lookup("b").PowerOff()
		l.sends(x, "into silence")
		l.wait(time.Minute)
		l.gets(x, "", again)
		l.Lookup("b").PowerOn()
		l.wait(time.Minute)
		l.gets(x, "", syscall.ECONNRESET)
		if len(l.Lookup("b").conns) != 0 || l.Lookup("b").sockets.first != nil {
			t.Error("something was left")
		}
	})
	t.Run("power off for ever", func(t *testing.T) {
		l := newLAN(t, 1, "a", "b")
		x, _ := l.conn()
		l.Lookup("b").PowerOff()
		l.sends(x, "into silence")
		d := l.run()
		l.is("SO_ERROR", x.PendingError(), syscall.ETIMEDOUT)
		if d < 920*time.Second || d > 1050*time.Second {
			t.Errorf("gave up after %v", d)
		}
	})
}

func TestTCPKeepAlive(t *testing.T) {
	l := newLAN(t, 1, "a", "b")
	x, y := l.conn()
	x.SetKeepAlive(true)
	l.ok("idle", x.SetKeepIdle(15*time.Second))
	l.ok("interval", x.SetKeepInterval(15*time.Second))
	l.ok("count", x.SetKeepCount(9))
	before := l.Counters("a", "b").Sent
	l.wait(61 * time.Second)
	if sent := l.Counters("a", "b").Sent - before; sent != 4 {
		t.Errorf("%d probes", sent)
	}
	l.state(x, established)
	start := l.w.Elapsed()
	l.Partition([]string{"a"})
	for x.state == established && l.w.Step() {
	}
	if d := l.w.Elapsed() - start; d < 140*time.Second || d > 160*time.Second {
		t.Errorf("dead after %v", d)
	}
	l.is("SO_ERROR", x.PendingError(), syscall.ETIMEDOUT)
	l.state(y, established) // nobody told it
}

func TestTCPUserTimeout(t *testing.T) {
	l := newLAN(t, 1, "a", "b")
	x, _ := l.conn()
	x.UserTimeout = 5 * time.Second
	l.Partition([]string{"a"})
	l.sends(x, "x")
	if d := l.run(); d < 4900*time.Millisecond || d > 5100*time.Millisecond {
		t.Errorf("gave up after %v", d)
	}
	l.is("SO_ERROR", x.PendingError(), syscall.ETIMEDOUT)
}

func TestTCPWindow(t *testing.T) {
	for name, link := range map[string]Link{"perfect": {}, "slow": {Latency: Constant(5 * time.Millisecond)}} {
		t.Run(name, func(t *testing.T) {
			l := newLAN(t, 1, "a", "b")
			l.SetDefault(link)
			x, y := l.conn()
			sent, rounds := 0, 0
			buf := make([]byte, 10000)
			for {
				n, errno := x.Send(buf, false)
				sent += n
				l.wait(20 * time.Millisecond)
				if errno != 0 {
					l.is("full", errno, again)
					if rounds++; rounds == 3 {
						break
					}
				}
			}
			if x.Writable() {
				t.Error("writable though full")
			}
			l.wait(time.Minute) // the window is probed
			l.state(x, established)
			if x.probes > 1 {
				t.Errorf("%d probes unanswered", x.probes)
			}
			got := 0
			for got < sent {
				n, errno := y.Recv(buf, false)
				got += n
				if errno != 0 {
					l.is("recv", errno, again)
					l.wait(10 * time.Millisecond)
				}
			}
			if !x.Writable() || x.Unsent() != 0 && name == "perfect" {
				t.Error("not writable though empty")
			}
		})
	}
}

func TestTCPSelf(t *testing.T) {
	l := newLAN(t, 1, "a")
	x := l.Lookup("a").NewTCP(tcp4)
	l.ok("bind", x.Bind(ap("127.0.0.1:5000")))
	l.is("connect", x.Connect(ap("127.0.0.1:5000")), syscall.EINPROGRESS)
	l.ok("connect", x.Connect(ap("127.0.0.1:5000")))
	l.sends(x, "echo")
	l.gets(x, "echo", again)
	l.ok("shutdown", x.Shutdown(false, true))
	l.gets(x, "", 0)
	x.Close()
	l.run()
}

func TestTCPSimultaneous(t *testing.T) {
	l := newLAN(t, 1, "a", "b")
	l.SetDefault(Link{Latency: Constant(time.Millisecond)})
	x, y := l.Lookup("a").NewTCP(tcp4), l.Lookup("b").NewTCP(tcp4)
	l.ok("bind", x.Bind(ap("10.0.0.1:70")))
	l.ok("bind", y.Bind(ap("10.0.0.2:70")))
	l.is("connect", x.Connect(ap("10.0.0.2:70")), syscall.EINPROGRESS)
	l.is("connect", y.Connect(ap("10.0.0.1:70")), syscall.EINPROGRESS)
	l.wait(10 * time.Millisecond)
	l.state(x, established)
	l.state(y, established)
	l.sends(x, "one")
	l.sends(y, "two")
	l.wait(10 * time.Millisecond)
	l.gets(x, "two", again)
	l.gets(y, "one", again)
	x.Close()
	y.Close()
	l.wait(10 * time.Millisecond)
	l.state(x, timeWait)
	l.state(y, timeWait)
	l.run()
}

// A lost segment is sent again when three later ones came, or after a while.
func TestTCPRetransmit(t *testing.T) {
	l := newLAN(t, 1, "a", "b")
	l.SetDefault(Link{Latency: Constant(10 * time.Millisecond)})
	x, y := l.conn()
	x.SetNoDelay(true)
	full := strings.Repeat("x", 1460)
	l.Cut("a", "b")
	l.sends(x, full)
	l.wait(11 * time.Millisecond)
	l.Mend("a", "b")
	start := l.w.Elapsed()
	for range 4 {
		l.sends(x, full)
	}
	for y.Unread() == 0 && l.w.Step() {
	}
	if d := l.w.Elapsed() - start; d > 35*time.Millisecond {
		t.Errorf("fast retransmission came after %v", d)
	}
	l.gets(y, strings.Repeat("x", 5*1460), again)
	l.wait(time.Second)

	l.Cut("a", "b")
	l.sends(x, "last")
	l.wait(11 * time.Millisecond)
	l.Mend("a", "b")
	start = l.w.Elapsed()
	for y.Unread() == 0 && l.w.Step() {
	}
	if d := l.w.Elapsed() - start; d < 180*time.Millisecond || d > 300*time.Millisecond {
		t.Errorf("RTO came after %v", d)
	}
}

func TestTCPNagle(t *testing.T) {
	l := newLAN(t, 1, "a", "b")
	l.SetDefault(Link{Latency: Constant(10 * time.Millisecond)})
	x, y := l.conn()
	l.sends(x, "1")
	l.sends(x, "2")
	l.wait(15 * time.Millisecond)
	l.gets(y, "1", again)
	l.wait(15 * time.Millisecond)
	l.gets(y, "2", again)
	x.SetNoDelay(true)
	l.sends(x, "3")
	l.sends(x, "4")
	l.wait(15 * time.Millisecond)
	l.gets(y, "34", again)
	x.Send([]byte("5"), true)
	l.wait(15 * time.Millisecond)
	l.gets(y, "", again)
	x.Send([]byte("6"), false)
	l.wait(15 * time.Millisecond)
	l.gets(y, "56", again)
}

func TestTCPTimeWait(t *testing.T) {
	l := newLAN(t, 1, "a", "b")
	ls := l.listen("b", "0.0.0.0:80", 10)
	x := l.dial("a", "10.0.0.2:80")
	y := l.accept(ls)
	y.Close() // the side that closes first waits
	x.Close()
	ls.Close()
	l.state(y, timeWait)
	z := l.Lookup("b").NewTCP(tcp4)
	l.is("without SO_REUSEADDR", z.Bind(ap("0.0.0.0:80")), syscall.EADDRINUSE)
	z.ReuseAddr = true
	l.ok("with", z.Bind(ap("0.0.0.0:80")))
	z.Close()
	l.wait(61 * time.Second)
	z = l.Lookup("b").NewTCP(tcp4)
	l.ok("after a minute", z.Bind(ap("0.0.0.0:80")))
	if len(l.Lookup("b").conns) != 0 {
		t.Error("the connection is still there")
	}
}

func TestTCPDualStack(t *testing.T) {
	l := newLAN(t, 1, "a", "b")
	ls := l.listen("b", "[::]:80", 10)
	x := l.dial("a", "10.0.0.2:80")
	y := l.accept(ls)
	if got := y.RemoteAddr().Addr().String(); got != "::ffff:10.0.0.1" {
		t.Error(got)
	}
	l.sends(x, "four")
	l.gets(y, "four", again)
	x6 := l.dial("a", "[fd00::2]:80")
	y6 := l.accept(ls)
	if x6.MaxSeg() != 1440 || y6.MaxSeg() != 1440 {
		t.Error(x6.MaxSeg(), y6.MaxSeg())
	}
	xm := l.dial("a", "[::ffff:10.0.0.2]:80")
	l.accept(ls)
	if got := xm.LocalAddr().Addr().String(); got != "::ffff:10.0.0.1" {
		t.Error(got)
	}
}

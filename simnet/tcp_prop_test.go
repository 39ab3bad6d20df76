package simnet

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/dstkit/dst/sched"
)

// byteAt is the stream that the property test sends.
func byteAt(i int) byte { return byte(i ^ i>>8 ^ i>>16) }

// side is one end of the connection in the property test.
type side struct {
	t          *TCP
	total      int // bytes to send
	sent, got  int
	shut, done bool // said its last; heard the peer's
	err        syscall.Errno
	notes      int
	ready      string // when last looked at …
	noted      int    // … after so many calls of Notify
}

// look checks that Notify was called if the socket has become ready.
func (s *side) look(l *lan) {
	now := fmt.Sprint(s.t.Readable(), s.t.Writable(), s.t.HangUp(), s.t.PeerClosed(), s.t.Failed())
	was := strings.Fields(s.ready)
	for i, f := range strings.Fields(now) {
		if s.ready != "" && f == "true" && was[i] == "false" && s.noted == s.notes {
			l.Fatalf("%v became %v and nobody was told", s.ready, now)
		}
	}
	s.ready, s.noted = now, s.notes
}

// step sends and receives a little. It tells whether anything happened.
func (s *side) step(l *lan, r *rand.Rand) {
	if s.err != 0 {
		return
	}
	s.look(l)
	defer s.look(l)
	buf := make([]byte, 1+r.IntN(20000))
	if s.sent < s.total && r.IntN(3) > 0 {
		b := buf[:min(len(buf), s.total-s.sent)]
		for i := range b {
			b[i] = byteAt(s.sent + i)
		}
		writable := s.t.Writable()
		n, errno := s.t.Send(b, r.IntN(20) == 0)
		if errno == again && writable {
			l.Fatalf("Writable, and yet EAGAIN")
		}
		if errno != 0 && errno != again {
			s.err = errno
			return
		}
		s.sent += n
	} else if s.sent == s.total && !s.shut {
		s.t.Shutdown(false, true)
		s.shut = true
	}
	if !s.done && r.IntN(3) > 0 {
		readable := s.t.Readable()
		n, errno := s.t.Recv(buf, false)
		switch {
		case readable == (errno == again):
			l.Fatalf("Readable %v, and yet %d, %v", readable, n, errno)
		case errno == again:
		case errno != 0:
			s.err = errno
		case n == 0:
			s.done = true
		}
		for i, c := range buf[:n] {
			if c != byteAt(s.got+i) {
				l.Fatalf("byte %d of the stream is wrong", s.got+i)
			}
		}
		s.got += n
	}
}

// story runs a connection over a network that behaves badly, and returns what
// became of it.
func story(t *testing.T, seed uint64, kill bool) string {
	r := rand.New(rand.NewPCG(seed, 1))
	l := newLAN(t, seed, "a", "b")
	chance := func() float64 { return float64(r.IntN(4)) * 0.07 }
	link := func() Link {
		k := Link{
			Loss: chance(), Duplicate: chance(), Reorder: chance(), Corrupt: chance() / 4,
			Latency: Uniform(0, time.Duration(1+r.IntN(50))*time.Millisecond),
		}
		switch r.IntN(6) {
		case 0:
			k = Link{}
		case 1:
			k.MTU = 200 + r.IntN(2000)
		case 2:
			k.Bandwidth, k.Queue = int64(1e5+r.IntN(1e8)), 3000+r.IntN(1e5)
		}
		return k
	}
	l.SetDefault(link())
	ls := l.listen("b", "[::]:80", 10)
	x := &side{t: l.dial("a", "10.0.0.2:80"), total: r.IntN(300000)}
	y := &side{total: r.IntN(300000)}
	if r.IntN(2) == 0 {
		x.t.SetRcvBuf(1000+r.IntN(30000), false)
	}
	if r.IntN(2) == 0 {
		x.t.SetSndBuf(1000+r.IntN(30000), false)
	}
	if r.IntN(2) == 0 {
		x.t.SetNoDelay(true)
	}
	x.t.SetKeepAlive(true) // or it would wait for ever for a machine that is off
	x.t.SetKeepIdle(15 * time.Second)
	x.t.Notify = func() { x.notes++ }
	ends := sched.Epoch + int64(time.Duration(5+r.IntN(60))*time.Second) // of the faults
	killAt := sched.Epoch + int64(time.Duration(r.IntN(20000))*time.Millisecond)
	over := func(s *side) bool { return s.err != 0 || s.shut && s.done && !s.t.Lingering() }
	healed := false
	for i := 0; ; i++ {
		if i > 3e6 || l.w.Elapsed() > 30*time.Minute {
			t.Fatalf("seed %d: no end: %+v %+v, %v", seed, x, y, l.w.Elapsed())
		}
		if y.t == nil {
			if c, errno := ls.Accept(); errno == 0 {
				y.t = c
				y.t.Notify = func() { y.notes++ }
			}
		}
		if x.err == 0 && x.t.state != synSent {
			x.step(l, r)
		} else if x.t.state == closed && x.err == 0 {
			x.err = x.t.PendingError()
		}
		if y.t != nil {
			y.step(l, r)
		}
		if over(x) && (y.t == nil || over(y)) {
			break
		}
		now := l.w.Now()
		if kill && now > killAt {
			kill = false
			l.Lookup("b").PowerOff()
			y.err = syscall.EBADF
			if r.IntN(2) == 0 {
				l.Lookup("b").PowerOn()
			}
		}
		switch {
		case healed:
		case now < ends:
			switch r.IntN(2000) {
			case 0:
				l.SetDefault(link())
			case 1:
				l.Cut("a", "b")
			case 2:
				l.Cut("b", "a")
			case 3:
				l.Partition([]string{"a"})
			case 4:
				l.Hold("a", "b")
			case 5:
				l.Down("b")
			case 6, 7, 8, 9, 10, 11, 12, 13:
				l.Heal()
			}
		default:
			l.Heal()
			l.SetDefault(Link{Latency: Uniform(0, time.Millisecond)})
			healed = true
		}
		if r.IntN(3) > 0 && !l.w.Step() {
			l.wait(time.Duration(r.IntN(1e6)))
		}
	}
	if x.err == 0 && (y.t == nil || y.err == 0) {
		if x.got != y.total || y.got != x.total {
			t.Fatalf("seed %d: %d of %d, %d of %d bytes", seed, x.got, y.total, y.got, x.total)
		}
	}
	if y.t != nil && (x.got > y.sent || y.got > x.sent) {
		t.Fatalf("seed %d: more came than was sent", seed)
	}
	x.t.Close()
	if y.t != nil {
		y.t.Close()
	}
	ls.Close()
	l.wait(time.Hour)
	l.conserved()
	for _, h := range []string{"a", "b"} {
		if s := l.Lookup(h); s.sockets.first != nil {
			t.Fatalf("seed %d: %s has %v left", seed, h, s.sockets.first.state)
		}
	}
	return fmt.Sprintf("%d/%v %d/%v %v %d %d %x", x.got, x.err, y.got, y.err, l.w.Elapsed(), x.notes, y.notes, l.w.Fingerprint())
}

// Bytes arrive intact and in order whatever the network does, or the
// connection fails in bounded time.
func TestTCPProperty(t *testing.T) {
	for seed := range uint64(100) {
		kill := seed%5 == 4
		a := story(t, seed, kill)
		if testing.Verbose() {
			t.Log(seed, a)
		}
		if seed%10 < 5 && seed%2 == 0 || kill {
			if b := story(t, seed, kill); a != b {
				t.Fatalf("seed %d: two runs differ:\n%s\n%s", seed, a, b)
			}
		}
	}
}

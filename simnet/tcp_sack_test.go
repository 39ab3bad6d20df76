package simnet

import (
	"syscall"
	"testing"
	"time"
)

// Many losses in one window: what was lost is sent again, each once, and
// nothing else is, within a few round trips.
func TestManyLossesInAWindow(t *testing.T) {
	quick := 0
	for seed := range uint64(200) {
		l := newLAN(t, seed, "a", "b")
		l.SetDefault(Link{Latency: Constant(10 * time.Millisecond)})
		x, y := l.conn()
		buf := make([]byte, 40*1460)
		for range 3 { // the window opens
			x.Send(buf, false)
			l.wait(time.Second)
			y.Recv(buf, false)
		}
		before := l.Counters("a", "b").Lost
		l.SetLinkOneWay("a", "b", Link{Latency: Constant(10 * time.Millisecond), Loss: 0.3})
		start := l.w.Now()
		x.Send(buf[:30*1460], false)
		lost := int(l.Counters("a", "b").Lost - before)
		l.SetLinkOneWay("a", "b", Link{Latency: Constant(10 * time.Millisecond)})
		for y.Unread() < 30*1460 && l.w.Step() {
		}
		took := time.Duration(l.w.Now() - start)
		if y.Unread() != 30*1460 {
			t.Fatalf("seed %d: %d bytes came", seed, y.Unread())
		}
		i := x.Info()
		if i.TotalRetrans > lost+1 || i.TotalRetrans < lost { // one more: the last of a burst may have come meanwhile
			t.Errorf("seed %d: %d sent again, %d lost", seed, i.TotalRetrans, lost)
		}
		if took < 200*time.Millisecond {
			quick++
		}
	}
	// The last segments have nobody after them who would tell of their loss:
	// those wait for the timer.
	if quick < 100 {
		t.Errorf("only %d of 200 did without the timer", quick)
	}
}

// The blocks that an ACK tells of, the latest first, and what the sender makes
// of them.
func TestSackBlocks(t *testing.T) {
	l := newLAN(t, 1, "a", "b")
	x, y := l.conn()
	y.rcvNxt, y.tells = 100, 0
	for _, b := range []block{{200, 210}, {300, 310}, {210, 220}, {400, 410}, {500, 510}, {190, 500}} {
		y.tell(b)
	}
	if y.tells != 1 || y.told[0] != (block{190, 510}) {
		t.Errorf("%d: %v", y.tells, y.told)
	}
	y.tells = 0
	for _, b := range []block{{200, 210}, {300, 310}, {400, 410}, {500, 510}, {310, 320}} {
		y.tell(b)
	}
	if y.tells != 3 || y.told != [3]block{{300, 320}, {500, 510}, {400, 410}} {
		t.Errorf("%d: %v", y.tells, y.told)
	}
	y.rcvNxt = 450
	if y.forget(); y.tells != 1 || y.told[0] != (block{500, 510}) {
		t.Errorf("%d: %v", y.tells, y.told)
	}
	x.una, x.nxt, x.max, x.mss = 100, 1000, 1000, 100
	hear := func(ack int64, want bool, blocks ...block) {
		t.Helper()
		g := &segment{ack: ack, sacks: uint8(copy(make([]block, 3), blocks))}
		copy(g.sack[:], blocks)
		if got := x.hear(g); got != want {
			t.Errorf("%v: news %v, %v", blocks, got, x.sacked)
		}
	}
	hear(100, true, block{300, 400})
	hear(100, false, block{300, 400}, block{320, 330}, block{50, 90}, block{2000, 3000})
	hear(100, true, block{200, 250}, block{400, 450}, block{600, 700})
	hear(100, true, block{250, 300}, block{900, 2000})
	if len(x.sacked) != 3 || x.sacked[0] != (block{200, 450}) || x.sacked[1] != (block{600, 700}) || x.sacked[2] != (block{900, 1000}) {
		t.Errorf("%v", x.sacked)
	}
	if !x.lost(0) || x.lost(1) || x.lost(2) {
		t.Error("lost")
	}
	if x.recovering = true; x.pipe() != 150+200 { // but for 100 to 200, which is lost
		t.Errorf("pipe %d", x.pipe())
	}
	x.una = 620
	if x.confirm(); len(x.sacked) != 2 || x.pipe() != 200+0 {
		t.Errorf("%v, pipe %d", x.sacked, x.pipe())
	}
}

// A link that takes less than the interface: TCP learns so from what comes back
// for its first large segment, and sends smaller ones from then on.
func TestPathMTU(t *testing.T) {
	for _, addr := range []string{"10.0.0.2:80", "[fd00::2]:80"} {
		l := newLAN(t, 1, "a", "b")
		link := Link{Latency: Constant(10 * time.Millisecond)}
		l.SetDefault(link)
		ls := l.listen("b", "[::]:80", 1)
		x := l.dial("a", addr)
		l.wait(time.Second)
		x.SetNoDelay(true)
		y, errno := ls.Accept()
		l.ok("accept", errno)
		narrow := link
		narrow.MTU = 1300
		l.SetLink("a", "b", narrow)
		full := x.segmentSize()
		if mtu := l.Lookup("a").PathMTU(ap(addr).Addr()); mtu != 1500 {
			t.Errorf("%d", mtu)
		}
		start := l.w.Now()
		x.Send(make([]byte, 5000), false)
		for y.Unread() < 5000 && l.w.Step() {
		}
		if took := time.Duration(l.w.Now() - start); took != 20*time.Millisecond { // one way for the news, one for the bytes
			t.Errorf("%s: took %v", addr, took)
		}
		if mtu := l.Lookup("a").PathMTU(ap(addr).Addr()); mtu != 1300 || x.segmentSize() != full-200 || x.Info().PMTU != 1300 {
			t.Errorf("%d, %d", mtu, x.segmentSize())
		}
		l.wait(11 * time.Minute)
		if x.segmentSize() != full {
			t.Error("forgotten after ten minutes")
		}
		// Without the news nothing gets through, for ever.
		l.Cut("b", "a")
		x.Send(make([]byte, 5000), false)
		l.wait(time.Second)
		if y.Unread() != 5000 {
			t.Errorf("%d", y.Unread())
		}
		l.Heal()
		l.wait(time.Minute)
		if y.Unread() != 10000 {
			t.Errorf("%d", y.Unread())
		}
	}
}

// UDP with IP_PMTUDISC_DO learns, too; with IP_PMTUDISC_PROBE it is told and
// sends on; without either its datagrams are sent in fragments.
func TestPathMTUOfUDP(t *testing.T) {
	l := newLAN(t, 1, "a", "b")
	l.SetLink("a", "b", Link{MTU: 1300})
	u := l.Lookup("a").NewUDP(syscall.AF_INET)
	l.ok("connect", u.Connect(l.addr("b")))
	send := func(size int, want syscall.Errno) {
		t.Helper()
		if _, errno := u.Send(make([]byte, size), l.addr("b"), nil); errno != want {
			t.Errorf("%d bytes: %v, want %v", size, errno, want)
		}
	}
	send(1400, 0)
	u.RecvErr = true
	u.SetMTUDiscover(true, false)
	send(1473, syscall.EMSGSIZE) // the interface says so
	if _, f, errno := u.NextFailure(); errno != 0 || f != (Failure{Errno: syscall.EMSGSIZE, Origin: originLocal, Info: 1500}) {
		t.Errorf("%+v, %v", f, errno)
	}
	send(1400, 0)
	if _, f, errno := u.NextFailure(); errno != 0 || f.Errno != syscall.EMSGSIZE || f.Origin != originICMP || f.Type != 3 || f.Code != 4 || f.Info != 1300 {
		t.Errorf("%+v, %v", f, errno)
	}
	send(1400, syscall.EMSGSIZE)
	send(1272, 0)
	u.RecvErr = false
	u.SetMTUDiscover(true, true)
	u.PendingError()
	send(1400, 0)
	send(100, syscall.EMSGSIZE) // what came back, told once
	send(100, 0)
	if n := len(got(l.socks["b"])); n != 3 {
		t.Errorf("%d came", n)
	}
}

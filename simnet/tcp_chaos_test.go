package simnet

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

// chaos does everything at random, and checks that nothing of it is left in
// the end.
func chaos(t *testing.T, seed uint64) string {
	r := rand.New(rand.NewPCG(seed, 2))
	names := []string{"a", "b", "c"}
	l := newLAN(t, seed, names...)
	link := func() Link {
		if r.IntN(2) == 0 {
			return Link{}
		}
		return Link{Latency: Uniform(0, 30*time.Millisecond), Loss: 0.1 * r.Float64(), Duplicate: 0.1, Reorder: 0.1}
	}
	var socks []*TCP
	some := func() *TCP {
		if len(socks) == 0 {
			socks = append(socks, l.Lookup("a").NewTCP(tcp4))
		}
		return socks[r.IntN(len(socks))]
	}
	addr := func() string {
		port := 80 + r.IntN(3)
		switch r.IntN(8) {
		case 0:
			return fmt.Sprintf("127.0.0.1:%d", port)
		case 1:
			return fmt.Sprintf("[fd00::%d]:%d", 1+r.IntN(3), port)
		}
		return fmt.Sprintf("10.0.0.%d:%d", 1+r.IntN(4), port)
	}
	buf := make([]byte, 50000)
	moved := 0
	for range 3000 {
		s := l.Lookup(names[r.IntN(3)])
		switch k := r.IntN(100); {
		case k < 5:
			x := s.NewTCP([]int{tcp4, tcp6}[r.IntN(2)])
			x.ReuseAddr = r.IntN(2) == 0
			any := map[bool]string{true: "[::]:%d", false: "0.0.0.0:%d"}[x.v6]
			x.Bind(ap(fmt.Sprintf(any, 80+r.IntN(3))))
			x.Listen(r.IntN(4))
			socks = append(socks, x)
		case k < 15:
			x := s.NewTCP([]int{tcp4, tcp6}[r.IntN(2)])
			if r.IntN(4) == 0 {
				x.ReuseAddr = true
				x.Bind(ap("0.0.0.0:82"))
			}
			x.LingerOn = r.IntN(5) == 0
			x.SetKeepAlive(r.IntN(2) == 0)
			x.SetKeepIdle(15 * time.Second)
			x.SetNoDelay(r.IntN(2) == 0)
			x.Connect(ap(addr()))
			socks = append(socks, x)
		case k < 25:
			for _, x := range socks {
				if c, errno := x.Accept(); errno == 0 {
					socks = append(socks, c)
					break
				}
			}
		case k < 45:
			n, _ := some().Send(buf[:r.IntN(len(buf))], r.IntN(10) == 0)
			moved += n
		case k < 65:
			n, _ := some().Recv(buf[:1+r.IntN(len(buf)-1)], r.IntN(10) == 0)
			moved += n
		case k < 68:
			some().Shutdown(r.IntN(2) == 0, r.IntN(2) == 0)
		case k < 72:
			some().Close()
		case k < 73:
			some().Disconnect()
		case k < 74:
			some().Connect(ap(addr()))
		case k < 75:
			some().Listen(1)
		case k < 76:
			some().UserTimeout = time.Duration(r.IntN(30)) * time.Second
		case k < 77:
			switch r.IntN(10) {
			case 0:
				s.Reset()
			case 1:
				s.PowerOff()
			default:
				s.PowerOn()
			}
		case k < 80:
			switch r.IntN(8) {
			case 0:
				l.SetDefault(link())
			case 1:
				l.Partition([]string{names[r.IntN(3)]})
			case 2:
				l.Hold("a", "b")
			case 3:
				l.Down(names[r.IntN(3)])
			default:
				l.Heal()
			}
		case k < 81:
			l.wait(time.Duration(r.IntN(20)) * time.Second)
		default:
			l.wait(time.Duration(r.IntN(1000)) * time.Microsecond)
		}
	}
	l.Heal()
	for _, x := range socks {
		x.Close()
	}
	l.wait(2 * time.Hour)
	if d := l.run(); d > 0 {
		t.Errorf("seed %d: events go on for %v", seed, d)
	}
	l.conserved()
	for _, name := range names {
		s := l.Lookup(name)
		if x := s.sockets.first; x != nil {
			t.Errorf("seed %d: %s has %v left", seed, name, x.state)
		}
		for c, x := range s.conns {
			if x.until == 0 || x.until > s.now() {
				t.Errorf("seed %d: %s has %v in %v left", seed, name, c, x.state)
			}
		}
		for x := s.waiting; x != nil; x = s.waiting {
			x.destroy()
		}
		if len(s.conns) > 0 || len(s.tcp) > 0 {
			t.Errorf("seed %d: %s has %d connections, %d ports left", seed, name, len(s.conns), len(s.tcp))
		}
	}
	return fmt.Sprintf("%d %x", moved, l.w.Fingerprint())
}

func TestTCPChaos(t *testing.T) {
	for seed := range uint64(60) {
		a := chaos(t, seed)
		if t.Failed() {
			return
		}
		if b := chaos(t, seed); a != b {
			t.Fatalf("seed %d: two runs differ: %s, %s", seed, a, b)
		}
	}
}

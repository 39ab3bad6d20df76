package reliable

import (
	"math/rand/v2"
	"net"
	"net/netip"
	"sync"
	"testing"
	"time"

	"github.com/dstkit/dst/examples/udpservice/wire"
)

// relay stands between senders and one receiver, on loopback, and treats their
// datagrams as a bad network would. It outlives the receiver: a restarted node
// listens on another port, and the relay is told.
type relay struct {
	conn *net.UDPConn

	mu      sync.Mutex
	rand    *rand.Rand
	to      netip.AddrPort // receiver; what it sends goes back to the last sender
	back    netip.AddrPort
	faulty  bool
	blocked bool
}

func newRelay(t *testing.T, seed uint64) *relay {
	conn, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	r := &relay{conn: conn, rand: rand.New(rand.NewPCG(seed, 2))}
	done := make(chan struct{})
	go func() {
		defer close(done)
		r.run()
	}()
	t.Cleanup(func() {
		conn.Close()
		<-done
	})
	return r
}

func (r *relay) run() {
	for buf := make([]byte, 2048); ; {
		n, from, err := r.conn.ReadFromUDPAddrPort(buf)
		if err != nil {
			return // closed
		}
		r.mu.Lock()
		to := r.to
		if from == to {
			to = r.back
		} else {
			r.back = from
		}
		copies, delay := 1, time.Duration(0)
		switch {
		case r.blocked || !to.IsValid():
			copies = 0
		case r.faulty:
			switch p := r.rand.Float64(); {
			case p < 0.2:
				copies = 0
			case p < 0.3:
				copies = 2
			}
			delay = time.Duration(r.rand.IntN(8)) * time.Millisecond
		}
		r.mu.Unlock()
		for i := range copies {
			b := append([]byte(nil), buf[:n]...)
			if delay == 0 {
				r.conn.WriteToUDPAddrPort(b, to)
			} else { // later ones overtake it
				time.AfterFunc(delay*time.Duration(i+1), func() { r.conn.WriteToUDPAddrPort(b, to) })
			}
		}
	}
}

func (r *relay) set(f func(*relay)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f(r)
}

func (r *relay) name() string { return r.conn.LocalAddr().String() }

// say sends the receiver a message as the relay's own, bypassing its faults.
func (r *relay) say(m *wire.Message) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.conn.WriteToUDPAddrPort(m.AppendTo(nil), r.to)
}

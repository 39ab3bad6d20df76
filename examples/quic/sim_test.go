//go:build dst

package quic

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dstkit/dst"
	"github.com/dstkit/dst/simnet"
	"github.com/quic-go/quic-go"
)

const slack = 100 * time.Millisecond // for what is computed and on its way

var clients = []string{"client0", "client1"}

// usual is a link that does to datagrams all that links do.
var usual = simnet.Link{
	Latency:        simnet.Uniform(time.Millisecond, 20*time.Millisecond),
	Loss:           0.03,
	Duplicate:      0.03,
	Reorder:        0.03,
	Corrupt:        0.02,
	DeliverCorrupt: true,
}

// A day is one run, and what its oracle knows.
type day struct {
	w *dst.World
	flaw
	quiet   bool          // nobody keeps connections alive, as is meant
	longest time.Duration // that a migration took

	mu       sync.Mutex
	wrong    []string
	counts   map[string]int
	left     int
	accepted []*quic.Conn // of the server
}

func newDay(w *dst.World, f flaw) *day {
	return &day{w: w, flaw: f, counts: map[string]int{}}
}

// fault notes that something happened that must not.
func (d *day) fault(format string, args ...any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.wrong = append(d.wrong, fmt.Sprintf(format, args...))
	d.w.Logf("WRONG: %s", d.wrong[len(d.wrong)-1])
}

func (d *day) count(what string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.counts[what]++
}

// peers is the flaw that both ends have, or none.
func (d *day) peers() flaw {
	if d.quiet {
		return noKeepAlive
	}
	return d.flaw
}

// server runs the server, whose key for stateless resets outlives it.
func (d *day) server() error {
	conn, err := net.ListenUDP("udp", &net.UDPAddr{Port: 443})
	if err != nil {
		return err
	}
	key := quic.StatelessResetKey{1, 2, 3}
	if d.flaw == freshKey {
		rand.Read(key[:])
	}
	return serve(conn, key, d.peers(), func(c *quic.Conn) {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.accepted = append(d.accepted, c)
	})
}

// dial connects, and checks how long that takes to fail.
func (d *day) dial() (*quic.Conn, *net.UDPConn, error) {
	conn, err := net.ListenUDP("udp", nil)
	if err != nil {
		d.w.Fatalf("%v", err)
	}
	began := d.w.Elapsed()
	c, err := dial(context.Background(), conn, "server:443", d.peers())
	took := d.w.Elapsed() - began
	d.w.Logf("dial: %v after %v", err, took)
	if most := 2*handshakeIdle + slack; took > most {
		d.fault("dialling took %v, want at most %v: %v", took, most, err)
	}
	if err != nil {
		conn.Close()
		d.ended("dial", err)
	}
	return c, conn, err
}

// ended notes how a connection or request ended.
func (d *day) ended(what string, err error) {
	why := reason(err)
	if why == "" {
		d.fault("%s: an error that nothing explains: %v", what, err)
	}
	d.count(what + ": " + why)
}

// use asks so many requests, each until it is answered, over one connection after the
// other, and sends datagrams.
func (d *day) use(requests int, ended func(error)) {
	rng := d.w.Rand()
	var c *quic.Conn
	for number := range uint64(requests) {
		data := make([]byte, rng.IntN(100_000))
		for i := range data {
			data[i] = byte(rng.Uint32())
		}
		for {
			if c == nil || c.Context().Err() != nil {
				if c != nil {
					d.ended("connection", context.Cause(c.Context()))
					ended(context.Cause(c.Context()))
				}
				var conn *net.UDPConn
				var err error
				if c, conn, err = d.dial(); err != nil {
					c = nil
					continue
				}
				context.AfterFunc(c.Context(), func() { conn.Close() })
				go d.datagrams(c)
			}
			const most = 15 * time.Second
			ctx, cancel := context.WithTimeout(context.Background(), most)
			began := d.w.Elapsed()
			a, err := ask(ctx, c, number, data)
			cancel()
			if took := d.w.Elapsed() - began; took > most+slack {
				d.fault("a request took %v, want at most %v: %v", took, most, err)
			}
			d.w.Logf("request %d of %d bytes: %v", number, len(data), err)
			if err == nil {
				if a.number != number || a.hash != sha256.Sum256(data) {
					d.fault("request %d: an answer to %d, or to other bytes", number, a.number)
				}
				d.count("answer")
				break
			}
			if c.Context().Err() == nil {
				if ne, ok := err.(net.Error); !ok || !ne.Timeout() {
					d.fault("request %d: %v, and the connection goes on", number, err)
				}
				c.CloseWithError(0, "gives up")
				c = nil
			}
		}
		time.Sleep(time.Duration(rng.IntN(2000)) * time.Millisecond)
	}
	c.CloseWithError(0, "done")
	d.mu.Lock()
	defer d.mu.Unlock()
	d.left--
}

// datagrams sends datagrams: what comes back is one of them, whole, and once.
func (d *day) datagrams(c *quic.Conn) {
	go func() {
		back := map[uint64]bool{}
		for {
			p, err := c.ReceiveDatagram(context.Background())
			if err != nil {
				return
			}
			n := binary.BigEndian.Uint64(p)
			if !bytes.Equal(p, datagram(n)) {
				d.fault("datagram %d came back as %x", n, p)
			}
			if back[n] {
				d.fault("datagram %d came back twice", n)
			}
			back[n] = true
			d.count("datagram back")
		}
	}()
	for n := uint64(0); c.SendDatagram(datagram(n)) == nil; n++ {
		d.count("datagram")
		time.Sleep(50 * time.Millisecond)
	}
}

func datagram(n uint64) []byte {
	return append(binary.BigEndian.AppendUint64(nil, n), strings.Repeat(fmt.Sprint(n), int(n%100))...)
}

// within waits until f returns nil, for so long at most.
func (d *day) within(most time.Duration, f func() error) {
	for end := d.w.Elapsed() + most; ; time.Sleep(100 * time.Millisecond) {
		err := f()
		if err == nil {
			return
		}
		if d.w.Elapsed() > end {
			d.fault("not within %v: %v", most, err)
			return
		}
	}
}

func (d *day) done() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.left > 0 {
		return fmt.Errorf("%d clients are not done", d.left)
	}
	return nil
}

// A tally counts what happened in all runs.
type tally struct {
	runs, caught int
	virtual      time.Duration
	longest      time.Duration
	counts       map[string]int
	net          simnet.Counters
}

func (s *tally) add(d *day) {
	s.runs++
	s.virtual += d.w.Elapsed()
	s.longest = max(s.longest, d.longest)
	if s.counts == nil {
		s.counts = map[string]int{}
	}
	for what, n := range d.counts {
		s.counts[what] += n
	}
	total := d.w.Net().Total()
	s.net.Sent += total.Sent
	s.net.Lost += total.Lost
	s.net.Duplicated += total.Duplicated
	s.net.Reordered += total.Reordered
	s.net.Mangled += total.Mangled
	if len(d.wrong) > 0 {
		s.caught++
	}
	if d.flaw == none {
		for _, what := range d.wrong {
			d.w.Failf("%s", what)
		}
	}
}

func (s *tally) report(t *testing.T, f flaw) {
	t.Logf("%d runs of %v, %d with something wrong; %v; datagrams: %d sent, %d lost, %d duplicated, %d reordered, %d damaged", s.runs, s.virtual, s.caught, s.counts,
		s.net.Sent, s.net.Lost, s.net.Duplicated, s.net.Reordered, s.net.Mangled)
	if s.longest > 0 {
		t.Logf("a migration took %v at most", s.longest)
	}
	if f != none && s.runs >= 100 && s.caught == 0 {
		t.Error("the flaw was never caught")
	}
}

// On links that do to datagrams all that links do, nothing ends a connection: each
// request is answered, and what it was answered for is what was sent.
func linksDay(w *dst.World, f flaw) *day {
	d := newDay(w, f)
	link := usual
	link.MTU = []int{0, 1280, 1400}[w.Rand().IntN(3)]
	if w.Rand().IntN(3) == 0 {
		link.Bandwidth, link.Queue = 2_000_000, 30_000
	}
	w.Net().SetDefault(link)
	w.Host("server", d.server)
	d.left = len(clients)
	for _, name := range clients {
		w.Host(name).Go(func() {
			time.Sleep(10 * time.Millisecond)
			d.use(8, func(err error) { d.fault("the connection ended: %v", err) })
		})
	}
	d.within(5*time.Minute, d.done)
	return d
}

// When the network falls apart for less than the idle timeout, connections go on; when
// the server dies and comes back, its stateless resets end them at once.
func faultsDay(w *dst.World, f flaw) *day {
	d := newDay(w, f)
	w.Net().SetDefault(usual)
	w.Host("server", d.server)
	d.left = len(clients)
	for _, name := range clients {
		w.Host(name).Go(func() {
			time.Sleep(10 * time.Millisecond)
			d.use(15, func(error) {})
		})
	}
	rng, net, server := w.Rand(), w.Net(), w.Host("server")
	pause := func(most time.Duration) { time.Sleep(time.Duration(rng.Int64N(int64(most)))) }
	for range 4 {
		pause(4 * time.Second)
		name := clients[rng.IntN(len(clients))]
		switch rng.IntN(5) {
		case 0:
			net.Partition([]string{name})
			pause(20 * time.Second)
			net.Heal()
			d.count("fault: partition")
		case 1:
			if rng.IntN(2) == 0 {
				net.Cut(name, "server")
			} else {
				net.Cut("server", name)
			}
			pause(20 * time.Second)
			net.Heal()
			d.count("fault: one-way cut")
		case 2:
			server.Crash()
			pause(15 * time.Second)
			server.Restart()
			d.count("fault: crash")
		case 3:
			server.PowerLoss()
			pause(15 * time.Second)
			server.Restart()
			d.count("fault: loss of power")
		case 4:
			server.Pause()
			pause(15 * time.Second)
			server.Resume()
			d.count("fault: pause")
		}
	}
	w.HealAll()
	d.within(5*time.Minute, d.done)
	return d
}

func sweep(t *testing.T, seeds int, f flaw, run func(*dst.World, flaw) *day) {
	var s tally
	dst.Run(t, func(w *dst.World) { s.add(run(w, f)) }, dst.Seeds(seeds))
	s.report(t, f)
}

func TestLinks(t *testing.T)  { sweep(t, 10, none, linksDay) }
func TestFaults(t *testing.T) { sweep(t, 10, none, faultsDay) }

// What the oracle has to find.
func TestFlaws(t *testing.T) {
	t.Run("readOnce", func(t *testing.T) { sweep(t, 2, readOnce, linksDay) })
	t.Run("twice", func(t *testing.T) { sweep(t, 2, twice, linksDay) })
	t.Run("freshKey", func(t *testing.T) { sweep(t, 5, freshKey, resetDay) })
	t.Run("noKeepAlive", func(t *testing.T) { sweep(t, 5, noKeepAlive, idleDay) })
	t.Run("noKeepAlive behind a NAT", func(t *testing.T) { sweep(t, 5, noKeepAlive, keptDay) })
	t.Run("byAddress", func(t *testing.T) { sweep(t, 5, byAddress, migrateDay) })
}

// connected is a run in which one client has a connection on calm links; then something
// happens to it.
func connected(w *dst.World, f flaw, then func(d *day, c *quic.Conn)) *day {
	d := newDay(w, f)
	w.Net().SetDefault(simnet.Link{Latency: simnet.Uniform(time.Millisecond, 20*time.Millisecond)})
	w.Host("server", d.server)
	w.Host("client0").Do(func() {
		time.Sleep(10 * time.Millisecond)
		c, _, err := d.dial()
		if err != nil {
			w.Fatalf("%v", err)
		}
		pause := time.Duration(w.Rand().Int64N(int64(10 * time.Second)))
		select {
		case <-time.After(pause):
			then(d, c)
		case <-c.Context().Done():
			d.fault("the connection ended: %v", context.Cause(c.Context()))
		}
	})
	return d
}

// restart has the server crash, or lose power, and come back after a second.
func restart(w *dst.World) {
	if w.Rand().IntN(2) == 0 {
		w.Host("server").Crash()
	} else {
		w.Host("server").PowerLoss()
	}
	time.Sleep(time.Second)
	w.Host("server").Restart()
}

// resetDay: the client of a server that has restarted sends a datagram now and then. It
// hears of the restart by a stateless reset, at once.
func resetDay(w *dst.World, f flaw) *day {
	return connected(w, f, func(d *day, c *quic.Conn) {
		go func() {
			for c.SendDatagram(make([]byte, 50)) == nil {
				time.Sleep(300 * time.Millisecond)
			}
		}()
		restart(w)
		const most = 300*time.Millisecond + slack
		select {
		case <-c.Context().Done():
			if why := reason(context.Cause(c.Context())); why != "stateless reset" {
				d.fault("the connection ended by %q: %v", why, context.Cause(c.Context()))
			}
		case <-time.After(most):
			d.fault("%v after the server's restart the connection has not ended", most)
		}
	})
}

// idleResetDay is the same with a client that sends nothing but keep-alive.
func idleResetDay(w *dst.World, f flaw) *day {
	return connected(w, f, func(d *day, c *quic.Conn) {
		restart(w)
		began := w.Elapsed()
		select {
		case <-c.Context().Done():
			d.count(reason(context.Cause(c.Context())))
			w.Logf("%v after %v", context.Cause(c.Context()), w.Elapsed()-began)
		case <-time.After(idleMost + keepAlive + slack):
			d.fault("the connection has not ended")
		}
	})
}

// idleDay: nothing happens, and the connection stays. Then nothing gets through any more,
// and it ends, by the idle timeout.
func idleDay(w *dst.World, f flaw) *day {
	return connected(w, f, func(d *day, c *quic.Conn) {
		select {
		case <-c.Context().Done():
			d.fault("an idle connection ended: %v", context.Cause(c.Context()))
			return
		case <-time.After(time.Minute):
		}
		w.Net().Partition([]string{"client0"})
		select {
		case <-c.Context().Done():
			if why := reason(context.Cause(c.Context())); why != "idle timeout" {
				d.fault("the connection ended by %q", why)
			}
		case <-time.After(idleMost + keepAlive + slack):
			d.fault("a connection that nothing gets through has not ended")
		}
	})
}

func TestReset(t *testing.T)     { sweep(t, 10, none, resetDay) }
func TestResetIdle(t *testing.T) { sweep(t, 10, none, idleResetDay) }
func TestIdle(t *testing.T)      { sweep(t, 10, none, idleDay) }

// A server that is not there: dialling ends by the handshake's idle timeout.
func TestDark(t *testing.T) {
	dst.Run(t, func(w *dst.World) {
		d := newDay(w, none)
		w.Host("server").PowerLoss()
		w.Host("client0").Do(func() {
			if _, _, err := d.dial(); reason(err) != "idle timeout" || w.Elapsed() > handshakeIdle+slack {
				w.Failf("dialling a dark host: %v", err)
			}
		})
	}, dst.Seeds(2))
}

//go:build dst

package quic

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"testing"
	"time"

	"github.com/dstkit/dst"
	"github.com/dstkit/dst/simnet"
	"github.com/quic-go/quic-go"
)

// behind declares the server, and the client behind a NAT.
func (d *day) behind(nat simnet.NAT, link simnet.Link) *simnet.Gateway {
	d.w.Net().SetDefault(link)
	d.w.Host("server", d.server)
	d.w.Host("client0")
	return d.w.Net().NAT("home", nat, "client0")
}

// peer returns the server's end of the only connection that it has accepted.
func (d *day) peer() *quic.Conn {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.accepted) != 1 {
		d.w.Fatalf("the server has accepted %d connections, want 1", len(d.accepted))
	}
	return d.accepted[0]
}

// sees reports that the server sends to an address which is not the client's: the NAT
// has another mapping for it now, or none.
func (d *day) sees(home *simnet.Gateway) error {
	at := d.peer().RemoteAddr().(*net.UDPAddr).AddrPort()
	for _, m := range home.Mappings() {
		if m.Proto == "udp" && m.Public.Port() == at.Port() && m.Public.Addr() == at.Addr().Unmap() {
			return nil
		}
	}
	return fmt.Errorf("the server sends to %v, the NAT has %v", at, home.Mappings())
}

// How long the server may send to a port that is gone. The client's next packet tells it
// of another, which it has to validate: a round trip, and with loss a few.
const migrated = 3 * time.Second

// How often a connection survives that. The library takes a connection ID of the client's for
// each address that it validates, and gives back none that it has used: of four, one is left
// for each of two.
const survives = 2

// migrateDay: the NAT rebinds twice, on links that do all that links do but lose nothing, while
// the client has one stream open all the time, makes others, and sends datagrams. The client does not
// notice; the server sends to the new address as soon as it is validated.
func migrateDay(w *dst.World, f flaw) *day {
	d := newDay(w, f)
	rng := w.Rand()
	link := usual
	link.Loss, link.Corrupt = 0, 0
	home := d.behind(simnet.NAT{Reject: rng.IntN(2) == 0}, link)
	d.left = 1
	w.Host("client0").Go(func() {
		time.Sleep(10 * time.Millisecond)
		c, _, err := d.dial()
		if err != nil {
			w.Fatalf("%v", err)
		}
		local := c.LocalAddr().String()
		go d.datagrams(c)
		long := make(chan error)
		go func() { long <- d.long(c) }()
		for number := range uint64(20) {
			data := make([]byte, rng.IntN(50_000))
			for i := range data {
				data[i] = byte(rng.Uint32())
			}
			ctx, cancel := context.WithTimeout(context.Background(), 15*time.Second)
			a, err := ask(ctx, c, number, data)
			cancel()
			if err != nil || a.number != number || a.hash != sha256.Sum256(data) {
				d.fault("request %d: an answer to %d, or to other bytes: %v", number, a.number, err)
			}
			time.Sleep(time.Duration(rng.IntN(2000)) * time.Millisecond)
		}
		if err := <-long; err != nil {
			d.fault("the long stream: %v", err)
		}
		if err := context.Cause(c.Context()); err != nil {
			d.fault("the connection ended: %v", err)
		}
		if now := c.LocalAddr().String(); now != local {
			d.fault("the client was at %s and is at %s", local, now)
		}
		c.CloseWithError(0, "done")
		d.mu.Lock()
		d.left--
		d.mu.Unlock()
	})
	time.Sleep(2 * time.Second)
	for range survives {
		time.Sleep(time.Duration(rng.Int64N(int64(7 * time.Second))))
		was := d.peer().RemoteAddr().String()
		home.Rebind()
		began := w.Elapsed()
		d.within(migrated, func() error { return d.sees(home) })
		d.w.Logf("from %s to %s, after %v", was, d.peer().RemoteAddr(), w.Elapsed()-began)
		if d.peer().RemoteAddr().String() == was {
			d.fault("the server still sends to %s", was)
		}
		d.longest = max(d.longest, w.Elapsed()-began)
		d.count("migration")
	}
	d.within(5*time.Minute, d.done)
	d.peer() // still the only one
	return d
}

// long sends for 20 seconds, on one stream, and checks what is answered for it.
func (d *day) long(c *quic.Conn) error {
	s, err := c.OpenStreamSync(context.Background())
	if err != nil {
		return err
	}
	const number = 1 << 40
	s.Write(binary.BigEndian.AppendUint64(nil, number))
	h := sha256.New()
	for n := range uint64(400) {
		p := datagram(n)
		h.Write(p)
		if _, err := s.Write(p); err != nil {
			return err
		}
		time.Sleep(50 * time.Millisecond)
	}
	s.Close()
	got, err := io.ReadAll(s)
	if want := h.Sum(binary.BigEndian.AppendUint64(nil, number)); err != nil || string(got) != string(want) {
		return fmt.Errorf("%x, %v, want %x", got, err, want)
	}
	return nil
}

// lossDay: where packets are lost, a migration may fail, and the connection then ends by its idle
// timeout. The client asks again over another.
func lossDay(w *dst.World, f flaw) *day {
	d := newDay(w, f)
	rng := w.Rand()
	home := d.behind(simnet.NAT{Reject: rng.IntN(2) == 0}, usual)
	d.left = 1
	w.Host("client0").Go(func() {
		time.Sleep(10 * time.Millisecond)
		d.use(20, func(err error) {
			if why := reason(err); why != "idle timeout" {
				d.fault("the connection ended by %q", why)
			}
		})
	})
	for range survives {
		time.Sleep(time.Second + time.Duration(rng.Int64N(int64(7*time.Second))))
		home.Rebind()
		d.count("rebind")
	}
	d.within(5*time.Minute, d.done)
	return d
}

func TestMigrationLoss(t *testing.T) { sweep(t, 10, none, lossDay) }

// onceMoreDay: the connection does not survive another rebind. The server hears the client and
// does not answer to the new address, until the client's idle timeout; its own comes after
// that. A new connection is served at once.
func onceMoreDay(w *dst.World, f flaw) *day {
	d := newDay(w, f)
	home := d.behind(simnet.NAT{}, simnet.Link{Latency: simnet.Uniform(time.Millisecond, 20*time.Millisecond)})
	w.Host("client0").Do(func() {
		time.Sleep(10 * time.Millisecond)
		c, _, err := d.dial()
		if err != nil {
			w.Fatalf("%v", err)
		}
		asks := func(c *quic.Conn) error {
			ctx, cancel := context.WithTimeout(context.Background(), 2*idleMost)
			defer cancel()
			_, err := ask(ctx, c, 1, []byte("question"))
			return err
		}
		for range survives {
			home.Rebind()
			if err := asks(c); err != nil {
				d.fault("request: %v", err)
			}
			d.within(migrated, func() error { return d.sees(home) })
		}
		was := d.peer().RemoteAddr().String()
		home.Rebind()
		began := w.Elapsed()
		if err := asks(c); reason(err) != "idle timeout" {
			d.fault("request: %v: is the library mended?", err)
		}
		if took := w.Elapsed() - began; took > idleMost+keepAlive+slack {
			d.fault("the client heard of it after %v", took)
		}
		s := d.peer()
		if err := context.Cause(s.Context()); err != nil || s.RemoteAddr().String() != was {
			d.fault("the server: %v, at %v, was %v", err, s.RemoteAddr(), was)
		}
		if next, _, err := d.dial(); err != nil || asks(next) != nil {
			d.fault("a new connection: %v", err)
		}
		select {
		case <-s.Context().Done():
			if why := reason(context.Cause(s.Context())); why != "idle timeout" {
				d.fault("the server: ended by %q", why)
			}
			w.Logf("the server: ended %v after the rebind", w.Elapsed()-began)
		case <-time.After(idleMost + keepAlive + slack):
			d.fault("the server: has not ended")
		}
	})
	return d
}

func TestMigrationOnceMore(t *testing.T) { sweep(t, 5, none, onceMoreDay) }

func TestMigration(t *testing.T) { sweep(t, 10, none, migrateDay) }

// A lapse is a connection that nobody uses for longer than its mapping lives.
// If it is quiet, nobody keeps it alive.
func lapse(w *dst.World, f flaw, quiet bool, then func(d *day, home *simnet.Gateway, c *quic.Conn)) *day {
	d := newDay(w, f)
	d.quiet = quiet
	home := d.behind(simnet.NAT{UDPTimeout: idleMost / 2, UDPStream: idleMost / 2}, simnet.Link{Latency: simnet.Uniform(time.Millisecond, 20*time.Millisecond)})
	w.Host("client0").Do(func() {
		time.Sleep(10 * time.Millisecond)
		c, _, err := d.dial()
		if err != nil {
			w.Fatalf("%v", err)
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if _, err := ask(ctx, c, 0, nil); err != nil {
			w.Fatalf("%v", err)
		}
		time.Sleep(idleMost * 3 / 4)
		then(d, home, c)
	})
	return d
}

// hears returns a channel on which the client tells when a datagram from the server comes.
func hears(w *dst.World, c *quic.Conn) chan time.Duration {
	heard := make(chan time.Duration, 1)
	go func() {
		if _, err := c.ReceiveDatagram(context.Background()); err == nil {
			heard <- w.Elapsed()
		}
	}()
	return heard
}

// news has the server send a datagram, which is not sent again when it is lost, and a
// stream, which is.
func (d *day) news() {
	d.w.Host("server").Go(func() {
		s := d.peer()
		s.SendDatagram([]byte("news"))
		if u, err := s.OpenUniStream(); err == nil {
			u.Write([]byte("news"))
			u.Close()
		}
	})
}

// clientFirstDay: the mapping is gone, and the client speaks: it has another, and the
// connection goes on.
func clientFirstDay(w *dst.World, f flaw) *day {
	return lapse(w, f, true, func(d *day, home *simnet.Gateway, c *quic.Conn) {
		was := d.peer().RemoteAddr().String()
		if n := len(home.Mappings()); n != 0 {
			d.fault("%d mappings are left", n)
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if a, err := ask(ctx, c, 1, nil); err != nil || a.number != 1 {
			d.fault("request: %d, %v", a.number, err)
		}
		if err := d.sees(home); err != nil || d.peer().RemoteAddr().String() == was {
			d.fault("was at %s: %v", was, err)
		}
	})
}

// serverFirstDay: the server speaks, and is not heard. If the client then does, before the
// connection's idle timeout, it gets what is sent again; if not, both ends give up by
// themselves.
func serverFirstDay(w *dst.World, f flaw) *day {
	return lapse(w, f, true, func(d *day, home *simnet.Gateway, c *quic.Conn) {
		heard := hears(w, c)
		stream := make(chan error, 1)
		go func() {
			u, err := c.AcceptUniStream(context.Background())
			if err == nil {
				_, err = io.ReadAll(u)
			}
			stream <- err
		}()
		lost := home.Counters().Filtered
		speaks := w.Rand().IntN(2) == 0
		d.news()
		select {
		case <-heard:
			d.fault("the client hears of the server, without a mapping")
		case <-time.After(idleMost / 8):
		}
		if home.Counters().Filtered == lost {
			d.fault("nothing was filtered")
		}
		if speaks {
			ctx, cancel := context.WithTimeout(context.Background(), time.Second)
			defer cancel()
			if a, err := ask(ctx, c, 1, nil); err != nil || a.number != 1 {
				d.fault("request: %d, %v", a.number, err)
			}
			select {
			case err := <-stream:
				if err != nil {
					d.fault("the server's stream: %v", err)
				}
			case <-time.After(migrated):
				d.fault("the server's stream is not sent again")
			}
			select {
			case <-heard:
				d.fault("a datagram was sent again")
			default:
			}
			d.count("client spoke")
			return
		}
		began := w.Elapsed()
		for _, end := range []struct {
			side string
			c    *quic.Conn
		}{{"client", c}, {"server", d.peer()}} {
			select {
			case <-end.c.Context().Done():
				if why := reason(context.Cause(end.c.Context())); why != "idle timeout" {
					d.fault("%s: ended by %q", end.side, why)
				}
				w.Logf("%s: ended %v after the server spoke", end.side, idleMost/8+w.Elapsed()-began)
			case <-time.After(idleMost + slack):
				d.fault("%s: has not ended", end.side)
			}
		}
		d.count("nobody spoke")
	})
}

// keptDay: with keep-alive the mapping stays, and the client hears of the server at once.
func keptDay(w *dst.World, f flaw) *day {
	return lapse(w, f, false, func(d *day, home *simnet.Gateway, c *quic.Conn) {
		heard := hears(w, c)
		began := w.Elapsed()
		d.news()
		select {
		case at := <-heard:
			if took := at - began; took > slack {
				d.fault("the news took %v", took)
			}
		case <-time.After(time.Second):
			d.fault("the client does not hear of the server")
		}
	})
}

func TestMappingTimesOut(t *testing.T) {
	t.Run("client first", func(t *testing.T) { sweep(t, 5, none, clientFirstDay) })
	t.Run("server first", func(t *testing.T) { sweep(t, 10, none, serverFirstDay) })
	t.Run("keep-alive", func(t *testing.T) { sweep(t, 5, none, keptDay) })
}

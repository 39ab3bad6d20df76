//go:build dst

package dst_test

import (
	"errors"
	"net"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/net/nettest"

	"github.com/dstkit/dst"
	"github.com/dstkit/dst/simnet"
)

// A pipe makes the two ends of a connection: listen and the accepted end where
// the one function runs things, dial where the other does.
type pipe struct {
	network, addr string
	server        func(f func())
	client        func(f func())
}

func here(f func()) { f() }

func (p pipe) make() (c1, c2 net.Conn, stop func(), err error) {
	if p.network == "pipe" {
		c1, c2 = net.Pipe()
		return c1, c2, func() { c1.Close(); c2.Close() }, nil
	}
	if p.network == "udp" {
		return p.udp()
	}
	var l net.Listener
	p.server(func() { l, err = net.Listen(p.network, p.addr) })
	if err != nil {
		return nil, nil, nil, err
	}
	accepted := make(chan error, 1)
	go p.server(func() {
		var err error
		c2, err = l.Accept()
		accepted <- err
	})
	p.client(func() { c1, err = net.Dial(p.network, l.Addr().String()) })
	if err = errors.Join(err, <-accepted); err != nil {
		return nil, nil, nil, err
	}
	c1, c2 = &remote{c1, p.client}, &remote{c2, p.server}
	stop = func() {
		c1.Close()
		c2.Close()
		p.server(func() { l.Close() })
	}
	return c1, c2, stop, nil
}

// udp makes two sockets that are connected to each other.
func (p pipe) udp() (c1, c2 net.Conn, stop func(), err error) {
	var a, b *net.UDPConn
	p.server(func() { a, err = net.ListenUDP("udp4", addrOf(p.addr)) })
	if err != nil {
		return nil, nil, nil, err
	}
	to := a.LocalAddr().(*net.UDPAddr)
	p.client(func() { b, err = net.DialUDP("udp4", nil, to) })
	if err != nil {
		return nil, nil, nil, err
	}
	from := b.LocalAddr().(*net.UDPAddr)
	p.server(func() {
		a.Close()
		a, err = net.DialUDP("udp4", to, from)
	})
	if err != nil {
		return nil, nil, nil, err
	}
	c1, c2 = &remote{b, p.client}, &remote{a, p.server}
	return c1, c2, func() { c1.Close(); c2.Close() }, nil
}

func addrOf(s string) *net.UDPAddr {
	a, err := net.ResolveUDPAddr("udp4", s)
	if err != nil {
		panic(err)
	}
	return a
}

// A remote is a connection whose methods run where it lives.
type remote struct {
	net.Conn
	on func(f func())
}

func (r *remote) Read(b []byte) (n int, err error) {
	r.on(func() { n, err = r.Conn.Read(b) })
	return n, err
}

func (r *remote) Write(b []byte) (n int, err error) {
	r.on(func() { n, err = r.Conn.Write(b) })
	return n, err
}

func (r *remote) Close() (err error) {
	r.on(func() { err = r.Conn.Close() })
	return err
}

func (r *remote) SetDeadline(t time.Time) (err error) {
	r.on(func() { err = r.Conn.SetDeadline(t) })
	return err
}

func (r *remote) SetReadDeadline(t time.Time) (err error) {
	r.on(func() { err = r.Conn.SetReadDeadline(t) })
	return err
}

func (r *remote) SetWriteDeadline(t time.Time) (err error) {
	r.on(func() { err = r.Conn.SetWriteDeadline(t) })
	return err
}

// datagrams tells which of TestConn's subtests, in their order, UDP takes part
// in. The others want what UDP does not promise: that all arrives (BasicIO,
// FutureTimeout and ConcurrentMethods send more than the receiver's buffer
// holds, and wait for all of it), or that the reader learns of the other end's
// Close (PingPong).
var datagrams = map[string]bool{
	"BasicIO": false, "PingPong": false, "RacyRead": true, "RacyWrite": true, "ReadTimeout": true, "WriteTimeout": true,
	"PastTimeout": true, "PresentTimeout": true, "FutureTimeout": false, "CloseTimeout": true, "ConcurrentMethods": false,
}

var subtests = []string{"BasicIO", "PingPong", "RacyRead", "RacyWrite", "ReadTimeout", "WriteTimeout",
	"PastTimeout", "PresentTimeout", "FutureTimeout", "CloseTimeout", "ConcurrentMethods"}

// maker is what TestConn asks for connections, once for each subtest. Those that
// are not for UDP get a net.Pipe.
func (p pipe) maker() nettest.MakePipe {
	calls := 0
	return func() (c1, c2 net.Conn, stop func(), err error) {
		q, name := p, subtests[calls%len(subtests)]
		calls++
		if p.network == "udp" && !datagrams[name] {
			q.network = "pipe"
		}
		return q.make()
	}
}

// golang.org/x/net/nettest says what a net.Conn has to do. Each kind of
// connection is held against it on the machine, within a simulated host, and
// between two: over a link without faults, and over one with.
func TestConnConforms(t *testing.T) {
	bad := simnet.Link{Latency: simnet.Uniform(100*time.Microsecond, 3*time.Millisecond), Loss: 0.02, Duplicate: 0.02, Reorder: 0.05}
	seeds := 2 // it floods
	if testing.Short() {
		seeds = 1
	}
	far := simnet.Link{Latency: simnet.Constant(2 * time.Millisecond)}
	for _, c := range []struct {
		network, local, addr string
		link                 *simnet.Link
	}{
		{"pipe", "", "", nil},
		{"tcp", "127.0.0.1:0", "", nil},
		{"tcp", "[::1]:0", "", nil},
		{"tcp", "", "server:0", &simnet.Link{}},
		{"tcp", "", "server:0", &bad},
		{"unix", "stream.sock", "", nil},
		{"unixpacket", "packet.sock", "", nil},
		{"udp", "127.0.0.1:0", "", nil},
		{"udp", "", "server:0", &far},
	} {
		name, p := c.network, pipe{c.network, c.local, here, here}
		if c.link != nil {
			name, p.addr = name+", "+c.link.String(), c.addr
		} else if c.local != "" {
			name += " " + c.local
		}
		if c.link == nil {
			t.Run(name+"/machine", func(t *testing.T) {
				q := p
				if c.network == "unix" || c.network == "unixpacket" {
					q.addr = filepath.Join(t.TempDir(), c.local)
				}
				nettest.TestConn(t, q.maker())
			})
		}
		t.Run(name+"/simulated", func(t *testing.T) {
			dst.Run(t, func(w *dst.World) {
				server, client := w.Host("server"), w.Host("server")
				if c.link != nil {
					client = w.Host("client")
					w.Net().SetDefault(*c.link)
				}
				q := p
				q.server, q.client = server.Do, client.Do
				nettest.TestConn(t, q.maker())
			}, dst.Seeds(seeds))
		})
	}
}

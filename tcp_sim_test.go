//go:build dst

package dst_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/dstkit/dst"
	"github.com/dstkit/dst/simnet"
)

// wan is a link that is neither near nor good.
var wan = simnet.Link{Latency: simnet.Uniform(5*time.Millisecond, 20*time.Millisecond), Loss: 0.02}

// serveTCP is a program that gives each connection to a goroutine.
func serveTCP(addr string, handle func(c *net.TCPConn)) func() error {
	return func() error {
		l, err := net.Listen("tcp", addr)
		if err != nil {
			return err
		}
		for {
			c, err := l.Accept()
			if err != nil {
				return err
			}
			go func() {
				defer c.Close()
				handle(c.(*net.TCPConn))
			}()
		}
	}
}

func echo(c *net.TCPConn) { io.Copy(c, c) }

// hang keeps a connection and reads nothing.
func hang(*net.TCPConn) { time.Sleep(1000 * time.Hour) }

// on runs f on a host; an error fails the seed.
func on(w *dst.World, host string, f func() error) {
	w.Host(host).Do(func() {
		if err := f(); err != nil {
			w.Fatalf("on host %s: %v", host, err)
		}
	})
}

// dialTCP waits until the server listens.
func dialTCP(network, addr string) (*net.TCPConn, error) {
	for try := 0; ; try++ {
		c, err := net.Dial(network, addr)
		if err == nil {
			return c.(*net.TCPConn), nil
		}
		if try == 10 || !errors.Is(err, syscall.ECONNREFUSED) {
			return nil, err
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// want compares an error with the text that it has on Linux, in which * stands
// for a number.
func want(err error, text string) error {
	if err == nil {
		return fmt.Errorf("no error, want %q", text)
	}
	before, after, star := strings.Cut(text, "*")
	got := err.Error()
	if got == text || star && strings.HasPrefix(got, before) && strings.HasSuffix(got, after) {
		return nil
	}
	return fmt.Errorf("the error is %q, want %q", got, text)
}

func TestTCPEcho(t *testing.T) {
	dst.Run(t, func(w *dst.World) {
		w.Net().SetDefault(wan)
		w.Host("server", serveTCP(":7000", echo))
		for _, network := range []string{"tcp", "tcp4", "tcp6"} {
			on(w, "client", func() error {
				c, err := dialTCP(network, "server:7000")
				if err != nil {
					return err
				}
				remote, local := "10.0.0.1:7000", "10.0.0.2:"
				if c.RemoteAddr().(*net.TCPAddr).IP.To4() == nil && network != "tcp4" { // std tries it if IPv4 takes long
					remote, local = "[fd00::1]:7000", "[fd00::2]:"
				}
				if c.RemoteAddr().String() != remote || !strings.HasPrefix(c.LocalAddr().String(), local) {
					return fmt.Errorf("a connection from %v to %v", c.LocalAddr(), c.RemoteAddr())
				}
				for i := range 20 {
					line := fmt.Sprintf("line %d", i)
					fmt.Fprint(c, line)
					buf := make([]byte, len(line))
					if _, err := io.ReadFull(c, buf); err != nil || string(buf) != line {
						return fmt.Errorf("echo of %q is %q, %v", line, buf, err)
					}
				}
				return c.Close()
			})
		}
		on(w, "server", func() error { // to itself
			c, err := net.Dial("tcp", "localhost:7000")
			if err != nil {
				return err
			}
			defer c.Close()
			fmt.Fprint(c, "hello")
			buf := make([]byte, 5)
			if _, err := io.ReadFull(c, buf); err != nil || string(buf) != "hello" {
				return fmt.Errorf("over loopback: %q, %v", buf, err)
			}
			return nil
		})
	})
}

func TestTCPDeadlines(t *testing.T) {
	dst.Run(t, func(w *dst.World) {
		w.Net().SetDefault(simnet.Link{Latency: simnet.Constant(time.Millisecond)})
		w.Host("server", serveTCP(":7000", hang))
		on(w, "client", func() error {
			c, err := dialTCP("tcp", "server:7000")
			if err != nil {
				return err
			}
			start := time.Now()
			c.SetReadDeadline(start.Add(3 * time.Second))
			_, err = c.Read(make([]byte, 1))
			if err := want(err, "read tcp 10.0.0.2:*->10.0.0.1:7000: i/o timeout"); err != nil {
				return err
			}
			if d := time.Since(start); !errors.Is(err, os.ErrDeadlineExceeded) || d < 3*time.Second || d > 3*time.Second+time.Millisecond {
				return fmt.Errorf("%v after %v", err, d)
			}
			c.SetReadDeadline(time.Time{})

			// Nobody reads: buffers fill up, and the write waits.
			c.SetWriteDeadline(time.Now().Add(5 * time.Second))
			n, err := c.Write(make([]byte, 64<<20))
			if err := want(err, "write tcp 10.0.0.2:*->10.0.0.1:7000: i/o timeout"); err != nil {
				return err
			}
			if n == 0 || n == 64<<20 {
				return fmt.Errorf("%d bytes were written to who does not read", n)
			}

			time.AfterFunc(time.Second, func() { c.SetDeadline(time.Unix(1, 0)) })
			if _, err = c.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
				return fmt.Errorf("a past deadline: %v", err)
			}
			c.SetDeadline(time.Time{})
			time.AfterFunc(time.Second, func() { c.Close() })
			_, err = c.Read(make([]byte, 1))
			return want(err, "read tcp 10.0.0.2:*->10.0.0.1:7000: use of closed network connection")
		})
		on(w, "client", func() error {
			l, err := net.Listen("tcp", "client:80")
			if err != nil {
				return err
			}
			if _, err := net.Listen("tcp", "client:80"); want(err, "listen tcp 10.0.0.2:80: bind: address already in use") != nil {
				return want(err, "listen tcp 10.0.0.2:80: bind: address already in use")
			}
			l.(*net.TCPListener).SetDeadline(time.Now().Add(time.Second))
			_, err = l.Accept()
			if err := want(err, "accept tcp 10.0.0.2:80: i/o timeout"); err != nil {
				return err
			}
			l.(*net.TCPListener).SetDeadline(time.Time{})
			time.AfterFunc(time.Second, func() { l.Close() })
			_, err = l.Accept()
			return want(err, "accept tcp 10.0.0.2:80: use of closed network connection")
		})
	})
}

func TestTCPHalfClose(t *testing.T) {
	dst.Run(t, func(w *dst.World) {
		w.Net().SetDefault(wan)
		w.Host("server", serveTCP(":7000", func(c *net.TCPConn) {
			all, err := io.ReadAll(c)
			fmt.Fprintf(c, "%d bytes, %v", len(all), err)
		}))
		on(w, "client", func() error {
			c, err := dialTCP("tcp4", "server:7000")
			if err != nil {
				return err
			}
			c.Write(make([]byte, 100_000))
			if err := c.CloseWrite(); err != nil {
				return err
			}
			if _, err := c.Write([]byte("x")); want(err, "write tcp4 10.0.0.2:*->10.0.0.1:7000: write: broken pipe") != nil {
				return want(err, "write tcp4 10.0.0.2:*->10.0.0.1:7000: write: broken pipe")
			}
			answer, err := io.ReadAll(c)
			if string(answer) != "100000 bytes, <nil>" || err != nil {
				return fmt.Errorf("the answer is %q, %v", answer, err)
			}
			if n, err := c.Read(make([]byte, 1)); n != 0 || err != io.EOF {
				return fmt.Errorf("after the end: %d, %v", n, err)
			}
			return c.Close()
		})
		on(w, "client", func() error {
			c, err := dialTCP("tcp", "server:7000")
			if err != nil {
				return err
			}
			if err := c.CloseRead(); err != nil {
				return err
			}
			if n, err := c.Read(make([]byte, 1)); n != 0 || err != io.EOF {
				return fmt.Errorf("after CloseRead: %d, %v", n, err)
			}
			return c.Close()
		})
	})
}

func TestTCPRefused(t *testing.T) {
	dst.Run(t, func(w *dst.World) {
		w.Net().SetDefault(simnet.Link{Latency: simnet.Constant(time.Millisecond)})
		w.Host("server")
		on(w, "client", func() error {
			start := time.Now()
			_, err := net.Dial("tcp4", "server:7000")
			if !errors.Is(err, syscall.ECONNREFUSED) || time.Since(start) > 100*time.Millisecond {
				return fmt.Errorf("%v after %v", err, time.Since(start))
			}
			if err := want(err, "dial tcp4 10.0.0.1:7000: connect: connection refused"); err != nil {
				return err
			}
			if _, err = net.Dial("tcp", "192.0.2.1:80"); want(err, "dial tcp 192.0.2.1:80: connect: network is unreachable") != nil {
				return want(err, "dial tcp 192.0.2.1:80: connect: network is unreachable")
			}
			_, err = net.Dial("tcp", "127.0.0.1:1")
			return want(err, "dial tcp 127.0.0.1:1: connect: connection refused")
		})
	})
}

// A host that is dark answers nothing.
func TestTCPConnectTimeout(t *testing.T) {
	dst.Run(t, func(w *dst.World) {
		w.Net().SetDefault(wan)
		w.Host("server").PowerLoss()
		on(w, "client", func() error {
			start := time.Now()
			_, err := net.Dial("tcp4", "server:7000")
			if err := want(err, "dial tcp4 10.0.0.1:7000: connect: connection timed out"); err != nil {
				return err
			}
			if d := time.Since(start); d < 120*time.Second || d > 135*time.Second {
				return fmt.Errorf("it took %v", d)
			}

			start = time.Now()
			d := net.Dialer{Timeout: 3 * time.Second}
			_, err = d.Dial("tcp4", "server:7000")
			if err := want(err, "dial tcp4 10.0.0.1:7000: i/o timeout"); err != nil {
				return err
			}
			if d := time.Since(start); d < 3*time.Second || d > 3*time.Second+10*time.Millisecond {
				return fmt.Errorf("with a timeout of 3s it took %v", d)
			}

			ctx, cancel := context.WithCancel(context.Background())
			time.AfterFunc(2*time.Second, cancel)
			_, err = d.DialContext(ctx, "tcp4", "server:7000")
			return want(err, "dial tcp4 10.0.0.1:7000: operation was canceled")
		})
	})
}

// What a peer's end looks like depends on how it ends.
func TestTCPPeerCrash(t *testing.T) {
	const conn = "tcp 10.0.0.2:*->10.0.0.1:7000: "
	talk := func(w *dst.World) *net.TCPConn {
		var conn *net.TCPConn
		on(w, "client", func() error {
			c, err := dialTCP("tcp", "server:7000")
			if err != nil {
				return err
			}
			conn = c
			fmt.Fprint(c, "hello")
			_, err = io.ReadFull(c, make([]byte, 5))
			return err
		})
		return conn
	}
	dst.Run(t, func(w *dst.World) {
		w.Net().SetDefault(simnet.Link{Latency: simnet.Constant(time.Millisecond)})
		server := w.Host("server", serveTCP(":7000", func(c *net.TCPConn) {
			buf := make([]byte, 5)
			io.ReadFull(c, buf)
			c.Write(buf)
			hang(c)
		}))

		// It had read everything: the end of the stream, and then a reset to who
		// writes on.
		c := talk(w)
		server.Crash()
		on(w, "client", func() error {
			if n, err := c.Read(make([]byte, 1)); n != 0 || err != io.EOF {
				return fmt.Errorf("reading from a crashed process: %d, %v", n, err)
			}
			if _, err := c.Write([]byte("x")); err != nil {
				return fmt.Errorf("the first write: %w", err)
			}
			time.Sleep(time.Second)
			_, err := c.Write([]byte("x"))
			if err := want(err, "write "+conn+"write: broken pipe"); err != nil {
				return err
			}
			return c.Close()
		})

		// It had not: a reset.
		server.Restart()
		c = talk(w)
		on(w, "client", func() error { _, err := fmt.Fprint(c, "not read"); return err })
		time.Sleep(time.Second)
		server.Crash()
		on(w, "client", func() error {
			_, err := c.Read(make([]byte, 1))
			if err := want(err, "read "+conn+"read: connection reset by peer"); err != nil {
				return err
			}
			return c.Close()
		})

		// The power went: silence, and a reset once the machine is there again.
		server.Restart()
		c = talk(w)
		server.PowerLoss()
		on(w, "client", func() error {
			c.SetReadDeadline(time.Now().Add(10 * time.Second))
			if _, err := c.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
				return fmt.Errorf("reading from a dark host: %v", err)
			}
			c.SetReadDeadline(time.Time{})
			_, err := fmt.Fprint(c, "hello?")
			return err
		})
		server.Restart()
		on(w, "client", func() error {
			_, err := c.Read(make([]byte, 1))
			if err := want(err, "read "+conn+"read: connection reset by peer"); err != nil {
				return err
			}
			return c.Close()
		})

		// It stays dark: keep-alive finds out, after 15 s and nine probes.
		c = talk(w)
		server.PowerLoss()
		on(w, "client", func() error {
			start := time.Now()
			_, err := c.Read(make([]byte, 1))
			if err := want(err, "read "+conn+"read: connection timed out"); err != nil {
				return err
			}
			if d := time.Since(start); d < 149*time.Second || d > 151*time.Second {
				return fmt.Errorf("keep-alive found out after %v", d)
			}
			return nil
		})
	})
}

// pattern is a stream in which each byte tells its place.
type pattern struct{ at, end int }

func (p *pattern) fill(b []byte, at int) {
	for i := range b {
		b[i] = byte((at + i) * 31 >> 3)
	}
}

func (p *pattern) Read(b []byte) (int, error) {
	if p.at == p.end {
		return 0, io.EOF
	}
	n := min(len(b), p.end-p.at)
	p.fill(b[:n], p.at)
	p.at += n
	return n, nil
}

func (p *pattern) Write(b []byte) (int, error) {
	expect := make([]byte, len(b))
	p.fill(expect, p.at)
	if !bytes.Equal(b, expect) {
		return 0, fmt.Errorf("wrong data after byte %d", p.at)
	}
	p.at += len(b)
	return len(b), nil
}

func TestTCPLossyStream(t *testing.T) {
	const size = 10 << 20
	dst.Run(t, func(w *dst.World) {
		w.Net().SetDefault(simnet.Link{
			Latency: simnet.Uniform(time.Millisecond, 5*time.Millisecond),
			Loss:    0.05, Duplicate: 0.05, Reorder: 0.1, Corrupt: 0.01,
		})
		w.Host("server", serveTCP(":7000", func(c *net.TCPConn) {
			var p pattern
			_, err := io.Copy(&p, c)
			fmt.Fprint(c, p.at, " ", err)
		}))
		on(w, "client", func() error {
			c, err := dialTCP("tcp", "server:7000")
			if err != nil {
				return err
			}
			if n, err := io.Copy(c, &pattern{end: size}); n != size || err != nil {
				return fmt.Errorf("%d bytes written, %v", n, err)
			}
			c.CloseWrite()
			answer, err := io.ReadAll(c)
			if string(answer) != fmt.Sprint(size, " <nil>") || err != nil {
				return fmt.Errorf("the server says %q, %v", answer, err)
			}
			return nil
		})
	})
}

// A connection outlives a partition that is shorter than its patience.
func TestTCPPartition(t *testing.T) {
	dst.Run(t, func(w *dst.World) {
		w.Net().SetDefault(wan)
		w.Host("server", serveTCP(":7000", echo))
		var echoed atomic.Int64
		w.Host("client").Go(func() {
			c, err := dialTCP("tcp", "server:7000")
			for i := 0; err == nil; i++ {
				buf := []byte{byte(i)}
				if _, err = c.Write(buf); err == nil {
					if _, err = c.Read(buf); err == nil && buf[0] != byte(i) {
						err = fmt.Errorf("echo of %d is %d", byte(i), buf[0])
					}
				}
				echoed.Add(1)
				time.Sleep(100 * time.Millisecond)
			}
			w.Fatalf("%v", err)
		})
		for range 3 {
			time.Sleep(5 * time.Second)
			w.Net().Partition([]string{"client"}, []string{"server"})
			time.Sleep(time.Second)
			before := echoed.Load()
			time.Sleep(30 * time.Second)
			if n := echoed.Load(); n != before {
				w.Fatalf("%d echoes went through a partition", n-before)
			}
			w.Net().Heal()
			// The next retransmission may be lost too, and the one after it waits
			// twice as long.
			w.Eventually("the connection goes on", 10*time.Minute, func() error {
				if n := echoed.Load(); n < before+3 {
					return fmt.Errorf("%d echoes", n)
				}
				return nil
			})
		}
	})
}

// Whatever happens to hosts and network, a stream has no wrong byte, and all is
// well once the faults are over.
func TestTCPFaults(t *testing.T) {
	dst.Run(t, func(w *dst.World) {
		w.Net().SetDefault(simnet.Link{
			Latency: simnet.Uniform(time.Millisecond, 30*time.Millisecond),
			Loss:    0.05, Duplicate: 0.02, Reorder: 0.05,
		})
		server := w.Host("server", serveTCP(":7000", echo))
		var echoed atomic.Int64
		client := func() error {
			for {
				d := net.Dialer{Timeout: 5 * time.Second}
				c, err := d.Dial("tcp", "server:7000")
				if err != nil {
					time.Sleep(100 * time.Millisecond)
					continue
				}
				go io.Copy(c, &pattern{end: 1 << 20})
				got := &pattern{}
				buf := make([]byte, 10_000)
				for got.at < 1<<20 {
					c.SetReadDeadline(time.Now().Add(20 * time.Second))
					n, err := c.Read(buf)
					if _, wrong := got.Write(buf[:n]); wrong != nil {
						return wrong
					}
					echoed.Add(int64(n))
					if err != nil {
						break
					}
				}
				c.Close()
			}
		}
		hosts := []*dst.Host{server, w.Host("a", client), w.Host("b", client)}
		r := w.Rand()
		for range 10 {
			time.Sleep(time.Duration(r.IntN(5000)) * time.Millisecond)
			h := hosts[r.IntN(len(hosts))]
			switch r.IntN(7) {
			case 0:
				h.Crash()
			case 1:
				h.PowerLoss()
			case 2:
				h.Pause()
			case 3:
				w.Net().Partition([]string{h.Name()})
			case 4:
				w.Net().Cut("server", []string{"a", "b"}[r.IntN(2)])
			case 5:
				w.Net().Down(h.Name())
			case 6:
				w.Net().Hold([]string{"a", "b"}[r.IntN(2)], "server")
			}
			time.Sleep(time.Duration(r.IntN(5000)) * time.Millisecond)
			if r.IntN(2) == 0 {
				w.HealAll()
			}
		}
		w.HealAll()
		before := echoed.Load()
		w.Eventually("streams go on", 5*time.Minute, func() error {
			if n := echoed.Load() - before; n < 3<<20 {
				return fmt.Errorf("%d bytes", n)
			}
			return nil
		})
	})
}

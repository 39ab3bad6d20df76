//go:build dst

package dst_test

import (
	"io"
	"net"
	"net/http"
	"sync"
	"testing"

	"github.com/dstkit/dst"
)

// sides runs a benchmark of a client and a server on the machine's loopback
// interface, and on two hosts. Serve returns once it listens; use makes b.N
// round trips or so.
func sides(b *testing.B, serve func() (addr string, err error), use func(b *testing.B, addr string) error) {
	b.Run("real", func(b *testing.B) {
		b.ReportAllocs()
		addr, err := serve()
		if err == nil {
			b.ResetTimer()
			err = use(b, addr)
		}
		if err != nil {
			b.Fatal(err)
		}
	})
	b.Run("sim", func(b *testing.B) {
		b.ReportAllocs()
		dst.RunWorlds(b, 1, func(w *dst.World) {
			var addr string
			var err error
			w.Host("server").Do(func() { addr, err = serve() })
			if err == nil { // the benchmark's clock is not for worlds: their beginning counts
				w.Host("client").Do(func() { err = use(b, addr) })
			}
			if err != nil {
				b.Error(err)
			}
		})
	})
}

// listenAny listens on the host's own address: the machine's is the loopback's.
func listenAny() (net.Listener, error) {
	if l, err := net.Listen("tcp", "server:0"); err == nil {
		return l, nil
	}
	return net.Listen("tcp", "127.0.0.1:0")
}

// BenchmarkTCPThroughput sends pieces of 64 KB one way.
func BenchmarkTCPThroughput(b *testing.B) {
	const piece = 64 << 10
	var received sync.WaitGroup
	sides(b, func() (string, error) {
		l, err := listenAny()
		if err != nil {
			return "", err
		}
		received.Add(1)
		go func() {
			defer received.Done()
			c, err := l.Accept()
			l.Close()
			if err == nil {
				io.CopyBuffer(struct{ io.Writer }{io.Discard}, struct{ io.Reader }{c}, make([]byte, piece))
				c.Close()
			}
		}()
		return l.Addr().String(), nil
	}, func(b *testing.B, addr string) error {
		b.SetBytes(piece)
		c, err := net.Dial("tcp", addr)
		if err != nil {
			return err
		}
		data := make([]byte, piece)
		for range b.N {
			if _, err := c.Write(data); err != nil {
				return err
			}
		}
		c.Close()
		received.Wait()
		return nil
	})
}

// BenchmarkHTTP makes requests with keep-alive: one after the other on one
// connection, and on sixteen at a time.
func BenchmarkHTTP(b *testing.B) {
	serve := func() (string, error) {
		l, err := listenAny()
		if err != nil {
			return "", err
		}
		s := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "hello") })}
		go s.Serve(l)
		return "http://" + l.Addr().String(), nil
	}
	for _, c := range []struct {
		name  string
		conns int
	}{{"1", 1}, {"16", 16}} {
		b.Run(c.name, func(b *testing.B) {
			sides(b, serve, func(b *testing.B, url string) error {
				t := &http.Transport{MaxIdleConnsPerHost: c.conns}
				client := &http.Client{Transport: t}
				defer t.CloseIdleConnections()
				errs := make(chan error, c.conns)
				for i := range c.conns {
					go func() {
						for range (b.N + i) / c.conns {
							r, err := client.Get(url)
							if err != nil {
								errs <- err
								return
							}
							io.Copy(io.Discard, r.Body)
							r.Body.Close()
						}
						errs <- nil
					}()
				}
				var err error
				for range c.conns {
					if e := <-errs; e != nil {
						err = e
					}
				}
				return err
			})
		})
	}
}

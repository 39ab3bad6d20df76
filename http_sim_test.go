//go:build dst

package dst_test

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/rpc"
	"os"
	"os/signal"
	"syscall"
	"testing"
	"time"

	"github.com/dstkit/dst"
)

// pages is what the servers of these tests serve.
func pages() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /hello", func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "hello from ", r.Host) })
	mux.HandleFunc("POST /sum", func(w http.ResponseWriter, r *http.Request) {
		h := sha256.New()
		n, err := io.Copy(h, r.Body)
		fmt.Fprintf(w, "%d %x %v", n, h.Sum(nil), err)
	})
	mux.HandleFunc("GET /slow", func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-time.After(10 * time.Second):
			fmt.Fprint(w, "at last")
		case <-r.Context().Done():
			fmt.Println("the client went:", r.Context().Err())
		}
	})
	mux.Handle("GET /files/", http.StripPrefix("/files/", http.FileServer(http.Dir("/srv"))))
	mux.HandleFunc("GET /large", func(w http.ResponseWriter, r *http.Request) { io.Copy(w, &pattern{end: 1 << 20}) })
	return mux
}

// serveHTTP is a program that serves until SIGTERM, and then shuts down.
func serveHTTP(addr string, config *tls.Config) func() error {
	return func() error {
		s := &http.Server{Addr: addr, Handler: pages(), TLSConfig: config}
		term := make(chan os.Signal, 1)
		signal.Notify(term, syscall.SIGTERM)
		down := make(chan error)
		go func() {
			<-term
			down <- s.Shutdown(context.Background())
		}()
		var err error
		if config != nil {
			err = s.ListenAndServeTLS("", "")
		} else {
			err = s.ListenAndServe()
		}
		if err != http.ErrServerClosed {
			return err
		}
		return <-down
	}
}

// get gets a page, of which there is not more than a few kilobytes.
func get(ctx context.Context, c *http.Client, url string) (body string, reused bool, err error) {
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(i httptrace.GotConnInfo) { reused = i.Reused }})
	req, err := http.NewRequestWithContext(ctx, "GET", url, nil)
	if err != nil {
		return "", false, err
	}
	resp, err := c.Do(req)
	if err != nil {
		return "", reused, err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if resp.StatusCode != 200 && err == nil {
		err = errors.New(resp.Status)
	}
	return string(b), reused, err
}

func TestHTTP(t *testing.T) {
	dst.Run(t, func(w *dst.World) {
		w.Net().SetDefault(wan)
		server := w.Host("server", serveHTTP(":80", nil))
		large, _ := io.ReadAll(&pattern{end: 1 << 20})
		if err := errors.Join(server.Disk().MkdirAll("/srv"), server.Disk().WriteFile("/srv/large", large)); err != nil {
			w.Fatalf("%v", err)
		}
		ctx := context.Background()
		tr := &http.Transport{}
		c := &http.Client{Transport: tr}
		on(w, "client", func() error {
			conn, err := dialTCP("tcp", "server:80")
			if err != nil {
				return err
			}
			conn.Close()
			for i := range 5 {
				body, reused, err := get(ctx, c, "http://server/hello")
				if err != nil || body != "hello from server" || reused != (i > 0) {
					return fmt.Errorf("request %d: %q, %v, on a connection used before: %v", i, body, err, reused)
				}
			}

			data, _ := io.ReadAll(&pattern{end: 1 << 20})
			resp, err := c.Post("http://server/sum", "application/octet-stream", bytes.NewReader(data))
			if err != nil {
				return err
			}
			b, err := io.ReadAll(resp.Body)
			resp.Body.Close()
			if answer := fmt.Sprintf("%d %x <nil>", len(data), sha256.Sum256(data)); string(b) != answer || err != nil {
				return fmt.Errorf("POST: %q, %v, want %q", b, err, answer)
			}

			for _, url := range []string{"http://server/large", "http://server/files/large"} {
				if resp, err = c.Get(url); err != nil {
					return err
				}
				n, err := io.Copy(&pattern{}, resp.Body)
				resp.Body.Close()
				if n != 1<<20 || err != nil {
					return fmt.Errorf("GET %s: %d bytes, %v", url, n, err)
				}
			}

			start := time.Now()
			short, cancel := context.WithTimeout(ctx, 2*time.Second)
			defer cancel()
			_, _, err = get(short, c, "http://server/slow")
			if d := time.Since(start); !errors.Is(err, context.DeadlineExceeded) || d < 2*time.Second || d > 2*time.Second+10*time.Millisecond {
				return fmt.Errorf("a request of two seconds ended after %v with %v", d, err)
			}
			return nil
		})

		// A server that shuts down answers what it was asked before.
		answered := make(chan error, 1)
		w.Host("client").Go(func() {
			body, _, err := get(ctx, c, "http://server/slow")
			if err == nil && body != "at last" {
				err = fmt.Errorf("the slow page is %q", body)
			}
			answered <- err
		})
		time.Sleep(2 * time.Second)
		w.Host("operator").Go(server.Stop)
		if err := <-answered; err != nil {
			w.Fatalf("while the server shut down: %v", err)
		}
		w.Eventually("the server is down", 10*time.Second, func() error {
			if server.Running() {
				return errors.New("it runs")
			}
			return nil
		})
		if err := server.Err(); err != nil {
			w.Fatalf("the server ended with %v", err)
		}
		on(w, "client", func() error {
			_, _, err := get(ctx, c, "http://server/hello")
			if !errors.Is(err, syscall.ECONNREFUSED) {
				return fmt.Errorf("a server that is down answers %v", err)
			}
			return nil
		})

		// A crash does not outlive the restart for who asks again.
		server.Restart()
		w.Eventually("the server is up", 10*time.Second, func() (err error) {
			w.Host("client").Do(func() { _, _, err = get(ctx, c, "http://server/hello") })
			return err
		})
		server.Crash()
		server.Restart()
		w.Eventually("the server is up again", 10*time.Second, func() (err error) {
			w.Host("client").Do(func() { _, _, err = get(ctx, c, "http://server/hello") })
			return err
		})
	})
}

// certificate makes a certificate for a server that signs it itself.
func certificate(name string) (tls.Certificate, *x509.CertPool, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, nil, err
	}
	c := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, DNSNames: []string{name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, c, c, key.Public(), key)
	if err != nil {
		return tls.Certificate{}, nil, err
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		return tls.Certificate{}, nil, err
	}
	pool := x509.NewCertPool()
	pool.AddCert(leaf)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}, pool, nil
}

func TestHTTPS(t *testing.T) {
	dst.Run(t, func(w *dst.World) {
		w.Net().SetDefault(wan)
		var cert tls.Certificate
		var roots *x509.CertPool
		on(w, "ca", func() (err error) {
			cert, roots, err = certificate("server")
			return err
		})
		server := w.Host("server", serveHTTP(":443", &tls.Config{Certificates: []tls.Certificate{cert}}))
		on(w, "client", func() error {
			conn, err := dialTCP("tcp", "server:443")
			if err != nil {
				return err
			}
			conn.Close()
			for _, http2 := range []bool{false, true} {
				tr := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, ForceAttemptHTTP2: http2}
				c := &http.Client{Transport: tr}
				for i := range 3 {
					body, reused, err := get(context.Background(), c, "https://server/hello")
					if err != nil || body != "hello from server" || reused != (i > 0) {
						return fmt.Errorf("request %d, HTTP/2 %v: %q, %v, on a connection used before: %v", i, http2, body, err, reused)
					}
				}
				resp, err := c.Get("https://server/large")
				if err != nil {
					return err
				}
				n, err := io.Copy(&pattern{}, resp.Body)
				resp.Body.Close()
				if proto := map[bool]int{false: 1, true: 2}[http2]; n != 1<<20 || err != nil || resp.ProtoMajor != proto {
					return fmt.Errorf("GET of a megabyte by %s: %d bytes, %v", resp.Proto, n, err)
				}
				tr.CloseIdleConnections()
			}
			tr := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: x509.NewCertPool()}}
			_, _, err = get(context.Background(), &http.Client{Transport: tr}, "https://server/hello")
			return want(err, `Get "https://server/hello": tls: failed to verify certificate: x509: certificate signed by unknown authority`)
		})
		server.Stop()
	})
}

// Bank is a service of net/rpc.
type Bank struct{ balance int }

func (b *Bank) Add(n int, balance *int) error {
	if b.balance+n < 0 {
		return errors.New("there is not enough")
	}
	b.balance += n
	*balance = b.balance
	return nil
}

func (b *Bank) Hang(int, *int) error { time.Sleep(1000 * time.Hour); return nil }

func TestRPC(t *testing.T) {
	dst.Run(t, func(w *dst.World) {
		w.Net().SetDefault(wan)
		server := w.Host("server", func() error {
			s := rpc.NewServer()
			if err := s.Register(&Bank{}); err != nil {
				return err
			}
			l, err := net.Listen("tcp", ":7000")
			if err != nil {
				return err
			}
			s.Accept(l)
			return nil
		})
		on(w, "client", func() error {
			conn, err := dialTCP("tcp", "server:7000")
			if err != nil {
				return err
			}
			c := rpc.NewClient(conn)
			var balance int
			for i := range 10 {
				if err := c.Call("Bank.Add", 5, &balance); err != nil || balance != 5*(i+1) {
					return fmt.Errorf("balance %d, %v", balance, err)
				}
			}
			if err := want(c.Call("Bank.Add", -51, &balance), "there is not enough"); err != nil {
				return err
			}
			time.AfterFunc(time.Second, server.Crash)
			err = c.Call("Bank.Hang", 0, &balance)
			return want(err, "unexpected EOF")
		})
	})
}

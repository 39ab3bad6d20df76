//go:build dst

package dst_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"encoding/pem"
	"errors"
	"expvar"
	"fmt"
	"io"
	"log"
	"log/slog"
	"math/rand"
	"mime"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/rpc"
	"net/url"
	"os"
	"os/user"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dstkit/dst"
)

// What a program keeps in package variables, here one program for all hosts.
var (
	packageClient = &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{
		InsecureSkipVerify: true, // each world has its own certificates
		ClientSessionCache: tls.NewLRUClientSessionCache(8),
	}, ForceAttemptHTTP2: true}}
	packageHTTP1  = newClient() // on the heap
	packageServer = &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.Host) })}
	packageTLS    = &tls.Config{GetCertificate: func(h *tls.ClientHelloInfo) (*tls.Certificate, error) {
		c, _, err := certificate(h.ServerName)
		return &c, err
	}}
	packageMux    = http.NewServeMux()
	packageLog    = log.New(os.Stderr, "package: ", 0)
	packageJar, _ = cookiejar.New(nil)
	packagePool   = sync.Pool{New: func() any { return new(string) }}
)

func newClient() *http.Client {
	return &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
}

func init() {
	http.HandleFunc("GET /init", func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "from init") })
	packageMux.HandleFunc("GET /init", func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "from init") })
	mime.AddExtensionType(".dstinit", "application/x-init")
}

// both runs f on hosts a and b, one after the other.
func both(w *dst.World, f func(host string) error) {
	for _, name := range []string{"a", "b"} {
		on(w, name, func() error { return f(name) })
	}
}

// A connection is used by the process that opened it, and by nobody else: not by
// another host, not after a restart, not in the next world.
func TestPackageClients(t *testing.T) {
	for _, test := range []struct {
		name, url string
		client    *http.Client
		proto     int
	}{
		{"http.Get", "http://10.0.0.1/", http.DefaultClient, 1},
		{"heap", "https://10.0.0.1/", packageHTTP1, 1},
		{"HTTP2", "https://10.0.0.1/", packageClient, 2},
	} {
		t.Run(test.name, func(t *testing.T) {
			dst.Run(t, func(w *dst.World) {
				w.Net().SetDefault(wan)
				w.Host("server", func() error {
					cert, _, err := certificate("server")
					if err != nil {
						return err
					}
					h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
						fmt.Fprint(w, r.RemoteAddr, " ", r.ProtoMajor, " ", r.TLS != nil && r.TLS.DidResume)
					})
					go http.ListenAndServe(":80", h)
					s := &http.Server{Addr: ":443", Handler: h, TLSConfig: &tls.Config{Certificates: []tls.Certificate{cert}}}
					return s.ListenAndServeTLS("", "")
				})
				time.Sleep(time.Second)
				opened := map[string]string{} // local address -> host
				ask := func(host string, reuse, resume bool) {
					on(w, host, func() error {
						ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
						defer cancel()
						body, reused, err := get(ctx, test.client, test.url)
						if err != nil || reused != reuse {
							return fmt.Errorf("%q, %v, on a connection used before: %v", body, err, reused)
						}
						addr, rest, _ := strings.Cut(body, " ")
						ip, _, _ := net.SplitHostPort(addr)
						if want := fmt.Sprint(test.proto, " ", resume && test.proto == 2); ip != w.Host(host).Addr().String() || rest != want {
							return fmt.Errorf("it came from %s, %s, want %v, %s", ip, rest, w.Host(host).Addr(), want)
						}
						if reuse != (opened[addr] == host) {
							return fmt.Errorf("%s was opened by %q", addr, opened[addr])
						}
						opened[addr] = host
						return nil
					})
				}
				w.Host("a", func() error { select {} })
				ask("a", false, false)
				ask("b", false, false)
				ask("a", true, false)
				ask("b", true, false)
				w.Host("a").Crash()
				ask("b", true, false)
				w.Host("a").Restart()
				ask("a", false, false)
				on(w, "b", func() error { test.client.CloseIdleConnections(); return nil })
				ask("a", true, false)
				ask("b", false, true) // it has the session of its first connection
			}, dst.Twice())
		})
	}
}

// What hosts register is theirs; what was registered before main began is there
// for all.
func TestRegistries(t *testing.T) {
	dst.Run(t, func(w *dst.World) {
		main := func(name string) func() error {
			return func() error {
				answer := func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, name) }
				http.HandleFunc("/", answer)
				http.Handle("GET host.example/x", http.HandlerFunc(answer))
				packageMux.HandleFunc("/", answer)
				packageMux.Handle("/x/", http.HandlerFunc(answer))
				expvar.NewString("name").Set(name)
				if err := rpc.Register(new(Bank)); err != nil {
					return err
				}
				rpc.HandleHTTP()
				sql.Register("bank", bankDriver{})
				if got := fmt.Sprint(sql.Drivers()); got != "[bank]" {
					return fmt.Errorf("drivers: %s", got)
				}
				zip.RegisterCompressor(77, func(w io.Writer) (io.WriteCloser, error) { return nil, errors.New(name) })
				zip.RegisterDecompressor(77, func(r io.Reader) io.ReadCloser { return nil })
				http.DefaultTransport.(*http.Transport).RegisterProtocol("name", nameTransport(name))
				go http.ListenAndServe(":81", packageMux)
				return http.ListenAndServe(":80", nil)
			}
		}
		a, b := w.Host("a", main("a")), w.Host("b", main("b"))
		check := func() {
			time.Sleep(time.Second)
			on(w, "user", func() error {
				for _, name := range []string{"a", "b"} {
					for path, want := range map[string]string{
						"/": name, ":81/": name, ":81/x/y": name, "/init": "from init", ":81/init": "from init",
					} {
						body, _, err := get(context.Background(), http.DefaultClient, "http://"+name+path)
						if err != nil || body != want {
							return fmt.Errorf("%s%s: %q, %v, want %q", name, path, body, err, want)
						}
					}
					c, err := rpc.DialHTTP("tcp", name+":80")
					if err != nil {
						return err
					}
					var balance int
					if err := c.Call("Bank.Add", 5, &balance); err != nil || balance != 5 {
						return fmt.Errorf("balance %d, %v", balance, err)
					}
				}
				if _, err := http.Get("name://x"); err == nil || !strings.Contains(err.Error(), "unsupported protocol") {
					return fmt.Errorf("a protocol that others have registered: %v", err)
				}
				if len(sql.Drivers()) != 0 || expvar.Get("name") != nil {
					return fmt.Errorf("user sees %v, %v", sql.Drivers(), expvar.Get("name"))
				}
				return nil
			})
			both(w, func(name string) error {
				if v := expvar.Get("name"); v == nil || v.String() != fmt.Sprintf("%q", name) || expvar.Get("memstats") == nil {
					return fmt.Errorf("its variables are %v, %v", v, expvar.Get("memstats"))
				}
				resp, err := http.Get("name://x")
				if err != nil || resp.Status != name {
					return fmt.Errorf("its own protocol: %v", err)
				}
				zw := zip.NewWriter(io.Discard)
				_, err = zw.CreateHeader(&zip.FileHeader{Name: "x", Method: 77})
				return want(err, name)
			})
		}
		check()
		a.Restart()
		b.Crash()
		b.Restart()
		check()
	}, dst.Twice())
}

type bankDriver struct{ driver.Driver }

type nameTransport string

func (n nameTransport) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{Status: string(n), StatusCode: 200, Body: http.NoBody}, nil
}

// A server that is shut down serves again after a restart, and in the next world.
func TestPackageServer(t *testing.T) {
	dst.Run(t, func(w *dst.World) {
		main := func() error {
			l, err := net.Listen("tcp", ":80")
			if err != nil {
				return err
			}
			down := make(chan error)
			time.AfterFunc(10*time.Second, func() { down <- packageServer.Shutdown(context.Background()) })
			if err := packageServer.Serve(l); err != http.ErrServerClosed {
				return err
			}
			return <-down
		}
		a := w.Host("a", main)
		time.Sleep(5 * time.Second)
		w.Host("b", main)
		time.Sleep(time.Second)
		serves := func(name string, want bool) {
			on(w, "user", func() error {
				resp, err := http.Get("http://" + name)
				if (err == nil) != want {
					return fmt.Errorf("%s: %v", name, err)
				}
				if err == nil {
					resp.Body.Close()
				}
				return nil
			})
		}
		serves("a", true)
		serves("b", true)
		time.Sleep(5 * time.Second)
		serves("a", false)
		serves("b", true)
		a.Restart()
		time.Sleep(time.Second)
		serves("a", true)
	}, dst.Twice())
}

// Two servers share one TLS configuration of the program, but no ticket keys.
func TestPackageTLS(t *testing.T) {
	dst.Run(t, func(w *dst.World) {
		for _, name := range []string{"a", "b"} {
			w.Host(name, func() error {
				l, err := tls.Listen("tcp", ":443", packageTLS)
				if err != nil {
					return err
				}
				for {
					c, err := l.Accept()
					if err != nil {
						return err
					}
					go func() {
						io.WriteString(c, "hello")
						c.Close()
					}()
				}
			})
		}
		time.Sleep(time.Second)
		on(w, "user", func() error {
			cache := tls.NewLRUClientSessionCache(1)
			dial := func(host string) (resumed bool, err error) {
				c, err := tls.Dial("tcp", host+":443", &tls.Config{InsecureSkipVerify: true, ServerName: "both", ClientSessionCache: cache})
				if err != nil {
					return false, err
				}
				defer c.Close()
				_, err = io.ReadAll(c)
				return c.ConnectionState().DidResume, err
			}
			for i, step := range []struct {
				host   string
				resume bool
			}{{"a", false}, {"a", true}, {"b", false}, {"b", true}} {
				if resumed, err := dial(step.host); err != nil || resumed != step.resume {
					return fmt.Errorf("%d: the session with %s was resumed: %v, %v", i, step.host, resumed, err)
				}
			}
			return nil
		})
	}, dst.Twice())
}

// Standard loggers are set up by each process for itself, and one that dies while
// it writes blocks no other.
func TestLoggers(t *testing.T) {
	dst.Run(t, func(w *dst.World) {
		stuck := w.Host("stuck")
		stuck.Go(func() {
			r, wr := io.Pipe()
			defer r.Close()
			log.SetOutput(wr)
			packageLog.SetOutput(wr)
			go packageLog.Print("nobody reads this")
			log.Print("nor this")
		})
		time.Sleep(time.Second)
		stuck.Crash()
		both(w, func(name string) error {
			if log.Prefix() != "" || log.Flags() != log.LstdFlags || packageLog.Prefix() != "package: " {
				return fmt.Errorf("prefixes %q, %q, flags %d", log.Prefix(), packageLog.Prefix(), log.Flags())
			}
			var b bytes.Buffer
			log.SetOutput(&b)
			log.SetPrefix(name + ": ")
			log.SetFlags(log.Lmsgprefix)
			packageLog.SetOutput(&b)
			log.Print("hello")
			slog.Info("hello")
			packageLog.Print("hello")
			if got, want := b.String(), fmt.Sprintf("%s: hello\n%s: INFO hello\npackage: hello\n", name, name); got != want {
				return fmt.Errorf("the log is %q, want %q", got, want)
			}
			b.Reset()
			slog.SetDefault(slog.New(slog.NewTextHandler(&b, &slog.HandlerOptions{Level: slog.LevelDebug})).With("host", name))
			slog.SetLogLoggerLevel(slog.LevelDebug)
			log.Print("again")
			if got := b.String(); !strings.Contains(got, "level=DEBUG msg=\""+name+": again\" host="+name) {
				return fmt.Errorf("the log is %q", got)
			}
			return nil
		})
	}, dst.Twice())
}

// What std finds out at first use, it finds out for each process, from the files
// and the environment of its host.
func TestFirstUse(t *testing.T) {
	var ca []byte
	dst.Run(t, func(w *dst.World) {
		on(w, "ca", func() error {
			c, _, err := certificate("ca")
			ca = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Certificate[0]})
			return err
		})
		for i, name := range []string{"a", "b"} {
			h := w.Host(name).Env("HTTP_PROXY=http://proxy-of-"+name, "SSL_CERT_FILE=/ca.pem", "ZONEINFO=/zones-of-"+name)
			files := map[string]string{
				"/etc/services":   fmt.Sprintf("dstport %d/tcp\n", 1001+i),
				"/etc/mime.types": "text/x-" + name + " dstext\n",
				"/file":           "",
			}
			if name == "a" {
				files["/ca.pem"] = string(ca)
			}
			for file, text := range files {
				if err := h.Disk().WriteFile(file, []byte(text)); err != nil {
					w.Fatalf("%v", err)
				}
			}
		}
		for range 2 {
			both(w, func(name string) error {
				i := int(name[0] - 'a')
				if port, err := net.LookupPort("tcp", "dstport"); err != nil || port != 1001+i {
					return fmt.Errorf("the port is %d, %v", port, err)
				}
				if port, err := net.LookupPort("tcp", "http"); err != nil || port != 80 {
					return fmt.Errorf("the port of http is %d, %v", port, err)
				}
				if typ := mime.TypeByExtension(".dstext"); typ != "text/x-"+name+"; charset=utf-8" {
					return fmt.Errorf("the type is %q", typ)
				}
				if typ := mime.TypeByExtension(".dstinit"); typ != "application/x-init" {
					return fmt.Errorf("the type added before main is %q", typ)
				}
				if err := mime.AddExtensionType(".dst"+name, "application/x-"+name); err != nil {
					return err
				}
				if typ := mime.TypeByExtension(".dst" + string('a'+'b'-name[0])); typ != "" {
					return fmt.Errorf("the type that the other host added is %q", typ)
				}
				u, err := user.Current()
				if err != nil || u.Username != "root" {
					return fmt.Errorf("the user is %v, %v", u, err)
				}
				fi, err := os.Stat("/file")
				if err != nil {
					return err
				}
				h, err := tar.FileInfoHeader(fi, "")
				if err != nil || h.Uname != "root" || h.Gname != "root" {
					return fmt.Errorf("the file belongs to %q, %q, %v", h.Uname, h.Gname, err)
				}
				req, _ := http.NewRequest("GET", "http://example.com", nil)
				proxy, err := http.ProxyFromEnvironment(req)
				if err != nil || proxy == nil || proxy.Host != "proxy-of-"+name {
					return fmt.Errorf("the proxy is %v, %v", proxy, err)
				}
				pool, err := x509.SystemCertPool()
				if err != nil || pool.Equal(x509.NewCertPool()) == (name == "a") {
					return fmt.Errorf("the system's certificates are %v, %v", pool, err)
				}
				if _, err = time.LoadLocation("Nowhere/At_All"); err == nil {
					return errors.New("there is a zone Nowhere")
				}
				zones, err := net.ListenPacket("udp6", "[fe80::1%eth0]:0")
				if err == nil {
					zones.Close()
				}
				jarURL := &url.URL{Scheme: "http", Host: "server"}
				packageJar.SetCookies(jarURL, []*http.Cookie{{Name: name, Value: "x"}})
				if c := packageJar.Cookies(jarURL); len(c) != 1 || c[0].Name != name {
					return fmt.Errorf("the cookies are %v", c)
				}
				s := packagePool.Get().(*string)
				if *s != "" && *s != name {
					return fmt.Errorf("the pool has what host %s put there", *s)
				}
				*s = name
				packagePool.Put(s)
				return nil
			})
		}
	}, dst.Twice())
}

// A lookup of a host that dies in the middle of it keeps nobody waiting.
func TestLookupOfTheDead(t *testing.T) {
	dst.Run(t, func(w *dst.World) {
		for range 10 {
			a, b := w.Host("a").Boot(nil), w.Host("b").Boot(nil)
			look := func() error {
				_, err := net.DefaultResolver.LookupIPAddr(context.Background(), "b")
				return err
			}
			done := make(chan error, 1)
			a.Go(func() { look() })
			b.Go(func() { done <- look() })
			time.Sleep(time.Duration(w.Rand().IntN(20)) * time.Microsecond)
			a.Crash()
			if err := <-done; err != nil {
				w.Fatalf("%v", err)
			}
		}
	}, dst.Seeds(20))
}

// Filling a cache, such as package json's of types, draws nothing from the
// program's randomness: what follows is the same in the first world and later.
func TestCachesDrawNothing(t *testing.T) {
	dst.Run(t, func(w *dst.World) {
		on(w, "a", func() error {
			type fresh struct{ A, B map[string]struct{ C []int } }
			if _, err := json.Marshal(fresh{}); err != nil {
				return err
			}
			time.Sleep(time.Duration(rand.Int63n(1e9)))
			return nil
		})
	}, dst.Twice())
}

// What worlds did with package variables is not seen outside of them.
func TestOutsideAfterWorlds(t *testing.T) {
	real := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "real") }))
	defer real.Close()
	ask := func() {
		t.Helper()
		for _, c := range []*http.Client{http.DefaultClient, packageClient, packageHTTP1} {
			if body, _, err := get(t.Context(), c, real.URL); err != nil || body != "real" {
				t.Errorf("%q, %v", body, err)
			}
		}
		rec := httptest.NewRecorder()
		http.DefaultServeMux.ServeHTTP(rec, httptest.NewRequest("GET", "/", nil))
		if rec.Code != http.StatusNotFound {
			t.Errorf("the default mux answers %d: %s", rec.Code, rec.Body)
		}
		if log.Prefix() != "" {
			t.Errorf("the standard logger's prefix is %q", log.Prefix())
		}
	}
	ask()
	clients := []*http.Client{http.DefaultClient, packageClient, packageHTTP1}
	dst.Run(t, func(w *dst.World) {
		w.Host("server", serveHTTP(":80", nil))
		time.Sleep(time.Second)
		both(w, func(name string) error {
			http.HandleFunc("/", http.NotFound)
			log.SetPrefix(name)
			for _, c := range clients {
				if _, _, err := get(context.Background(), c, "http://server/hello"); err != nil {
					return err
				}
			}
			return nil
		})
	}, dst.Twice())
	ask()
}

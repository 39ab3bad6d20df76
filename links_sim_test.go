//go:build dst

package dst_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/dstkit/dst"
	"github.com/dstkit/dst/simnet"
)

// whoami answers each datagram, and each request, with the address it came from.
func whoami() error {
	c, err := net.ListenPacket("udp", ":7")
	if err != nil {
		return err
	}
	go http.ListenAndServe(":80", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		fmt.Fprint(w, r.RemoteAddr)
	}))
	buf := make([]byte, 100)
	for {
		_, from, err := c.ReadFrom(buf)
		if err != nil {
			return err
		}
		c.WriteTo([]byte(from.String()), from)
	}
}

// TestNAT: what a client behind a NAT and a server see when the NAT rebinds: a datagram
// from a new address, a TCP connection that is reset.
func TestNAT(t *testing.T) {
	dst.Run(t, func(w *dst.World) {
		w.Host("server", whoami)
		client := w.Host("client")
		home := w.Net().NAT("home", simnet.NAT{}, "client")
		w.Net().SetLink("home", "server", simnet.Link{Latency: simnet.Constant(10 * time.Millisecond)})
		client.Do(func() {
			time.Sleep(time.Second)
			c, err := net.Dial("udp", "server:7")
			if err != nil {
				w.Fatalf("%v", err)
			}
			ask := func() string {
				buf := make([]byte, 100)
				c.Write([]byte("who am I?"))
				c.SetReadDeadline(time.Now().Add(time.Second))
				n, err := c.Read(buf)
				if err != nil {
					w.Fatalf("%v", err)
				}
				return string(buf[:n])
			}
			before := ask()
			h := &http.Client{Transport: &http.Transport{}}
			get := func() (string, error) {
				res, err := h.Post("http://server/", "", strings.NewReader("x")) // is not sent again by itself
				if err != nil {
					return "", err
				}
				defer res.Body.Close()
				b, err := io.ReadAll(res.Body)
				return string(b), err
			}
			if at, err := get(); err != nil || !strings.HasPrefix(at, home.Addr().String()+":") {
				w.Failf("%q, %v", at, err)
			}
			home.Rebind()
			if after := ask(); after == before || !strings.HasPrefix(after, home.Addr().String()+":") {
				w.Failf("%s, then %s", before, after)
			}
			if at, err := get(); !errors.Is(err, syscall.ECONNRESET) {
				w.Failf("%q, %v", at, err)
			}
			if at, err := get(); err != nil || !strings.HasPrefix(at, home.Addr().String()+":") {
				w.Failf("%q, %v", at, err)
			}
		})
		w.Host("server").Do(func() {
			if c, err := net.DialTimeout("tcp", "client:80", time.Second); err == nil || c != nil {
				w.Failf("reached the client")
			}
		})
	})
}

// TestRules: what programs see of rules.
func TestRules(t *testing.T) {
	dst.Run(t, func(w *dst.World) {
		w.Host("server", whoami)
		client := w.Host("client")
		dial := func() (took time.Duration, err error) {
			client.Do(func() {
				start := time.Now()
				var c net.Conn
				if c, err = net.Dial("tcp4", "server:80"); err == nil {
					c.Close()
				}
				took = time.Since(start)
			})
			return took, err
		}
		time.Sleep(time.Second)
		for rule, want := range map[string]struct {
			took time.Duration
			err  error
		}{
			"drop first syn to port 80":              {time.Second, nil},
			"delay 200ms tcp from client":            {200 * time.Millisecond, nil},
			"reject tcp to port 80":                  {0, syscall.ECONNREFUSED},
			"reject with host-unreachable to server": {0, syscall.EHOSTUNREACH},
			"drop syn to port 443":                   {0, nil},
		} {
			w.Net().Rule("r", rule)
			took, err := dial()
			if !errors.Is(err, want.err) || took < want.took || took > want.took+50*time.Millisecond {
				w.Failf("%s: %v, %v", rule, took, err)
			}
			w.Net().RemoveRule("r")
			time.Sleep(time.Second) // what is delayed arrives
		}
		fins := 0
		w.Net().RuleFunc("count", func(p *simnet.Packet) simnet.Verdict {
			if p.FIN {
				fins++
			}
			return simnet.Pass
		})
		if _, err := dial(); err != nil {
			w.Failf("%v", err)
		}
		time.Sleep(time.Second)
		if c := w.Net().RuleCounters("count"); fins != 2 || c.Hits != 0 || c.Seen < 5 {
			w.Failf("%d FIN, %+v", fins, c)
		}
	})
}

// everything runs clients behind a NAT against servers, with all that links can do.
func everything(w *dst.World) {
	n := w.Net()
	w.Host("s1", whoami)
	w.Host("s2", whoami)
	w.Host("c1")
	w.Host("c2")
	home := n.NAT("home", simnet.NAT{UDPTimeout: 2 * time.Second}, "c1", "c2")
	n.SetDefault(simnet.Link{
		Latency: simnet.Exponential(5 * time.Millisecond), InOrder: true, Loss: 0.01, Duplicate: 0.01, Reorder: 0.01, Corrupt: 0.01,
		Burst: simnet.Burst{Begin: 0.01, End: 0.3}, Bandwidth: 1e8, Queue: 50000,
	})
	n.SetUplink("home", simnet.Rate{Bandwidth: 2e6, Queue: 20000})
	n.SetDownlink("home", simnet.Rate{Bandwidth: 1e7, Queue: 20000})
	n.Rule("syn", "drop 20% syn to port 80")
	n.Rule("udp", "delay 1ms-20ms every 3rd udp from home")
	n.Rule("data", "drop every 20th tcp data")
	n.Rule("no", "reject every 7th udp to s2 port 7")
	n.Flap("home", "s1", simnet.Exponential(3*time.Second), simnet.Uniform(0, time.Second))
	n.FlapHost("s2", simnet.Constant(4*time.Second), simnet.Exponential(time.Second))
	ok := make(chan int, 2)
	for _, name := range []string{"c1", "c2"} {
		w.Host(name).Go(func() {
			good := 0
			h := &http.Client{Transport: &http.Transport{}, Timeout: 3 * time.Second}
			for i := range 20 {
				to := []string{"s1", "s2"}[i%2]
				if c, err := net.Dial("udp", to+":7"); err == nil {
					c.Write([]byte("x"))
					c.SetReadDeadline(time.Now().Add(300 * time.Millisecond))
					if _, err := c.Read(make([]byte, 100)); err == nil {
						good++
					}
					c.Close()
				}
				res, err := h.Post("http://"+to+"/", "", bytes.NewReader(make([]byte, 20000)))
				if err == nil {
					if _, err := io.ReadAll(res.Body); err == nil {
						good++
					}
					res.Body.Close()
				}
			}
			ok <- good
		})
	}
	for range 3 {
		time.Sleep(3 * time.Second)
		home.Rebind()
	}
	good := <-ok + <-ok
	if good < 10 {
		w.Failf("only %d of 80 succeeded", good)
	}
	w.HealAll()
	c := n.Total()
	if in, out := c.Sent+c.Duplicated, c.Delivered+c.Lost+c.BurstLost+c.Corrupted+c.QueueDrops+c.RuleDrops+c.Cut+c.Unreachable+c.InFlight+c.Held; in != out {
		w.Failf("%d in, %d out: %+v", in, out, c)
	}
	w.Logf("%d succeeded; %+v; %+v", good, c, home.Counters())
}

// TestEverything: two runs of a seed are the same, with all features of links on.
func TestEverything(t *testing.T) { dst.Run(t, everything, dst.Twice(), dst.Seeds(3)) }

func init() {
	children["everything"] = func(t *testing.T) { dst.Run(t, everything, dst.Seeds(2)) }
	children["capture"] = func(t *testing.T) {
		dst.Run(t, func(w *dst.World) {
			a, b := w.Host("a"), w.Host("b")
			b.Go(func() { net.ListenPacket("udp", ":7") })
			a.Do(func() {
				c, _ := net.Dial("udp", "b:7")
				c.Write([]byte("hello"))
			})
			w.Failf("on purpose")
		}, dst.Seeds(1))
	}
}

// TestCaptureFlag: a file for each seed, whose path is told when it fails; the runs are
// those that they are without.
func TestCaptureFlag(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "pcap")
	with := runChild(t, "everything", "-dst.v", "-dst.pcap="+dir).passes(t)
	without := runChild(t, "everything", "-dst.v").passes(t)
	prints := regexp.MustCompile(`fingerprint=\S+`)
	a, b := prints.FindAllString(with.out, -1), prints.FindAllString(without.out, -1)
	if fmt.Sprint(a) != fmt.Sprint(b) || len(a) != 2 {
		t.Errorf("%v with a capture, %v without", a, b)
	}
	files, _ := filepath.Glob(filepath.Join(dir, "*.pcapng"))
	if len(files) != 2 {
		t.Fatalf("%q", files)
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil || len(b) < 10000 || !bytes.HasPrefix(b, []byte{0x0a, 0x0d, 0x0d, 0x0a}) {
			t.Errorf("%s: %d bytes, %v", f, len(b), err)
		}
	}
	failed := runChildEnv(t, "capture", []string{"DST_PCAP=" + dir}).has(t, "on purpose", "packets: "+dir)
	path := regexp.MustCompile(`report: (.*)`).FindStringSubmatch(failed.out)
	if path == nil {
		t.Fatal(failed.out)
	}
	file := regexp.MustCompile(`packets: (.*)`).FindStringSubmatch(failed.out)
	if b, err := os.ReadFile(file[1]); err != nil || !bytes.Contains(b, []byte("hello")) {
		t.Errorf("%q, %v", b, err)
	}
	runChild(t, "capture", "-dst.pcap=/dev/null/x").has(t, "the packets cannot be written")
}

// TestCaptureToFile: the test's own capture, to a file of the machine.
func TestCaptureToFile(t *testing.T) {
	dir := t.TempDir()
	dst.Run(t, func(w *dst.World) {
		f, err := os.Create(filepath.Join(dir, "packets.pcapng"))
		if err != nil {
			w.Fatalf("%v", err)
		}
		a, b := w.Host("a"), w.Host("b")
		c := w.Net().Capture(f, simnet.CaptureOptions{Hosts: []string{"b"}})
		b.Do(func() {
			l, err := net.Listen("tcp", ":80")
			if err != nil {
				w.Fatalf("%v", err)
			}
			go func() {
				c, err := l.Accept()
				if err == nil {
					io.Copy(c, c)
				}
			}()
		})
		a.Do(func() {
			c, err := (&net.Dialer{}).DialContext(context.Background(), "tcp", "b:80")
			if err != nil {
				w.Fatalf("%v", err)
			}
			c.Write([]byte("echo this"))
			io.ReadFull(c, make([]byte, 9))
			c.Close()
		})
		if err := c.Stop(); err != nil {
			w.Failf("%v", err)
		}
		f.Close()
		if b, err := os.ReadFile(f.Name()); err != nil || bytes.Count(b, []byte("echo this")) != 2 {
			w.Failf("%d bytes, %v", len(b), err)
		}
	}, dst.Seeds(1))
}

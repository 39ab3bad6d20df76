//go:build dst && linux

package dst_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/dstkit/dst"
	"github.com/dstkit/dst/simnet"
)

// several things that std keeps in a map by address. Up to eight would lie there in
// the order in which they came.
const several = 20

// TestOrder is one of the processes of TestOrderOfAddresses.
func TestOrder(t *testing.T) {
	var out strings.Builder
	dst.Run(t, func(w *dst.World) {
		j := newJournal()
		w.Net().SetDefault(simnet.Link{Latency: simnet.Uniform(time.Millisecond, 20*time.Millisecond)})
		orderOfContexts(w, j)
		orderOfConnections(w, j, false)
		orderOfConnections(w, j, true)
		fmt.Fprintf(&out, "%d %#x %d %#x\n", w.Seed(), w.Fingerprint(), w.Steps(), j.sum())
	})
	if file := os.Getenv("DST_TEST_OUT"); file != "" {
		if err := os.WriteFile(file, []byte(out.String()), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// litter has what the garbage collector leaves behind decide where the next
// allocation lies.
var litter [][]byte

func orderOfContexts(w *dst.World, j *journal) {
	w.Host("a").Do(func() {
		parent, cancel := context.WithCancel(context.Background())
		var wg sync.WaitGroup
		for i := range several {
			for range 100 {
				litter = append(litter[max(0, len(litter)-7):], make([]byte, 100))
			}
			ctx, stop := context.WithTimeout(parent, time.Hour)
			defer stop()
			wg.Add(1)
			context.AfterFunc(ctx, func() { j.add("context %d", i); wg.Done() })
		}
		cancel()
		wg.Wait()
	})
}

// orderOfConnections closes a server that has several connections.
func orderOfConnections(w *dst.World, j *journal, http2 bool) {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(!http2)
	protocols.SetUnencryptedHTTP2(http2)
	name := fmt.Sprint("server", http2)
	srv := &http.Server{Protocols: protocols, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "yes") })}
	w.Host(name, func() error {
		l, err := net.Listen("tcp", ":80")
		if err != nil {
			return err
		}
		if err := srv.Serve(l); err != http.ErrServerClosed {
			return err
		}
		return nil
	})
	w.Host("a").Do(func() {
		for i := range several {
			tr := &http.Transport{Protocols: protocols, DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
				c, err := new(net.Dialer).DialContext(ctx, network, addr)
				return &journaled{c, j, i}, err
			}}
			resp, err := (&http.Client{Transport: tr}).Get("http://" + name + "/")
			if err != nil {
				w.Failf("connection %d: %v", i, err)
				return
			}
			body, err := io.ReadAll(bufio.NewReader(resp.Body))
			resp.Body.Close()
			if string(body) != "yes" || err != nil || resp.ProtoMajor == 2 != http2 {
				w.Failf("connection %d: %s %q, %v", i, resp.Proto, body, err)
			}
		}
	})
	w.Host(name).Do(func() {
		if http2 {
			srv.Shutdown(context.Background())
		} else {
			srv.Close()
		}
		time.Sleep(time.Second) // what the connections still say
	})
}

// A journaled connection tells when it ends.
type journaled struct {
	net.Conn
	j *journal
	n int
}

func (c *journaled) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if err != nil {
		c.j.add("connection %d: %v at %v", c.n, err, time.Now())
	}
	return n, err
}

// TestOrderOfAddresses runs seeds in processes in which garbage is collected at
// different times: what std keeps in maps by address (children of a context,
// connections of a server) lies elsewhere in each, and must not show it.
func TestOrderOfAddresses(t *testing.T) {
	if os.Getenv("DST_TEST_OUT") != "" {
		t.Skip("this is one of the processes")
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, env := range []string{"GOGC=off", "GOGC=1", "GOGC=20"} {
		out := t.TempDir() + "/out"
		cmd := exec.Command(exe, "-test.run=^TestOrder$")
		cmd.Env = append(os.Environ(), "DST_TEST_OUT="+out, "DST_SEEDS=1-20", "DST_SEED=", env)
		if text, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", env, err, text)
		}
		data, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSpace(string(data)), "\n")
		if want == nil {
			want = lines
		}
		if len(lines) != 20 || len(want) != 20 {
			t.Fatalf("%s: %d seeds ran, want 20", env, len(lines))
		}
		for i, line := range lines {
			if line != want[i] {
				t.Errorf("%s: %q, with GOGC=off %q", env, line, want[i])
				break
			}
		}
	}
}

// TestSendfileCall fails where io.Copy would only fall back.
func TestSendfileCall(t *testing.T) {
	dst.Run(t, func(w *dst.World) {
		w.Host("b", func() error {
			l, err := net.Listen("tcp", ":80")
			if err != nil {
				return err
			}
			c, err := l.Accept()
			if err != nil {
				return err
			}
			got, err := io.ReadAll(c)
			if string(got) != "34567012" || err != nil {
				w.Failf("received %q, %v; want 34567012", got, err)
			}
			return nil
		})
		time.Sleep(time.Millisecond)
		w.Host("a").Do(func() {
			if err := os.WriteFile("/file", []byte("01234567"), 0o644); err != nil {
				w.Fatalf("%v", err)
			}
			f, err := os.Open("/file")
			if err != nil {
				w.Fatalf("%v", err)
			}
			defer f.Close()
			c, err := net.Dial("tcp", "b:80")
			if err != nil {
				w.Fatalf("%v", err)
			}
			defer c.Close()
			raw, err := c.(*net.TCPConn).SyscallConn()
			if err != nil {
				w.Fatalf("%v", err)
			}
			send := func(off *int64, count, want int) {
				raw.Write(func(fd uintptr) bool {
					if n, err := syscall.Sendfile(int(fd), int(f.Fd()), off, count); n != want || err != nil {
						w.Failf("sendfile of %d bytes: %d, %v; want %d", count, n, err, want)
					}
					return true
				})
			}
			off := int64(3)
			send(&off, 100, 5) // at off, which moves; the file's own offset stays
			send(nil, 3, 3)
			if at, err := f.Seek(0, io.SeekCurrent); off != 8 || at != 3 || err != nil {
				w.Failf("offsets are %d and %d, %v; want 8 and 3", off, at, err)
			}
		})
		time.Sleep(time.Second)
	}, dst.Seeds(2))
}

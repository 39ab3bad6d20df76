//go:build dst

package websocket

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/dstkit/dst"
	"github.com/dstkit/dst/simnet"
)

// handshakeMost is how long Close may take: five seconds to write the close frame, and
// five to wait for the other end's.
const handshakeMost = 10*time.Second + 100*time.Millisecond

// pair runs one function at either end of a connection, and waits for both.
func pair(w *dst.World, server, client func(c *websocket.Conn)) {
	var wg sync.WaitGroup
	wg.Add(2)
	w.Host("server", func() error {
		return http.ListenAndServe(":80", http.HandlerFunc(func(rw http.ResponseWriter, req *http.Request) {
			c, err := websocket.Accept(rw, req, nil)
			if err != nil {
				w.Failf("accept: %v", err)
				return
			}
			server(c)
			wg.Done()
		}))
	})
	w.Host("client").Go(func() {
		time.Sleep(10 * time.Millisecond)
		c, _, err := websocket.Dial(context.Background(), "ws://server:80/", &websocket.DialOptions{HTTPClient: &http.Client{Transport: &http.Transport{}}})
		if err != nil {
			w.Failf("dial: %v", err)
			return
		}
		client(c)
		wg.Done()
	})
	wg.Wait()
}

// Both ends close, at any time, in the middle of messages and while they read: each Close
// ends in time, and no reader hangs.
func TestCloseAtOnce(t *testing.T) {
	var mu sync.Mutex
	ends := map[string]int{}
	dst.Run(t, func(w *dst.World) {
		w.Net().SetDefault(simnet.Link{Latency: simnet.Uniform(time.Millisecond, 20*time.Millisecond), Loss: 0.02})
		end := func(name string, code websocket.StatusCode) func(c *websocket.Conn) {
			wait := time.Duration(w.Rand().IntN(100)) * time.Millisecond
			return func(c *websocket.Conn) {
				var wg sync.WaitGroup
				wg.Go(func() {
					for {
						if _, _, err := c.Read(context.Background()); err != nil {
							w.Logf("%s: read: %v", name, err)
							mu.Lock()
							ends[fmt.Sprintf("read: %v", websocket.CloseStatus(err))]++
							mu.Unlock()
							return
						}
					}
				})
				wg.Go(func() {
					for c.Write(context.Background(), websocket.MessageBinary, make([]byte, 20000)) == nil {
					}
				})
				time.Sleep(wait)
				began := w.Elapsed()
				err := c.Close(code, name)
				took := w.Elapsed() - began
				w.Logf("%s: close: %v after %v", name, err, took)
				if took > handshakeMost {
					w.Failf("%s: Close took %v, want at most %v: %v", name, took, handshakeMost, err)
				}
				wg.Wait()
				if took := w.Elapsed() - began; took > handshakeMost {
					w.Failf("%s: its reader and writer ended %v after Close began, want at most %v", name, took, handshakeMost)
				}
			}
		}
		pair(w, end("server", websocket.StatusGoingAway), end("client", websocket.StatusNormalClosure))
	}, dst.Seeds(20))
	t.Log(ends)
}

// closeSilent closes a connection whose other end has fallen silent, between two messages
// or in the middle of one, and returns how long that took.
func closeSilent(w *dst.World, middle bool) (took time.Duration) {
	w.Net().SetDefault(simnet.Link{Latency: simnet.Constant(5 * time.Millisecond), Bandwidth: 1_000_000})
	silent := make(chan struct{})
	pair(w, func(c *websocket.Conn) {
		if middle {
			go c.Write(context.Background(), websocket.MessageBinary, make([]byte, 1_000_000))
		} else if err := c.Write(context.Background(), websocket.MessageBinary, make([]byte, 100)); err != nil {
			w.Failf("%v", err)
		}
		<-silent
	}, func(c *websocket.Conn) {
		_, in, err := c.Reader(context.Background())
		if err != nil {
			w.Failf("%v", err)
		}
		part := make([]byte, 100)
		if _, err := in.Read(part); err != nil {
			w.Failf("%v", err)
		}
		w.Net().Partition([]string{"server"})
		close(silent)
		began := w.Elapsed()
		err = c.Close(websocket.StatusNormalClosure, "")
		took = w.Elapsed() - began
		w.Logf("close: %v after %v", err, took)
	})
	return took
}

// Close promises to wait five seconds for the other end's close frame. Where the other end
// falls silent in the middle of a message, it waits until TCP gives up.
func TestCloseSilent(t *testing.T) {
	for _, middle := range []bool{false, true} {
		t.Run(fmt.Sprint("middle=", middle), func(t *testing.T) {
			dst.Run(t, func(w *dst.World) {
				took := closeSilent(w, middle)
				if !middle && took > handshakeMost {
					w.Failf("Close took %v, want at most %v", took, handshakeMost)
				}
				if middle && took < 10*time.Minute {
					w.Failf("Close took %v: it used to wait until TCP gave up; the README says so", took)
				}
			}, dst.Seeds(2))
		})
	}
}

// A reader whose server falls silent notices within the time for a ping and its answer,
// and so does the server, if it is there.
func TestDeadPeer(t *testing.T) {
	for _, f := range []flaw{none, noPing} {
		t.Run(map[flaw]string{none: "ping", noPing: "noPing"}[f], func(t *testing.T) {
			runs, caught := 0, 0
			dst.Run(t, func(w *dst.World) {
				w.Net().SetDefault(simnet.Link{Latency: simnet.Uniform(time.Millisecond, 10*time.Millisecond)})
				w.Host("server", func() error { return serve(":80", path, f) })
				noticed := make(chan error, 1)
				w.Host("user0").Go(func() {
					time.Sleep(10 * time.Millisecond)
					r := newReader("user0", "ws://server:80/", f, func(message) {}, func(error) {})
					noticed <- r.connect(context.Background())
				})
				time.Sleep(time.Second + time.Duration(w.Rand().Int64N(int64(2*pingEvery))))
				switch w.Rand().IntN(4) {
				case 0:
					w.Host("server").PowerLoss()
				case 1:
					w.Host("server").Pause()
				case 2:
					w.Net().Cut("server", "user0")
				default:
					w.Net().Cut("user0", "server")
				}
				runs++
				const most = pingEvery + pingMost + 100*time.Millisecond
				select {
				case err := <-noticed:
					w.Logf("noticed: %v", err)
				case <-time.After(most):
					caught++
					if f == none {
						w.Failf("the reader has not noticed within %v", most)
					}
				}
			}, dst.Seeds(10))
			t.Logf("%d runs, %d with something wrong", runs, caught)
			if f != none && runs >= 10 && caught == 0 {
				t.Error("the flaw was never caught")
			}
		})
	}
}

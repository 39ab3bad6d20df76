//go:build dst

package grpc

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/dstkit/dst"
	"github.com/dstkit/dst/simnet"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// A silent is a way in which a host stops to answer, without a word.
var silent = []struct {
	name string
	stop func(w *dst.World, user, server string)
	ends bool // the server is still there, to notice by itself
}{
	{"power", func(w *dst.World, _, server string) { w.Host(server).PowerLoss() }, false},
	{"pause", func(w *dst.World, _, server string) { w.Host(server).Pause() }, false},
	{"partition", func(w *dst.World, user, server string) { w.Net().Partition([]string{user}, []string{server}) }, true},
	{"no answers", func(w *dst.World, user, server string) { w.Net().Cut(server, user) }, true},
	{"no questions", func(w *dst.World, user, server string) { w.Net().Cut(user, server) }, true},
}

// A tell is a ledger that tells when a watch has ended.
type tell struct {
	ledger
	ended func()
}

func (s tell) Watch(from uint64, stream grpc.ServerStream) error {
	defer s.ended()
	return s.ledger.Watch(from, stream)
}

// deadPeer is a run in which a server that a client watches, without a deadline, falls
// silent. Both ends have to notice within the time for a ping and its answer.
func deadPeer(w *dst.World, f flaw) *day {
	d := newDay(w, f)
	w.Net().SetDefault(simnet.Link{Latency: simnet.Uniform(time.Millisecond, 10*time.Millisecond)})
	how := silent[w.Rand().IntN(len(silent))]
	var (
		began       bool
		ended, gone time.Duration // at the server, at the client
		why         error
	)
	note := func(f func()) {
		d.mu.Lock()
		defer d.mu.Unlock()
		f()
	}
	w.Host("server", func() error {
		life := lifetime()
		j, err := openJournal(file, none)
		if err != nil {
			return err
		}
		return serve(":7000", tell{ledger{j, life}, func() { note(func() { ended = w.Elapsed() }) }}, none, life, nil)
	})
	w.Host("user").Go(func() {
		c, err := dial("passthrough:///server:7000", f)
		if err != nil {
			w.Fatalf("%v", err)
		}
		ctx, cancel := context.WithTimeout(context.Background(), callMost)
		defer cancel()
		if _, err := c.put(ctx, "first"); err != nil {
			w.Fatalf("%v", err)
		}
		err = c.watch(context.Background(), 0, func(string) error { note(func() { began = true }); return nil })
		note(func() { gone, why = w.Elapsed(), err })
	})
	d.within(callMost, "the watch shows the first entry", func() (err error) {
		note(func() {
			if !began {
				err = errors.New("it does not")
			}
		})
		return err
	})
	// In the middle of anything, such as a ping.
	time.Sleep(time.Duration(w.Rand().Int64N(int64(3 * pingTime))))
	since := w.Elapsed()
	how.stop(w, "user", "server")
	const most = pingTime + pingTimeout + slack
	time.Sleep(most)
	d.mu.Lock()
	atClient, atServer, cause := gone, ended, why
	d.mu.Unlock()
	w.Logf("%s at %v: the client noticed after %v: %v; the server after %v", how.name, since, atClient-since, cause, atServer-since)
	if atClient == 0 {
		d.fault("%s: the client has not noticed within %v", how.name, most)
	} else if atClient < since {
		d.fault("%s at %v: the watch ended at %v, with %v", how.name, since, atClient, cause)
	} else if status.Code(cause) != codes.Unavailable {
		d.fault("%s: the client has %v", how.name, cause)
	}
	if how.ends && atServer == 0 {
		d.fault("%s: the server has not noticed within %v", how.name, most)
	}
	d.codes[fmt.Sprintf("%s: %v", how.name, cause)]++
	return d
}

func TestDeadPeer(t *testing.T) {
	for _, c := range []struct {
		name string
		flaw
	}{{"keepAlive", none}, {"noKeepAlive", noKeepAlive}} {
		t.Run(c.name, func(t *testing.T) {
			var s tally
			dst.Run(t, func(w *dst.World) { s.add(deadPeer(w, c.flaw)) }, dst.Seeds(20))
			s.report(t, c.flaw)
		})
	}
}

// A rolling restart of the front ends, each of which stops by itself: no user sees an
// error, though none tries a second time.
func rolling(w *dst.World, f flaw) *day {
	d := newDay(w, f)
	w.Net().SetDefault(simnet.Link{Latency: simnet.Uniform(time.Millisecond, 10*time.Millisecond)})
	start(w, f)
	d.left = len(users)
	for _, user := range users {
		w.Host(user).Go(func() {
			c, err := dial("dns:///fronts:7000", f)
			if err != nil {
				w.Fatalf("%v", err)
			}
			for i := range 300 {
				key := fmt.Sprint(user, "-", i)
				err := d.call("put", func(ctx context.Context) error {
					at, err := c.put(ctx, key)
					if err == nil {
						d.ack(key, at)
					}
					return err
				})
				if err != nil {
					d.fault("%s: %v", key, err)
				}
				time.Sleep(time.Duration(w.Rand().IntN(20)) * time.Millisecond)
			}
			d.mu.Lock()
			defer d.mu.Unlock()
			d.left--
		})
	}
	time.Sleep(time.Second)
	for _, name := range fronts {
		w.Host(name).Stop()
		time.Sleep(time.Duration(w.Rand().IntN(500)) * time.Millisecond)
		w.Host(name).Restart()
		time.Sleep(2 * time.Second)
	}
	d.within(time.Minute, "users are done", func() error {
		d.mu.Lock()
		defer d.mu.Unlock()
		if d.left > 0 {
			return fmt.Errorf("%d are not", d.left)
		}
		return nil
	})
	d.check()
	return d
}

func TestRolling(t *testing.T) {
	for _, c := range []struct {
		name string
		flaw
	}{{"graceful", none}, {"hard", hardStop}} {
		t.Run(c.name, func(t *testing.T) {
			var s tally
			dst.Run(t, func(w *dst.World) { s.add(rolling(w, c.flaw)) }, dst.Seeds(5))
			s.report(t, c.flaw)
		})
	}
}

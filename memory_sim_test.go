//go:build dst

package dst_test

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"runtime"
	"runtime/metrics"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"github.com/dstkit/dst"
)

// What std and the runtime keep in a process's memory, each host has for itself.

// A new goroutine's stack is large enough for a call into the simulated kernel, also
// after collections, which would fit it to the stacks of goroutines that wait.
func TestStackSize(t *testing.T) {
	dst.Run(t, func(w *dst.World) {
		for range 100 {
			w.Host("a").Go(func() { time.Sleep(time.Hour) })
		}
		time.Sleep(time.Second)
		runtime.GC()
		size := []metrics.Sample{{Name: "/gc/stack/starting-size:bytes"}}
		if metrics.Read(size); size[0].Value.Uint64() < 8192 {
			w.Failf("new goroutines have stacks of %d bytes", size[0].Value.Uint64())
		}
	}, dst.Seeds(1))
}

func waitsOnA(started chan<- bool) { started <- true; select {} }
func waitsOnB(started chan<- bool) { started <- true; select {} }

func TestStacksAreOfTheHost(t *testing.T) {
	dst.Run(t, func(w *dst.World) {
		for _, h := range []struct {
			name       string
			f          func(chan<- bool)
			own, other string
		}{{"a", waitsOnA, "waitsOnA", "waitsOnB"}, {"b", waitsOnB, "waitsOnB", "waitsOnA"}} {
			started := make(chan bool)
			w.Host(h.name).Go(func() { h.f(started) })
			<-started
			w.Host(h.name).Do(func() {
				buf := make([]byte, 1<<16)
				stacks := string(buf[:runtime.Stack(buf, true)])
				if !strings.Contains(stacks, h.own) {
					w.Failf("the stacks of host %s lack %s:\n%s", h.name, h.own, stacks)
				}
				if strings.Contains(stacks, h.other) || strings.Contains(stacks, "sched.(*World).loop") {
					w.Failf("the stacks of host %s show goroutines that are not its own:\n%s", h.name, stacks)
				}
				records := make([]runtime.StackRecord, 100)
				n, ok := runtime.GoroutineProfile(records)
				if !ok || n != runtime.NumGoroutine() {
					w.Failf("the profile of host %s has %d goroutines, %v; want %d", h.name, n, ok, runtime.NumGoroutine())
				}
				var names []string
				for _, r := range records[:n] {
					frames := runtime.CallersFrames(r.Stack())
					for more := true; more; {
						var f runtime.Frame
						f, more = frames.Next()
						names = append(names, f.Function)
					}
				}
				if all := strings.Join(names, " "); !strings.Contains(all, h.own) || strings.Contains(all, h.other) {
					w.Failf("the profile of host %s shows %s; want %s and not %s", h.name, all, h.own, h.other)
				}
				if n, ok := runtime.GoroutineProfile(records[:1]); ok || n != runtime.NumGoroutine() {
					w.Failf("a profile with room for one: %d, %v; want %d, false", n, ok, runtime.NumGoroutine())
				}
			})
		}
	}, dst.Seeds(2))
}

func TestGodebugIsOfTheHost(t *testing.T) {
	var archive bytes.Buffer
	tw := tar.NewWriter(&archive)
	if err := tw.WriteHeader(&tar.Header{Name: "../x"}); err != nil {
		t.Fatal(err)
	}
	// insecure tells whether package tar refuses a name that leads upwards.
	insecure := func() bool {
		_, err := tar.NewReader(bytes.NewReader(archive.Bytes())).Next()
		return errors.Is(err, tar.ErrInsecurePath)
	}
	panicsNil := func() (is bool) {
		defer func() { is = recover() == nil }()
		panic(any(nil))
	}
	dst.Run(t, func(w *dst.World) {
		strict := w.Host("strict").Env("GODEBUG=tarinsecurepath=1,panicnil=1,tarinsecurepath=0")
		plain := w.Host("plain")
		check := func(h *dst.Host, wantInsecure, wantNil bool) {
			h.Do(func() {
				if got := insecure(); got != wantInsecure {
					w.Failf("host %s: tar refuses: %v, want %v", h.Name(), got, wantInsecure)
				}
				if got := panicsNil(); got != wantNil {
					w.Failf("host %s: panic(nil) is nil: %v, want %v", h.Name(), got, wantNil)
				}
			})
		}
		check(strict, true, true)
		check(plain, false, false)
		plain.Do(func() { os.Setenv("GODEBUG", "tarinsecurepath=0") })
		check(plain, true, false)
		plain.Do(func() { os.Unsetenv("GODEBUG") })
		check(plain, false, false)
	}, dst.Seeds(2))
}

func TestWeakPointersStay(t *testing.T) {
	type big struct{ b [1000]byte }
	var p weak.Pointer[big]
	dst.Run(t, func(w *dst.World) {
		w.Host("a").Do(func() { p = weak.Make(new(big)) })
		for range 3 {
			runtime.GC()
		}
		if p.Value() == nil {
			w.Failf("the garbage collector has cleared a weak pointer of a host")
		}
	}, dst.Seeds(1))
	for range 3 {
		runtime.GC()
	}
	if p.Value() != nil {
		t.Error("a weak pointer of a host is still there when its world has ended")
	}
}

func TestTickerFasterThanSteps(t *testing.T) {
	dst.Run(t, func(w *dst.World) {
		w.Host("a").Do(func() {
			ticker := time.NewTicker(1)
			for range 100 {
				<-ticker.C
			}
			ticker.Stop()
		})
		if d := w.Elapsed(); d > time.Second {
			w.Failf("100 ticks of a nanosecond took %v", d)
		}
	}, dst.Seeds(2))
}

// A bubble of testing/synctest works in a host: its time is its own, and it is
// not idle while it waits for the network.
func TestSynctestInHost(t *testing.T) {
	dst.Run(t, func(w *dst.World) {
		w.Host("a").Do(func() {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				w.Failf("%v", err)
				return
			}
			go func() {
				c, err := l.Accept()
				if err == nil {
					time.Sleep(time.Hour)
					c.Write([]byte("x"))
				}
			}()
			synctest.Test(t, func(t *testing.T) {
				start, got := time.Now(), make(chan time.Duration, 2)
				for _, d := range []time.Duration{5 * time.Second, time.Second} {
					go func() {
						time.Sleep(d)
						got <- time.Since(start)
					}()
				}
				if a, b := <-got, <-got; a != time.Second || b != 5*time.Second {
					w.Failf("sleeps of 1s and 5s in a bubble took %v and %v", a, b)
				}
				done := false
				time.AfterFunc(time.Minute, func() { done = true })
				time.Sleep(time.Minute)
				synctest.Wait()
				if !done {
					w.Failf("after a minute and Wait, the function of AfterFunc has not run")
				}
				start = time.Now()
				c, err := net.Dial("tcp", l.Addr().String())
				if err != nil {
					w.Failf("%v", err)
					return
				}
				defer c.Close()
				if _, err := io.ReadFull(c, make([]byte, 1)); err != nil || time.Since(start) != 0 {
					w.Failf("a read from outside of the bubble: %v after %v of its time, want none", err, time.Since(start))
				}
			})
		})
		if d := w.Elapsed(); d < time.Hour || d > time.Hour+time.Second {
			w.Failf("%v have passed in the world, want an hour", d)
		}
	}, dst.Seeds(3), dst.Twice())
}

func TestSendfile(t *testing.T) {
	data := make([]byte, 3<<20+17)
	for i := range data {
		data[i] = byte(i ^ i>>8)
	}
	dst.Run(t, func(w *dst.World) {
		w.Host("b", func() error {
			if err := os.WriteFile("/file", data, 0o644); err != nil {
				return err
			}
			l, err := net.Listen("tcp", ":80")
			if err != nil {
				return err
			}
			for {
				c, err := l.Accept()
				if err != nil {
					return err
				}
				f, err := os.Open("/file")
				if err != nil {
					return err
				}
				f.Seek(100, io.SeekStart)
				n, err := io.Copy(c, io.LimitReader(f, int64(len(data)-200)))
				if at, _ := f.Seek(0, io.SeekCurrent); err != nil || n != int64(len(data)-200) || at != n+100 {
					w.Failf("Copy of %d bytes moved %d, %v, and left the file at %d", len(data)-200, n, err, at)
				}
				c.Close()
			}
		})
		time.Sleep(time.Millisecond)
		w.Host("a").Do(func() {
			c, err := net.Dial("tcp", "b:80")
			if err != nil {
				w.Failf("%v", err)
				return
			}
			got, err := io.ReadAll(c)
			if err != nil || !bytes.Equal(got, data[100:len(data)-100]) {
				w.Failf("received %d bytes, %v; want %d, as they are in the file", len(got), err, len(data)-200)
			}
		})
	}, dst.Seeds(2))
}

//go:build dst

package dst_test

import (
	"errors"
	"fmt"
	"log"
	"net"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/dstkit/dst"
)

// sleeper is a main that stays.
func sleeper() error {
	time.Sleep(1000 * time.Hour)
	return nil
}

func TestHost(t *testing.T) {
	dst.Run(t, func(w *dst.World) {
		a, b := w.Host("a", sleeper), w.Host("b-2", nil)
		if a.Name() != "a" || a.Addr().String() != "10.0.0.1" || b.Addr().String() != "10.0.0.2" {
			w.Failf("hosts are %s %v and %s %v", a.Name(), a.Addr(), b.Name(), b.Addr())
		}
		if w.Host("a") != a || w.Host("b-2") != b || w.Host("b-2", nil) != b {
			w.Failf("looking up a host made another one")
		}
		if !a.Running() || !b.Running() || a.Err() != nil {
			w.Failf("a runs: %v, b runs: %v, a ended with %v", a.Running(), b.Running(), a.Err())
		}
	})
}

// Do waits, however the function ends.
func TestDo(t *testing.T) {
	dst.Run(t, func(w *dst.World) {
		h := w.Host("a")
		done := false
		h.Do(func() { time.Sleep(time.Second); done = true })
		if !done || w.Elapsed() < time.Second {
			w.Failf("Do returned after %v, done: %v", w.Elapsed(), done)
		}
		h.Do(runtime.Goexit)
		h.Do(func() {
			name, _ := os.Hostname()
			if name != "a" {
				w.Failf("Do ran on %q", name)
			}
			w.Host("b").Do(func() { // from a host, on another
				if name, _ := os.Hostname(); name != "b" {
					w.Failf("Do ran on %q", name)
				}
			})
			h.Do(func() { time.Sleep(time.Millisecond) }) // on itself
		})
		var ran atomic.Bool
		h.Go(func() { ran.Store(true) })
		time.Sleep(time.Millisecond)
		if !ran.Load() {
			w.Failf("Go did not run")
		}
		// The host's death ends Do, whoever kills it.
		go func() { time.Sleep(time.Second); h.Crash() }()
		var deferred atomic.Bool
		h.Do(func() { defer deferred.Store(true); sleeper() })
		h.Boot(nil)
		h.Do(func() { defer deferred.Store(true); h.Crash(); w.Failf("Crash of its own host returned") })
		h.Boot(nil)
		h.Do(func() {
			defer func() { deferred.Store(true) }()
			h.PowerLoss()
			w.Failf("PowerLoss of its own host returned")
		})
		h.Boot(nil)
		h.Do(func() { defer deferred.Store(true); os.Exit(3) })
		if deferred.Load() {
			w.Failf("a killed goroutine's deferred call ran")
		}
		if err, ok := h.Err().(*dst.ExitError); h.Running() || !ok || err.Code != 3 {
			w.Failf("after os.Exit(3): running: %v, error %v", h.Running(), h.Err())
		}
	})
}

func init() {
	children["hostpanic"] = func(t *testing.T) {
		dst.Run(t, func(w *dst.World) {
			h := w.Host("a", func() error {
				time.Sleep(time.Second)
				var m map[string]int
				go func() { m["x"] = 1 }()
				return sleeper()
			})
			w.Host("b").Do(func() { time.Sleep(2 * time.Second) })
			w.Logf("a runs: %v", h.Running())
			h.Restart()
			w.Logf("a runs: %v", h.Running())
			h.Do(func() { panic(errors.New("in Do")) })
			w.Logf("Do has returned, a runs: %v, %v", h.Running(), h.Err())
		}, dst.Seeds(1))
	}
	children["mainerror"] = func(t *testing.T) {
		dst.Run(t, func(w *dst.World) {
			h := w.Host("a", func() error { time.Sleep(time.Second); return errors.New("no quorum") })
			time.Sleep(2 * time.Second)
			w.Logf("a runs: %v, %v", h.Running(), h.Err())
		}, dst.Seeds(1))
	}
	children["fatallog"] = func(t *testing.T) {
		dst.Run(t, func(w *dst.World) {
			h := w.Host("a", func() error { log.Fatal("lost quorum"); return nil })
			time.Sleep(time.Second)
			if h.Running() || h.Err() == nil || h.Err().Error() != "exit status 1" {
				w.Failf("a runs: %v, %v", h.Running(), h.Err())
			}
		}, dst.Seeds(3))
	}
	children["fatalerror"] = func(t *testing.T) {
		dst.Run(t, func(w *dst.World) {
			w.Host("a").Do(func() { new(unlocker).unlock() })
			w.Logf("went on")
		}, dst.Seeds(1))
	}
}

// How a process ends, and what that means for the seed.
func TestProcessEnds(t *testing.T) {
	runChild(t, "hostpanic").has(t, "seed 1 failed at 1.00", "s of virtual time: host a panicked: assignment to entry in nil map", "host_sim_test.go:",
		"s -        a runs: false\n", "s -        a restarts\n", "s -        a runs: true\n", "then at 2.0", ": host a panicked: in Do", "Do has returned, a runs: false, exit status 2")
	runChild(t, "mainerror").has(t, "main of host a returned an error: no quorum", "a runs: false, no quorum")
	runChild(t, "fatallog").passes(t)
	runChild(t, "fatalerror").has(t, "host a had a fatal error: sync: unlock of unlocked mutex", "host_sim_test.go:", "went on")
	dst.Run(t, func(w *dst.World) {
		h := w.Host("a", func() error {
			go func() { time.Sleep(time.Second); w.Failf("a goroutine has outlived main") }()
			return nil
		})
		time.Sleep(2 * time.Second)
		if h.Running() || h.Err() != nil {
			w.Failf("after main: running: %v, %v", h.Running(), h.Err())
		}
		w.HealAll()
		if h.Running() {
			w.Failf("HealAll has run a host again that was done")
		}
	})
}

func TestStop(t *testing.T) {
	dst.Run(t, func(w *dst.World) {
		// No handler: the signal ends the process at once.
		h := w.Host("plain", sleeper)
		time.Sleep(time.Millisecond)
		h.Stop()
		if h.Running() || h.Err() != nil || w.Elapsed() > time.Second {
			w.Failf("plain runs: %v, %v, at %v", h.Running(), h.Err(), w.Elapsed())
		}
		h.Stop() // of a host that is down

		// A handler, and a main that takes its time and returns an error.
		var cleaned atomic.Bool
		h = w.Host("graceful", func() error {
			c := make(chan os.Signal, 1)
			signal.Notify(c, syscall.SIGTERM)
			<-c
			time.Sleep(3 * time.Second)
			cleaned.Store(true)
			return errors.New("server closed")
		})
		time.Sleep(time.Millisecond)
		start := w.Elapsed()
		h.Stop()
		if took := w.Elapsed() - start; !cleaned.Load() || h.Running() || took < 3*time.Second || took > 4*time.Second {
			w.Failf("graceful: cleaned up: %v, runs: %v, after %v", cleaned.Load(), h.Running(), took)
		}

		// A handler that does nothing: killed after ten seconds.
		h = w.Host("stubborn", func() error {
			signal.Ignore(syscall.SIGTERM)
			return sleeper()
		})
		time.Sleep(time.Millisecond)
		start = w.Elapsed()
		h.Stop()
		if took := w.Elapsed() - start; h.Running() || took < 10*time.Second || took > 11*time.Second {
			w.Failf("stubborn runs: %v, after %v", h.Running(), took)
		}
		h.Restart()
		time.Sleep(20 * time.Second)
		if !h.Running() {
			w.Failf("the kill of the stopped process hit its successor")
		}
	})
}

func TestCrashAndRestart(t *testing.T) {
	dst.Run(t, func(w *dst.World) {
		var boots atomic.Int32
		h := w.Host("a", func() error {
			boots.Add(1)
			if _, err := net.ListenPacket("udp", ":7000"); err != nil {
				return err
			}
			if err := os.WriteFile("/var/lib/data", []byte("x"), 0o644); err != nil {
				return err
			}
			return sleeper()
		})
		time.Sleep(time.Second)
		h.Crash()
		h.Crash() // of a host that is down: nothing
		if h.Running() || h.Err() != nil {
			w.Failf("after Crash: runs: %v, %v", h.Running(), h.Err())
		}
		if data, err := h.Disk().ReadFile("/var/lib/data"); err != nil || string(data) != "x" {
			w.Failf("after Crash the file is %q, %v", data, err)
		}
		refused := func() bool {
			var err error
			w.Host("client").Do(func() {
				c, _ := net.Dial("udp", "a:7000")
				defer c.Close()
				c.Write([]byte("x"))
				c.SetReadDeadline(time.Now().Add(time.Second))
				_, err = c.Read(make([]byte, 10))
			})
			return errors.Is(err, syscall.ECONNREFUSED)
		}
		if !refused() {
			w.Failf("a crashed process's port is not closed")
		}
		h.Restart()
		time.Sleep(time.Second)
		if !h.Running() || boots.Load() != 2 {
			w.Failf("after Restart: runs: %v, %d boots", h.Running(), boots.Load())
		}
		h.Restart() // of a running host
		time.Sleep(time.Second)
		if !h.Running() || boots.Load() != 3 {
			w.Failf("after a second Restart: runs: %v, %d boots", h.Running(), boots.Load())
		}
		h.PowerLoss()
		if refused() {
			w.Failf("a machine without power has answered")
		}
		h.Restart()
		time.Sleep(time.Second)
		if boots.Load() != 4 || refused() {
			w.Failf("after a loss of power: %d boots", boots.Load())
		}
		// A host that restarts itself.
		h.Do(func() { h.Restart(); w.Failf("went on after Restart of its own host") })
		time.Sleep(time.Second)
		if boots.Load() != 5 || !h.Running() {
			w.Failf("after its own Restart: runs: %v, %d boots", h.Running(), boots.Load())
		}
		// Another program.
		var other atomic.Bool
		h.Boot(func() error { other.Store(true); return sleeper() })
		time.Sleep(time.Second)
		if boots.Load() != 5 || !other.Load() {
			w.Failf("after Boot with another main: %d boots, other ran: %v", boots.Load(), other.Load())
		}
	})
}

// What is not synced is lost under some seeds and kept under others.
func TestPowerLossLosesData(t *testing.T) {
	lost, kept := 0, 0
	dst.Run(t, func(w *dst.World) {
		h := w.Host("a")
		h.Do(func() {
			f, err := os.Create("/data")
			if err != nil {
				w.Fatalf("%v", err)
			}
			fmt.Fprint(f, "synced ")
			f.Sync()
			dir, _ := os.Open("/")
			dir.Sync()
			fmt.Fprint(f, "written")
		})
		h.PowerLoss()
		h.Boot(nil)
		switch data, err := h.Disk().ReadFile("/data"); {
		case err != nil:
			w.Failf("what was synced is lost: %v", err)
		case string(data) == "synced ":
			lost++
		case string(data) == "synced written":
			kept++
		default:
			w.Failf("the file is %q", data)
		}
	}, dst.Seeds(40))
	if !asked() && (lost == 0 || kept == 0) {
		t.Errorf("lost under %d seeds, kept under %d", lost, kept)
	}
}

func TestPause(t *testing.T) {
	dst.Run(t, func(w *dst.World) {
		var ticks atomic.Int32
		h := w.Host("a", func() error {
			for {
				time.Sleep(time.Second)
				ticks.Add(1)
			}
		})
		time.Sleep(3500 * time.Millisecond)
		h.Pause()
		if h.Pause(); !h.Running() {
			w.Failf("a paused host is down")
		}
		before := ticks.Load()
		time.Sleep(10 * time.Second)
		if ticks.Load() != before || ticks.Load() < 3 {
			w.Failf("%d ticks before the pause, %d in the end of it", before, ticks.Load())
		}
		h.Resume()
		h.Resume()
		time.Sleep(3500 * time.Millisecond)
		if ticks.Load() < before+3 {
			w.Failf("%d ticks before the pause, %d after it", before, ticks.Load())
		}
		h.Pause()
		h.Crash()
		h.Restart()
		before = ticks.Load()
		time.Sleep(3500 * time.Millisecond)
		if ticks.Load() < before+3 {
			w.Failf("a host that was paused, crashed and restarted does not run")
		}
	})
}

func TestHealAll(t *testing.T) {
	dst.Run(t, func(w *dst.World) {
		for _, name := range []string{"a", "b", "c", "d"} {
			w.Host(name, sleeper)
		}
		w.Host("client")
		w.Net().Partition([]string{"a"}, []string{"b", "c", "d"})
		w.Net().Down("b")
		w.Host("a").Pause()
		w.Host("b").Crash()
		w.Host("c").PowerLoss()
		w.Host("d").Stop()
		w.Host("client").Crash()
		w.HealAll()
		ran := 0
		for _, name := range []string{"a", "b", "c", "d", "client"} {
			h := w.Host(name)
			if !h.Running() {
				w.Failf("%s is down", name)
				continue
			}
			h.Do(func() {
				pc, err := net.ListenPacket("udp", ":9")
				if err != nil {
					w.Fatalf("%v", err)
				}
				pc.SetReadDeadline(time.Now().Add(time.Minute))
				go func() {
					for _, to := range []string{"a", "b", "c", "d", "client"} {
						w.Host(to).Do(func() {
							c, _ := net.Dial("udp", name+":9")
							c.Write([]byte("x"))
							c.Close()
						})
					}
				}()
				for range 5 {
					if _, _, err := pc.ReadFrom(make([]byte, 9)); err != nil {
						w.Fatalf("%s: %v", name, err)
					}
					ran++
				}
			})
		}
		if ran != 25 {
			w.Failf("%d packets arrived", ran)
		}
	})
}

func TestEnvAndArgs(t *testing.T) {
	dst.Run(t, func(w *dst.World) {
		var mu sync.Mutex
		var got []string
		main := func() error {
			cmdline, err := os.ReadFile("/proc/self/cmdline")
			if err != nil {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			got = append(got, os.Getenv("MODE")+" "+strings.ReplaceAll(string(cmdline), "\x00", " "))
			os.Setenv("MODE", "changed")
			return nil
		}
		h := w.Host("a", main).Env("MODE=fast", "X=1").Args("server", "-v")
		w.Host("b", main)
		time.Sleep(time.Second)
		h.Restart()
		time.Sleep(time.Second)
		mu.Lock()
		defer mu.Unlock()
		want := map[string]bool{"fast server -v ": true, " b ": true}
		if len(got) != 3 || !want[got[0]] || !want[got[1]] || got[0] == got[1] || got[2] != "fast server -v " {
			w.Failf("mains saw %q", got)
		}
		if v, ok := os.LookupEnv("MODE"); ok {
			w.Failf("a host's variable is in the test's environment: %q", v)
		}
	})
}

func TestClock(t *testing.T) {
	dst.Run(t, func(w *dst.World) {
		var at []time.Time
		h := w.Host("a")
		look := func() { h.Do(func() { at = append(at, time.Now()) }) }
		look()
		h.Clock().Step(-time.Hour)
		look()
		if d := at[1].Round(0).Sub(at[0].Round(0)); d > -time.Hour+time.Second || d < -time.Hour {
			w.Failf("after a step back by an hour the wall clock has gone %v", d)
		}
		if d := at[1].Sub(at[0]); d < 0 || d > time.Second {
			w.Failf("after a step the monotonic clock has gone %v", d)
		}
		if d := h.Clock().Offset(); d != -time.Hour {
			w.Failf("the offset is %v", d)
		}
		h.Clock().Step(time.Hour)
		h.Clock().Drift(1000) // parts per million
		start, local := w.Elapsed(), h.Clock().Now()
		h.Do(func() { time.Sleep(1000 * time.Second) })
		if d := h.Clock().Now().Sub(local); d < 1000*time.Second || d > 1000*time.Second+time.Millisecond {
			w.Failf("a sleep of 1000s took %v by the host's clock", d)
		}
		if d := w.Elapsed() - start; d < 998*time.Second || d > 999100*time.Millisecond {
			w.Failf("a sleep of 1000s took %v on a clock that runs fast by a thousandth", d)
		}
		h.Crash()
		offset := h.Clock().Offset()
		h.Boot(nil)
		if d := h.Clock().Offset(); d < offset || d > offset+time.Millisecond || d < 900*time.Millisecond {
			w.Failf("the clock was %v off before the boot, and is %v after it", offset, d)
		}
	})
}

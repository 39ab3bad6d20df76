//go:build dstsim

package sched_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dstkit/dst/sched"
)

func mentions(t *testing.T, err error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Fatal("no error")
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q is not in:\n%v", part, err)
		}
	}
}

func TestDeadlock(t *testing.T) {
	w := sched.New(1)
	err := w.Run(func() {
		h := newHost(w, "db")
		var mu sync.Mutex
		mu.Lock()
		h.Go(func() { mu.Lock() })
		time.NewTimer(time.Hour).Stop()
		time.AfterFunc(time.Hour, func() {}).Stop()
		time.AfterFunc(time.Hour, func() {}).Reset(time.Second)
		dead := newHost(w, "dead")
		dead.Go(func() { time.Sleep(time.Hour) })
		time.Sleep(time.Second)
		sched.Enter()
		dead.Kill()
		sched.Leave()
		select {}
	})
	var deadlock *sched.DeadlockError
	if !errors.As(err, &deadlock) || len(deadlock.Goroutines) != 2 {
		t.Fatalf("got %v", err)
	}
	mentions(t, err, "deadlock", "host db", "sync.Mutex.Lock", "select (no cases)", "sim_report_test.go")
	if w.Elapsed() > time.Minute {
		t.Errorf("the clock went to a stopped timer: %v", w.Elapsed())
	}
}

func TestLimit(t *testing.T) {
	w := sched.New(1)
	w.SetLimit(time.Minute)
	err := w.Run(func() {
		for {
			time.Sleep(time.Second)
		}
	})
	var limit *sched.LimitError
	if !errors.As(err, &limit) {
		t.Fatalf("got %v", err)
	}
	mentions(t, err, "1m0s of virtual time", "[sleep]", "sim_report_test.go")
}

func TestEscape(t *testing.T) {
	c := make(chan int)
	begun := make(chan bool, 1)
	go func() {
		<-begun
		time.Sleep(10 * time.Millisecond)
		c <- 1
	}()
	w := sched.New(1)
	err := w.Run(func() {
		go func() { <-c }()
		time.Sleep(time.Second)
		begun <- true
		for {
			time.Sleep(time.Second)
		}
	})
	var escape *sched.EscapeError
	if !errors.As(err, &escape) {
		t.Fatalf("got %v", err)
	}
	mentions(t, err, "outside of the simulation", "TestEscape.func1")
}

func TestSpinThatNeedsOthers(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for seconds of real time")
	}
	var told string
	w := sched.New(1)
	w.OnSpin = func(host, stack string) { told = host + stack }
	err := w.Run(func() {
		ctx, stop := context.WithTimeout(context.Background(), time.Hour)
		defer stop()
		for ctx.Err() == nil {
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(told, "TestSpinThatNeedsOthers") {
		t.Errorf("not told of: %q", told)
	}
}

func TestSpinForever(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for ten seconds of real time")
	}
	w := sched.New(1)
	err := w.Run(func() {
		newHost(w, "busy").Go(func() {
			for {
			}
		})
		for {
			time.Sleep(time.Hour)
		}
	})
	var spin *sched.SpinError
	if !errors.As(err, &spin) {
		t.Fatalf("got %v", err)
	}
	mentions(t, err, "host busy spins", "TestSpinForever")
}

func TestLoopOnTheClockEnds(t *testing.T) {
	w := sched.New(1)
	err := w.Run(func() {
		for end := time.Now().Add(time.Millisecond); time.Now().Before(end); {
		}
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestDivergence(t *testing.T) {
	salt := 0
	run := func() *sched.Trace {
		w := sched.New(1)
		w.Record()
		salt++
		if err := w.Run(func() {
			h := newHost(w, "db")
			done := make(chan bool)
			h.Go(func() {
				for i := range 5 {
					if i == 3 && salt == 2 {
						time.Sleep(time.Second) // the stray one
					}
					time.Sleep(time.Millisecond)
				}
				close(done)
			})
			<-done
		}); err != nil {
			t.Fatal(err)
		}
		return w.Trace()
	}
	a, b := run(), run()
	if d := a.Diff(a); d != nil {
		t.Fatalf("a run differs from itself: %v", d)
	}
	d := a.Diff(b)
	if d == nil {
		t.Fatal("no difference found")
	}
	mentions(t, d, "host db", "part at step", "sim_report_test.go")
	if salt = 0; a.Diff(run()) != nil {
		t.Error("two equal runs differ")
	}
}

// Watching and recording change nothing.
func TestObservingDoesNotDraw(t *testing.T) {
	run := func(prepare func(*sched.World)) uint64 {
		w := sched.New(3)
		checks := 0
		prepare(w)
		if err := w.Run(func() {
			c := make(chan int)
			for i := range 5 {
				go func() {
					for range 20 {
						select {
						case c <- i:
						case <-c:
						case <-time.After(time.Millisecond):
						}
					}
				}()
			}
			time.Sleep(time.Second)
		}); err != nil {
			t.Fatal(err)
		}
		_ = checks
		return w.Fingerprint()
	}
	plain := run(func(*sched.World) {})
	if got := run(func(w *sched.World) { w.Record() }); got != plain {
		t.Error("recording changes the run")
	}
}

//go:build dstsim

package sched_test

import (
	"context"
	"iter"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dstkit/dst/sched"
)

// waits starts one goroutine in each kind of wait that there is; a deferred
// call of any of them fails the test.
func waits(t *testing.T) {
	start := func(f func()) {
		go func() {
			defer t.Error("a deferred call of a destroyed goroutine ran")
			f()
		}()
	}
	var mu sync.Mutex
	mu.Lock()
	var rw sync.RWMutex
	rw.Lock()
	var wg sync.WaitGroup
	wg.Add(1)
	cond := sync.NewCond(new(sync.Mutex))
	c, full := make(chan int), make(chan int, 1)
	full <- 1
	for range 3 {
		start(mu.Lock)
		start(rw.Lock)
		start(rw.RLock)
		start(wg.Wait)
		start(func() { cond.L.Lock(); cond.Wait() })
		start(func() { <-c })
		start(func() { full <- 1 })
		start(func() {
			select {
			case <-c:
			case full <- 2:
			case <-time.After(time.Hour):
			}
		})
		start(func() { <-time.After(time.Hour) })
		start(func() { time.Sleep(time.Hour) })
		start(func() { select {} })
		start(func() { var nothing chan int; <-nothing })
		start(func() { ctx, stop := context.WithTimeout(context.Background(), time.Hour); defer stop(); <-ctx.Done() })
		start(func() {
			next, _ := iter.Pull(func(yield func(int) bool) {
				for yield(1) {
				}
			})
			next()
			var w sched.Waiter
			w.Wait("nothing")
		})
		start(func() {
			time.AfterFunc(time.Hour, func() { t.Error("a timer of a destroyed world fired") })
			for {
				time.Sleep(time.Millisecond)
				runtime.Gosched()
			}
		})
	}
}

func TestWorldsLeaveNothing(t *testing.T) {
	one := func(seed uint64) {
		w := sched.New(seed)
		err := w.Run(func() {
			h := newHost(w, "h")
			h.Go(func() { waits(t) })
			waits(t)
			time.Sleep(10 * time.Millisecond)
			if seed%2 == 0 {
				sched.Enter()
				h.Kill()
				sched.Leave()
				if n := h.Goroutines(); n != 0 {
					t.Errorf("%d goroutines of a killed host are left", n)
				}
				time.Sleep(10 * time.Millisecond)
			}
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	memory := func() (uint64, int) {
		for range 3 {
			runtime.GC()
		}
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc, runtime.NumGoroutine()
	}
	for seed := range uint64(50) {
		one(seed)
	}
	heap, goroutines := memory()
	const worlds = 1000
	for seed := range uint64(worlds) {
		one(seed)
	}
	heap2, goroutines2 := memory()
	if goroutines2 > goroutines {
		t.Errorf("%d goroutines after %d worlds, %d before", goroutines2, worlds, goroutines)
	}
	if grown := int64(heap2) - int64(heap); grown > 256*worlds {
		t.Errorf("the heap grew by %d bytes in %d worlds: %d a world", grown, worlds, grown/worlds)
	}
}

func TestKilledWaiterLeavesQueue(t *testing.T) {
	w := sched.New(1)
	err := w.Run(func() {
		h := newHost(w, "h")
		var mu sync.Mutex
		cond := sync.NewCond(&mu)
		c := make(chan int)
		mu.Lock()
		for range 2 {
			h.Go(func() { mu.Lock() })
			h.Go(func() { <-c })
		}
		var got atomic.Int64
		var wg sync.WaitGroup
		for range 2 {
			wg.Go(func() { mu.Lock(); got.Add(1); mu.Unlock() })
			wg.Go(func() { got.Add(int64(<-c)) })
		}
		time.Sleep(time.Second)
		sched.Enter()
		h.Kill()
		sched.Leave()
		mu.Unlock()
		c <- 1
		c <- 1
		wg.Wait()
		if got.Load() != 4 {
			t.Errorf("%d goroutines of the living went on, want 4", got.Load())
		}
		sched.Enter()
		h.Boot()
		sched.Leave()
		mu.Lock()
		h.Go(func() { mu.Lock(); cond.Wait() })
		wg.Go(func() { mu.Lock(); cond.Wait(); mu.Unlock() })
		mu.Unlock()
		time.Sleep(time.Second)
		sched.Enter()
		h.Kill()
		sched.Leave()
		cond.Broadcast()
		wg.Wait()
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestPause(t *testing.T) {
	w := sched.New(1)
	err := w.Run(func() {
		h := newHost(w, "h")
		var ticks atomic.Int64
		h.Go(func() {
			for {
				time.Sleep(time.Millisecond)
				ticks.Add(1)
			}
		})
		time.Sleep(10500 * time.Microsecond)
		if n := ticks.Load(); n < 8 || n > 10 {
			t.Errorf("%d ticks in 10 ms", n)
		}
		before := ticks.Load()
		sched.Enter()
		h.Pause()
		sched.Leave()
		time.Sleep(time.Second)
		if n := ticks.Load(); n != before {
			t.Errorf("a paused host ran on: %d ticks", n-before)
		}
		sched.Enter()
		h.Resume()
		sched.Leave()
		time.Sleep(10500 * time.Microsecond)
		if n := ticks.Load(); n < before+8 || n > before+11 {
			t.Errorf("%d ticks in the 10 ms after the pause", n-before)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestAHostsMachine(t *testing.T) {
	w := sched.New(1)
	err := w.Run(func() {
		h := newHost(w, "h")
		onHost(h, func() {
			stop := make(chan bool)
			for range 3 {
				go func() { <-stop }()
			}
			if n := runtime.NumGoroutine(); n != 4 {
				t.Errorf("%d goroutines, want 4", n)
			}
			if runtime.NumCPU() != 4 || runtime.GOMAXPROCS(2) != 4 || runtime.GOMAXPROCS(0) != 4 {
				t.Errorf("%d processors, %d of them in use, want 4", runtime.NumCPU(), runtime.GOMAXPROCS(0))
			}
			close(stop)
		})
	})
	if err != nil {
		t.Fatal(err)
	}
}

//go:build dstsim

package sched_test

import (
	"testing"
	"time"

	"github.com/dstkit/dst/sched"
)

// onHost runs f as a goroutine of h and waits for it.
func onHost(h *sched.Host, f func()) {
	done := make(chan bool)
	h.Go(func() { defer close(done); f() })
	<-done
}

func near(t *testing.T, what string, got, want time.Duration) {
	t.Helper()
	if d := got - want; d < -time.Millisecond || d > time.Millisecond {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

func TestClockOfAHost(t *testing.T) {
	w := sched.New(1)
	err := w.Run(func() {
		h := newHost(w, "h")
		epoch := time.Unix(0, sched.Epoch)
		onHost(h, func() {
			if d := time.Since(epoch); d < 0 || d > time.Millisecond {
				t.Errorf("the world begins at %v", time.Now())
			}
			if zone, _ := time.Now().Local().Zone(); zone != "UTC" {
				t.Errorf("the local time zone is %s", zone)
			}
		})

		// A step moves the wall clock, not the monotonic clock and not timers.
		onHost(h, func() {
			start, world := time.Now(), w.Elapsed()
			timer := time.NewTimer(time.Minute)
			sched.Enter()
			h.StepWall(int64(time.Hour))
			sched.Leave()
			<-timer.C
			near(t, "a timer over a step", w.Elapsed()-world, time.Minute)
			near(t, "monotonic difference", time.Since(start), time.Minute)
			near(t, "wall difference", time.Now().Round(0).Sub(start.Round(0)), time.Hour+time.Minute)
		})

		// A clock that runs 1 % fast lets timers fire early.
		sched.Enter()
		h.SetDrift(10_000_000)
		sched.Leave()
		onHost(h, func() {
			start, world := time.Now(), w.Elapsed()
			time.Sleep(101 * time.Second)
			near(t, "a sleep, in virtual time", w.Elapsed()-world, 100*time.Second)
			near(t, "a sleep, by the host's clock", time.Since(start), 101*time.Second)
			world = w.Elapsed()
			tick := time.NewTicker(10100 * time.Millisecond)
			for range 10 {
				<-tick.C
			}
			near(t, "ten ticks, in virtual time", w.Elapsed()-world, 100*time.Second)
		})
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A timer's function belongs to the host that set it, and dies with it.
func TestTimersOfAHost(t *testing.T) {
	w := sched.New(1)
	err := w.Run(func() {
		h := newHost(w, "h")
		var owner *sched.Host
		onHost(h, func() {
			done := make(chan bool)
			time.AfterFunc(time.Second, func() { owner = sched.CurrentHost(); close(done) })
			<-done
			time.AfterFunc(time.Second, func() { t.Error("a timer of a dead host fired") })
		})
		if owner != h {
			t.Errorf("AfterFunc ran on %v", owner)
		}
		sched.Enter()
		h.Kill()
		h.Boot()
		sched.Leave()
		time.Sleep(time.Minute)
	})
	if err != nil {
		t.Fatal(err)
	}
}

var (
	packageTimer  = time.NewTimer(time.Hour)
	packageTicker *time.Ticker
)

// A timer that a package keeps follows the clock of whoever sets it.
func TestTimerKeptByAPackage(t *testing.T) {
	for seed := range uint64(3) {
		w := sched.New(seed)
		err := w.Run(func() {
			packageTimer.Reset(time.Second)
			<-packageTimer.C
			near(t, "in a world", w.Elapsed(), time.Second)
			if packageTicker == nil {
				packageTicker = time.NewTicker(time.Second)
			} else {
				packageTicker.Reset(time.Second)
			}
			<-packageTicker.C
			near(t, "in a world", w.Elapsed(), 2*time.Second)
			packageTimer.Reset(time.Hour) // is not to fire in the next world
			time.Sleep(time.Second)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	start := time.Now()
	packageTimer.Reset(time.Millisecond)
	<-packageTimer.C
	if d := time.Since(start); d > 10*time.Second {
		t.Errorf("outside of a world it took %v", d)
	}
}

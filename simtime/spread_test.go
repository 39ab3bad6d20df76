package simtime

import (
	"testing"
	"time"

	"github.com/dstkit/dst/sched"
)

func pass(w *sched.World, d time.Duration) { w.StepUntil(w.Now() + int64(d)) }

// A correction is made at 500 parts per million, and then it is over.
func TestSlew(t *testing.T) {
	w := sched.New(1)
	h := w.NewHost("h")
	c := Of(h)
	for _, d := range []time.Duration{time.Second, -time.Second, time.Nanosecond, 1234567 * time.Nanosecond} {
		before, mono := c.Offset(), h.Monotonic()
		c.Slew(d)
		lasts := max(d, -d) * 2000
		pass(w, lasts/2)
		if got := c.Offset() - before; max(got, -got) > max(d, -d)/2+1 || d > 2 && got == 0 {
			t.Errorf("Slew(%v), half way: %v", d, got)
		}
		if left := c.Slewing(); left < min(d, 0) || left > max(d, 0) {
			t.Errorf("Slew(%v), half way: %v are left", d, left)
		}
		pass(w, time.Hour)
		if got := c.Offset() - before; got != d || c.Slewing() != 0 {
			t.Errorf("Slew(%v): the clock has moved by %v, and %v are left", d, got, c.Slewing())
		}
		if got := h.Monotonic() - mono - int64(lasts/2) - int64(time.Hour); got != int64(d) {
			t.Errorf("Slew(%v): the monotonic clock has moved by %v", d, got)
		}
	}
	// With a drift, and taken back half way.
	c.Reset()
	c.Drift(-100)
	c.Slew(time.Second)
	pass(w, 1000*time.Second)
	if got := c.Offset(); got != 400*time.Millisecond {
		t.Errorf("after 1000 s at -100 and +500 ppm: %v", got)
	}
	c.Slew(0)
	pass(w, 1000*time.Second)
	if got := c.Offset(); got != 300*time.Millisecond {
		t.Errorf("after 1000 s more at -100 ppm: %v", got)
	}
	c.Reset()
	pass(w, 1000*time.Second)
	if got := c.Offset(); got != 0 {
		t.Errorf("after Reset: %v", got)
	}
	defer func() {
		if recover() == nil {
			t.Error("a Slew of an hour was taken")
		}
	}()
	c.Slew(time.Hour)
}

func TestSpread(t *testing.T) {
	s := Spread{Offset: time.Second, Drift: 50}
	set := func(seed uint64, names ...string) (offsets []time.Duration, drifts []int64) {
		w := sched.New(seed)
		for _, name := range names {
			h := w.NewHost(name)
			c := Of(h)
			c.Set(s)
			offsets, drifts = append(offsets, c.Offset()), append(drifts, h.Drift())
			if d := c.Offset(); d > s.Offset || d < -s.Offset || h.Drift() > 50000 || h.Drift() < -50000 {
				t.Errorf("an offset of %v, a drift of %d", d, h.Drift())
			}
		}
		return
	}
	o1, d1 := set(1, "a", "b")
	o2, d2 := set(1, "x", "b")
	if o1[1] != o2[1] || d1[1] != d2[1] {
		t.Error("what one host draws depends on the others")
	}
	if o1[0] == o1[1] || d1[0] == d1[1] {
		t.Error("two hosts drew the same")
	}
	if o3, _ := set(2, "a"); o3[0] == o1[0] {
		t.Error("two seeds drew the same")
	}
	w := sched.New(1)
	h := w.NewHost("a")
	Of(h).Set(Spread{})
	if n := w.HostStream("clock", "a").Draws(); n != 0 {
		t.Errorf("a zero Spread drew %d times", n)
	}
	for _, bad := range []Spread{{Offset: -1}, {Drift: -1}, {Drift: 1e6}, {Sync: Sync{Error: 1}}, {Sync: Sync{Every: -1}}, {Sync: Sync{Every: 1}}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%+v was taken", bad)
				}
			}()
			bad.Check()
		}()
	}
}

// A daemon keeps a clock that drifts within its error and what drifts meanwhile.
func TestSync(t *testing.T) {
	steps := 0
	for seed := uint64(1); seed <= 20; seed++ {
		w := sched.New(seed)
		h := w.NewHost("a")
		c := Of(h)
		c.Set(Spread{Offset: time.Second, Drift: 100, Sync: Sync{Every: 64 * time.Second, Error: 10 * time.Millisecond}})
		if o := c.Offset(); o >= 138*time.Millisecond || -o >= 138*time.Millisecond {
			steps++
		}
		pass(w, time.Hour)
		var worst time.Duration
		for range 1000 {
			pass(w, 7*time.Second)
			o := c.Offset()
			worst = max(worst, o, -o)
		}
		// 10 ms of error, 6.4 ms of drift between two corrections, and what slewing
		// cannot make up for in time (32 ms in 64 s is enough).
		if worst > 20*time.Millisecond || worst == 0 {
			t.Errorf("seed %d: wrong by up to %v", seed, worst)
		}
		c.Reset()
		if w.Step() {
			t.Errorf("seed %d: something is pending after Reset", seed)
		}
	}
	if steps == 0 {
		t.Error("no clock was far enough off to be stepped")
	}
}

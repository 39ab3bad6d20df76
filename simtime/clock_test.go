package simtime

import (
	"math"
	"testing"
	"time"

	"github.com/dstkit/dst/sched"
)

func TestClock(t *testing.T) {
	w := sched.New(1)
	c := Of(w.NewHost("h"))
	epoch := time.Unix(0, sched.Epoch).UTC()
	is := func(what string, offset time.Duration) {
		t.Helper()
		if got := c.Offset(); got != offset {
			t.Errorf("%s: offset %v, want %v", what, got, offset)
		}
		if want := epoch.Add(w.Elapsed() + offset); !c.Now().Equal(want) {
			t.Errorf("%s: %v, want %v", what, c.Now(), want)
		}
	}
	pass := func(d time.Duration) { w.StepUntil(w.Now() + int64(d)) }

	is("at first", 0)
	c.Step(-time.Hour)
	is("after a step back", -time.Hour)
	c.Drift(100)
	pass(10000 * time.Second)
	is("after 10,000 s at +100 ppm", -time.Hour+time.Second)
	c.Drift(-50)
	pass(10000 * time.Second)
	is("after 10,000 s more at -50 ppm", -time.Hour+500*time.Millisecond)
	c.Drift(0)
	pass(time.Hour)
	is("after an hour without drift", -time.Hour+500*time.Millisecond)
}

func TestDriftBounds(t *testing.T) {
	c := Of(sched.New(1).NewHost("h"))
	for _, ppm := range []float64{-1e6, 1e6, math.NaN(), math.Inf(1)} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("Drift(%v) was taken", ppm)
				}
			}()
			c.Drift(ppm)
		}()
	}
}

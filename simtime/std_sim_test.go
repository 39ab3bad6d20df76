//go:build dstsim

package simtime_test

import (
	"testing"
	"time"

	"github.com/dstkit/dst"
	"github.com/dstkit/dst/sched"
	"github.com/dstkit/dst/simtime"
)

// What the clock says while packages are initialised, and what a timer set then does.
var (
	atInit    = simtime.Now()
	zone, bad = simtime.LoadLocation("UTC")
)

func TestStdOutside(t *testing.T) {
	epoch := simtime.Unix(0, sched.Epoch)
	if !atInit.Equal(epoch) {
		t.Errorf("packages were initialised at %v, want %v", atInit, epoch)
	}
	if bad != nil || zone.String() != "UTC" {
		t.Errorf("zone %v, %v", zone, bad)
	}
	// Now the clock is the real one.
	a := simtime.Now()
	simtime.Sleep(simtime.Millisecond)
	if d := simtime.Since(a); d < simtime.Millisecond {
		t.Errorf("slept for %v", d)
	}
	if a.Equal(epoch) {
		t.Error("the clock stands")
	}
}

func TestStdOnHosts(t *testing.T) {
	dst.Run(t, func(w *dst.World) {
		h := w.Host("a")
		h.Clock().Step(simtime.Hour)
		h.Do(func() {
			if d := simtime.Until(simtime.Unix(0, sched.Epoch)); d > -simtime.Hour {
				w.Failf("the host's clock is %v ahead", -d)
			}
			start := simtime.Now()
			<-simtime.After(24 * 365 * simtime.Millisecond)
			simtime.Sleep(simtime.Hour)
			fired := make(chan bool)
			simtime.AfterFunc(simtime.Hour, func() { fired <- sched.OnHost() })
			if !<-fired {
				w.Failf("the timer's goroutine is not the host's")
			}
			<-simtime.NewTimer(simtime.Hour).C
			tick := simtime.NewTicker(simtime.Hour)
			<-tick.C
			tick.Stop()
			<-simtime.Tick(simtime.Hour)
			if d := time.Since(start).Round(time.Minute); d != 5*time.Hour {
				w.Failf("%v have passed", d)
			}
		})
	})
}

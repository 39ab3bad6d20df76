package a

import (
	"a/helper"
	"context"
	"lib"
	"math/rand"
	"net"
	"time"
)

const timeoutAfter = 3 * time.Second // ok: a constant

var zero time.Time // ok: a zero time

var epoch = time.Unix(0, 0) // ok: a fixed time

var date = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC) // ok: a fixed time

var parsed, _ = time.Parse(time.RFC3339, "2026-01-01T00:00:00Z") // ok: a fixed time

var pure lib.Pure // ok: no clock in it

var handler = okAdd // ok: a function without a clock

func okAdd(t time.Time) time.Time { return t.Add(time.Second) } // ok: arithmetic

func okSub(a, b time.Time) time.Duration { return a.Sub(b) } // ok: arithmetic

func okFormat(t time.Time) string { return t.Format(time.RFC3339) } // ok: formats what it is given

func okParam(now func() time.Time) time.Time { return now() } // ok: the caller's clock

func okField(c config) time.Time { return c.now() } // ok: whoever made the config is told

type clock interface{ Now() time.Time }

func okInterface(c clock) time.Time { return c.Now() } // ok: whoever made the clock is told

func okHelper() time.Time { return helper.Now() } // ok: the helper, of this module, is told

func okLocal() int64 { return stamp() } // ok: stamp is told

func okVar() time.Time { return now() } // ok: the variable is told

func okReset(t *time.Timer) { t.Reset(time.Second) } // ok: whoever made the timer is told

func okStop(t *time.Ticker) { t.Stop() } // ok: sets nothing

func okLib(t time.Time) time.Time { return lib.Add(t, 1) } // ok: the other module does not read the clock

func okPure(p lib.Pure) time.Time { return p.Now() } // ok: a method of the same name

func okFarInterface(t lib.Timer) time.Time { return t.Now() } // ok: an interface

func okCancel(ctx context.Context) (context.Context, func()) { return context.WithCancel(ctx) } // ok: no deadline

func okIO(addr string) (net.Conn, error) { return net.Dial("tcp", addr) } // ok: IO is what it is

func okDeadline(c net.Conn, t time.Time) error { return c.SetDeadline(t) } // ok: the caller's time

func okSeed() *rand.Rand { return rand.New(rand.NewSource(time.Now().UnixNano())) } // ok: globalrand tells it

func okCompare(a, b time.Time) bool { return a.Before(b) } // ok: arithmetic

func okShadow() int {
	time := struct{ Now func() int }{func() int { return 1 }}
	return time.Now() // ok: another time
}

//dst:ignore wallclock shown to the user
func okIgnored() time.Time { return time.Now() } // ok: ignored

func okIgnoredLine() time.Time {
	return time.Now() //dst:ignore wallclock shown to the user // ok: ignored
}

func okIgnoredBlock(b bool) time.Time {
	//dst:ignore wallclock shown to the user
	if b {
		t := time.Now() // ok: ignored with the block
		return t
	}
	return zero
}

func partlyIgnored() time.Duration {
	t := time.Now()      //dst:ignore wallclock shown to the user
	return time.Since(t) // want `partlyIgnored → time.Since`
}

func okOwnInterface() clock { return wall{} } // ok: its method, of this module, is told

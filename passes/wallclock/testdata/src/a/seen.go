package a

import (
	"context"
	"lib" // want `importing lib reads the clock at package initialisation, before any simulation: lib.var Started → time.Now`
	"time"
)

var start = time.Now() // want `reads the clock at package initialisation, before any simulation: var start → time.Now`

var now = time.Now // want `holds the clock: var now → time.Now`

var lazy = func() time.Time { return time.Now() } // want `reads the clock: var lazy → time.Now`

var id = lib.Stamp() // want `at package initialisation, before any simulation: var id → lib.Stamp → lib.stamp → time.Now`

var helped = stamp() // want `at package initialisation, before any simulation: var helped → a.stamp → time.Now`

var at = func() time.Time { return time.Now() }() // want `at package initialisation.*var at → time.Now`

func stamp() int64 { return time.Now().UnixNano() } // want `reads the clock: stamp → time.Now`

func init() {
	deadline = time.Now().Add(time.Hour) // want `at package initialisation.*init → time.Now`
}

var deadline time.Time

func since(t time.Time) time.Duration { return time.Since(t) } // want `since → time.Since`

func until(t time.Time) time.Duration { return time.Until(t) } // want `until → time.Until`

func sleep() { time.Sleep(time.Second) } // want `sleep → time.Sleep`

func after() { <-time.After(1) } // want `after → time.After`

func afterFunc(f func()) { time.AfterFunc(1, f) } // want `afterFunc → time.AfterFunc`

func timer() *time.Timer { return time.NewTimer(1) } // want `timer → time.NewTimer`

func ticker() *time.Ticker { return time.NewTicker(1) } // want `ticker → time.NewTicker`

func tick() { <-time.Tick(1) } // want `tick → time.Tick`

type config struct{ now func() time.Time }

func defaults() config { return config{now: time.Now} } // want `holds the clock: defaults → time.Now`

func pass() { use(time.Now) } // want `holds the clock: pass → time.Now`

func use(func() time.Time) {}

func (c *config) set() { c.now = time.Now } // want `holds the clock: config.set → time.Now`

func many() time.Duration {
	t := time.Now() // want `many → time.Now \(and 2 more places in this function\)`
	time.Sleep(1)
	return time.Since(t)
}

func far() int64 { return lib.Stamp() } // want `reads the clock: far → lib.Stamp → lib.stamp → time.Now`

func farWait() { lib.Wait(1) } // want `farWait → lib.Wait → time.Sleep`

func farValue() func() int64 { return valued(lib.Wait) }

func valued(func(time.Duration)) func() int64 { return nil }

func farVar() time.Time { return lib.Clock() } // want `farVar → lib.Clock → time.Now`

func farMethod(r lib.Realtime) time.Time { return r.Now() } // want `farMethod → lib.Realtime.Now → time.Now \(and 1 more place in this package\)`

func farMethodValue(r lib.Realtime) func() time.Time { return r.Now }

func farLazy() func() time.Time { return lib.Lazy() } // want `farLazy → lib.Lazy → time.Now`

func timeout(ctx context.Context) (context.Context, func()) {
	return context.WithTimeout(ctx, time.Second) // want `timeout → context.WithTimeout → `
}

func closure() func() time.Time {
	return func() time.Time { return time.Now() } // want `closure → time.Now`
}

func goroutine() {
	go func() { time.Sleep(1) }() // want `goroutine → time.Sleep`
}

func deferred() {
	t := time.Time{}
	defer func() { _ = time.Since(t) }() // want `deferred → time.Since`
}

type server struct{}

func (s *server) run() { time.Sleep(1) } // want `server.run → time.Sleep`

func generic[T any](v T) (T, time.Time) { return v, time.Now() } // want `generic → time.Now`

func farInterface() time.Time { return lib.NewTimer().Now() } // want `farInterface → lib.NewTimer → lib.Realtime.Now → time.Now`

func farInterfaceVar() time.Time { return lib.Default.Now() } // want `farInterfaceVar → lib.Default → lib.Realtime.Now → time.Now`

type wall struct{}

func (wall) Now() time.Time { return time.Now() } // want `wall.Now → time.Now`

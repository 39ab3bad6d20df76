package sim

import (
	"lib" // want `importing lib reads the clock at package initialisation`
	"time"
)

var start = time.Now() // want `reads the clock at package initialisation`

var now = time.Now

var boot = stamp() // want `at package initialisation.*var boot → sim.stamp → time.Now`

func init() {
	time.AfterFunc(time.Second, func() {}) // want `at package initialisation.*init → time.AfterFunc`
}

func init() {
	later = func() time.Time { return time.Now() }
}

var later func() time.Time

func stamp() time.Time { return time.Now() }

func wait() { lib.Wait(time.Second) }

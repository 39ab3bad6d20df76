package a

import (
	"fmt"
	"time"
)

//dst:ignore wallclock shown to the user
var start = time.Now()

//dst:ignore wallclock shown to the user // want `//dst:ignore wallclock is of no use: nothing is found here`
var zero time.Time

type server struct {
	now func() time.Time
}

// newServer has a directive in the middle of its comment.
//
// More text.
//
//dst:ignore wallclock the default clock
func newServer() *server { return &server{now: time.Now} }

func literal() *server {
	return &server{
		//dst:ignore wallclock the default clock
		now: time.Now,
	}
}

func both(m map[string]int) {
	//dst:ignore wallclock,mapiter for the eye // want `//dst:ignore wallclock is of no use`
	for k := range m {
		fmt.Println(k)
	}
	_ = time.Now() //dst:ignore wallclock a reason
}

func next() {
	//dst:ignore wallclock a reason // want `is of no use`
	_ = 1
	_ = time.Now() //dst:ignore wallclock a reason
}

//dst:ignore // want `expected //dst:ignore NAME REASON`
func a() {}

//dst:ignore wallclock // want `//dst:ignore wallclock needs a reason`
func b() time.Time { return time.Now() }

//dst:ignore clock,wallclock a reason // want `//dst:ignore names clock, which is no analyzer of dstvet`
func c() time.Time { return time.Now() }

//dst:ignored is another word
func d() {}

func e() time.Time {
	//dst:ignore wallclock covers the statement below, and no more
	t := time.Now()
	return t
}

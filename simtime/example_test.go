package simtime_test

import (
	"fmt"
	"time"

	"github.com/dstkit/dst/simtime"
)

// The types are those of package time: code that imports the one package works with code
// that imports the other.
func ExampleParse() {
	var t time.Time
	t, err := simtime.Parse(simtime.DateOnly, "2026-03-01")
	fmt.Println(t.Add(-simtime.Hour), err)
	// Output:
	// 2026-02-28 23:00:00 +0000 UTC <nil>
}

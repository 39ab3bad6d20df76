//go:build !unix

package sched

import "time"

// cpuTime returns zero where it is not known: nothing is taken to spin there.
func cpuTime() time.Duration { return 0 }

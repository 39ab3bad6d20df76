//go:build dstsim

package sched

import "crypto/rand"

// What std finds out at first use, and once for the whole process, is found out
// here: else the first world would take steps that later ones do not, and a seed
// run by itself would not be the run that it was among others.
//
//dst:ignore globalrand what is drawn is thrown away
func init() {
	// The first read from crypto/rand sets a timer.
	var b [1]byte
	rand.Read(b[:])
}

//go:build !dstsim

package sched

import "unsafe"

// Available reports whether this binary is a simulation build.
func Available() bool { return false }

// Enter begins kernel context on the calling goroutine.
func Enter() {}

// Leave ends kernel context.
func Leave() {}

func newRT(seed uint64) *rtWorld { return &rtWorld{nextEvent: never} }

func copyMem(dst, src unsafe.Pointer, n uintptr) {
	copy(unsafe.Slice((*byte)(dst), n), unsafe.Slice((*byte)(src), n))
}

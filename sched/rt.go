package sched

import "unsafe"

// An rtWorld is the part of a world that package runtime works with: the
// runtime's dstWorld begins with these fields, in this order.
type rtWorld struct {
	now       int64  // virtual time
	nextEvent int64  // when the next event is due
	steps     uint64 // scheduling steps made
	chain     uint64 // hash chain over the trace
	runnable  int64  // goroutines in the run queue
}

func (rt *rtWorld) note(kind Kind, host uint32, what uint64) {
	h := mix(rt.chain ^ uint64(rt.now))
	h = mix(h ^ uint64(kind)<<56 ^ uint64(host)<<32)
	rt.chain = mix(h ^ what)
}

var _ unsafe.Pointer

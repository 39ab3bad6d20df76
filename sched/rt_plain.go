//go:build !dstsim

package sched

import "unsafe"

// Simulated tells whether this binary is a simulation build. It is a constant, so
// that code for simulation builds alone costs nothing in others.
const Simulated = false

// Without the simulator there are no worlds: clock, events and streams work,
// and what needs goroutines panics.

func needsSim() { panic("sched: not a simulation build; build with dstrewrite") }

func rtNewWorld(rng uint64) *rtWorld { return &rtWorld{nextEvent: never, now: Epoch} }
func rtNewHost(w *rtWorld, id uint32, rng uint64, user unsafe.Pointer) *rtHost {
	return &rtHost{user: user, id: id, rng: rng, mono0: w.now, base: w.now}
}
func rtBegin(w *rtWorld, base *rtHost)                         { needsSim() }
func rtEnd(w *rtWorld, hosts []*rtHost)                        { needsSim() }
func rtKill(h *rtHost) bool                                    { h.state = hostDead; return false }
func rtExit()                                                  { needsSim() }
func rtGo(h *rtHost, f func()) uint32                          { needsSim(); return 0 }
func rtOwnVar(p any)                                           {}
func rtOwned(h *rtHost, p unsafe.Pointer) unsafe.Pointer       { return nil }
func rtAllowC(w *rtWorld)                                      {}
func rtPause(h *rtHost)                                        { h.state = hostPaused }
func rtResume(h *rtHost)                                       { h.state = hostRuns }
func rtYieldEngine()                                           { needsSim() }
func rtWatch()                                                 { needsSim() }
func rtPark(why string)                                        { needsSim() }
func rtWake(g uintptr, id uint32)                              {}
func rtSelf() (g uintptr, id uint32)                           { return 0, 0 }
func rtHostUser() unsafe.Pointer                               { return nil }
func rtCall(point bool) (user unsafe.Pointer, quiet, due bool) { return nil, false, false }
func rtCharge() bool                                           { return false }
func rtDraw()                                                  {}
func rtNextTimer() int64                                       { return 0 }
func rtTimers() int64                                          { return 0 }
func rtEnter()                                                 {}
func rtLeave(sync bool)                                        {}
func rtList(h *rtHost, buf []goroutineInfo) int                { return 0 }
func rtHolder(w *rtWorld) (goid uint64, host uint32)           { return 0, 0 }

func rtCopy(dst, src unsafe.Pointer, n uintptr) {
	copy(unsafe.Slice((*byte)(dst), n), unsafe.Slice((*byte)(src), n))
}

func rtSetHooks(onPanic func(v any, fatal bool), onExit func(code int)) {}
func rtSetTraps(traps *Traps)                                           {}
func rtSetKernel(f func(c *Call) (r1, r2, errno uintptr))               {}
func rtSetProcess(f func() ProcessState)                                {}
func rtSetPoller(p Poller)                                              {}

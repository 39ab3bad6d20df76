//go:build dstsim

package sched

import "unsafe"

// Simulated tells whether this binary is a simulation build. It is a constant, so
// that code for simulation builds alone costs nothing in others.
const Simulated = true

// These are defined by the overlay; see internal/seam/files.

func rtNewWorld(rng uint64) *rtWorld
func rtNewHost(w *rtWorld, id uint32, rng uint64, user unsafe.Pointer) *rtHost
func rtBegin(w *rtWorld, base *rtHost)
func rtEnd(w *rtWorld, hosts []*rtHost)
func rtKill(h *rtHost) bool
func rtExit()
func rtGo(h *rtHost, f func()) uint32
func rtOwnVar(p any)
func rtOwned(h *rtHost, p unsafe.Pointer) unsafe.Pointer
func rtAllowC(w *rtWorld)
func rtPause(h *rtHost)
func rtResume(h *rtHost)
func rtYieldEngine()
func rtWatch()
func rtPark(why string)
func rtWake(g uintptr, id uint32)
func rtSelf() (g uintptr, id uint32)
func rtHostUser() unsafe.Pointer
func rtCall(point bool) (user unsafe.Pointer, quiet, due bool)
func rtCharge() bool
func rtDraw()
func rtNextTimer() int64
func rtTimers() int64
func rtEnter()
func rtLeave(sync bool)
func rtList(h *rtHost, buf []goroutineInfo) int
func rtHolder(w *rtWorld) (goid uint64, host uint32)

//go:noescape
func rtCopy(dst, src unsafe.Pointer, n uintptr)

func rtSetHooks(onPanic func(v any, fatal bool), onExit func(code int))
func rtSetTraps(traps *Traps)
func rtSetKernel(f func(c *Call) (r1, r2, errno uintptr))
func rtSetProcess(f func() ProcessState)
func rtSetPoller(p Poller)

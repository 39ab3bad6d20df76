//go:build linux && (amd64 || arm64)

package kernel

import (
	"fmt"
	"runtime/debug"
	"syscall"

	"github.com/dstkit/dst/sched"
)

// What follows connects the kernel to the seam: it runs on the goroutine that
// made the call, outside of kernel context until it enters it.

func init() {
	sched.SetKernel(Traps, serveCall)
	sched.SetPoller(seamPoller{})
	sched.SetProcess(func() sched.ProcessState { return current() })
}

// current returns the process of the calling goroutine. There is none if its
// host has been killed and the goroutine is about to be destroyed.
func current() *Process { return Of(sched.CurrentHost()) }

// serveCall serves one system call of a simulated goroutine.
func serveCall(c *sched.Call) (r1, r2, errno uintptr) {
	h := sched.CurrentHost()
	w := h.World()
	if h.ID() == 0 {
		w.Stop(fmt.Errorf("%s: a network call of the test itself, outside of any host; make it inside Host.Do or Host.Go\n%s", Name(c.Trap), debug.Stack()))
		return ^uintptr(0), 0, uintptr(syscall.EPERM)
	}
	// Output is no scheduling point: what is shared by a process's own log,
	// such as the lock of package log, is never held by a goroutine that waits.
	quiet := sched.Quiet()
	if trap := c.Trap; !quiet && (trap != syscall.SYS_WRITE || c.Arg[0] > 2) {
		w.Point()
	}
	for {
		sched.EnterCall()
		p := Of(h)
		if p == nil {
			sched.LeaveCall()
			return ^uintptr(0), 0, uintptr(syscall.ESRCH)
		}
		if !quiet {
			w.Note(sched.KindSyscall, h.ID(), uint64(c.Trap&0xffff))
		}
		r1, r2, errno, block := p.Syscall(c)
		ended := p.dead
		sched.LeaveCall()
		if ended { // by this call
			sched.Exit()
		}
		if block == nil {
			return r1, r2, uintptr(errno)
		}
		block.Wait()
	}
}

// seamPoller is what package internal/poll waits with.
type seamPoller struct{}

var _ sched.Poller = seamPoller{}

func (seamPoller) PollOpen(fd uintptr) (ctx uintptr, errno int) {
	sched.EnterCall()
	defer sched.LeaveCall()
	p := current()
	if p == nil {
		return 0, int(syscall.ESRCH)
	}
	ctx, e := p.PollOpen(int(fd))
	return ctx, int(e)
}

func (seamPoller) PollClose(ctx uintptr) {
	sched.EnterCall()
	PollClose(ctx)
	sched.LeaveCall()
}

func (seamPoller) PollReset(ctx uintptr, mode int) int {
	sched.EnterCall()
	res := PollReset(ctx, mode)
	sched.LeaveCall()
	return res
}

func (seamPoller) PollWait(ctx uintptr, mode int) int {
	for {
		sched.EnterCall()
		res, waiter, why := PollTry(ctx, mode)
		sched.LeaveCall()
		if res >= 0 {
			return res
		}
		waiter.Wait(why)
	}
}

func (seamPoller) PollWaitCanceled(ctx uintptr, mode int) {
	for {
		sched.EnterCall()
		done, waiter := PollTryCanceled(ctx, mode)
		sched.LeaveCall()
		if done {
			return
		}
		waiter.Wait("cancelled I/O")
	}
}

func (seamPoller) PollSetDeadline(ctx uintptr, d int64, mode int) {
	sched.EnterCall()
	PollSetDeadline(ctx, d, mode)
	sched.LeaveCall()
}

func (seamPoller) PollUnblock(ctx uintptr) {
	sched.EnterCall()
	PollUnblock(ctx)
	sched.LeaveCall()
}

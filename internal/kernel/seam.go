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
	sched.SetKernel(Traps, serveCall, callText)
	sched.SetPoller(seamPoller{})
	sched.SetProcess(func() sched.ProcessState { return current() })
}

// current returns the process of the calling goroutine. There is none if its
// host has been killed and the goroutine is about to be destroyed.
func current() *Process { return Of(sched.CurrentHost()) }

// serveCall serves one system call of a simulated goroutine.
func serveCall(c *sched.Call) (r1, r2, errno uintptr) {
	trap := c.Trap
	h, quiet := sched.BeginCall(!locked(c))
	w := h.World()
	if h.ID() == 0 {
		w.Stop(fmt.Errorf("%s: a network call of the test itself, outside of any host; make it inside Host.Do or Host.Go\n%s", Name(trap), debug.Stack()))
		return ^uintptr(0), 0, uintptr(syscall.EPERM)
	}
	for {
		sched.EnterCall()
		p := Of(h)
		if p == nil {
			sched.LeaveCall()
			return ^uintptr(0), 0, uintptr(syscall.ESRCH)
		}
		r1, r2, errno, block := p.Syscall(c)
		if !quiet && block == nil {
			w.Note(sched.KindSyscall, h.ID(), outcome(trap, r1, errno))
		}
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

// locked tells of calls that programs make while they hold a lock in a package
// variable, which all hosts share: they are no scheduling points, so that no
// goroutine waits, or is destroyed, with the lock. Output is written under the
// lock of package log, and mappings are given up under that of the table of
// mappings which syscall and golang.org/x/sys/unix keep.
func locked(c *sched.Call) bool {
	switch c.Trap {
	case syscall.SYS_WRITE:
		return c.Arg[0] <= 2
	case syscall.SYS_MUNMAP, syscall.SYS_MREMAP:
		return true
	}
	return false
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

// outcome is what the trace keeps of a system call: its number, its result and
// its errno, so that two runs part where a call answers differently. The address of
// a mapping is the machine's, and differs from run to run.
func outcome(trap, r1 uintptr, errno syscall.Errno) uint64 {
	if errno != 0 || trap == syscall.SYS_MMAP || trap == syscall.SYS_MREMAP {
		r1 = 0
	}
	return uint64(trap&0xffff) | uint64(uint32(r1))<<16 | uint64(errno)<<48
}

// callText renders an outcome.
func callText(what uint64) string {
	name := Name(uintptr(what & 0xffff))
	if errno := syscall.Errno(what >> 48); errno != 0 {
		return name + ": " + errno.Error()
	}
	return fmt.Sprintf("%s = %d", name, int32(what>>16))
}

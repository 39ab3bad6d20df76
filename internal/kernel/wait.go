//go:build linux && (amd64 || arm64)

package kernel

import (
	"syscall"

	"github.com/dstkit/dst/sched"
)

// A WaitPoint is where one goroutine waits to make a system call again: for a
// blocking descriptor, or for a time. Several goroutines that block on one
// descriptor have one each, in a list that the descriptor keeps.
type WaitPoint struct {
	waiter  sched.Waiter
	event   sched.Event
	p       *Process
	f       *file   // waited for, or nil
	more    []*file // waited for as well
	opening *file   // a FIFO's end that waits for the other
	number  int
	trap    uintptr
	due     int64 // when the wait ends without success, or 0
	done    int   // bytes that the call has moved
	expired bool
	reason  string // "recvfrom udp 10.0.0.1:53"
}

// wake makes a parked goroutine runnable. Tests on builds without a scheduler
// put something else here.
var wake = (*sched.Waiter).Wake

// Waiter returns what to park on, outside of kernel context.
func (wp *WaitPoint) Waiter() *sched.Waiter { return &wp.waiter }

// Wait parks the calling goroutine. It is called outside of kernel context,
// whose data the race detector does not want to see read there.
//
//go:norace
func (wp *WaitPoint) Wait() { wp.waiter.Wait(wp.reason) }

// Reason says what is waited for, in reports.
//
//go:norace
func (wp *WaitPoint) Reason() string { return wp.reason }

// Fire ends the wait because its time is up.
func (wp *WaitPoint) Fire() {
	wp.expired = true
	wake(&wp.waiter)
}

// errBlock is what a handler returns when the call has to wait at p.block.
const errBlock = syscall.Errno(1 << 12)

// waitFor makes the call wait: for the file's next change, unless it is nil,
// until due, unless that is 0.
//
// What the call has done so far, and what it waited for, is kept from one
// attempt to the next by rewriting the call, as Linux restarts calls: above its
// 16 low bits, Trap holds the number of the WaitPoint. [Process.resume] takes
// that away again.
func (p *Process) waitFor(c *Call, f *file, due int64) syscall.Errno {
	return p.waitAt(c, f, due, 0)
}

// waitAt is waitFor for a call that has moved bytes already.
func (p *Process) waitAt(c *Call, f *file, due int64, done int) syscall.Errno {
	var wp *WaitPoint
	if n := len(p.idle); n > 0 {
		wp, p.idle = p.idle[n-1], p.idle[:n-1]
	} else {
		wp = &WaitPoint{p: p, number: len(p.points)}
		p.points = append(p.points, wp)
	}
	wp.waiter, wp.expired = sched.Waiter{}, false
	wp.f, wp.due, wp.done, wp.trap, wp.reason = f, due, done, c.Trap, Name(c.Trap)
	if f != nil {
		wp.reason += " " + f.name()
		f.waiters = append(f.waiters, wp)
	}
	if due != 0 {
		p.k.w.Schedule(&wp.event, due, wp)
	}
	c.Trap |= uintptr(wp.number+1) << 16
	p.block = wp
	return errBlock
}

// due is when a call that waits gives up: what it said when it began to wait,
// or after the timeout of its socket, if that is positive.
func (p *Process) due(timeout int64) int64 {
	if p.resumed || timeout <= 0 {
		return p.deadline
	}
	return p.k.w.Now() + timeout
}

// mayBlock is EAGAIN, or has the call wait until the file changes or its
// receive timeout passes.
func (p *Process) mayBlock(c *Call, f *file, flags int) syscall.Errno {
	return p.mayBlockAt(c, f, flags, 0)
}

// mayBlockAt is mayBlock for a call that has read bytes already.
func (p *Process) mayBlockAt(c *Call, f *file, flags, done int) syscall.Errno {
	if !f.blocking() || flags&syscall.MSG_DONTWAIT != 0 || p.expired {
		return syscall.EAGAIN
	}
	return p.waitAt(c, f, p.due(f.sock.opts.rcvTimeout), done)
}

// resume ends the wait of a call that is made again.
func (p *Process) resume(c *Call) bool {
	i := int(c.Trap>>16) - 1
	c.Trap &= 1<<16 - 1
	if i < 0 || i >= len(p.points) || p.points[i].trap != c.Trap {
		return false
	}
	wp := p.points[i]
	p.resumed, p.expired, p.deadline, p.progress = true, wp.expired, wp.due, wp.done
	p.waited = wp.f
	p.opening, wp.opening = wp.opening, nil
	wp.leave()
	return true
}

// Cancel ends a wait whose call is not made again, because a signal
// interrupted it.
func (wp *WaitPoint) Cancel() {
	if wp.trap != ^uintptr(0) {
		wp.leave()
	}
}

func (wp *WaitPoint) leave() {
	wp.p.k.w.Cancel(&wp.event)
	if wp.f != nil {
		wp.f.forget(wp)
	}
	for _, f := range wp.more {
		f.forget(wp)
	}
	if wp.opening != nil {
		wp.opening.release()
		wp.opening = nil
	}
	clear(wp.more)
	wp.more = wp.more[:0]
	wp.f, wp.trap = nil, ^uintptr(0)
	wp.p.idle = append(wp.p.idle, wp)
}

// also makes the wait one for f, too.
func (wp *WaitPoint) also(f *file) {
	wp.more = append(wp.more, f)
	f.waiters = append(f.waiters, wp)
}

// forget takes wp out of the list of those that wait for f.
func (f *file) forget(wp *WaitPoint) {
	for i, other := range f.waiters {
		if other == wp {
			f.waiters = append(f.waiters[:i], f.waiters[i+1:]...)
			break
		}
	}
}

// wakeAll lets every goroutine that blocks on f try again.
func (f *file) wakeAll() {
	for _, wp := range f.waiters {
		wake(&wp.waiter)
	}
}

//go:build linux && (amd64 || arm64)

package kernel

import (
	"math"
	"syscall"

	"github.com/dstkit/dst/sched"
)

// What the poller answers; package internal/poll knows the same numbers.
const (
	PollOK          = 0
	PollClosing     = 1
	PollTimeout     = 2
	PollNotPollable = 3
)

// A pollDesc is what the runtime's poll descriptor is: it makes a goroutine
// that would block on a descriptor wait for readiness, a deadline, or the
// descriptor's end. Readiness is edge-triggered, as with epoll: it is noted
// when the descriptor changes, and consumed by a wait.
//
// The real one guards against timers that fire after they were stopped by
// sequence numbers. Here a stopped event does not fire, so there are none.
type pollDesc struct {
	k       *Kernel
	f       *file // nil while free
	fd      uintptr
	index   int    // in Kernel.polls
	uses    uint64 // times it was opened, to tell a stale value from a good one
	closing bool
	half    [2]pollHalf // reading, writing
	both    bothDeadlines
}

// A pollHalf is the reading or the writing side.
//
// state is pollNil, pollReady (a notification not consumed yet), or pollWait
// (a goroutine waits, or is about to).
type pollHalf struct {
	state    uint8
	waited   bool  // the goroutine that waits has not come back yet
	deadline int64 // virtual time; 0: none, negative: past
	waiter   sched.Waiter
	event    sched.Event // at the deadline
	reason   string      // "read udp4 10.0.0.1:53", made when first needed
}

const (
	pollNil = iota
	pollReady
	pollWait
)

// The value that stands for a poll descriptor outside: bit 62, the slot of the
// kernel, some of its serial number, the index, some of the number of uses.
const (
	ctxBit    = 1 << 62
	useBits   = 14
	indexBits = 20
	slotBits  = 10
)

func (pd *pollDesc) ctx() uintptr {
	const serialBits = 62 - useBits - indexBits - slotBits
	v := uint64(ctxBit)
	v |= pd.k.serial % (1 << serialBits) << (useBits + indexBits + slotBits)
	v |= uint64(pd.k.slot) << (useBits + indexBits)
	v |= uint64(pd.index) << useBits
	v |= pd.uses % (1 << useBits)
	return uintptr(v)
}

// IsPoll reports whether a value stands for a simulated poll descriptor.
func IsPoll(ctx uintptr) bool { return uint64(ctx)>>62 == 1 }

// pollOf returns the descriptor that ctx stands for, or nil if that is gone.
func pollOf(ctx uintptr) *pollDesc {
	k := kernels[uint64(ctx)>>(useBits+indexBits)%(1<<slotBits)].Load()
	if k == nil {
		return nil
	}
	i := uint64(ctx) >> useBits % (1 << indexBits)
	if i >= uint64(len(k.polls)) {
		return nil
	}
	if pd := k.polls[i]; pd.f != nil && pd.ctx() == ctx {
		return pd
	}
	return nil
}

func half(mode int) int {
	if mode == 'w' {
		return 1
	}
	return 0
}

// PollOpen begins polling a descriptor. What is always ready (a file of a
// disk) cannot be polled: EPERM, as from epoll_ctl.
func (p *Process) PollOpen(fd int) (ctx uintptr, errno syscall.Errno) {
	f := p.lookup(uintptr(fd))
	switch {
	case f == nil:
		return 0, syscall.EBADF
	case !f.pollable():
		return 0, syscall.EPERM
	}
	for _, pd := range f.polls {
		if pd.fd == uintptr(fd) {
			return 0, syscall.EEXIST
		}
	}
	k := p.k
	var pd *pollDesc
	if n := len(k.freePolls); n > 0 {
		pd, k.freePolls = k.freePolls[n-1], k.freePolls[:n-1]
	} else if len(k.polls) < 1<<indexBits {
		pd = &pollDesc{k: k, index: len(k.polls)}
		k.polls = append(k.polls, pd)
	} else {
		return 0, syscall.ENOSPC
	}
	pd.f, pd.fd, pd.closing = f, uintptr(fd), false
	pd.uses++
	for i := range pd.half {
		h := &pd.half[i]
		h.state, h.waited, h.deadline, h.reason = pollNil, false, 0, ""
		h.waiter = sched.Waiter{}
	}
	f.polls = append(f.polls, pd)
	pd.update() // adding to an epoll set tells what is ready already
	return pd.ctx(), 0
}

// release frees the descriptor: ctx is stale from here on.
func (pd *pollDesc) release() {
	f := pd.f
	for i, other := range f.polls {
		if other == pd {
			f.polls = append(f.polls[:i], f.polls[i+1:]...)
			break
		}
	}
	for i := range pd.half {
		pd.k.w.Cancel(&pd.half[i].event)
		pd.half[i].waiter = sched.Waiter{}
		pd.half[i].reason = ""
	}
	pd.f = nil
	pd.k.freePolls = append(pd.k.freePolls, pd)
}

// PollClose ends polling; PollUnblock came before.
func PollClose(ctx uintptr) {
	if pd := pollOf(ctx); pd != nil {
		pd.release()
	}
}

// check tells what ends a wait at once.
func (pd *pollDesc) check(h *pollHalf) int {
	switch {
	case pd.closing:
		return PollClosing
	case h.deadline < 0:
		return PollTimeout
	}
	return PollOK
}

// PollReset prepares for an attempt in a mode, 'r' or 'w': it forgets
// readiness noted before. A stale descriptor is closing.
func PollReset(ctx uintptr, mode int) int {
	pd := pollOf(ctx)
	if pd == nil {
		return PollClosing
	}
	h := &pd.half[half(mode)]
	if res := pd.check(h); res != PollOK {
		return res
	}
	h.state = pollNil
	return PollOK
}

// PollTry is one step of waiting for readiness in a mode. If res is negative
// the caller parks on w, outside of kernel context, giving reason's string,
// and tries again.
func PollTry(ctx uintptr, mode int) (res int, w *sched.Waiter, reason string) {
	pd := pollOf(ctx)
	if pd == nil {
		return PollClosing, nil, ""
	}
	h := &pd.half[half(mode)]
	// Who waited and was told so has what it waited for, even if the deadline
	// passed since; who comes first asks for that first.
	if !h.waited {
		if res := pd.check(h); res != PollOK {
			return res, nil, ""
		}
	}
	if h.state == pollWait && h.waiter.Waiting() {
		panic("kernel: two goroutines wait for one poll descriptor in one mode")
	}
	h.waited = false
	if h.state == pollReady {
		h.state = pollNil
		return PollOK, nil, ""
	}
	if res := pd.check(h); res != PollOK {
		h.state = pollNil
		return res, nil, ""
	}
	h.state, h.waited = pollWait, true
	if h.reason == "" {
		h.reason = [2]string{"read ", "write "}[half(mode)] + pd.f.name()
	}
	return -1, &h.waiter, h.reason
}

// PollTryCanceled is PollTry for runtime_pollWaitCanceled: it ignores
// deadlines and closing. (No system of this package calls it.)
func PollTryCanceled(ctx uintptr, mode int) (done bool, w *sched.Waiter) {
	pd := pollOf(ctx)
	if pd == nil {
		return true, nil
	}
	h := &pd.half[half(mode)]
	if h.state == pollReady {
		h.state, h.waited = pollNil, false
		return true, nil
	}
	h.state, h.waited = pollWait, true
	return false, &h.waiter
}

// unblock notes readiness, or just ends a wait, and wakes who waits.
func (h *pollHalf) unblock(ready bool) {
	old := h.state
	if old == pollReady || old == pollNil && !ready {
		return
	}
	h.state = pollNil
	if ready {
		h.state = pollReady
	}
	if old == pollWait {
		wake(&h.waiter)
	}
}

// Fire is the deadline's passing.
func (h *pollHalf) Fire() {
	h.deadline = -1
	h.unblock(false)
}

// bothDeadlines is the passing of one deadline for reading and writing.
type bothDeadlines struct{ pd *pollDesc }

func (b *bothDeadlines) Fire() {
	b.pd.half[0].Fire()
	b.pd.half[1].Fire()
}

// PollSetDeadline sets the deadline of a mode, 'r', 'w' or 'r'+'w': d
// nanoseconds from now; none if d is 0, past if negative.
func PollSetDeadline(ctx uintptr, d int64, mode int) {
	pd := pollOf(ctx)
	if pd == nil || pd.closing {
		return
	}
	w := pd.k.w
	if d > 0 {
		if d += w.Now(); d <= 0 {
			d = math.MaxInt64
		}
	}
	r, wr := &pd.half[0], &pd.half[1]
	oldR, oldW := r.deadline, wr.deadline
	if mode == 'r' || mode == 'r'+'w' {
		r.deadline = d
	}
	if mode == 'w' || mode == 'r'+'w' {
		wr.deadline = d
	}
	// One event does for both sides if they have one deadline. It is armed
	// again only if something changed, which keeps its place in the queue.
	if r.deadline != oldR || wr.deadline != oldW {
		same := r.deadline > 0 && r.deadline == wr.deadline
		switch {
		case same:
			pd.both.pd = pd
			w.Schedule(&r.event, r.deadline, &pd.both)
		case r.deadline > 0:
			w.Schedule(&r.event, r.deadline, r)
		default:
			w.Cancel(&r.event)
		}
		if wr.deadline > 0 && !same {
			w.Schedule(&wr.event, wr.deadline, wr)
		} else {
			w.Cancel(&wr.event)
		}
	}
	if r.deadline < 0 {
		r.unblock(false)
	}
	if wr.deadline < 0 {
		wr.unblock(false)
	}
}

// PollUnblock says that the descriptor is closing, and ends the waits on it.
func PollUnblock(ctx uintptr) {
	pd := pollOf(ctx)
	if pd == nil {
		return
	}
	pd.closing = true
	for i := range pd.half {
		pd.k.w.Cancel(&pd.half[i].event)
		pd.half[i].unblock(false)
	}
}

// update notes what the file is ready for.
func (pd *pollDesc) update() {
	r, w := pd.f.ready()
	if r {
		pd.half[0].unblock(true)
	}
	if w {
		pd.half[1].unblock(true)
	}
}

// changed is told when the file's readiness may have changed.
func (f *file) changed() { f.changedBy(^uint32(0)) }

// changedBy is changed for a change that concerns only the epoll events in key.
func (f *file) changedBy(key uint32) {
	for _, pd := range f.polls {
		pd.update()
	}
	for _, it := range f.watches {
		it.notify(key)
	}
	f.wakeAll()
}

//go:build linux && (amd64 || arm64)

package kernel

import (
	"math"
	"syscall"
	"unsafe"

	"github.com/dstkit/dst/sched"
)

// An eventfd is a number that write adds to, and read takes.
type eventfd struct {
	n         uint64
	semaphore bool // read takes one at a time
}

func (p *Process) sysEventfd(c *Call, flags int) (uintptr, syscall.Errno) {
	const semaphore = 1 // EFD_SEMAPHORE
	if flags&^(semaphore|syscall.O_CLOEXEC|syscall.O_NONBLOCK) != 0 {
		return 0, syscall.EINVAL
	}
	f := &file{
		kind: kindEvent, owner: p, flags: syscall.O_RDWR | flags&syscall.O_NONBLOCK,
		event: &eventfd{n: uint64(uint32(c.Arg[0])), semaphore: flags&semaphore != 0},
	}
	return p.enterNew(f, flags&syscall.O_CLOEXEC != 0)
}

func (e *eventfd) events() (ev uint32) {
	if e.n > 0 {
		ev |= syscall.EPOLLIN
	}
	if e.n < math.MaxUint64-1 {
		ev |= syscall.EPOLLOUT
	}
	return ev
}

func (p *Process) readEvent(c *Call, f *file, b []byte) (uintptr, syscall.Errno) {
	e := f.event
	switch {
	case len(b) < 8:
		return 0, syscall.EINVAL
	case e.n > 0:
	case f.blocking():
		return 0, p.waitFor(c, f, 0)
	default:
		return 0, syscall.EAGAIN
	}
	n := e.n
	if e.semaphore {
		n = 1
	}
	e.n -= n
	sched.CopyOut(unsafe.Pointer(&b[0]), bytesOf(&n))
	f.changedBy(epollOut)
	return 8, 0
}

func (p *Process) writeEvent(c *Call, f *file, b []byte) (uintptr, syscall.Errno) {
	if len(b) < 8 {
		return 0, syscall.EINVAL
	}
	var n uint64
	sched.CopyIn(bytesOf(&n), unsafe.Pointer(&b[0]))
	e := f.event
	switch {
	case n == math.MaxUint64:
		return 0, syscall.EINVAL
	case n < math.MaxUint64-e.n: // stays below the greatest number
	case f.blocking():
		return 0, p.waitFor(c, f, 0)
	default:
		return 0, syscall.EAGAIN
	}
	e.n += n
	f.changedBy(epollIn)
	return 8, 0
}

// A timerfd tells how often a timer went off since it was last read. A timer
// with an interval rests, once it has gone off, until it is read; what it
// missed is counted then.
type timerfd struct {
	f        *file
	clock    int
	event    sched.Event
	due      int64 // on the host's monotonic clock; 0: not armed
	interval int64
	ticks    uint64

	wall      bool // it waits for a time of the wall clock
	cancel    bool // TFD_TIMER_CANCEL_ON_SET
	cancelled bool // since the wall clock was set
	moved     int  // the step of the wall clock that it last followed
}

func (p *Process) sysTimerfdCreate(c *Call) (uintptr, syscall.Errno) {
	clock, flags := int(int32(c.Arg[0])), int(c.Arg[1])
	if flags&^(syscall.O_CLOEXEC|syscall.O_NONBLOCK) != 0 {
		return 0, syscall.EINVAL
	}
	switch clock {
	case clockRealtime, clockMonotonic, clockBoottime, 8, 9: // the last two wake a machine
	default:
		return 0, syscall.EINVAL
	}
	f := &file{kind: kindTimer, owner: p, flags: syscall.O_RDWR | flags&syscall.O_NONBLOCK}
	if clock == 8 {
		clock = clockRealtime
	}
	if clock == 9 {
		clock = clockBoottime
	}
	f.timer = &timerfd{f: f, clock: clock}
	return p.enterNew(f, flags&syscall.O_CLOEXEC != 0)
}

// timerOf returns the timer of a descriptor.
func (p *Process) timerOf(fd uintptr) (*timerfd, syscall.Errno) {
	f := p.lookup(fd)
	switch {
	case f == nil || f.flags&oPath != 0:
		return nil, syscall.EBADF
	case f.kind != kindTimer:
		return nil, syscall.EINVAL
	}
	return f.timer, 0
}

// An itimerspec is what timerfd_settime is given.
type itimerspec struct{ interval, value syscall.Timespec }

func valid(ts *syscall.Timespec) bool { return ts.Sec >= 0 && ts.Nsec >= 0 && ts.Nsec < 1e9 }

// nanos is the time in nanoseconds, or the longest there can be.
func nanos(ts *syscall.Timespec) int64 { return min(ts.Sec, 1<<32)*1e9 + ts.Nsec }

func (p *Process) sysTimerfdSettime(c *Call) (uintptr, syscall.Errno) {
	var its itimerspec
	if errno := get(&its, c.Ptr[2]); errno != 0 {
		return 0, errno
	}
	flags := int(int32(c.Arg[1]))
	const absolute, cancelOnSet = 1, 2
	if flags&^(absolute|cancelOnSet) != 0 || !valid(&its.interval) || !valid(&its.value) {
		return 0, syscall.EINVAL
	}
	t, errno := p.timerOf(c.Arg[0])
	if errno != 0 {
		return 0, errno
	}
	old := t.left()
	now := p.host.Monotonic()
	t.due, t.ticks, t.interval = 0, 0, nanos(&its.interval)
	if d := nanos(&its.value); d != 0 {
		if flags&absolute != 0 {
			base, _ := p.clock(t.clock)
			d -= base
		}
		t.due = now + max(d, 0)
	}
	t.wall = flags&absolute != 0 && (t.clock == clockRealtime || t.clock == clockTAI)
	t.cancel, t.cancelled = t.wall && flags&cancelOnSet != 0, false
	t.arm()
	if c.Ptr[3] != nil {
		return 0, put(c.Ptr[3], &old)
	}
	return 0, 0
}

func (p *Process) sysTimerfdGettime(c *Call) (uintptr, syscall.Errno) {
	t, errno := p.timerOf(c.Arg[0])
	if errno != 0 {
		return 0, errno
	}
	left := t.left()
	return 0, put(c.Ptr[1], &left)
}

// left is the time until the timer goes off next, and its interval.
func (t *timerfd) left() (its itimerspec) {
	its.interval = syscall.NsecToTimespec(t.interval)
	if now := t.f.owner.host.Monotonic(); t.due > now {
		its.value = syscall.NsecToTimespec(t.due - now)
	} else if t.due != 0 && t.interval > 0 {
		its.value = syscall.NsecToTimespec(t.interval - (now-t.due)%t.interval)
	}
	return its
}

// arm sets the event at which the timer is due, if it is.
func (t *timerfd) arm() {
	p := t.f.owner
	w := p.k.w
	if t.due == 0 {
		w.Cancel(&t.event)
		return
	}
	w.Schedule(&t.event, w.Now()+p.virtual(t.due-p.host.Monotonic()), t)
}

// virtual is how much of the world's time a time on the host's clock takes.
func (p *Process) virtual(d int64) int64 {
	if ppb := p.host.Rate(); ppb != 0 && d > 0 {
		return int64(math.Ceil(float64(d) * (1e9 / (1e9 + float64(ppb)))))
	}
	return max(d, 0)
}

// Fire is the timer's time.
func (t *timerfd) Fire() {
	if t.f.owner.host.Monotonic() < t.due { // the clock's rate has changed
		t.arm()
		return
	}
	t.ticks = 1
	if t.interval == 0 {
		t.due = 0
	}
	t.f.changedBy(epollIn)
}

func (t *timerfd) events() uint32 {
	if t.ticks > 0 || t.cancelled {
		return syscall.EPOLLIN
	}
	return 0
}

func (p *Process) readTimer(c *Call, f *file, b []byte) (uintptr, syscall.Errno) {
	t := f.timer
	switch {
	case len(b) < 8:
		return 0, syscall.EINVAL
	case t.cancelled:
		t.cancelled = false
		return 0, syscall.ECANCELED
	case t.ticks > 0:
	case f.blocking():
		return 0, p.waitFor(c, f, 0)
	default:
		return 0, syscall.EAGAIN
	}
	n := t.ticks
	t.ticks = 0
	if t.interval > 0 && t.due != 0 {
		missed := (p.host.Monotonic() - t.due) / t.interval
		n += uint64(missed)
		t.due += (missed + 1) * t.interval
		t.arm()
	}
	sched.CopyOut(unsafe.Pointer(&b[0]), bytesOf(&n))
	return 8, 0
}

// stepped moves the timers that wait for a time of the wall clock, which was set
// forward by d. It is told of the host's own process, for all of the host.
func (p *Process) stepped(d int64) {
	for _, q := range append([]*Process{p}, p.family...) {
		for _, slots := range [][]slot{q.std, q.high} {
			for i := range slots {
				f := slots[i].f
				if f == nil || f.kind != kindTimer || !f.timer.wall {
					continue
				}
				t := f.timer
				if t.moved != p.steps { // it may have several descriptors
					t.moved = p.steps
					t.step(d)
				}
			}
		}
	}
}

func (t *timerfd) step(d int64) {
	if t.due != 0 {
		t.due = max(t.due-d, 1)
		t.arm()
	}
	if t.cancel {
		t.cancelled = true
		t.f.changedBy(epollIn)
	}
}

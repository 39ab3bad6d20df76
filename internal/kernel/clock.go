//go:build linux && (amd64 || arm64)

package kernel

import (
	"syscall"
	"time"

	"github.com/dstkit/dst/sched"
	"github.com/dstkit/dst/simfs"
)

// Clocks that package syscall does not name.
const (
	clockRealtime       = 0
	clockMonotonic      = 1
	clockProcessCPU     = 2
	clockThreadCPU      = 3
	clockMonotonicRaw   = 4
	clockRealtimeCoarse = 5
	clockMonoCoarse     = 6
	clockBoottime       = 7
	clockTAI            = 11
	timerAbstime        = 1
)

// uptime is how long the host had been up when the world began.
const uptime = int64(time.Hour)

// clock reads one of the clocks.
func (p *Process) clock(id int) (int64, syscall.Errno) {
	switch id {
	case clockRealtime, clockRealtimeCoarse, clockTAI:
		return p.now(), 0
	case clockMonotonic, clockMonotonicRaw, clockMonoCoarse, clockBoottime:
		return p.host.Monotonic() - sched.Epoch + uptime, 0
	case clockProcessCPU, clockThreadCPU:
		return p.k.w.Now() - sched.Epoch, 0
	}
	return 0, syscall.EINVAL
}

func (p *Process) sysClockGettime(c *Call) (uintptr, syscall.Errno) {
	now, errno := p.clock(int(int32(c.Arg[0])))
	if errno != 0 {
		return 0, errno
	}
	ts := syscall.NsecToTimespec(now)
	return 0, put(c.Ptr[1], &ts)
}

func (p *Process) sysClockGetres(c *Call) (uintptr, syscall.Errno) {
	if _, errno := p.clock(int(int32(c.Arg[0]))); errno != 0 || c.Ptr[1] == nil {
		return 0, errno
	}
	ts := syscall.NsecToTimespec(1)
	return 0, put(c.Ptr[1], &ts)
}

func (p *Process) sysGettimeofday(c *Call) (uintptr, syscall.Errno) {
	if c.Ptr[1] != nil {
		var zone [2]int32
		if errno := put(c.Ptr[1], &zone); errno != 0 {
			return 0, errno
		}
	}
	if c.Ptr[0] == nil {
		return 0, 0
	}
	tv := syscall.NsecToTimeval(p.now())
	return 0, put(c.Ptr[0], &tv)
}

// sysSleep is nanosleep, and clock_nanosleep with a clock and flags.
func (p *Process) sysSleep(c *Call, arg int, clock int, flags uintptr) (uintptr, syscall.Errno) {
	now := p.k.w.Now()
	if p.resumed {
		if p.expired || now >= p.deadline {
			return 0, 0
		}
		return 0, p.waitFor(c, nil, p.deadline)
	}
	var ts syscall.Timespec
	if errno := get(&ts, c.Ptr[arg]); errno != 0 {
		return 0, errno
	}
	base, errno := p.clock(clock)
	if errno != 0 {
		return 0, errno
	}
	if ts.Sec < 0 || ts.Nsec < 0 || ts.Nsec > 999999999 {
		return 0, syscall.EINVAL
	}
	const longest = 1 << 33 // seconds; what is longer would not fit
	d := int64(min(ts.Sec, longest))*1e9 + ts.Nsec
	if flags&timerAbstime != 0 {
		d -= base
	}
	if d <= 0 {
		return 0, 0
	}
	return 0, p.waitFor(c, nil, now+d)
}

func (p *Process) sysGetrandom(c *Call) (uintptr, syscall.Errno) {
	if c.Arg[2]&^7 != 0 {
		return 0, syscall.EINVAL
	}
	b, errno := buffer(c.Ptr[0], min(c.Arg[1], 1<<25-1))
	if errno != 0 {
		return 0, errno
	}
	simfs.Fill(p.rand, b)
	return uintptr(len(b)), 0
}

// setHostClock steps the wall clock of the host, as root may.
func (p *Process) setHostClock(to int64) syscall.Errno {
	if p.creds.uid[1] != 0 {
		return syscall.EPERM
	}
	p.host.StepWall(to - p.now())
	return 0
}

// sysSetClock is clock_settime and settimeofday; adjtimex may ask, and not set.
func (p *Process) sysSetClock(c *Call) (uintptr, syscall.Errno) {
	switch c.Trap {
	case syscall.SYS_CLOCK_SETTIME:
		var ts syscall.Timespec
		if errno := get(&ts, c.Ptr[1]); errno != 0 {
			return 0, errno
		}
		if int32(c.Arg[0]) != clockRealtime || ts.Sec < 0 || ts.Nsec < 0 || ts.Nsec > 999999999 {
			return 0, syscall.EINVAL
		}
		return 0, p.setHostClock(ts.Nano())
	case syscall.SYS_SETTIMEOFDAY:
		if c.Ptr[0] == nil {
			return 0, 0 // a time zone, which nobody looks at
		}
		var tv syscall.Timeval
		if errno := get(&tv, c.Ptr[0]); errno != 0 {
			return 0, errno
		}
		if tv.Sec < 0 || tv.Usec < 0 || tv.Usec > 999999 {
			return 0, syscall.EINVAL
		}
		return 0, p.setHostClock(tv.Nano())
	}
	return p.refuse(c, syscall.EPERM, "the host's own adjustment of its clock; simtime.Clock has Drift and Slew")
}

//go:build linux && (amd64 || arm64)

package kernel

import (
	"syscall"
	"testing"
	"time"
)

// A timer that waits for a time of the wall clock follows it when it is set, and
// tells if it was asked to; others do not notice.
func TestTimersAndSteps(t *testing.T) {
	p, w := newProcess(t, Options{})
	p.opts.Clock = p.host.Wall
	a := &arm{t: t, p: p, w: w}
	const absolute, cancelOnSet = 1, 2
	set := func(clock, flags int, in time.Duration) int {
		fd, errno := a.sys(syscall.SYS_TIMERFD_CREATE, clock, syscall.O_NONBLOCK)
		if errno != 0 {
			t.Fatal(errno)
		}
		var now syscall.Timespec
		if flags&absolute != 0 {
			a.sys(syscall.SYS_CLOCK_GETTIME, clock, ptr(&now))
		}
		its := itimerspec{value: syscall.NsecToTimespec(now.Nano() + int64(in))}
		if _, errno := a.sys(syscall.SYS_TIMERFD_SETTIME, int(fd), flags, ptr(&its), 0); errno != 0 {
			t.Fatal(errno)
		}
		return int(fd)
	}
	read := func(fd int) syscall.Errno {
		var ticks uint64
		_, errno := a.sys(syscall.SYS_READ, fd, ptr(&ticks), 8)
		return errno
	}
	wall := set(clockRealtime, absolute, time.Hour)
	cancel := set(clockRealtime, absolute|cancelOnSet, time.Hour)
	relative := set(clockRealtime, 0, time.Hour)
	mono := set(clockMonotonic, absolute, time.Hour)
	w.StepUntil(w.Now() + int64(time.Minute))
	now := syscall.NsecToTimespec(p.now() + int64(30*time.Minute))
	if _, errno := a.sys(syscall.SYS_CLOCK_SETTIME, clockRealtime, ptr(&now)); errno != 0 {
		t.Fatal(errno)
	}
	if got := p.now(); got != now.Nano() {
		t.Errorf("the clock was set to %d, and is at %d", now.Nano(), got)
	}
	if errno := read(cancel); errno != syscall.ECANCELED {
		t.Errorf("a timer to be cancelled: %v", errno)
	}
	if errno := read(cancel); errno != syscall.EAGAIN {
		t.Errorf("the same, asked again: %v", errno)
	}
	w.StepUntil(w.Now() + int64(29*time.Minute) + 1)
	for fd, want := range map[int]syscall.Errno{wall: 0, cancel: 0, relative: syscall.EAGAIN, mono: syscall.EAGAIN} {
		if errno := read(fd); errno != want {
			t.Errorf("after 60 minutes of the wall clock, timer %d: %v, want %v", fd-FirstFD, errno, want)
		}
	}
	w.StepUntil(w.Now() + int64(30*time.Minute))
	for _, fd := range []int{relative, mono} {
		if errno := read(fd); errno != 0 {
			t.Errorf("after an hour, timer %d: %v", fd-FirstFD, errno)
		}
	}
	tv := syscall.Timeval{Sec: 1e9, Usec: 5}
	if _, errno := a.sys(syscall.SYS_SETTIMEOFDAY, ptr(&tv), 0); errno != 0 || p.now() != 1e18+5000 {
		t.Errorf("settimeofday: %v, the clock is at %d", errno, p.now())
	}
	bad := syscall.Timespec{Nsec: 1e9}
	if _, errno := a.sys(syscall.SYS_CLOCK_SETTIME, clockRealtime, ptr(&bad)); errno != syscall.EINVAL {
		t.Errorf("clock_settime with 1e9 ns: %v", errno)
	}
	if _, errno := a.sys(syscall.SYS_CLOCK_SETTIME, clockMonotonic, ptr(&now)); errno != syscall.EINVAL {
		t.Errorf("clock_settime of the monotonic clock: %v", errno)
	}
}

// Identities change as credentials(7) has it.
func TestIdentities(t *testing.T) {
	p, w := newProcess(t, Options{})
	a := &arm{t: t, p: p, w: w}
	const keep = -1
	for _, c := range []struct {
		trap  uintptr
		args  []any
		errno syscall.Errno
		want  [3]uint32
	}{
		{syscall.SYS_SETUID, []any{keep}, syscall.EINVAL, [3]uint32{0, 0, 0}},
		{syscall.SYS_SETRESUID, []any{1, 2, 0}, 0, [3]uint32{1, 2, 0}},
		{syscall.SYS_SETUID, []any{3}, syscall.EPERM, [3]uint32{1, 2, 0}},
		{syscall.SYS_SETUID, []any{0}, 0, [3]uint32{1, 0, 0}}, // the saved one
		{syscall.SYS_SETREUID, []any{keep, 5}, 0, [3]uint32{1, 5, 5}},
		{syscall.SYS_SETRESUID, []any{keep, 1, keep}, 0, [3]uint32{1, 1, 5}},
		{syscall.SYS_SETRESUID, []any{keep, keep, 0}, syscall.EPERM, [3]uint32{1, 1, 5}},
		{syscall.SYS_SETREUID, []any{5, keep}, syscall.EPERM, [3]uint32{1, 1, 5}},
		{syscall.SYS_SETUID, []any{5}, 0, [3]uint32{1, 5, 5}},
	} {
		if _, errno := a.sys(c.trap, c.args...); errno != c.errno || p.creds.uid != c.want {
			t.Errorf("%s %v: %v, %v, want %v, %v", Name(c.trap), c.args, errno, p.creds.uid, c.errno, c.want)
		}
	}
	var list [3]uint32
	if _, errno := a.sys(syscall.SYS_GETRESUID, ptr(&list[0]), ptr(&list[1]), ptr(&list[2])); errno != 0 || list != [3]uint32{1, 5, 5} {
		t.Errorf("getresuid: %v, %v", list, errno)
	}
	if _, errno := a.sys(syscall.SYS_SETGROUPS, 0, 0); errno != syscall.EPERM {
		t.Errorf("setgroups of a user: %v", errno)
	}
	p.creds = creds{}
	groups := [2]uint32{7, 8}
	if _, errno := a.sys(syscall.SYS_SETGROUPS, 2, ptr(&groups)); errno != 0 {
		t.Errorf("setgroups: %v", errno)
	}
	var got [4]uint32
	n, errno := a.sys(syscall.SYS_GETGROUPS, 4, ptr(&got))
	if n != 2 || errno != 0 || [2]uint32(got[:2]) != groups {
		t.Errorf("getgroups: %d %v %v", n, got, errno)
	}
	if _, errno := a.sys(syscall.SYS_GETGROUPS, 1, ptr(&got)); errno != syscall.EINVAL {
		t.Errorf("getgroups into too little: %v", errno)
	}
}

//go:build linux && (amd64 || arm64)

package kernel

import (
	"fmt"
	"math"
	"path/filepath"
	"syscall"
	"testing"
	"unsafe"
)

// pipe opens a pipe that does not block.
func (a *arm) pipe(flags int) (r, w int) {
	var fds [2]int32
	a.do("pipe2", syscall.SYS_PIPE2, ptr(&fds), flags|syscall.O_CLOEXEC)
	a.fds = append(a.fds, int(fds[0]), int(fds[1]))
	return int(fds[0]), int(fds[1])
}

// close is close(2), so that onBoth does not close the number again.
func (a *arm) close(fd int) {
	a.do("close", syscall.SYS_CLOSE, fd)
	for i, other := range a.fds {
		if other == fd {
			a.fds = append(a.fds[:i], a.fds[i+1:]...)
			return
		}
	}
}

func (a *arm) writeBytes(what string, fd, n int) {
	b := make([]byte, n+1)
	for i := range b {
		b[i] = byte('a' + i%26)
	}
	a.do(what, syscall.SYS_WRITE, fd, bytesPtr(b), n)
}

func (a *arm) read(what string, fd, n int) {
	b := make([]byte, n+1)
	r, errno := a.sys(syscall.SYS_READ, fd, bytesPtr(b), n)
	if errno != 0 {
		a.logf("%s: %s", what, errname(errno))
		return
	}
	a.logf("%s: %d %q", what, r, b[:min(int(r), 30)])
}

// poll asks for events of descriptors, without waiting.
func (a *arm) poll(what string, fds ...int) {
	const all = syscall.EPOLLIN | syscall.EPOLLPRI | syscall.EPOLLOUT | syscall.EPOLLRDHUP | syscall.EPOLLRDNORM |
		syscall.EPOLLWRNORM | syscall.EPOLLRDBAND | syscall.EPOLLWRBAND
	pfs := make([]pollfd, len(fds))
	for i, fd := range fds {
		pfs[i] = pollfd{fd: int32(fd), events: all}
	}
	var now syscall.Timespec
	n, errno := a.sys(syscall.SYS_PPOLL, ptr(&pfs[0]), len(pfs), ptr(&now), 0, 0)
	s := fmt.Sprintf("poll %s: %d %v", what, int(n), errno)
	for _, pf := range pfs {
		s += fmt.Sprintf(" %#x", uint16(pf.revents))
	}
	a.logf("%s", s)
}

func TestPipesAsOnTheMachine(t *testing.T) {
	onBoth(t, func(a *arm) {
		a.do("pipe2 nowhere", syscall.SYS_PIPE2, 0, 0)
		a.do("pipe2 of unknown flags", syscall.SYS_PIPE2, ptr(new([2]int32)), 1)
		r, w := a.pipe(syscall.O_NONBLOCK)
		a.do("F_GETFL r", syscall.SYS_FCNTL, r, syscall.F_GETFL)
		a.do("F_GETFL w", syscall.SYS_FCNTL, w, syscall.F_GETFL)
		a.do("F_GETFD", syscall.SYS_FCNTL, w, syscall.F_GETFD)
		a.do("F_GETPIPE_SZ", syscall.SYS_FCNTL, w, fGetPipeSize)
		a.read("of nothing", r, 10)
		a.poll("empty", r, w)
		a.writeBytes("to the wrong end", r, 1)
		a.read("of the wrong end", w, 1)
		a.writeBytes("nothing", w, 0)
		a.writeBytes("5", w, 5)
		a.writeBytes("3", w, 3)
		a.poll("some", r, w)
		var n int32
		a.do("FIONREAD", syscall.SYS_IOCTL, r, syscall.TIOCINQ, ptr(&n))
		a.logf("is %d", n)
		a.read("4", r, 4)
		a.read("0", r, 0)
		a.read("rest", r, 100)
		a.do("lseek", syscall.SYS_LSEEK, r, 0, 1)
		a.do("pread", syscall.SYS_PREAD64, r, bytesPtr(make([]byte, 1)), 1, 0)
		var st syscall.Stat_t
		a.do("fstat", syscall.SYS_FSTAT, r, ptr(&st))
		a.logf("mode %o", st.Mode)
		a.do("fsync", syscall.SYS_FSYNC, r)

		// To the brim, in steps that fit pages and that do not.
		for _, step := range []int{1, 100, 1000, 4095, 4096, 4097, 5000, 10000, 65536, 100000} {
			r, w := a.pipe(syscall.O_NONBLOCK)
			total := 0
			for {
				n, errno := a.sys(syscall.SYS_WRITE, w, bytesPtr(make([]byte, step)), step)
				if errno != 0 {
					a.logf("full by %d after %d: %s", step, total, errname(errno))
					break
				}
				total += int(n)
			}
			a.poll("full", r, w)
			a.writeBytes("4096 to the full", w, 4096)
			a.writeBytes("1 to the full", w, 1)
			a.read("100 of the full", r, 100)
			a.poll("not so full", r, w)
			a.writeBytes("1", w, 1)
			a.read("page of the full", r, 4096)
			a.poll("a page less", r, w)
			a.writeBytes("4096", w, 4096)
			a.writeBytes("10000", w, 10000)
			a.do("FIONREAD", syscall.SYS_IOCTL, r, syscall.TIOCINQ, ptr(&n))
			a.logf("is %d", n)
			a.do("F_SETPIPE_SZ less", syscall.SYS_FCNTL, w, fGetPipeSize-1, 4096)
			a.do("F_SETPIPE_SZ more", syscall.SYS_FCNTL, w, fGetPipeSize-1, 100000)
			a.writeBytes("100000", w, 100000)
			a.close(r)
			a.close(w)
		}

		a.close(w)
		a.poll("no writer", r)
		a.read("end", r, 10)
		r, w = a.pipe(syscall.O_NONBLOCK)
		a.writeBytes("last words", w, 10)
		a.close(w)
		a.poll("last words", r)
		a.read("last words", r, 4)
		a.read("last words", r, 100)
		a.read("end", r, 10)
		r, w = a.pipe(syscall.O_NONBLOCK)
		a.writeBytes("lost", w, 10)
		a.close(r)
		a.poll("no reader", w)
		a.writeBytes("to nobody", w, 10)
		a.writeBytes("nothing to nobody", w, 0)

		r, w = a.pipe(syscall.O_NONBLOCK)
		parts := [3][]byte{[]byte("one"), nil, []byte("three")}
		iov := make([]syscall.Iovec, 3)
		for i, b := range parts {
			if b != nil {
				iov[i].Base = &b[0]
			}
			iov[i].SetLen(len(b))
		}
		a.do("writev", syscall.SYS_WRITEV, w, ptr(&iov[0]), 3)
		clear(parts[0])
		clear(parts[2])
		a.do("readv", syscall.SYS_READV, r, ptr(&iov[0]), 3)
		a.logf("%q", parts)
		a.do("readv", syscall.SYS_READV, r, ptr(&iov[0]), 3)
	})
}

func TestFifosAsOnTheMachine(t *testing.T) {
	dir := t.TempDir()
	onBoth(t, func(a *arm) {
		if a.p != nil {
			dir = "/tmp"
		}
		path := filepath.Join(dir, "fifo")
		at := int(int32(atFDCWD))
		open := func(what string, flags int) int {
			return a.open(what, syscall.SYS_OPENAT, at, cstr(path), flags|syscall.O_CLOEXEC, 0)
		}
		a.do("mkfifo", syscall.SYS_MKNODAT, at, cstr(path), syscall.S_IFIFO|0o600, 0)
		a.do("mkfifo again", syscall.SYS_MKNODAT, at, cstr(path), syscall.S_IFIFO|0o600, 0)
		var st syscall.Stat_t
		a.do("stat", sysFSTATAT, at, cstr(path), ptr(&st), 0)
		a.logf("mode %o size %d", st.Mode, st.Size)
		open("write, nobody reads", syscall.O_WRONLY|syscall.O_NONBLOCK)
		r := open("read", syscall.O_RDONLY|syscall.O_NONBLOCK)
		a.poll("no writer yet", r)
		a.read("no writer yet", r, 9)
		w := open("write", syscall.O_WRONLY|syscall.O_NONBLOCK)
		a.do("fstat", syscall.SYS_FSTAT, w, ptr(&st))
		a.logf("mode %o", st.Mode)
		a.poll("both", r, w)
		a.writeBytes("hello", w, 5)
		a.poll("hello", r, w)
		a.read("hello", r, 9)
		a.read("nothing", r, 9)
		a.close(w)
		a.poll("the writer is gone", r)
		a.read("end", r, 9)
		w = open("write, blocking", syscall.O_WRONLY)
		a.poll("a writer again", r)
		a.writeBytes("to be lost", w, 5)
		a.close(r)
		a.poll("no reader", w)
		a.writeBytes("to nobody", w, 5)
		a.close(w)
		rw := open("both ways", syscall.O_RDWR)
		a.poll("both ways", rw)
		a.writeBytes("echo", rw, 4)
		a.read("echo", rw, 9)
		a.poll("both ways", rw)
		r = open("read, blocking", syscall.O_RDONLY)
		a.close(rw)
		a.poll("of one gone", r)
		a.do("unlink", syscall.SYS_UNLINKAT, at, cstr(path), 0)
		open("unlinked", syscall.O_RDONLY)
	})
}

func TestEventfdAsOnTheMachine(t *testing.T) {
	onBoth(t, func(a *arm) {
		a.do("eventfd of unknown flags", syscall.SYS_EVENTFD2, 0, 2)
		put := func(fd int, n uint64) {
			a.do(fmt.Sprint("add ", n), syscall.SYS_WRITE, fd, ptr(&n), 8)
			a.poll("eventfd", fd)
		}
		take := func(fd int) {
			var n uint64
			a.do("take", syscall.SYS_READ, fd, ptr(&n), 8)
			a.logf("is %d", n)
			a.poll("eventfd", fd)
		}
		e := a.open("eventfd", syscall.SYS_EVENTFD2, 3, syscall.O_NONBLOCK|syscall.O_CLOEXEC)
		a.poll("eventfd", e)
		take(e)
		take(e)
		put(e, 1)
		put(e, 1<<40)
		take(e)
		a.read("short", e, 7)
		a.writeBytes("short", e, 7)
		put(e, math.MaxUint64)
		put(e, math.MaxUint64-1)
		put(e, 0)
		put(e, 1)
		take(e)
		a.read("long", e, 20)
		put(e, 7)
		a.read("long", e, 20)
		var st syscall.Stat_t
		a.do("fstat", syscall.SYS_FSTAT, e, ptr(&st))
		a.logf("mode %o", st.Mode)
		a.do("F_GETFL", syscall.SYS_FCNTL, e, syscall.F_GETFL)
		s := a.open("semaphore", syscall.SYS_EVENTFD2, 2, syscall.O_NONBLOCK|1)
		take(s)
		take(s)
		take(s)
	})
}

func TestTimerfd(t *testing.T) {
	onBoth(t, func(a *arm) {
		a.do("of no clock", syscall.SYS_TIMERFD_CREATE, 99, 0)
		a.do("of unknown flags", syscall.SYS_TIMERFD_CREATE, clockMonotonic, 1)
		fd := a.open("timerfd", syscall.SYS_TIMERFD_CREATE, clockMonotonic, syscall.O_NONBLOCK)
		a.poll("not armed", fd)
		a.read("not armed", fd, 8)
		its := itimerspec{value: syscall.Timespec{Sec: 1000}}
		a.do("settime", syscall.SYS_TIMERFD_SETTIME, fd, 0, ptr(&its), 0)
		a.do("gettime", syscall.SYS_TIMERFD_GETTIME, fd, ptr(&its))
		a.logf("%v", its.value.Sec >= 999)
		a.read("not yet", fd, 8)
		its = itimerspec{value: syscall.Timespec{Nsec: 1e9}}
		a.do("settime invalid", syscall.SYS_TIMERFD_SETTIME, fd, 0, ptr(&its), 0)
		its = itimerspec{value: syscall.Timespec{Nsec: 1}} // long ago
		a.do("settime", syscall.SYS_TIMERFD_SETTIME, fd, 1, ptr(&its), 0)
		a.settle()
		a.poll("expired", fd)
		a.read("short", fd, 7)
		a.read("expired", fd, 8)
		a.read("expired", fd, 8)
		a.do("gettime", syscall.SYS_TIMERFD_GETTIME, fd, ptr(&its))
		a.logf("%v", its)
		a.writeBytes("timerfd", fd, 8)
		a.do("settime of another", syscall.SYS_TIMERFD_SETTIME, a.open("eventfd", syscall.SYS_EVENTFD2, 0, 0), 0, ptr(&its), 0)
	})
	// Virtual time only.
	p, w := newProcess(t, Options{})
	a := &arm{t: t, p: p, w: w}
	fd, _ := a.sys(syscall.SYS_TIMERFD_CREATE, clockMonotonic, syscall.O_NONBLOCK)
	its := itimerspec{interval: syscall.NsecToTimespec(3e8), value: syscall.NsecToTimespec(1e8)}
	a.sys(syscall.SYS_TIMERFD_SETTIME, int(fd), 0, ptr(&its), 0)
	var ticks [2]uint64
	for i := range ticks {
		w.StepUntil(w.Now() + 1e9)
		a.sys(syscall.SYS_READ, int(fd), ptr(&ticks[i]), 8)
	}
	if ticks != [2]uint64{4, 3} { // at 0.1, 0.4, 0.7, 1.0; 1.3, 1.6, 1.9
		t.Errorf("ticks %v", ticks)
	}
}

// epoll collects the events of a set, without waiting.
func (a *arm) epoll(what string, fd int) {
	var evs [8]syscall.EpollEvent
	n, errno := a.sys(syscall.SYS_EPOLL_PWAIT, fd, ptr(&evs), len(evs), 0, 0, 0)
	s := fmt.Sprintf("epoll %s: %d %v", what, int(n), errno)
	for _, ev := range evs[:max(0, int(n))] {
		s += fmt.Sprintf(" %d:%#x", ev.Fd, ev.Events)
	}
	a.logf("%s", s)
}

func (a *arm) ctl(what string, ep, op, fd int, events uint32, tag int32) {
	ev := syscall.EpollEvent{Events: events, Fd: tag}
	a.do("epoll_ctl "+what, syscall.SYS_EPOLL_CTL, ep, op, fd, ptr(&ev))
}

func TestEpollAsOnTheMachine(t *testing.T) {
	const (
		add, del, mod = syscall.EPOLL_CTL_ADD, syscall.EPOLL_CTL_DEL, syscall.EPOLL_CTL_MOD
		in, out       = syscall.EPOLLIN, syscall.EPOLLOUT
		edge          = 1 << 31
		shot          = syscall.EPOLLONESHOT
	)
	dir := t.TempDir()
	onBoth(t, func(a *arm) {
		if a.p != nil {
			dir = "/tmp"
		}
		a.do("epoll_create1 of unknown flags", syscall.SYS_EPOLL_CREATE1, 1)
		ep := a.open("epoll_create1", syscall.SYS_EPOLL_CREATE1, syscall.EPOLL_CLOEXEC)
		r, w := a.pipe(syscall.O_NONBLOCK)
		a.ctl("of no set", r, add, w, in, 1)
		a.ctl("itself", ep, add, ep, in, 1)
		a.ctl("of nothing", ep, add, 1<<20+60000, in, 1)
		a.ctl("of nothing", 1<<20+60000, add, r, in, 1)
		a.ctl("unknown", ep, 9, r, in, 1)
		a.do("epoll_ctl null", syscall.SYS_EPOLL_CTL, ep, add, r, 0)
		a.ctl("mod", ep, mod, r, in, 1)
		a.ctl("del", ep, del, r, in, 1)
		a.ctl("add", ep, add, r, in, 1)
		a.ctl("add again", ep, add, r, in, 1)
		file := a.open("file", syscall.SYS_OPENAT, int(int32(atFDCWD)), cstr(filepath.Join(dir, "f")), syscall.O_CREAT|syscall.O_RDWR, 0o600)
		a.ctl("file", ep, add, file, in, 1)
		a.poll("file", file)
		var evs [2]syscall.EpollEvent
		a.do("epoll_wait 0", syscall.SYS_EPOLL_PWAIT, ep, ptr(&evs), 0, 0, 0, 0)
		a.do("epoll_wait on a pipe", syscall.SYS_EPOLL_PWAIT, r, ptr(&evs), 2, 0, 0, 0)
		a.epoll("empty", ep)
		a.poll("the set", ep)
		a.read("the set", ep, 8)
		a.writeBytes("the set", ep, 8)

		a.writeBytes("pipe", w, 5)
		a.epoll("level", ep)
		a.epoll("level", ep)
		a.poll("the set", ep)
		a.ctl("both", ep, add, w, out, 2)
		a.epoll("two", ep)
		a.do("epoll_wait 1", syscall.SYS_EPOLL_PWAIT, ep, ptr(&evs), 1, 0, 0, 0)
		a.logf("%d", evs[0].Fd)
		a.do("epoll_wait 1", syscall.SYS_EPOLL_PWAIT, ep, ptr(&evs), 1, 0, 0, 0)
		a.logf("%d", evs[0].Fd)
		a.ctl("no out", ep, mod, w, 0, 2)
		a.read("pipe", r, 9)
		a.epoll("read", ep)
		a.poll("the set", ep)

		a.ctl("edge", ep, mod, r, in|edge, 3)
		a.writeBytes("pipe", w, 5)
		a.epoll("edge", ep)
		a.epoll("edge", ep)
		a.writeBytes("pipe", w, 5)
		a.epoll("edge again", ep)
		a.read("pipe", r, 3)
		a.epoll("edge, half read", ep)
		a.ctl("edge", ep, mod, r, in|edge, 3)
		a.epoll("edge, armed again", ep)
		a.read("pipe", r, 30)

		a.ctl("one shot", ep, mod, r, in|shot, 4)
		a.writeBytes("pipe", w, 5)
		a.epoll("one shot", ep)
		a.epoll("one shot", ep)
		a.writeBytes("pipe", w, 5)
		a.epoll("one shot", ep)
		a.ctl("one shot", ep, mod, r, in|shot, 4)
		a.epoll("one shot, armed", ep)
		a.ctl("nothing asked for", ep, mod, r, 0, 5)
		a.epoll("nothing asked for", ep)
		a.close(w)
		a.epoll("hang up", ep)
		a.ctl("one shot", ep, mod, r, in|shot, 4)
		a.epoll("one shot", ep)
		a.epoll("one shot", ep)

		// Sets in sets, and descriptors that share a file.
		outer := a.open("epoll_create1", syscall.SYS_EPOLL_CREATE1, 0)
		a.ctl("set", outer, add, ep, in, 10)
		a.ctl("cycle", ep, add, outer, in, 11)
		a.epoll("outer", outer)
		e := a.open("eventfd", syscall.SYS_EVENTFD2, 0, syscall.O_NONBLOCK)
		a.ctl("eventfd", ep, add, e, in, 12)
		a.epoll("outer", outer)
		one := uint64(1)
		a.do("add", syscall.SYS_WRITE, e, ptr(&one), 8)
		a.epoll("outer", outer)
		a.epoll("inner", ep)
		d := a.open("dup", syscall.SYS_DUP, e)
		a.ctl("dup", ep, add, d, in|edge, 13)
		a.epoll("dup", ep)
		a.do("add", syscall.SYS_WRITE, e, ptr(&one), 8)
		a.epoll("dup", ep)
		a.close(e)
		a.epoll("closed, and open by another name", ep)
		a.close(d)
		a.epoll("closed", ep)
		a.epoll("outer", outer)
		deep := outer
		for range 6 {
			next := a.open("epoll_create1", syscall.SYS_EPOLL_CREATE1, 0)
			a.ctl("deeper", next, add, deep, in, 14)
			deep = next
		}

		// A socket, whose two sides are told apart.
		x, y := a.socketpair(syscall.SOCK_STREAM)
		ep = a.open("epoll_create1", syscall.SYS_EPOLL_CREATE1, 0)
		a.ctl("socket", ep, add, x, in|out|edge|syscall.EPOLLRDHUP, 20)
		a.epoll("socket", ep)
		a.epoll("socket", ep)
		a.writeBytes("socket", y, 5)
		a.epoll("socket", ep)
		a.do("shutdown", syscall.SYS_SHUTDOWN, y, syscall.SHUT_WR)
		a.epoll("socket", ep)
		a.close(y)
		a.epoll("socket", ep)
	})
}

func TestSelectAsOnTheMachine(t *testing.T) {
	onBoth(t, func(a *arm) {
		r, w := a.pipe(syscall.O_NONBLOCK)
		n := max(r, w) + 1
		sets := func() (s [3][]uint64) {
			for i := range s {
				s[i] = make([]uint64, n/64+1)
			}
			for _, fd := range []int{r, w} {
				for i := range s {
					s[i][fd/64] |= 1 << (fd % 64)
				}
			}
			return s
		}
		call := func(what string) {
			s := sets()
			ts := syscall.Timespec{}
			a.do(what, syscall.SYS_PSELECT6, n, unsafe.Pointer(&s[0][0]), unsafe.Pointer(&s[1][0]), unsafe.Pointer(&s[2][0]), ptr(&ts), 0)
			for i := range s {
				a.logf("%v %v", s[i][r/64]>>(r%64)&1, s[i][w/64]>>(w%64)&1)
			}
		}
		call("empty")
		a.writeBytes("pipe", w, 5)
		call("some")
		a.close(w)
		s := sets()
		a.do("closed", syscall.SYS_PSELECT6, n, unsafe.Pointer(&s[0][0]), 0, 0, 0, 0)
		a.do("negative", syscall.SYS_PSELECT6, -1, unsafe.Pointer(&s[0][0]), 0, 0, 0, 0)
		a.poll("closed", r, w)
		a.poll("negative", -1)
	})
}

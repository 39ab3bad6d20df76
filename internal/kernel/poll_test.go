//go:build linux && (amd64 || arm64)

package kernel

import (
	"syscall"
	"testing"
	"time"

	"github.com/dstkit/dst/sched"
)

// poller is a test of the poll descriptor of one UDP socket.
type poller struct {
	*arm
	fd, port int
	ctx      uintptr
}

func newPoller(t *testing.T) *poller {
	p, w := newProcess(t, Options{})
	a := &arm{t: t, p: p, w: w}
	fd, port := a.bound4()
	ctx, errno := p.PollOpen(fd)
	if errno != 0 || !IsPoll(ctx) {
		t.Fatalf("PollOpen: %#x, %v", ctx, errno)
	}
	return &poller{a, fd, port, ctx}
}

func (p *poller) arrive() {
	p.sys(syscall.SYS_SENDTO, p.fd, bytesPtr([]byte("x")), 1, 0, ptr(in4(loop4, p.port)), 16)
	p.settle()
}

func (p *poller) want(mode, res int) *sched.Waiter {
	p.t.Helper()
	got, w, _ := PollTry(p.ctx, mode)
	if got != res || (got < 0) != (w != nil) {
		p.t.Errorf("PollTry(%c) = %d, %v, want %d", mode, got, w, res)
	}
	return w
}

func TestPollReadiness(t *testing.T) {
	p := newPoller(t)
	p.want('w', PollOK) // as after epoll_ctl
	w := p.want('r', -1)
	if woken[w] != 0 {
		t.Fatal("woken by nothing")
	}
	p.arrive()
	if woken[w] != 1 {
		t.Fatalf("woken %d times by a datagram", woken[w])
	}
	p.want('r', PollOK)
	p.want('r', -1) // consumed, although the datagram is still there: an edge
	PollUnblock(p.ctx)

	p = newPoller(t)
	p.arrive()
	if res := PollReset(p.ctx, 'r'); res != PollOK {
		t.Fatal(res)
	}
	p.want('r', -1) // forgotten
	_, _, reason := PollTry(p.ctx, 'r')
	if want := "read udp 127.0.0.1:"; len(reason) < len(want) || reason[:len(want)] != want {
		t.Errorf("reason %q", reason)
	}
}

func TestPollDeadlines(t *testing.T) {
	p := newPoller(t)
	r := p.want('r', -1)
	PollSetDeadline(p.ctx, int64(time.Second), 'r')
	p.w.StepUntil(p.w.Now() + 999_999_999)
	if woken[r] != 0 {
		t.Fatal("woken before the deadline")
	}
	p.w.StepUntil(p.w.Now() + 1)
	if woken[r] != 1 {
		t.Fatal("not woken by the deadline")
	}
	p.want('r', PollTimeout)
	if PollReset(p.ctx, 'r') != PollTimeout || PollReset(p.ctx, 'w') != PollOK {
		t.Error("the deadline is not about reading alone")
	}

	// A deadline set anew while the waiter is on its way is as if none had
	// passed.
	PollSetDeadline(p.ctx, 0, 'r')
	r = p.want('r', -1)
	PollSetDeadline(p.ctx, -1, 'r')
	if woken[r] != 2 {
		t.Fatal("not woken by a deadline in the past")
	}
	PollSetDeadline(p.ctx, int64(time.Hour), 'r')
	p.want('r', -1)

	// Who was told of readiness has it, whatever the deadline.
	p.arrive()
	PollSetDeadline(p.ctx, -1, 'r')
	p.want('r', PollOK)
	p.want('r', PollTimeout)

	// Both.
	PollSetDeadline(p.ctx, int64(time.Second), 'r'+'w')
	PollReset(p.ctx, 'r')
	PollReset(p.ctx, 'w')
	p.want('r', -1)
	p.want('w', -1)
	p.w.StepUntil(p.w.Now() + int64(time.Second))
	p.want('r', PollTimeout)
	p.want('w', PollTimeout)
	PollSetDeadline(p.ctx, 0, 'r'+'w')
	PollSetDeadline(p.ctx, 1<<63-1, 'w') // too far to be reached: no overflow
	PollSetDeadline(p.ctx, int64(time.Second), 'r'+'w')
	PollSetDeadline(p.ctx, 2*int64(time.Second), 'w')
	PollReset(p.ctx, 'w')
	p.want('w', -1)
	p.w.StepUntil(p.w.Now() + int64(time.Second))
	if PollReset(p.ctx, 'r') != PollTimeout || PollReset(p.ctx, 'w') != PollOK {
		t.Error("one deadline moved the other")
	}
	p.w.StepUntil(p.w.Now() + int64(time.Second))
	p.want('w', PollTimeout)
}

func TestPollClosing(t *testing.T) {
	p := newPoller(t)
	r := p.want('r', -1)
	PollSetDeadline(p.ctx, int64(time.Second), 'r')
	PollUnblock(p.ctx)
	if woken[r] != 1 {
		t.Fatal("not woken by closing")
	}
	p.want('r', PollClosing)
	if PollReset(p.ctx, 'w') != PollClosing {
		t.Error("not closing")
	}
	PollClose(p.ctx)
	stale := p.ctx
	ctx, errno := p.p.PollOpen(p.fd) // takes the same place
	if errno != 0 || ctx == stale {
		t.Fatalf("PollOpen again: %#x after %#x, %v", ctx, stale, errno)
	}
	p.want('r', PollClosing)
	PollClose(stale)
	PollSetDeadline(stale, -1, 'r'+'w')
	PollUnblock(stale)
	if PollReset(ctx, 'r') != PollOK {
		t.Error("a stale value reached the new descriptor")
	}
	if _, errno := p.p.PollOpen(p.fd); errno != syscall.EEXIST {
		t.Errorf("polled twice: %v", errno)
	}
	f, _ := p.sys(syscall.SYS_OPENAT, atFDCWD, cstr("/etc/hosts"), 0, 0)
	if _, errno := p.p.PollOpen(int(f)); errno != syscall.EPERM {
		t.Errorf("polling a file: %v", errno)
	}
	if _, errno := p.p.PollOpen(1 << 30); errno != syscall.EBADF {
		t.Errorf("polling nothing: %v", errno)
	}
	// A process that ends leaves nothing behind.
	p.ctx = ctx
	PollSetDeadline(ctx, int64(time.Second), 'r')
	p.p.Exit(0)
	p.want('r', PollClosing)
	if p.p.Open() != 0 || p.w.Step() {
		t.Error("the process left something")
	}
	p.p.k.Close()
	p.want('r', PollClosing)
}

func TestBlockingCalls(t *testing.T) {
	p, w := newProcess(t, Options{})
	a := &arm{t: t, p: p, w: w}
	fd, port := a.bound4()
	a.sys(syscall.SYS_FCNTL, fd, syscall.F_SETFL, 0)
	buf := make([]byte, 10)
	call := func() Call {
		c := Call{Trap: syscall.SYS_READ}
		c.Arg[0], c.Ptr[1], c.Arg[2] = uintptr(fd), bytesPtr(buf), 10
		return c
	}
	c, d := call(), call()
	_, _, errno, first := p.Syscall(&c)
	_, _, errno2, second := p.Syscall(&d)
	if first == nil || second == nil || first == second || errno != 0 || errno2 != 0 {
		t.Fatalf("two reads of an empty socket: %v, %v", errno, errno2)
	}
	a.sys(syscall.SYS_SENDTO, fd, bytesPtr([]byte("xyz")), 3, 0, ptr(in4(loop4, port)), 16)
	w.StepUntil(w.Now() + 1e6)
	if woken[first.Waiter()] == 0 || woken[second.Waiter()] == 0 {
		t.Fatal("not woken")
	}
	if r, _, errno, block := p.Syscall(&d); r != 3 || errno != 0 || block != nil {
		t.Fatalf("the second: %d, %v", r, errno)
	}
	if _, _, _, block := p.Syscall(&c); block == nil {
		t.Fatal("the first did not wait again")
	}

	// A receive timeout.
	tv := syscall.Timeval{Sec: 2}
	a.sys(syscall.SYS_SETSOCKOPT, fd, syscall.SOL_SOCKET, syscall.SO_RCVTIMEO, ptr(&tv), 16)
	c = call()
	_, _, _, block := p.Syscall(&c)
	before := w.Now()
	for woken[block.Waiter()] = 0; woken[block.Waiter()] == 0 && w.Step(); {
	}
	if _, _, errno, block := p.Syscall(&c); errno != syscall.EAGAIN || block != nil || w.Now()-before != 2e9 {
		t.Fatalf("after the timeout: %v, +%d", errno, w.Now()-before)
	}

	// A sleep.
	ts := syscall.Timespec{Sec: 1, Nsec: 5}
	c = Call{Trap: syscall.SYS_NANOSLEEP}
	c.Ptr[0] = ptr(&ts)
	before = w.Now()
	_, _, _, block = p.Syscall(&c)
	if block == nil || block.Reason() != "nanosleep" {
		t.Fatal("nanosleep does not wait")
	}
	for woken[block.Waiter()] = 0; woken[block.Waiter()] == 0 && w.Step(); {
	}
	if _, _, errno, block := p.Syscall(&c); errno != 0 || block != nil || w.Now()-before != 1e9+5 {
		t.Fatalf("after the sleep: %v, +%d", errno, w.Now()-before)
	}
}

func TestDescriptorLimit(t *testing.T) {
	p, _ := newProcess(t, Options{NoFile: 10})
	a := &arm{t: t, p: p}
	first, errno := a.sys(syscall.SYS_SOCKET, syscall.AF_INET, syscall.SOCK_DGRAM, 0)
	if first != FirstFD || errno != 0 {
		t.Fatalf("the first descriptor is %d, %v", first, errno)
	}
	n := 1
	for ; ; n++ {
		if _, errno = a.sys(syscall.SYS_DUP, int(first)); errno != 0 {
			break
		}
	}
	if errno != syscall.EMFILE || n != 7 {
		t.Errorf("%v after %d descriptors, want EMFILE after 7", errno, n)
	}
	if _, errno := a.sys(syscall.SYS_SOCKET, syscall.AF_INET, syscall.SOCK_DGRAM, 0); errno != syscall.EMFILE {
		t.Errorf("a socket more: %v", errno)
	}
	a.sys(syscall.SYS_CLOSE, FirstFD+3)
	a.sys(syscall.SYS_CLOSE, FirstFD+1)
	for _, want := range []uintptr{FirstFD + 1, FirstFD + 3} {
		if fd, errno := a.sys(syscall.SYS_DUP, int(first)); fd != want {
			t.Errorf("dup gave %d, %v, want the lowest free, %d", fd, errno, want)
		}
	}
}

func TestOutput(t *testing.T) {
	type line struct {
		fd   int
		text string
	}
	var got []line
	p, _ := newProcess(t, Options{Output: func(fd int, at int64, b []byte) { got = append(got, line{fd, string(b)}) }})
	a := &arm{t: t, p: p}
	for _, s := range []string{"one\ntw", "o\n", "three"} {
		a.sys(syscall.SYS_WRITE, 1, bytesPtr([]byte(s)), len(s))
	}
	a.sys(syscall.SYS_WRITE, 2, bytesPtr([]byte("error\n")), 6)
	if n, errno := a.sys(syscall.SYS_READ, 0, bytesPtr(make([]byte, 5)), 5); n != 0 || errno != 0 {
		t.Errorf("read of the standard input: %d, %v", n, errno)
	}
	p.Exit(0)
	want := []line{{1, "one\n"}, {1, "two\n"}, {2, "error\n"}, {1, "three"}}
	if len(got) != len(want) {
		t.Fatalf("%v", got)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("line %d: %v, want %v", i, got[i], want[i])
		}
	}
}

func TestRefusals(t *testing.T) {
	p, _ := newProcess(t, Options{})
	var got []string
	p.k.Unsupported = func(h *sched.Host, name, detail string) { got = append(got, name+": "+detail) }
	a := &arm{t: t, p: p}
	for range 2 {
		for _, c := range []struct {
			errno syscall.Errno
			trap  uintptr
			args  []any
		}{
			{syscall.EPERM, syscall.SYS_EXECVE, nil},
			{syscall.EPROTONOSUPPORT, syscall.SYS_SOCKET, []any{syscall.AF_INET, syscall.SOCK_RAW, syscall.IPPROTO_ICMP}},
			{syscall.EPROTONOSUPPORT, syscall.SYS_SOCKET, []any{syscall.AF_INET, syscall.SOCK_STREAM, protoMPTCP}},
			{syscall.ENOSYS, syscall.SYS_SIGNALFD4, []any{-1}},
			{syscall.ENOSYS, syscall.SYS_INOTIFY_INIT1, nil},
			{syscall.ENOSYS, 511, nil},
			{syscall.ENOSYS, syscall.SYS_PTRACE, nil},
		} {
			if _, errno := a.sys(c.trap, c.args...); errno != c.errno {
				t.Errorf("%s: %v, want %v", Name(c.trap), errno, c.errno)
			}
		}
	}
	want := []string{
		"execve: exec by a raw system call; package os/exec can run programs", "socket: a raw IP socket", "signalfd4: signals by a descriptor",
		"inotify_init1: watching files",
		"system call 511: not modelled", "ptrace: not modelled",
	}
	if len(got) != len(want) {
		t.Fatalf("reported %q", got)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("reported %q, want %q", got[i], want[i])
		}
	}
}

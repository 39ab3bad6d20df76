//go:build linux && (amd64 || arm64)

package kernel

import (
	"syscall"
	"testing"
	"unsafe"
)

// pair is two sockets of one process, the calls to send 64 bytes from one to
// the other, and to receive them.
type pair struct {
	p          *Process
	send, recv Call
	keep       []any
}

func newPair(t testing.TB) *pair {
	p, w := newProcess(t, Options{})
	a := &arm{t: t, p: p, w: w}
	x, _ := a.bound4()
	y, port := a.bound4()
	buf, from, n := make([]byte, 64), new(syscall.RawSockaddrAny), new(int32)
	to := in4(loop4, port)
	*n = int32(unsafe.Sizeof(*from))
	pr := &pair{p: p}
	pr.send = Call{
		Trap: syscall.SYS_SENDTO,
		Arg:  [6]uintptr{uintptr(x), 0, 64, 0, 0, 16},
		Ptr:  [6]unsafe.Pointer{1: bytesPtr(buf), 4: ptr(to)},
	}
	pr.recv = Call{
		Trap: syscall.SYS_RECVFROM,
		Arg:  [6]uintptr{uintptr(y), 0, 64},
		Ptr:  [6]unsafe.Pointer{1: bytesPtr(buf), 4: ptr(from), 5: ptr(n)},
	}
	return pr
}

// call makes a call from the stack, as the seam does.
func (pr *pair) call(c Call) (uintptr, syscall.Errno) {
	r, _, errno, _ := pr.p.Syscall(&c)
	return r, errno
}

func (pr *pair) roundTrip() bool {
	r, errno := pr.call(pr.send)
	r2, errno2 := pr.call(pr.recv)
	return r == 64 && r2 == 64 && errno == 0 && errno2 == 0
}

func TestNoAllocation(t *testing.T) {
	pr := newPair(t)
	if n := testing.AllocsPerRun(1000, func() {
		if !pr.roundTrip() {
			t.Error("lost")
		}
	}); n != 0 {
		t.Errorf("a datagram sent and received costs %v allocations", n)
	}
	empty := pr.recv
	empty.Arg[3] = syscall.MSG_DONTWAIT
	ctx, _ := pr.p.PollOpen(int(pr.recv.Arg[0]))
	if n := testing.AllocsPerRun(1000, func() {
		PollReset(ctx, 'r')
		if _, errno := pr.call(empty); errno != syscall.EAGAIN {
			t.Error(errno)
		}
		if res, _, _ := PollTry(ctx, 'r'); res >= 0 {
			t.Error(res)
		}
		PollSetDeadline(ctx, 1000, 'r'+'w')
		pr.roundTrip()
		if res, _, _ := PollTry(ctx, 'r'); res != PollOK {
			t.Error(res)
		}
		PollSetDeadline(ctx, 0, 'r'+'w')
	}); n != 0 {
		t.Errorf("waiting costs %v allocations", n)
	}
}

// BenchmarkRoundTrip is one sendto and one recvfrom, with the network between
// them.
func BenchmarkRoundTrip(b *testing.B) {
	pr := newPair(b)
	b.ReportAllocs()
	for b.Loop() {
		if !pr.roundTrip() {
			b.Fatal("lost")
		}
	}
}

// BenchmarkEmptyReceive is a recvfrom that finds nothing: the cost of a call
// but for the network.
func BenchmarkEmptyReceive(b *testing.B) {
	pr := newPair(b)
	pr.recv.Arg[3] = syscall.MSG_DONTWAIT
	b.ReportAllocs()
	for b.Loop() {
		pr.call(pr.recv)
	}
}

// BenchmarkNetworkOnly is BenchmarkRoundTrip without system calls.
func BenchmarkNetworkOnly(b *testing.B) {
	pr := newPair(b)
	x, y := pr.p.lookup(pr.send.Arg[0]).sock.udp, pr.p.lookup(pr.recv.Arg[0]).sock.udp
	to, buf := y.LocalAddr(), make([]byte, 64)
	b.ReportAllocs()
	for b.Loop() {
		x.Send(buf, to, nil)
		d, _ := y.Recv(false)
		d.Release()
	}
}

func BenchmarkGetpid(b *testing.B) {
	pr := newPair(b)
	c := Call{Trap: syscall.SYS_GETPID}
	for b.Loop() {
		pr.call(c)
	}
}

func BenchmarkPollCycle(b *testing.B) {
	pr := newPair(b)
	ctx, _ := pr.p.PollOpen(int(pr.recv.Arg[0]))
	b.ReportAllocs()
	for b.Loop() {
		PollReset(ctx, 'r')
		PollTry(ctx, 'r')
		pr.roundTrip()
		PollTry(ctx, 'r')
	}
}

func BenchmarkOpenWriteSyncClose(b *testing.B) {
	pr := newPair(b)
	path, buf := cstr("/tmp/file"), make([]byte, 100)
	open := Call{Trap: syscall.SYS_OPENAT, Arg: [6]uintptr{atCWD, 0, syscall.O_RDWR | syscall.O_CREAT | syscall.O_TRUNC, 0o644}, Ptr: [6]unsafe.Pointer{1: path}}
	b.ReportAllocs()
	for b.Loop() {
		fd, errno := pr.call(open)
		if errno != 0 {
			b.Fatal(errno)
		}
		pr.call(Call{Trap: syscall.SYS_WRITE, Arg: [6]uintptr{fd, 0, 100}, Ptr: [6]unsafe.Pointer{1: bytesPtr(buf)}})
		pr.call(Call{Trap: syscall.SYS_FSYNC, Arg: [6]uintptr{fd}})
		pr.call(Call{Trap: syscall.SYS_CLOSE, Arg: [6]uintptr{fd}})
	}
}

//go:build linux && (amd64 || arm64)

package kernel

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"github.com/dstkit/dst/sched"
	"github.com/dstkit/dst/simfs"
	"github.com/dstkit/dst/simnet"
)

// An arm takes system calls: the machine's kernel, or a simulated process.
// One sequence of calls goes to both, and what they answer has to be the same.
type arm struct {
	t   testing.TB
	p   *Process // nil: the machine
	w   *sched.World
	log []string
	fds []int
}

// newProcess boots a process on a host of a new world.
func newProcess(t testing.TB, opts Options) (*Process, *sched.World) {
	old := wake
	wake = func(w *sched.Waiter) { woken[w]++ }
	w := sched.New(1)
	net := simnet.New(w)
	k := New(w, net)
	k.Unsupported = func(h *sched.Host, name, detail string) { t.Logf("unsupported: %s: %s", name, detail) }
	p := k.Boot(w.NewHost("a"), net.AddHost("a"), simfs.New(w, "a"), opts)
	t.Cleanup(func() {
		p.Exit(0)
		k.Close()
		wake = old
	})
	return p, w
}

// woken counts the wakes of each waiter: these tests run without a scheduler.
var woken = map[*sched.Waiter]int{}

// sys makes a system call. Arguments are ints or pointers; the table of traps
// has to know which.
func (a *arm) sys(trap uintptr, args ...any) (uintptr, syscall.Errno) {
	a.t.Helper()
	var c Call
	c.Trap = trap
	for i, v := range args {
		mask := Traps[trap]
		isPtr := mask>>i&1 != 0
		switch v := v.(type) {
		case int:
			c.Arg[i] = uintptr(v)
			if isPtr && v != 0 {
				a.t.Errorf("%s: argument %d is no pointer", Name(trap), i)
			}
		case unsafe.Pointer:
			c.Arg[i] = uintptr(v)
			c.Ptr[i] = v
			if !isPtr && !(i == 2 && mask&ThirdMayBePtr != 0) {
				a.t.Errorf("%s: argument %d is a pointer, which Traps does not know", Name(trap), i)
			}
		default:
			a.t.Fatalf("%s: argument %d is a %T", Name(trap), i, v)
		}
	}
	if a.p == nil {
		r, _, errno := syscall.Syscall6(c.Trap, c.Arg[0], c.Arg[1], c.Arg[2], c.Arg[3], c.Arg[4], c.Arg[5])
		return r, errno
	}
	r, _, errno, block := a.p.Syscall(&c)
	if block != nil {
		a.t.Fatalf("%s blocks: %s", Name(trap), block.Reason())
	}
	return r, errno
}

// do makes a system call and logs its result under a name.
func (a *arm) do(name string, trap uintptr, args ...any) uintptr {
	a.t.Helper()
	r, errno := a.sys(trap, args...)
	if errno != 0 {
		a.logf("%s: %s", name, errname(errno))
	} else {
		a.logf("%s: %d", name, int(r))
	}
	return r
}

// open is do for a call that returns a descriptor, whose number is not logged.
func (a *arm) open(name string, trap uintptr, args ...any) int {
	a.t.Helper()
	r, errno := a.sys(trap, args...)
	if errno != 0 {
		a.logf("%s: %s", name, errname(errno))
		return -1
	}
	a.logf("%s: ok", name)
	a.fds = append(a.fds, int(r))
	return int(r)
}

func errname(errno syscall.Errno) string { return fmt.Sprintf("errno %d (%v)", int(errno), errno) }

func (a *arm) logf(format string, args ...any) { a.log = append(a.log, fmt.Sprintf(format, args...)) }

// settle lets packets arrive.
func (a *arm) settle() {
	if a.w != nil {
		a.w.StepUntil(a.w.Now() + 1e9)
	}
}

// onBoth runs a sequence on both arms and compares their logs.
func onBoth(t *testing.T, f func(a *arm)) {
	t.Helper()
	machine := &arm{t: t}
	f(machine)
	for _, fd := range machine.fds {
		syscall.Close(fd)
	}
	p, w := newProcess(t, Options{})
	ours := &arm{t: t, p: p, w: w}
	f(ours)
	for i := range max(len(machine.log), len(ours.log)) {
		line := func(log []string) string {
			if i < len(log) {
				return log[i]
			}
			return "(nothing)"
		}
		if m, o := line(machine.log), line(ours.log); m != o {
			t.Errorf("step %d:\n\tthe machine: %s\n\tours:        %s", i, m, o)
		}
	}
	if testing.Verbose() {
		t.Log(strings.Join(ours.log, "\n"))
	}
}

func ptr[T any](v *T) unsafe.Pointer { return unsafe.Pointer(v) }

// bytesPtr is the address of a slice's bytes.
func bytesPtr(b []byte) unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(b)) }

// cstr is a path as system calls take it.
func cstr(s string) unsafe.Pointer {
	b, _ := syscall.BytePtrFromString(s)
	return unsafe.Pointer(b)
}

package sched

import (
	"syscall"
	"unsafe"
)

// An rtWorld is the part of a world that package runtime works with: the
// runtime's dstWorld begins with these fields, in this order. In a build
// without the simulator it is all there is.
type rtWorld struct {
	now       int64  // virtual time
	nextEvent int64  // when the next event is due
	steps     uint64 // scheduling steps made
	chain     uint64 // hash chain over the trace
	runnable  int64  // goroutines in the run queue
	stop      uint32 // nonzero: the engine is to run next
	watch     uint32 // nonzero: the watcher runs between steps
	escape    uintptr
	escapeN   int64
	escapePC  [32]uintptr
	recN      int64
	recLost   int64
	rec       []rtStep
	spin      uint32
	_         uint32
	live      int64
	uid       uint64
	escaped   uint32 // how: escapes
	leaver    uint32 // the host that left
}

const stackDepth = 24 // of a recorded step

// An rtStep is one recorded step as the runtime writes it.
type rtStep struct {
	now  int64
	host uint32
	g    uint32
	kind uint32
	n    int32
	what uint64
	pc   [stackDepth]uintptr
}

// An rtHost is the part of a host's incarnation that package runtime works
// with, as rtWorld is of the world.
type rtHost struct {
	user  unsafe.Pointer // *Host
	id    uint32
	state uint32
	rng   uint64
	wall  int64
	mono0 int64
	base  int64
	ppb   int64
	live  int64
}

const (
	spinPass = 1
	spinKill = 2
)

//go:norace
func (rt *rtWorld) note(kind Kind, host uint32, what uint64) {
	rt.chain = mix(rt.chain ^ uint64(rt.now)*0x9e3779b97f4a7c15 ^ uint64(kind)<<56 ^ uint64(host)<<40 ^ what)
}

// A goroutineInfo is what the runtime tells of one goroutine.
type goroutineInfo struct {
	goid   uint64
	id     uint32
	host   uint32
	reason string
}

// A Call is one system call of a simulated goroutine. It lives on the caller's
// stack: it must not be stored, nor its pointers, which may point into that
// stack.
type Call struct {
	Trap uintptr
	Arg  [6]uintptr        // the arguments as passed
	Ptr  [6]unsafe.Pointer // those that are pointers, by [Traps]; else nil
}

// Traps tells, by number, how the seam treats a system call: bits 0 to 5 say
// which arguments are pointers. A number that is not described here is passed
// to the simulated kernel without pointers.
type Traps [512]uint16

const (
	// TrapIsFD: the first argument is a descriptor.
	TrapIsFD = 1 << 6
	// TrapThirdMayBePtr: the third argument is a pointer or a number, by what
	// the second says (fcntl, ioctl). It is taken for a pointer if it is at
	// least MinPtr.
	TrapThirdMayBePtr = 1 << 7
	// TrapWorld: also for goroutines of the world that belong to no host.
	TrapWorld = 1 << 8
	// MinPtr is the lowest address that memory can have.
	MinPtr = 4096
)

// A Poller waits for descriptors: what the runtime's network poller is to
// package internal/poll. Modes are 'r', 'w' and 'r'+'w'.
type Poller interface {
	PollOpen(fd uintptr) (ctx uintptr, errno int)
	PollClose(ctx uintptr)
	PollReset(ctx uintptr, mode int) int
	PollWait(ctx uintptr, mode int) int
	PollWaitCanceled(ctx uintptr, mode int)
	PollSetDeadline(ctx uintptr, d int64, mode int)
	PollUnblock(ctx uintptr)
}

// A ProcessState is what package syscall keeps for a process.
type ProcessState interface {
	Getenv(key string) (value string, found bool)
	Setenv(key, value string) error
	Unsetenv(key string) error
	Clearenv()
	Environ() []string
	Godebug(name string) (text string, ok bool)
	ForkExec(argv0 string, argv []string, attr *syscall.ProcAttr) (pid int, err error)
	Exec(argv0 string, argv, envv []string) error
}

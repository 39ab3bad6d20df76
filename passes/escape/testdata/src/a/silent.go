package a

import (
	"errors"
	"fmt"
	"lib"
	"net"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"
)

func plainCall() int // ok: assembly without a system call

func okCommand() *exec.Cmd { return exec.Command("ls") } // ok: runs nothing yet

func okLookPath() (string, error) { return exec.LookPath("ls") } // ok: looks at files

func okExit() { os.Exit(1) } // ok: simulated

func okGetpid() int { return syscall.Getpid() } // ok: simulated

func okLib() { lib.Count() } // ok: does nothing

func okLocal() error { return run() } // ok: run is told

func okFinalizer(f *os.File) {
	runtime.SetFinalizer(f, (*os.File).Close) // ok: releases
}

func okFinalizerClose(f *os.File) {
	runtime.SetFinalizer(f, func(f *os.File) { f.Close() }) // ok: releases
}

func okFinalizerOff(h *handle) {
	runtime.SetFinalizer(h, nil) // ok: takes one away
}

func okCleanup(h *handle, fd int) {
	runtime.AddCleanup(h, func(fd int) { syscall.Close(fd) }, fd) // ok: releases
}

func okPercentV(h handle) { fmt.Printf("%v\n", h) } // ok: fields without pointers

func okPercentVPointer(h *handle) { fmt.Printf("%v\n", h) } // ok: prints what it points at

func okPercentD(n int) { fmt.Printf("%d%%p\n", n) } // ok: a literal %

func okError(err error) { fmt.Println(err) } // ok: has text

type named struct{ p *int }

func (named) String() string { return "named" }

func okStringer(n named) { fmt.Println(n) } // ok: has text

func okNilPrint() { fmt.Println(nil) } // ok: prints nil

func okPercentT(h *node) { fmt.Printf("%T\n", h) } // ok: a type

type wrapped struct {
	Err error
	At  *time.Location
}

func okFields(w wrapped) { fmt.Println(w) } // ok: exported fields that have text

func okSumPointers(m map[*handle]int) (n int) {
	for h := range m { // ok: a sum
		n += h.n
	}
	return n
}

func okClosePointers(m map[net.Conn]bool) {
	for c := range m { // ok: shutting all down
		c.Close()
	}
}

func okStringKeys(m map[string]*handle) {
	for k := range m { // ok: mapiter's
		fmt.Println(k)
	}
}

func okArrayKeys(m map[[2]int]bool) {
	for k := range m { // ok: mapiter's
		fmt.Println(k)
	}
}

func okLogCPU() { fmt.Println(runtime.NumCPU(), runtime.NumGoroutine()) } // ok: shown only

type stats struct{ goroutines int }

func okReport(s *stats) { s.goroutines = runtime.NumGoroutine() } // ok: shown only

func okMemStats() uint64 {
	var ms runtime.MemStats
	runtime.ReadMemStats(&ms) // ok: shown only
	return ms.HeapAlloc
}

func okStack() { os.Stderr.Write(debug.Stack()) } // ok: shown only

func okGC() { runtime.GC() } // ok: decides nothing

func okPointerArith(p unsafe.Pointer) unsafe.Pointer {
	return unsafe.Pointer(uintptr(p) + 8) // ok: a pointer again
}

func okAligned(p unsafe.Pointer) bool {
	return uintptr(p)&7 == 0 // ok: alignment
}

func okAlignedRem(p unsafe.Pointer) bool {
	return uintptr(p)%8 == 0 // ok: alignment
}

func okSyscall(p unsafe.Pointer) {
	syscall.Syscall(1, uintptr(p), 0, 0) // ok: for the kernel
}

func okDistance(p, q unsafe.Pointer) uintptr {
	return uintptr(p) - uintptr(q) // ok: within one object
}

func okGosched() {
	for !stop.Load() { // ok: gives way
		runtime.Gosched()
	}
}

func okSleep() {
	for !stop.Load() { // ok: gives way
		time.Sleep(1)
	}
}

func okCAS(n *atomic.Int64) {
	for { // ok: makes progress by itself
		old := n.Load()
		if n.CompareAndSwap(old, old+1) {
			return
		}
	}
}

func okSelect(ch, done chan int) {
	for { // ok: waits
		select {
		case <-ch:
		case <-done:
			return
		}
	}
}

func okDrain(ch chan int) {
	for { // ok: works on what comes, and ends
		select {
		case n := <-ch:
			_ = errors.New(fmt.Sprint(n))
		default:
			return
		}
	}
}

func okBounded(n int) {
	for n > 0 { // ok: counts
		n--
	}
}

func okIgnored(h *handle) {
	fmt.Printf("%p", h) //dst:ignore escape for a debugger // ok: ignored
}

package a

import (
	"fmt"
	"hash/fnv"
	"lib"
	"log"
	"net"
	"os"
	"os/exec"
	"plugin"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"unsafe"
)

var version = lib.Route() // want `runs another program, which cannot be simulated at package initialisation, before any simulation: var version → lib.Route`

func rawCall() int // want `makes system calls that the simulator does not see: rawCall → a system call instruction in asm.s`

func run() error { return exec.Command("ls").Run() } // want `runs another program, which cannot be simulated: run → exec.Cmd.Run`

func start(c *exec.Cmd) error { return c.Start() } // want `start → exec.Cmd.Start`

func startProcess() { os.StartProcess("ls", nil, nil) } // want `startProcess → os.StartProcess`

func replace() { syscall.Exec("ls", nil, nil) } // want `replace → syscall.Exec`

func far() string { return lib.Route() } // want `far → lib.Route → lib.run → exec.Cmd.Output`

func load() { plugin.Open("x.so") } // want `loads a plugin, which cannot be simulated: load → plugin.Open`

func lock() { runtime.LockOSThread() } // want `locks the goroutine to its thread`

type handle struct{ n int }

func finalize(h *handle, ch chan int) {
	runtime.SetFinalizer(h, func(h *handle) { ch <- h.n }) // want `a finalizer runs when the garbage collector comes to it, and this one sends on ch`
}

func finalizeLog(h *handle) {
	runtime.SetFinalizer(h, func(h *handle) { log.Printf("leaked") }) // want `this one logs \(log.Printf\)`
}

func cleanup(h *handle) {
	runtime.AddCleanup(h, announce, 1) // want `this one comes to a.announce → fmt.Println`
}

func announce(n int) { fmt.Println(n) }

func cleanupClose(h *handle, done chan bool) {
	runtime.AddCleanup(h, func(int) { close(done) }, 1) // want `this one closes channel done`
}

func percentP(h *handle) { fmt.Printf("%p\n", h) } // want `prints an address \(%p\)`

func logP(h *handle) { log.Printf("at %d: %p", 1, h) } // want `prints an address \(%p\)`

func errorP(h *handle) error { return fmt.Errorf("bad %p", h) } // want `prints an address \(%p\)`

func printInt(n *int) { fmt.Println(n) } // want `prints a pointer`

func printChan(ch chan int) { fmt.Printf("%v\n", ch) } // want `prints a channel`

func printFunc(f func()) { fmt.Printf("%v\n", f) } // want `prints a function`

func printUnsafe(p unsafe.Pointer) { fmt.Println(p) } // want `prints an unsafe.Pointer`

type node struct {
	name string
	next *node
}

func printNode(n node) { fmt.Printf("%+v\n", n) } // want `prints a struct whose field next prints as an address`

func printNodePointer(n *node) { fmt.Println(n) } // want `prints a struct whose field next prints as an address`

func iterate(m map[*handle]int) {
	for h := range m { // want `order of iteration over map m depends on addresses, its keys being or holding pointers, and can be seen: it prints`
		fmt.Println(h.n)
	}
}

func iterateConns(m map[net.Conn]int, ch chan net.Conn) {
	for c := range m { // want `depends on addresses.*it sends on ch`
		ch <- c
	}
}

type key struct{ h *handle }

func iterateStructs(m map[key]string) (ss []string) {
	for _, s := range m { // want `depends on addresses.*it appends to ss`
		ss = append(ss, s)
	}
	return ss
}

func iterateChans(m map[chan int]bool) chan int {
	for ch := range m { // want `depends on addresses.*it returns ch`
		return ch
	}
	return nil
}

func workers() int { return runtime.NumCPU() } // want `the machine decides what is done here: runtime.NumCPU`

func pool() []int { return make([]int, runtime.GOMAXPROCS(0)) } // want `runtime.GOMAXPROCS`

func set() { runtime.GOMAXPROCS(4) } // want `sets GOMAXPROCS`

func throttle() bool {
	if runtime.NumGoroutine() > 1000 { // want `runtime.NumGoroutine`
		return true
	}
	return false
}

func pressure() bool {
	var ms runtime.MemStats
	runtime.ReadMemStats(&ms) // want `the state of the heap decides`
	return ms.HeapAlloc > 1<<30
}

func goid() int {
	var b [64]byte
	n := runtime.Stack(b[:], false) // want `parses a stack`
	id, _ := strconv.Atoi(strings.Fields(string(b[:n]))[1])
	return id
}

func goid2() uint64 {
	s := string(debug.Stack()) // want `parses a stack`
	id, _ := strconv.ParseUint(s[10:12], 10, 64)
	return id
}

func shard(h *handle, n uintptr) uintptr {
	return uintptr(unsafe.Pointer(h)) % n // want `takes an address as a number`
}

func slot(h *handle, shards []int) int {
	return shards[uintptr(unsafe.Pointer(h))>>4&7] // ok: too deep to follow
}

func hashAddress(h *handle) uint64 {
	return hash64(uint64(uintptr(unsafe.Pointer(h)))) // want `hashes an address`
}

func hash64(x uint64) uint64 { h := fnv.New64(); h.Write([]byte{byte(x)}); return h.Sum64() }

var stop atomic.Bool

var flag int32

func spin() {
	for !stop.Load() { // want `spins without a scheduling point`
	}
}

func spinOld() {
	for atomic.LoadInt32(&flag) == 0 { // want `spins without a scheduling point`
	}
}

func forever() {
	for { // want `spins without a scheduling point`
	}
}

func poll(ch chan int) int {
	for { // want `spins without a scheduling point`
		select {
		case n := <-ch:
			return n
		default:
		}
	}
}

func spinIf() {
	for { // want `spins without a scheduling point`
		if stop.Load() {
			return
		}
	}
}

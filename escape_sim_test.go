//go:build dst

package dst_test

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/dstkit/dst"
	"golang.org/x/sys/unix"
)

// What was made outside of the worlds.
var (
	outsideChan  = make(chan int)
	outsideCond  = sync.NewCond(new(sync.Mutex))
	outsideMutex sync.Mutex
	outsideWG    sync.WaitGroup
	outsideTimer = make(chan func(), 1)
	outsideFile  *os.File
)

// outside runs f on a goroutine that belongs to no world, some real time from now.
func outside(f func()) { outsideTimer <- f }

func init() {
	go func() { // started before any world is
		for f := range outsideTimer {
			time.Sleep(50 * time.Millisecond) // real ones
			f()
		}
	}()
}

// An escape is one way out of a world, or into it, that stops the run.
var escapes = []struct {
	name string
	main func(w *dst.World) // on a host; it must not come back
	want []string
}{
	{"channel", func(w *dst.World) { outside(func() { outsideChan <- 1 }); <-outsideChan }, []string{"a goroutine outside of the simulation woke one inside", "escape_sim_test.go:"}},
	{"cond", func(w *dst.World) {
		outside(func() { outsideCond.L.Lock(); outsideCond.Broadcast(); outsideCond.L.Unlock() })
		outsideCond.L.Lock()
		outsideCond.Wait()
	}, []string{"woke one inside", "sync.(*Cond).Broadcast"}},
	{"mutex", func(w *dst.World) {
		outsideMutex.Lock()
		outside(outsideMutex.Unlock)
		outsideMutex.Lock()
	}, []string{"woke one inside", "sync.(*Mutex).Unlock"}},
	{"waitgroup", func(w *dst.World) {
		outsideWG.Add(1)
		outside(outsideWG.Done)
		outsideWG.Wait()
	}, []string{"woke one inside", "sync.(*WaitGroup).Done"}},
	{"timer", func(w *dst.World) {
		c := make(chan int)
		outside(func() { time.AfterFunc(time.Millisecond, func() { close(c) }) })
		<-c
	}, []string{"woke one inside", "escape_sim_test.go:"}},
	{"finalizer", func(w *dst.World) {
		c := make(chan int)
		made := make(chan bool, 1)
		outside(func() {
			runtime.SetFinalizer(new([64]byte), func(*[64]byte) { time.Sleep(time.Second); close(c) })
			made <- true
		})
		for len(made) == 0 {
			runtime.GC()
			busy()
		}
		runtime.GC()
		runtime.GC()
		<-c
	}, []string{"woke one inside", "escape_sim_test.go:"}},
	{"cleanup", func(w *dst.World) {
		c := make(chan int)
		made := make(chan bool, 1)
		outside(func() {
			runtime.AddCleanup(new([64]byte), func(c chan int) { time.Sleep(time.Second); close(c) }, c)
			made <- true
		})
		for len(made) == 0 {
			runtime.GC()
			busy()
		}
		runtime.GC()
		runtime.GC()
		<-c
	}, []string{"woke one inside"}},
	{"instruction", func(w *dst.World) { unix.SyscallNoError(unix.SYS_GETPID, 0, 0, 0) },
		[]string{"host a makes a system call that does not go through package syscall", "unix.SyscallNoError", "escape_sim_test.go:"}},
}

// busy lets some real time pass.
func busy() {
	for range 100000 {
		sink++
	}
}

var sink int

func init() {
	for _, e := range escapes {
		children["escape "+e.name] = func(t *testing.T) {
			dst.Run(t, func(w *dst.World) {
				h := w.Host("a")
				go func() { // something is always pending
					for {
						time.Sleep(time.Millisecond)
						busy()
					}
				}()
				h.Do(func() { e.main(w); fmt.Println("came back") })
				w.Failf("the run went on")
			}, dst.Seeds(1))
		}
	}
}

// Each of these stops the run, and tells where.
func TestEscapes(t *testing.T) {
	for _, e := range escapes {
		t.Run(e.name, func(t *testing.T) {
			runChild(t, "escape "+e.name).has(t, append(e.want, "escape: ")...).hasNot(t, "the run went on", "came back")
		})
	}
}

// Each of these is simulated, or refused with an error; nothing reaches the machine.
func TestNoEscape(t *testing.T) {
	f, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	outsideFile = f
	r, pipe, _ := os.Pipe() // the poller's
	defer pipe.Close()
	defer r.Close()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	before, _ := os.Getwd()
	dst.Run(t, func(w *dst.World) {
		w.Host("a").Do(func() {
			if _, err := outsideFile.WriteString("x"); !errors.Is(err, syscall.EBADF) {
				w.Failf("a write to a file that is open outside: %v", err)
			}
			if _, err := pipe.WriteString("x"); !errors.Is(err, syscall.EBADF) {
				w.Failf("a write to a pipe that is open outside: %v", err)
			}
			if _, err := net.DialTimeout("tcp", ln.Addr().String(), time.Second); !errors.Is(err, syscall.ECONNREFUSED) {
				w.Failf("a dial to a port of the machine: %v", err)
			}
			if _, err := os.Stat(outsideFile.Name()); !errors.Is(err, os.ErrNotExist) {
				w.Failf("a file of the machine: %v", err)
			}
			if err := exec.Command("/bin/sh", "-c", "exit 0").Run(); err == nil {
				w.Failf("a program of the machine ran")
			}
			if fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_DGRAM, 0); err != nil || fd < 1<<20 {
				w.Failf("a socket: %d, %v", fd, err)
			}
			if err := syscall.Chdir("/tmp"); err != nil {
				w.Failf("chdir: %v", err)
			}
			if err := syscall.Setuid(1000); err != nil || os.Getuid() != 1000 {
				w.Failf("setuid: %v, %d", err, os.Getuid())
			}
			if err := syscall.Setuid(0); err != syscall.EPERM {
				w.Failf("setuid back: %v", err)
			}
			if err := syscall.Sethostname([]byte("other")); err != syscall.EPERM {
				w.Failf("sethostname: %v", err)
			}
			// A thread is nobody's business.
			runtime.LockOSThread()
			time.Sleep(time.Second)
			runtime.UnlockOSThread()
			// Finalizers and cleanups of a host never run.
			runtime.SetFinalizer(new([64]byte), func(*[64]byte) { w.Failf("a finalizer of a host ran") })
			runtime.AddCleanup(new([64]byte), func(int) { w.Failf("a cleanup of a host ran") }, 0)
			for range 3 {
				runtime.GC()
			}
			time.Sleep(time.Second)
		})
		// Signals of the real process are not those of hosts.
		c := make(chan os.Signal, 1)
		w.Host("b").Do(func() { signal.Notify(c, syscall.SIGUSR1) })
		syscall.Kill(os.Getpid(), syscall.SIGUSR1) // nobody listens there
		time.Sleep(time.Second)
		if len(c) != 0 {
			w.Failf("a host got a signal of the machine")
		}
		w.Host("c").Do(func() {
			if err := syscall.Sethostname([]byte("renamed")); err != nil {
				w.Failf("sethostname: %v", err)
			}
			if name, _ := os.Hostname(); name != "renamed" {
				w.Failf("the host's name is %q", name)
			}
		})
		if name, _ := os.Hostname(); name == "renamed" {
			w.Failf("the machine was renamed")
		}
	}, dst.Seeds(1))
	if st, err := f.Stat(); err != nil || st.Size() != 0 {
		t.Errorf("the file outside: %v, %v", st, err)
	}
	if after, _ := os.Getwd(); after != before {
		t.Errorf("the test has moved from %s to %s", before, after)
	}
}

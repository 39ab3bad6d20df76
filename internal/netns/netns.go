//go:build linux && (amd64 || arm64)

// Package netns gives tests that use the machine's own sockets a network that nobody
// else uses. On a machine where other tests run, a port that was chosen for one address
// is often in use for another: by an ephemeral port, or by a connection in TIME-WAIT.
package netns

import (
	"fmt"
	"os"
	"runtime"
	"syscall"
	"testing"
	"unsafe"
)

// Enter moves the calling goroutine, and its thread, into a network namespace of its own
// (network_namespaces(7)), where there is a loopback interface and nothing else. The
// function that it returns goes back; the same goroutine has to call it. Sockets stay in
// the namespace that they were made in.
//
// A process without CAP_SYS_ADMIN stays in the machine's network: then alone is false, and
// leave does nothing.
func Enter(t testing.TB) (leave func(), alone bool) {
	t.Helper()
	runtime.LockOSThread() //dst:ignore escape a namespace is one of a thread; the tests that ask for it are on the real machine
	outside, err := os.Open(fmt.Sprintf("/proc/self/task/%d/ns/net", syscall.Gettid()))
	if err == nil {
		err = syscall.Unshare(syscall.CLONE_NEWNET)
	}
	if err != nil {
		outside.Close()
		runtime.UnlockOSThread()
		t.Logf("in the machine's network, among other programs' ports: %v", err)
		return func() {}, false
	}
	leave = func() {
		defer outside.Close()
		if _, _, errno := syscall.RawSyscall(sysSetns, outside.Fd(), syscall.CLONE_NEWNET, 0); errno != 0 {
			// The thread stays locked, and ends with its goroutine.
			t.Errorf("setns: %v", errno)
			return
		}
		runtime.UnlockOSThread()
	}
	if err := up("lo"); err != nil {
		leave()
		t.Fatalf("the loopback interface of a new network namespace: %v", err)
	}
	return leave, true
}

// up sets an interface up (netdevice(7)). The kernel gives the loopback interface its
// addresses.
func up(name string) error {
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_DGRAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer syscall.Close(fd)
	var req struct { // ifreq
		name  [syscall.IFNAMSIZ]byte
		flags uint16
		_     [22]byte
	}
	copy(req.name[:], name)
	req.flags = syscall.IFF_UP
	if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, uintptr(fd), syscall.SIOCSIFFLAGS, uintptr(unsafe.Pointer(&req))); errno != 0 {
		return errno
	}
	return nil
}

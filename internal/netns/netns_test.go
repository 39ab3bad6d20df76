//go:build linux && (amd64 || arm64)

package netns

import (
	"syscall"
	"testing"
)

func listen(t *testing.T, port int) (int, error) {
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Close(fd) })
	if err := syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}, Port: port}); err != nil {
		return 0, err
	}
	sa, err := syscall.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	return sa.(*syscall.SockaddrInet4).Port, nil
}

// A port that is in use outside is free inside, and again in use outside.
func TestEnter(t *testing.T) {
	port, err := listen(t, 0)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		leave, alone := Enter(t)
		if !alone {
			t.Skip("needs CAP_SYS_ADMIN")
		}
		_, err := listen(t, port)
		leave()
		if err != nil {
			t.Errorf("inside: port %d: %v", port, err)
		}
		if _, err := listen(t, port); err != syscall.EADDRINUSE {
			t.Errorf("outside: port %d: %v, want %v", port, err, syscall.EADDRINUSE)
		}
	}
}

//go:build dstsim && linux && (amd64 || arm64)

package kernel_test

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"testing"
	"time"
)

// TestProxy copies between TCP, Unix sockets and pipes, where package net would
// splice, and watches a TCP socket with epoll.
func TestProxy(t *testing.T) {
	onHost(t, func() error {
		tl, err := net.Listen("tcp", "127.0.0.1:80")
		if err != nil {
			return err
		}
		ul, err := net.Listen("unix", "/tmp/backend")
		if err != nil {
			return err
		}
		go func() { // the backend
			for {
				c, err := ul.Accept()
				if err != nil {
					return
				}
				go func() {
					io.Copy(c, c)
					c.(*net.UnixConn).CloseWrite()
				}()
			}
		}()
		go func() { // the proxy
			for {
				c, err := tl.Accept()
				if err != nil {
					return
				}
				u, err := net.Dial("unix", "/tmp/backend")
				if err != nil {
					return
				}
				go func() {
					io.Copy(u, c)
					u.(*net.UnixConn).CloseWrite()
				}()
				go func() {
					io.Copy(c, u)
					c.Close()
				}()
			}
		}()
		c, err := net.Dial("tcp", "127.0.0.1:80")
		if err != nil {
			return err
		}
		data := bytes.Repeat([]byte("0123456789"), 30000)
		r, w, _ := os.Pipe()
		go func() {
			w.Write(data)
			w.Close()
		}()
		go func() {
			io.Copy(c, r)
			c.(*net.TCPConn).CloseWrite()
		}()
		got, err := io.ReadAll(c)
		if err != nil || !bytes.Equal(got, data) {
			return fmt.Errorf("%d bytes, %v", len(got), err)
		}

		// A listener that an epoll set watches.
		l, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_NONBLOCK, 0)
		if err != nil {
			return err
		}
		syscall.Bind(l, &syscall.SockaddrInet4{Port: 81, Addr: [4]byte{127, 0, 0, 1}})
		if err := syscall.Listen(l, 5); err != nil {
			return err
		}
		ep, _ := syscall.EpollCreate1(0)
		watch := func(fd int, events uint32) {
			ev := syscall.EpollEvent{Events: events, Fd: int32(fd)}
			if err := syscall.EpollCtl(ep, syscall.EPOLL_CTL_ADD, fd, &ev); err != nil {
				panic(err)
			}
		}
		watch(l, syscall.EPOLLIN)
		wait := func() string {
			var evs [4]syscall.EpollEvent
			n, err := syscall.EpollWait(ep, evs[:], 5000)
			s := fmt.Sprint(n, err)
			for _, ev := range evs[:max(n, 0)] {
				s += fmt.Sprintf(" %v:%#x", ev.Fd == int32(l), ev.Events)
			}
			return s
		}
		if s := wait(); s != "0 <nil>" {
			return fmt.Errorf("nobody came: %s", s)
		}
		go func() {
			c, err := net.Dial("tcp", "127.0.0.1:81")
			if err == nil {
				time.Sleep(time.Second)
				io.WriteString(c, "hello")
				time.Sleep(time.Second)
				c.Close()
			}
		}()
		if s := wait(); s != "1 <nil> true:0x1" {
			return fmt.Errorf("somebody came: %s", s)
		}
		fd, _, err := syscall.Accept4(l, syscall.SOCK_NONBLOCK)
		if err != nil {
			return err
		}
		watch(fd, syscall.EPOLLIN|syscall.EPOLLRDHUP)
		if s := wait(); s != "1 <nil> false:0x1" {
			return fmt.Errorf("data: %s", s)
		}
		syscall.Read(fd, make([]byte, 10))
		if s := wait(); s != "1 <nil> false:0x2001" {
			return fmt.Errorf("end: %s", s)
		}
		return nil
	})
}

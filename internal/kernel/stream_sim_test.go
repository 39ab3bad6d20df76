//go:build dstsim && linux && (amd64 || arm64)

package kernel_test

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"syscall"
	"testing"
	"time"

	"github.com/dstkit/dst/internal/kernel"
	"github.com/dstkit/dst/sched"
	"github.com/dstkit/dst/simfs"
	"github.com/dstkit/dst/simnet"
)

// blockingPair makes a connection of blocking descriptors, over loopback.
func blockingPair() (x, y int, err error) {
	socket := func() int {
		fd, e := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
		err = errors.Join(err, e)
		return fd
	}
	l := socket()
	defer syscall.Close(l)
	err = errors.Join(err, syscall.Bind(l, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}), syscall.Listen(l, 1))
	sa, e := syscall.Getsockname(l)
	if err = errors.Join(err, e); err != nil {
		return 0, 0, err
	}
	accepted := make(chan error)
	go func() {
		fd, _, err := syscall.Accept(l)
		y = fd
		accepted <- err
	}()
	time.Sleep(time.Millisecond)
	x = socket()
	err = errors.Join(err, syscall.Connect(x, sa), <-accepted)
	return x, y, err
}

// TestBlockingStreams uses streams as a program does that leaves the poller
// out.
func TestBlockingStreams(t *testing.T) {
	onHost(t, func() error {
		x, y, err := blockingPair()
		if err != nil {
			return err
		}
		// A write waits until all is taken, a read that wants all until it came.
		const size = 32 << 20
		data := make([]byte, size)
		for i := range data {
			data[i] = byte(i * 31 >> 5)
		}
		written := make(chan error, 1)
		go func() {
			n, err := syscall.Write(x, data)
			if err == nil && n != size {
				err = fmt.Errorf("wrote %d", n)
			}
			written <- err
		}()
		time.Sleep(time.Second)
		got := make([]byte, size)
		if n, _, err := syscall.Recvfrom(y, got[:10], syscall.MSG_PEEK); n != 10 || err != nil {
			return fmt.Errorf("peek: %d, %v", n, err)
		}
		if n, _, err := syscall.Recvfrom(y, got, syscall.MSG_WAITALL); n != size || err != nil || !bytes.Equal(got, data) {
			return fmt.Errorf("of %d bytes %d came, %v, the same: %v", size, n, err, bytes.Equal(got, data))
		}
		if err := <-written; err != nil {
			return err
		}

		tv := syscall.NsecToTimeval(5e8)
		syscall.SetsockoptTimeval(y, syscall.SOL_SOCKET, syscall.SO_RCVTIMEO, &tv)
		start := time.Now()
		if _, err := syscall.Read(y, got[:1]); err != syscall.EAGAIN || time.Since(start) < 5e8 {
			return fmt.Errorf("a receive timeout gave %v after %v", err, time.Since(start))
		}
		syscall.Write(x, []byte("abc"))
		if n, _, err := syscall.Recvfrom(y, got[:9], syscall.MSG_WAITALL); n != 3 || err != nil {
			return fmt.Errorf("part of what was wanted came: %d, %v", n, err)
		}
		syscall.SetsockoptTimeval(x, syscall.SOL_SOCKET, syscall.SO_SNDTIMEO, &tv)
		start = time.Now()
		if n, err := syscall.Write(x, data); n <= 0 || n >= size || err != nil || time.Since(start) < 5e8 {
			return fmt.Errorf("a send timeout gave %d, %v after %v", n, err, time.Since(start))
		}
		if _, err := syscall.Write(x, data); err != syscall.EAGAIN {
			return fmt.Errorf("a send timeout without progress gave %v", err)
		}

		// A close that lingers.
		syscall.SetsockoptLinger(x, syscall.SOL_SOCKET, syscall.SO_LINGER, &syscall.Linger{Onoff: 1, Linger: 3})
		start = time.Now()
		if err := syscall.Close(x); err != nil || time.Since(start) < 3*time.Second || time.Since(start) > 3100*time.Millisecond {
			return fmt.Errorf("a close that lingers for 3 s returned after %v, %v", time.Since(start), err)
		}
		if x, y, err = blockingPair(); err != nil {
			return err
		}
		syscall.SetsockoptLinger(x, syscall.SOL_SOCKET, syscall.SO_LINGER, &syscall.Linger{Onoff: 1, Linger: 3})
		syscall.Write(x, []byte("read"))
		syscall.Read(y, got[:9])
		start = time.Now()
		if err := syscall.Close(x); err != nil || time.Since(start) > time.Second {
			return fmt.Errorf("a close with nothing to linger for returned after %v, %v", time.Since(start), err)
		}
		if n, err := syscall.Read(y, got[:9]); n != 0 || err != nil {
			return fmt.Errorf("the end of the stream is %d, %v", n, err)
		}

		fd, _ := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
		err = syscall.Connect(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}, Port: 1})
		if err != syscall.ECONNREFUSED {
			return fmt.Errorf("a blocking connect to nobody gave %v", err)
		}
		return nil
	})
}

// TestKilledInStreams ends processes whose goroutines wait for streams in every
// way, while their peers go on.
func TestKilledInStreams(t *testing.T) {
	for seed := range uint64(8) {
		w := sched.New(seed)
		n := simnet.New(w)
		n.SetDefault(simnet.Link{Latency: simnet.Uniform(time.Millisecond, 10*time.Millisecond), Loss: 0.1})
		k := kernel.New(w, n)
		err := w.Run(func() {
			sched.Enter()
			b, bs, bd := w.NewHost("b"), n.AddHost("b"), simfs.New(w, "b")
			k.Boot(b, bs, bd, kernel.Options{})
			h, stack, disk := w.NewHost("a"), n.AddHost("a"), simfs.New(w, "a")
			dark := n.AddHost("dark")
			dark.PowerOff()
			sched.Leave()
			b.Go(func() { // takes connections, and reads a little
				l, err := net.Listen("tcp", ":80")
				if err != nil {
					t.Error(err)
				}
				for {
					c, err := l.Accept()
					if err != nil {
						t.Error(err)
						return
					}
					go c.Read(make([]byte, 10))
				}
			})
			for range 3 {
				sched.Enter()
				p := k.Boot(h, stack, disk, kernel.Options{})
				sched.Leave()
				h.Go(func() {
					l, err := net.Listen("tcp", ":7000")
					if err != nil {
						t.Error(p.PID(), err)
						return
					}
					go l.Accept()
					go net.Dial("tcp4", "dark:80")
					connect := func(linger int) {
						c, err := net.Dial("tcp4", "b:80")
						if err != nil {
							return // SYN was lost too often
						}
						go c.Read(make([]byte, 10))
						c.SetDeadline(time.Now().Add(time.Hour))
						if linger > 0 {
							c.SetWriteDeadline(time.Now().Add(time.Millisecond))
						}
						c.Write(make([]byte, 16<<20))
						c.(*net.TCPConn).SetLinger(linger)
						c.Close()
					}
					go connect(-1)
					go connect(100)
					fd, _ := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
					go syscall.Connect(fd, &syscall.SockaddrInet4{Addr: dark.Addr().As4(), Port: 80})
					x, y, err := blockingPair()
					if err != nil {
						t.Error(err)
					}
					go syscall.Write(x, make([]byte, 12<<20))
					go syscall.Read(x, make([]byte, 10))
					go syscall.Recvfrom(y, make([]byte, 16<<20), syscall.MSG_WAITALL)
				})
				time.Sleep(time.Duration(100+seed*700) * time.Millisecond)
				sched.Enter()
				h.Kill()
				p.Exit(137)
				stack.Reset()
				h.Boot()
				sched.Leave()
				time.Sleep(time.Duration(seed) * time.Second)
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		k.Close()
	}
}

// BenchmarkTCPRoundTrip compares with the machine's loopback.
func BenchmarkTCPRoundTrip(b *testing.B) {
	echo := func(l net.Listener) {
		c, err := l.Accept()
		buf := make([]byte, 100)
		for err == nil {
			var n int
			if n, err = c.Read(buf); err == nil {
				_, err = c.Write(buf[:n])
			}
		}
	}
	b.Run("real", func(b *testing.B) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			b.Fatal(err)
		}
		defer l.Close()
		go echo(l)
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			b.Fatal(err)
		}
		defer c.Close()
		b.ReportAllocs()
		b.ResetTimer()
		ask(c, b.N)
	})
	b.Run("sim", func(b *testing.B) {
		b.ReportAllocs()
		_, err := world(1, func(boot func(string) *sched.Host) {
			s, c := boot("s"), boot("c")
			done := make(chan bool)
			s.Go(func() {
				l, err := net.Listen("tcp", ":7000")
				if err != nil {
					panic(err)
				}
				echo(l)
			})
			c.Go(func() {
				time.Sleep(time.Second)
				conn, err := net.Dial("tcp", "s:7000")
				if err != nil {
					panic(err)
				}
				ask(conn, b.N)
				close(done)
			})
			<-done
		})
		if err != nil {
			b.Fatal(err)
		}
	})
}

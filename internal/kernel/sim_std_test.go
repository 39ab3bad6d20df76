//go:build dstsim && linux && (amd64 || arm64)

package kernel_test

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/dstkit/dst/internal/kernel"
	"github.com/dstkit/dst/sched"
	"github.com/dstkit/dst/simfs"
	"github.com/dstkit/dst/simnet"
)

// onHost runs f as the program of host a. Nothing that it does may be beyond
// what is modelled.
func onHost(t *testing.T, f func() error) {
	t.Helper()
	w := sched.New(1)
	n := simnet.New(w)
	k := kernel.New(w, n)
	defer k.Close()
	k.Unsupported = func(h *sched.Host, name, detail string) { t.Errorf("%s: %s", name, detail) }
	var result error
	err := w.Run(func() {
		done := make(chan bool)
		sched.Enter()
		h := w.NewHost("a")
		p := k.Boot(h, n.AddHost("a"), simfs.New(w, "a"), kernel.Options{})
		sched.Leave()
		h.Go(func() {
			result = f()
			close(done)
		})
		<-done
		sched.Enter()
		p.Exit(0)
		sched.Leave()
	})
	if err != nil || result != nil {
		t.Fatal(err, result)
	}
}

func TestPackageNet(t *testing.T) {
	onHost(t, func() error {
		c, err := net.ListenPacket("udp", ":0")
		if err != nil {
			return err
		}
		d, err := net.Dial("udp", fmt.Sprintf("a:%d", c.LocalAddr().(*net.UDPAddr).Port))
		if err != nil {
			return err
		}
		if _, err := d.Write([]byte("hello")); err != nil {
			return err
		}
		buf := make([]byte, 100)
		n, from, err := c.ReadFrom(buf)
		if err != nil || string(buf[:n]) != "hello" || from.String() != d.LocalAddr().String() {
			return fmt.Errorf("received %q from %v, %v", buf[:n], from, err)
		}
		start := time.Now()
		c.SetReadDeadline(start.Add(3 * time.Second))
		if _, _, err = c.ReadFrom(buf); !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(start) < 3*time.Second {
			return fmt.Errorf("a deadline: %v after %v", err, time.Since(start))
		}
		c.SetReadDeadline(time.Time{})
		go func() {
			time.Sleep(time.Second)
			c.Close()
		}()
		if _, _, err = c.ReadFrom(buf); !errors.Is(err, net.ErrClosed) {
			return fmt.Errorf("closed beneath a read: %v", err)
		}
		d.Write(buf[:1])
		if _, err := d.Read(buf); !errors.Is(err, syscall.ECONNREFUSED) {
			return fmt.Errorf("read from nobody: %v", err)
		}
		if _, err := net.LookupHost("nobody"); err == nil {
			return errors.New("nobody has an address")
		}

		ifs, err := net.Interfaces()
		if err != nil || len(ifs) != 2 {
			return fmt.Errorf("interfaces %v, %v", ifs, err)
		}
		if addrs, err := ifs[1].Addrs(); fmt.Sprint(addrs, err) != "[10.0.0.1/16 fd00::1/64] <nil>" {
			return fmt.Errorf("addresses %v, %v", addrs, err)
		}
		group := &net.UDPAddr{IP: net.IPv4(224, 0, 0, 251), Port: 5353}
		m, err := net.ListenMulticastUDP("udp4", &ifs[1], group)
		if err != nil {
			return err
		}
		if groups, err := ifs[1].MulticastAddrs(); fmt.Sprint(groups, err) != "[224.0.0.251 224.0.0.1 ff02::1 ff01::1] <nil>" {
			return fmt.Errorf("groups %v, %v", groups, err)
		}
		u, err := net.ListenUDP("udp4", nil)
		if err != nil {
			return err
		}
		u.WriteToUDP([]byte("all"), group)
		if n, _, err := m.ReadFromUDP(buf); err != nil || string(buf[:n]) != "all" {
			return fmt.Errorf("from the group: %q, %v", buf[:n], err)
		}
		return nil
	})
}

func TestPackageOS(t *testing.T) {
	onHost(t, func() error {
		dir, err := os.MkdirTemp("", "x")
		if err != nil {
			return err
		}
		if err := os.WriteFile(dir+"/f", []byte("one\ntwo\n"), 0o600); err != nil {
			return err
		}
		f, err := os.OpenFile(dir+"/f", os.O_RDWR|os.O_APPEND, 0)
		if err != nil {
			return err
		}
		fmt.Fprintln(f, "three")
		if err := f.Sync(); err != nil {
			return err
		}
		f.Seek(0, 0)
		lines := 0
		for s := bufio.NewScanner(f); s.Scan(); {
			lines++
		}
		if err := f.Close(); err != nil || lines != 3 {
			return fmt.Errorf("%d lines, %v", lines, err)
		}
		if err := os.Rename(dir+"/f", dir+"/g"); err != nil {
			return err
		}
		if list, err := os.ReadDir(dir); err != nil || len(list) != 1 || list[0].Name() != "g" {
			return fmt.Errorf("directory %v, %v", list, err)
		}
		if err := os.MkdirAll(dir+"/a/b/c", 0o755); err != nil {
			return err
		}
		if err := os.RemoveAll(dir); err != nil {
			return err
		}
		if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("removed, and yet: %v", err)
		}
		if name, err := os.Hostname(); err != nil || name != "a" {
			return fmt.Errorf("host name %q, %v", name, err)
		}
		if wd, err := os.Getwd(); err != nil || wd != "/" {
			return fmt.Errorf("working directory %q, %v", wd, err)
		}
		return nil
	})
}

// TestBlockingDescriptors uses descriptors as a program does that leaves the
// poller out.
func TestBlockingDescriptors(t *testing.T) {
	onHost(t, func() error {
		fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_DGRAM|syscall.SOCK_CLOEXEC, 0)
		if err != nil {
			return err
		}
		if err := syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
			return err
		}
		sa, _ := syscall.Getsockname(fd)
		got := make(chan string)
		for range 3 {
			go func() {
				buf := make([]byte, 10)
				n, _, err := syscall.Recvfrom(fd, buf, 0)
				got <- fmt.Sprint(string(buf[:max(n, 0)]), err)
			}()
		}
		for i := range 3 {
			start, ts := time.Now(), syscall.NsecToTimespec(1e9)
			if err := syscall.Nanosleep(&ts, nil); err != nil || time.Since(start) < time.Second {
				return fmt.Errorf("slept %v, %v", time.Since(start), err)
			}
			if err := syscall.Sendto(fd, []byte{byte('a' + i)}, 0, sa); err != nil {
				return err
			}
			if s, want := <-got, string(rune('a'+i))+"<nil>"; s != want {
				return fmt.Errorf("received %q, want %q", s, want)
			}
		}
		tv := syscall.NsecToTimeval(5e8)
		syscall.SetsockoptTimeval(fd, syscall.SOL_SOCKET, syscall.SO_RCVTIMEO, &tv)
		start := time.Now()
		if _, _, err := syscall.Recvfrom(fd, make([]byte, 1), 0); err != syscall.EAGAIN || time.Since(start) < 5e8 {
			return fmt.Errorf("a receive timeout gave %v after %v", err, time.Since(start))
		}
		return deep(fd, sa, 2000)
	})
}

// deep makes calls whose arguments lie on a stack that grows, and so moves.
//
//go:noinline
func deep(fd int, sa syscall.Sockaddr, n int) error {
	var buf [128]byte
	buf[0] = byte(n)
	if err := syscall.Sendto(fd, buf[:], 0, sa); err != nil {
		return err
	}
	if k, _, err := syscall.Recvfrom(fd, buf[:], 0); err != nil || k != 128 || buf[0] != byte(n) {
		return fmt.Errorf("at depth %d: %d, %v", n, k, err)
	}
	if n > 0 {
		return deep(fd, sa, n-1)
	}
	return nil
}

// TestKilledWhileWaiting ends processes whose goroutines wait in every way,
// and boots the host again.
func TestKilledWhileWaiting(t *testing.T) {
	for seed := range uint64(20) {
		w := sched.New(seed)
		n := simnet.New(w)
		k := kernel.New(w, n)
		err := w.Run(func() {
			sched.Enter()
			h := w.NewHost("a")
			stack, disk := n.AddHost("a"), simfs.New(w, "a")
			sched.Leave()
			for range 3 {
				sched.Enter()
				p := k.Boot(h, stack, disk, kernel.Options{})
				sched.Leave()
				h.Go(func() {
					c, err := net.ListenPacket("udp", ":7000")
					if err != nil {
						t.Error(p.PID(), err)
						return
					}
					c.SetDeadline(time.Now().Add(time.Hour))
					go c.ReadFrom(make([]byte, 10))
					go func() {
						ts := syscall.NsecToTimespec(1e12)
						syscall.Nanosleep(&ts, nil)
					}()
					fd, _ := syscall.Socket(syscall.AF_INET, syscall.SOCK_DGRAM, 0)
					go syscall.Read(fd, make([]byte, 10))
				})
				time.Sleep(time.Second)
				sched.Enter()
				if p.Open() != 5 {
					t.Errorf("%d descriptors are open, want 5", p.Open())
				}
				h.Kill()
				p.Exit(137)
				stack.Reset()
				h.Boot()
				sched.Leave()
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		k.Close()
	}
}

//go:build dstsim && linux && (amd64 || arm64)

package kernel_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/dstkit/dst/internal/kernel"
	"github.com/dstkit/dst/sched"
	"github.com/dstkit/dst/simfs"
	"github.com/dstkit/dst/simnet"
)

func TestHTTPOverUnixSocket(t *testing.T) {
	onHost(t, func() error {
		l, err := net.Listen("unix", "/tmp/http.sock")
		if err != nil {
			return err
		}
		big := strings.Repeat("0123456789abcdef", 1<<16) // 1 MiB
		mux := http.NewServeMux()
		mux.HandleFunc("/hello", func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "hello ", r.URL.Query().Get("name")) })
		mux.HandleFunc("/big", func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, big) })
		mux.HandleFunc("/count", func(w http.ResponseWriter, r *http.Request) {
			n, err := io.Copy(io.Discard, r.Body)
			fmt.Fprint(w, n, err)
		})
		mux.HandleFunc("/slow", func(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
		srv := &http.Server{Handler: mux}
		done := make(chan error)
		go func() { done <- srv.Serve(l) }()
		client := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			var d net.Dialer
			return d.DialContext(ctx, "unix", "/tmp/http.sock")
		}}}
		var wg sync.WaitGroup
		errs := make(chan error, 20)
		for i := range 10 {
			wg.Add(1)
			go func() {
				defer wg.Done()
				res, err := client.Get(fmt.Sprint("http://unix/hello?name=", i))
				if err != nil {
					errs <- err
					return
				}
				defer res.Body.Close()
				if b, err := io.ReadAll(res.Body); err != nil || string(b) != fmt.Sprint("hello ", i) {
					errs <- fmt.Errorf("%q, %v", b, err)
				}
			}()
		}
		wg.Wait()
		select {
		case err := <-errs:
			return err
		default:
		}
		res, err := client.Get("http://unix/big")
		if err != nil {
			return err
		}
		if b, err := io.ReadAll(res.Body); err != nil || string(b) != big {
			return fmt.Errorf("%d bytes, %v", len(b), err)
		}
		res, err = client.Post("http://unix/count", "text/plain", strings.NewReader(big))
		if err != nil {
			return err
		}
		if b, err := io.ReadAll(res.Body); err != nil || string(b) != "1048576<nil>" && string(b) != "1048576 <nil>" {
			return fmt.Errorf("%q, %v", b, err)
		}
		ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
		defer cancel()
		req, _ := http.NewRequestWithContext(ctx, "GET", "http://unix/slow", nil)
		start := time.Now()
		if _, err := client.Do(req); !errors.Is(err, context.DeadlineExceeded) || time.Since(start) < 3*time.Second {
			return fmt.Errorf("slow: %v after %v", err, time.Since(start))
		}
		client.CloseIdleConnections()
		if err := srv.Shutdown(context.Background()); err != nil {
			return err
		}
		if err := <-done; err != http.ErrServerClosed {
			return err
		}
		if _, err := os.Stat("/tmp/http.sock"); !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("the socket's name is left: %v", err)
		}
		_, err = net.Dial("unix", "/tmp/http.sock")
		if want := "dial unix /tmp/http.sock: connect: no such file or directory"; err == nil || err.Error() != want {
			return fmt.Errorf("dial: %v", err)
		}
		return nil
	})
}

func TestUnixConns(t *testing.T) {
	onHost(t, func() error {
		for _, network := range []string{"unix", "unixpacket"} {
			l, err := net.Listen(network, "@abstract")
			if err != nil {
				return err
			}
			if _, err := net.Listen(network, "@abstract"); !errors.Is(err, syscall.EADDRINUSE) {
				return fmt.Errorf("listen twice: %v", err)
			}
			go func() {
				for {
					c, err := l.Accept()
					if err != nil {
						return
					}
					go func() {
						defer c.Close()
						io.Copy(c, c)
					}()
				}
			}()
			c, err := net.Dial(network, "@abstract")
			if err != nil {
				return err
			}
			if c.RemoteAddr().String() != "@abstract" {
				return fmt.Errorf("remote address %v", c.RemoteAddr())
			}
			buf := make([]byte, 100)
			for range 3 {
				io.WriteString(c, "echo")
				if n, err := c.Read(buf); err != nil || string(buf[:n]) != "echo" {
					return fmt.Errorf("%s: %q, %v", network, buf[:n], err)
				}
			}
			start := time.Now()
			c.SetReadDeadline(start.Add(time.Minute))
			if _, err := c.Read(buf); !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(start) < time.Minute {
				return fmt.Errorf("deadline: %v after %v", err, time.Since(start))
			}
			c.SetReadDeadline(time.Time{})
			if err := c.(*net.UnixConn).CloseWrite(); err != nil {
				return err
			}
			if n, err := c.Read(buf); err != io.EOF && !(network == "unixpacket" && n == 0) {
				return fmt.Errorf("%s: end: %d, %v", network, n, err)
			}
			c.Close()

			// Writes that find no room, until a deadline.
			c, err = net.Dial(network, "@abstract")
			if err != nil {
				return err
			}
			c.SetWriteDeadline(time.Now().Add(time.Second))
			for err == nil {
				_, err = c.Write(make([]byte, 10000))
			}
			if !errors.Is(err, os.ErrDeadlineExceeded) {
				return err
			}
			c.Close()
			go func() {
				time.Sleep(time.Second)
				l.Close()
			}()
			if _, err := l.Accept(); !errors.Is(err, net.ErrClosed) {
				return fmt.Errorf("accept of closed: %v", err)
			}
			if _, err := net.Dial(network, "@abstract"); !errors.Is(err, syscall.ECONNREFUSED) {
				return fmt.Errorf("dial of closed: %v", err)
			}
		}

		// A stream that writers and readers share, both slow in turns.
		l, err := net.Listen("unix", "/tmp/s")
		if err != nil {
			return err
		}
		sum := make(chan int)
		go func() {
			c, _ := l.Accept()
			n := 0
			buf := make([]byte, 70000)
			for {
				k, err := c.Read(buf)
				n += k
				if err != nil {
					sum <- n
					return
				}
				if n%7 == 0 {
					time.Sleep(time.Millisecond)
				}
			}
		}()
		c, err := net.Dial("unix", "/tmp/s")
		if err != nil {
			return err
		}
		vector := net.Buffers{make([]byte, 300000), nil, make([]byte, 5), make([]byte, 500000)}
		if n, err := vector.WriteTo(c); n != 800005 || err != nil {
			return fmt.Errorf("writev: %d, %v", n, err)
		}
		c.Close()
		if n := <-sum; n != 800005 {
			return fmt.Errorf("%d arrived", n)
		}
		return nil
	})
}

func TestUnixgram(t *testing.T) {
	onHost(t, func() error {
		s, err := net.ListenPacket("unixgram", "/tmp/log")
		if err != nil {
			return err
		}
		client := &net.UnixAddr{Name: "/tmp/client", Net: "unixgram"}
		c, err := net.DialUnix("unixgram", client, &net.UnixAddr{Name: "/tmp/log", Net: "unixgram"})
		if err != nil {
			return err
		}
		const count = 100 // more than a queue holds: the writer waits
		go func() {
			for i := range count {
				fmt.Fprint(c, i)
			}
		}()
		buf := make([]byte, 100)
		for i := range count {
			n, from, err := s.ReadFrom(buf)
			if err != nil || string(buf[:n]) != fmt.Sprint(i) || from.String() != "/tmp/client" {
				return fmt.Errorf("%q from %v, %v", buf[:n], from, err)
			}
		}
		if _, err := s.WriteTo([]byte("answer"), client); err != nil {
			return err
		}
		if n, err := c.Read(buf); err != nil || string(buf[:n]) != "answer" {
			return fmt.Errorf("%q, %v", buf[:n], err)
		}

		// A file goes along.
		f, err := os.Create("/tmp/f")
		if err != nil {
			return err
		}
		f.WriteString("by another descriptor")
		if _, _, err := s.(*net.UnixConn).WriteMsgUnix([]byte("file"), syscall.UnixRights(int(f.Fd())), client); err != nil {
			return err
		}
		f.Close()
		oob := make([]byte, 100)
		_, k, _, _, err := c.ReadMsgUnix(buf, oob)
		if err != nil {
			return err
		}
		msgs, err := syscall.ParseSocketControlMessage(oob[:k])
		if err != nil || len(msgs) != 1 {
			return fmt.Errorf("%d messages, %v", len(msgs), err)
		}
		fds, err := syscall.ParseUnixRights(&msgs[0])
		if err != nil {
			return err
		}
		f = os.NewFile(uintptr(fds[0]), "passed")
		n, err := f.ReadAt(buf, 3)
		if string(buf[:n]) != "another descriptor" {
			return fmt.Errorf("%q, %v", buf[:n], err)
		}
		s.Close()
		if _, err := c.Write([]byte("x")); !errors.Is(err, syscall.ECONNREFUSED) {
			return fmt.Errorf("to the closed: %v", err)
		}
		return nil
	})
}

func TestOSPipe(t *testing.T) {
	onHost(t, func() error {
		r, w, err := os.Pipe()
		if err != nil {
			return err
		}
		start := time.Now()
		if err := r.SetReadDeadline(start.Add(5 * time.Second)); err != nil {
			return err
		}
		buf := make([]byte, 10)
		if _, err := r.Read(buf); !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(start) < 5*time.Second {
			return fmt.Errorf("read deadline: %v after %v", err, time.Since(start))
		}
		w.SetWriteDeadline(time.Now().Add(time.Second))
		if n, err := w.Write(make([]byte, 100000)); n != 65536 || !errors.Is(err, os.ErrDeadlineExceeded) {
			return fmt.Errorf("write deadline: %d, %v", n, err)
		}
		r.SetDeadline(time.Time{})
		w.SetDeadline(time.Time{})
		if _, err := io.ReadFull(r, make([]byte, 65536)); err != nil {
			return err
		}

		// Pipes and sockets in a row.
		l, err := net.Listen("unix", "/tmp/s")
		if err != nil {
			return err
		}
		data := bytes.Repeat([]byte("0123456789"), 50000)
		go func() {
			w.Write(data)
			w.Close()
		}()
		go func() {
			c, err := net.Dial("unix", "/tmp/s")
			if err == nil {
				io.Copy(c, r)
				c.Close()
			}
		}()
		c, err := l.Accept()
		if err != nil {
			return err
		}
		r2, w2, err := os.Pipe()
		if err != nil {
			return err
		}
		go func() {
			io.Copy(w2, c)
			w2.Close()
		}()
		got, err := io.ReadAll(r2)
		if err != nil || !bytes.Equal(got, data) {
			return fmt.Errorf("%d bytes, %v", len(got), err)
		}

		r3, w3, _ := os.Pipe()
		r3.Close()
		if _, err := w3.Write(buf); !errors.Is(err, syscall.EPIPE) {
			return fmt.Errorf("to nobody: %v", err)
		}
		r4, _, _ := os.Pipe()
		go func() {
			time.Sleep(time.Second)
			r4.Close()
		}()
		if _, err := r4.Read(buf); !errors.Is(err, os.ErrClosed) {
			return fmt.Errorf("closed beneath a read: %v", err)
		}

		// A FIFO, whose ends wait for each other.
		if err := syscall.Mkfifo("/tmp/fifo", 0o600); err != nil {
			return err
		}
		start = time.Now()
		go func() {
			time.Sleep(time.Second)
			w, err := os.OpenFile("/tmp/fifo", os.O_WRONLY, 0)
			if err == nil {
				io.WriteString(w, "through a file's name")
				w.Close()
			}
		}()
		f, err := os.Open("/tmp/fifo")
		if err != nil || time.Since(start) < time.Second {
			return fmt.Errorf("open: %v after %v", err, time.Since(start))
		}
		if b, err := io.ReadAll(f); err != nil || string(b) != "through a file's name" {
			return fmt.Errorf("%q, %v", b, err)
		}
		return nil
	})
}

// TestBlockingPipes leaves the poller out.
func TestBlockingPipes(t *testing.T) {
	onHost(t, func() error {
		for range 2 {
			var fds [2]int
			if err := syscall.Pipe2(fds[:], syscall.O_CLOEXEC); err != nil {
				return err
			}
			done := make(chan string)
			go func() {
				n, err := syscall.Write(fds[1], make([]byte, 300000))
				syscall.Close(fds[1])
				done <- fmt.Sprint(n, err)
			}()
			total, buf := 0, make([]byte, 1000)
			for {
				n, err := syscall.Read(fds[0], buf)
				if err != nil {
					return err
				}
				if n == 0 {
					break
				}
				total += n
			}
			if s := <-done; total != 300000 || s != "300000 <nil>" && s != "300000<nil>" {
				return fmt.Errorf("%d read; written %s", total, s)
			}
			syscall.Close(fds[0])
		}
		pair, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
		if err != nil {
			return err
		}
		go func() {
			for _, n := range []int{1, 300000, 99999} {
				time.Sleep(time.Second)
				syscall.Write(pair[0], make([]byte, n))
			}
			syscall.Close(pair[0])
		}()
		n, _, err := syscall.Recvfrom(pair[1], make([]byte, 350000), syscall.MSG_WAITALL)
		if n != 350000 || err != nil {
			return fmt.Errorf("all of it: %d, %v", n, err)
		}
		n, _, err = syscall.Recvfrom(pair[1], make([]byte, 350000), syscall.MSG_WAITALL)
		if n != 50000 || err != nil {
			return fmt.Errorf("the rest: %d, %v", n, err)
		}
		tv := syscall.NsecToTimeval(2e9)
		other, _ := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
		syscall.SetsockoptTimeval(other[0], syscall.SOL_SOCKET, syscall.SO_SNDTIMEO, &tv)
		start := time.Now()
		n, err = syscall.Write(other[0], make([]byte, 1<<20))
		if n < 100000 || n >= 1<<20 || err != nil || time.Since(start) < 2e9 {
			return fmt.Errorf("a send timeout: %d, %v after %v", n, err, time.Since(start))
		}
		if _, err = syscall.Write(other[0], make([]byte, 1<<20)); err != syscall.EAGAIN {
			return fmt.Errorf("a send timeout: %v", err)
		}
		return nil
	})
}

func eventfd() int {
	fd, _, errno := syscall.RawSyscall(syscall.SYS_EVENTFD2, 0, syscall.O_NONBLOCK, 0)
	if errno != 0 {
		panic(errno)
	}
	return int(fd)
}

// TestEventLoop is a program that brings its own poller.
func TestEventLoop(t *testing.T) {
	onHost(t, func() error {
		ep, err := syscall.EpollCreate1(syscall.EPOLL_CLOEXEC)
		if err != nil {
			return err
		}
		u, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_DGRAM|syscall.SOCK_NONBLOCK, 0)
		if err != nil {
			return err
		}
		syscall.Bind(u, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}})
		addr, _ := syscall.Getsockname(u)
		e := eventfd()
		timer, _, errno := syscall.RawSyscall(syscall.SYS_TIMERFD_CREATE, 1, syscall.O_NONBLOCK, 0)
		if errno != 0 {
			return errno
		}
		its := [2]syscall.Timespec{{Sec: 10}, {Sec: 4}}
		if _, _, errno := syscall.RawSyscall6(syscall.SYS_TIMERFD_SETTIME, timer, 0, uintptr(unsafe.Pointer(&its)), 0, 0, 0); errno != 0 {
			return errno
		}
		for _, fd := range []int{u, e, int(timer)} {
			ev := syscall.EpollEvent{Events: syscall.EPOLLIN, Fd: int32(fd)}
			if err := syscall.EpollCtl(ep, syscall.EPOLL_CTL_ADD, fd, &ev); err != nil {
				return err
			}
		}
		go func() {
			time.Sleep(1500 * time.Millisecond)
			syscall.Write(e, []byte{1, 0, 0, 0, 0, 0, 0, 0})
			time.Sleep(time.Second)
			syscall.Sendto(u, []byte("x"), 0, addr)
		}()
		begin := time.Now()
		var log []string
		for len(log) < 6 {
			var evs [4]syscall.EpollEvent
			n, err := syscall.EpollWait(ep, evs[:], 3000)
			if err != nil {
				return err
			}
			at := time.Since(begin).Round(100 * time.Millisecond)
			if n == 0 {
				log = append(log, fmt.Sprint(at, " timeout"))
			}
			for _, ev := range evs[:n] {
				syscall.Read(int(ev.Fd), make([]byte, 8))
				what := map[int32]string{int32(u): "packet", int32(e): "event", int32(timer): "timer"}[ev.Fd]
				log = append(log, fmt.Sprint(at, " ", what))
			}
		}
		want := "[1.5s event 2.5s packet 4s timer 7s timeout 10s timeout 13s timeout]"
		if got := fmt.Sprint(log); got != want {
			return fmt.Errorf("got %s, want %s", got, want)
		}

		// poll, which waits for several at once.
		type pollfd struct {
			fd              int32
			events, revents int16
		}
		pfs := [2]pollfd{{int32(u), 1, 0}, {int32(e), 1, 0}}
		ts := syscall.Timespec{Sec: 2}
		start := time.Now()
		n, _, errno := syscall.Syscall6(syscall.SYS_PPOLL, uintptr(unsafe.Pointer(&pfs)), 2, uintptr(unsafe.Pointer(&ts)), 0, 0, 0)
		if n != 0 || errno != 0 || time.Since(start) < 2*time.Second {
			return fmt.Errorf("ppoll: %d, %v after %v", n, errno, time.Since(start))
		}
		go func() {
			time.Sleep(time.Second)
			syscall.Write(e, []byte{1, 0, 0, 0, 0, 0, 0, 0})
		}()
		n, _, errno = syscall.Syscall6(syscall.SYS_PPOLL, uintptr(unsafe.Pointer(&pfs)), 2, 0, 0, 0, 0)
		if n != 1 || errno != 0 || pfs[1].revents != 1 {
			return fmt.Errorf("ppoll: %d, %v, %v", n, errno, pfs)
		}
		ts = syscall.Timespec{Sec: 1}
		start = time.Now()
		n, _, errno = syscall.Syscall6(syscall.SYS_PSELECT6, 0, 0, 0, 0, uintptr(unsafe.Pointer(&ts)), 0)
		if n != 0 || errno != 0 || time.Since(start) < time.Second {
			return fmt.Errorf("pselect: %d, %v after %v", n, errno, time.Since(start))
		}
		tv := syscall.Timeval{Sec: 1}
		start = time.Now()
		if n, err := syscall.Select(0, nil, nil, nil, &tv); n != 0 || err != nil || time.Since(start) < time.Second || tv.Sec != 0 {
			return fmt.Errorf("select: %d, %v after %v, %v left", n, err, time.Since(start), tv)
		}
		return nil
	})
}

// crowd is a run with many goroutines on pipes and sockets.
func crowd(t *testing.T, seed uint64) uint64 {
	w, err := world(seed, func(boot func(string) *sched.Host) {
		done := make(chan bool)
		boot("a").Go(func() {
			l, err := net.Listen("unix", "/tmp/s")
			if err != nil {
				panic(err)
			}
			go func() {
				for {
					c, err := l.Accept()
					if err != nil {
						return
					}
					go io.Copy(c, c)
				}
			}()
			var wg sync.WaitGroup
			for i := range 8 {
				wg.Add(1)
				go func() {
					defer wg.Done()
					c, err := net.Dial("unix", "/tmp/s")
					if err != nil {
						panic(err)
					}
					defer c.Close()
					r, w, _ := os.Pipe()
					go func() {
						w.Write(make([]byte, 100000*(i+1)))
						w.Close()
					}()
					go io.Copy(c, r)
					if _, err := io.ReadFull(c, make([]byte, 100000*(i+1))); err != nil {
						panic(err)
					}
				}()
			}
			wg.Wait()
			close(done)
		})
		<-done
	})
	if err != nil {
		t.Fatal(err)
	}
	return w.Fingerprint()
}

func TestPipesAndSocketsAgain(t *testing.T) {
	for seed := range uint64(10) {
		if a, b := crowd(t, seed), crowd(t, seed); a != b {
			t.Errorf("seed %d: two runs differ", seed)
		}
	}
	if crowd(t, 1) == crowd(t, 2) {
		t.Error("two seeds give one run")
	}
}

// TestKilledOnPipes ends processes whose goroutines wait for all that there is.
func TestKilledOnPipes(t *testing.T) {
	for seed := range uint64(20) {
		w := sched.New(seed)
		n := simnet.New(w)
		k := kernel.New(w, n)
		err := w.Run(func() {
			sched.Enter()
			h := w.NewHost("a")
			stack, disk := n.AddHost("a"), simfs.New(w, "a")
			sched.Leave()
			for life := range 3 {
				sched.Enter()
				p := k.Boot(h, stack, disk, kernel.Options{})
				sched.Leave()
				h.Go(func() {
					_, err := net.Listen("unix", "/tmp/s")
					if (err == nil) != (life == 0) { // a crash leaves the name
						t.Error("listen by name:", err)
					}
					if c, err := net.Dial("unix", "/tmp/s"); life == 0 && err != nil || life > 0 && !errors.Is(err, syscall.ECONNREFUSED) {
						t.Error(c, err)
					}
					l, err := net.Listen("unix", "@s")
					if err != nil {
						t.Error(err)
						return
					}
					go l.Accept()
					c, err := net.Dial("unix", "@s")
					if err != nil {
						t.Error(err)
						return
					}
					go c.Read(make([]byte, 1))
					go c.Write(make([]byte, 1<<20))
					r, wr, _ := os.Pipe()
					go r.Read(make([]byte, 1))
					go wr.Write(make([]byte, 1<<20))
					pair, _ := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
					go syscall.Read(pair[0], make([]byte, 1))
					go syscall.Write(pair[0], make([]byte, 1<<20))
					syscall.Sendmsg(pair[1], []byte("x"), syscall.UnixRights(pair[0], int(pair[1])), nil, 0)
					ep, _ := syscall.EpollCreate1(0)
					ev := syscall.EpollEvent{Events: syscall.EPOLLPRI}
					syscall.EpollCtl(ep, syscall.EPOLL_CTL_ADD, pair[0], &ev)
					go syscall.EpollWait(ep, make([]syscall.EpollEvent, 1), -1)
					go syscall.EpollWait(ep, make([]syscall.EpollEvent, 1), 1<<30)
					syscall.Mkfifo("/tmp/fifo", 0o600)
					go os.Open("/tmp/fifo")
					fd := eventfd()
					syscall.SetNonblock(fd, false)
					go syscall.Read(fd, make([]byte, 8))
				})
				time.Sleep(time.Second)
				sched.Enter()
				h.Kill()
				p.Exit(137)
				if p.Open() != 0 {
					t.Errorf("%d descriptors are left", p.Open())
				}
				stack.Reset()
				h.Boot()
				sched.Leave()
			}
			time.Sleep(time.Hour)
		})
		if err != nil {
			t.Fatal(err)
		}
		k.Close()
	}
}

func BenchmarkPipesAndUnixSockets(b *testing.B) {
	ends := map[string]func() (r io.Reader, w io.Writer){
		"pipe": func() (io.Reader, io.Writer) {
			r, w, _ := os.Pipe()
			return r, w
		},
		"unix": func() (io.Reader, io.Writer) {
			l, err := net.Listen("unix", "@bench")
			if err != nil {
				panic(err)
			}
			defer l.Close()
			c, _ := net.Dial("unix", "@bench")
			s, _ := l.Accept()
			return s, c
		},
	}
	move := func(kind string, n int) {
		r, w := ends[kind]()
		go func() {
			buf := make([]byte, 1024)
			for range n {
				w.Write(buf)
			}
		}()
		if _, err := io.ReadFull(r, make([]byte, n*1024)); err != nil {
			panic(err)
		}
	}
	for _, kind := range []string{"pipe", "unix"} {
		b.Run(kind+"/real", func(b *testing.B) {
			b.SetBytes(1024)
			move(kind, b.N)
		})
		b.Run(kind+"/sim", func(b *testing.B) {
			b.SetBytes(1024)
			b.ReportAllocs()
			_, err := world(1, func(boot func(string) *sched.Host) {
				done := make(chan bool)
				boot("a").Go(func() {
					move(kind, b.N)
					close(done)
				})
				<-done
			})
			if err != nil {
				b.Fatal(err)
			}
		})
	}
}

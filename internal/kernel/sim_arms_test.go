//go:build dstsim && linux && (amd64 || arm64)

package kernel_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/dstkit/dst/sched"
)

// An arm is where a body runs: on the machine, or on a simulated host. What it
// says must be the same, ports aside.
type arm struct {
	mu    sync.Mutex
	lines []string
}

var port = regexp.MustCompile(`(127\.0\.0\.1|\[::1?\]|\[::ffff:127\.0\.0\.1\]|0\.0\.0\.0|127\.0\.0\.[2-9]):\d+`)

func (a *arm) say(format string, args ...any) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.lines = append(a.lines, port.ReplaceAllString(fmt.Sprintf(format, args...), "$1:PORT"))
}

func (a *arm) must(err error) {
	if err != nil {
		a.say("UNEXPECTED %v", err)
	}
}

// bodies are what programs do with UDP sockets through package net.
var bodies = map[string]func(a *arm){
	"every way to read and write": func(a *arm) {
		for _, network := range []string{"udp4", "udp6", "udp"} {
			ip := "127.0.0.1"
			if network == "udp6" {
				ip = "::1"
			}
			s, err := net.ListenUDP(network, &net.UDPAddr{IP: net.ParseIP(ip)})
			if err != nil {
				a.must(err)
				continue
			}
			c, err := net.DialUDP(network, nil, s.LocalAddr().(*net.UDPAddr))
			a.must(err)
			a.say("%s %v -> %v, %s", network, c.LocalAddr(), c.RemoteAddr(), s.LocalAddr().Network())
			buf, oob := make([]byte, 100), make([]byte, 100)
			for i, way := range []func() (int, any, error){
				func() (int, any, error) { n, addr, err := s.ReadFrom(buf); return n, addr, err },
				func() (int, any, error) { n, addr, err := s.ReadFromUDP(buf); return n, addr, err },
				func() (int, any, error) { n, addr, err := s.ReadFromUDPAddrPort(buf); return n, addr, err },
				func() (int, any, error) {
					n, oobn, flags, addr, err := s.ReadMsgUDP(buf, oob)
					return n + 1000*oobn + 100000*flags, addr, err
				},
				func() (int, any, error) {
					n, oobn, flags, addr, err := s.ReadMsgUDPAddrPort(buf, oob)
					return n + 1000*oobn + 100000*flags, addr, err
				},
				func() (int, any, error) { n, err := s.Read(buf); return n, nil, err },
			} {
				fmt.Fprintf(c, "hello %d", i)
				n, from, err := way()
				a.say("%d: %d from %v, %v: %q", i, n, from, err, buf[:7])
			}
			to := c.LocalAddr().(*net.UDPAddr)
			for i, way := range []func() (int, error){
				func() (int, error) { return s.WriteTo([]byte("a"), to) },
				func() (int, error) { return s.WriteToUDP([]byte("bc"), to) },
				func() (int, error) { return s.WriteToUDPAddrPort([]byte("def"), to.AddrPort()) },
				func() (int, error) { n, oobn, err := s.WriteMsgUDP([]byte("ghij"), nil, to); return n + oobn, err },
				func() (int, error) {
					n, oobn, err := s.WriteMsgUDPAddrPort([]byte("klmno"), nil, to.AddrPort())
					return n + oobn, err
				},
				func() (int, error) { return s.Write([]byte("no destination")) },
				func() (int, error) { return c.WriteTo([]byte("connected"), to) },
				func() (int, error) { n, _, err := c.WriteMsgUDP([]byte("x"), nil, to); return n, err },
				func() (int, error) { return s.WriteToUDP([]byte("nil"), nil) },
				func() (int, error) {
					if network != "udp4" {
						return 0, errors.New("depends on the machine's routes")
					}
					return s.WriteToUDP([]byte("other family"), &net.UDPAddr{IP: net.ParseIP("::2"), Port: 9})
				},
				func() (int, error) { return s.WriteTo(nil, to) },
			} {
				n, err := way()
				a.say("%d: wrote %d, %v", i, n, err)
				if err == nil {
					c.SetReadDeadline(time.Now().Add(100 * time.Millisecond))
					n, err := c.Read(buf)
					a.say("   read %d, %v", n, err)
				}
			}
			a.must(c.Close())
			a.must(s.Close())
			_, err = s.Write([]byte("x"))
			a.say("write: %v, closed: %v", err, errors.Is(err, net.ErrClosed))
			_, _, err = s.ReadFrom(buf)
			a.say("read: %v; close: %v; deadline: %v", err, s.Close(), s.SetDeadline(time.Now()))
		}
	},
	"deadlines": func(a *arm) {
		c, err := net.ListenPacket("udp4", "127.0.0.1:0")
		a.must(err)
		buf := make([]byte, 10)
		read := func(what string) {
			_, _, err := c.ReadFrom(buf)
			var timeout net.Error
			a.say("%s: %v, timeout %v, os %v", what, err, errors.As(err, &timeout) && timeout.Timeout(), errors.Is(err, os.ErrDeadlineExceeded))
		}
		a.must(c.SetReadDeadline(time.Now().Add(-time.Second)))
		read("past")
		a.must(c.SetDeadline(time.Now().Add(5 * time.Millisecond)))
		read("soon")
		read("still")
		_, err = c.WriteTo([]byte("x"), c.LocalAddr())
		a.say("write after it: %v", err)
		a.must(c.SetDeadline(time.Time{}))
		_, err = c.WriteTo([]byte("x"), c.LocalAddr())
		a.must(err)
		read("cleared")
		time.AfterFunc(5*time.Millisecond, func() { c.SetReadDeadline(time.Unix(1, 0)) })
		read("moved while waiting")
		a.must(c.SetReadDeadline(time.Time{}))
		time.AfterFunc(5*time.Millisecond, func() { c.Close() })
		read("closed while waiting")
	},
	"refused": func(a *arm) {
		s, err := net.ListenPacket("udp4", "127.0.0.1:0")
		a.must(err)
		addr := s.LocalAddr().String()
		s.Close()
		c, err := net.Dial("udp4", addr)
		a.must(err)
		buf := make([]byte, 10)
		_, err = c.Write([]byte("x"))
		a.say("first write: %v", err)
		time.Sleep(5 * time.Millisecond)
		_, err = c.Read(buf)
		a.say("read: %v, refused %v", err, errors.Is(err, syscall.ECONNREFUSED))
		c.SetReadDeadline(time.Now().Add(5 * time.Millisecond))
		_, err = c.Read(buf)
		a.say("read again: %v", err)
		c.Write([]byte("x"))
		time.Sleep(5 * time.Millisecond)
		_, err = c.Write([]byte("x"))
		a.say("second write: %v", err)
		c.Close()
	},
	"sizes": func(a *arm) {
		s, err := net.ListenPacket("udp4", "127.0.0.1:0")
		a.must(err)
		defer s.Close()
		for _, n := range []int{0, 1, 1500, 65507, 65508, 100000} {
			_, err := s.WriteTo(make([]byte, n), s.LocalAddr())
			a.say("write %d: %v", n, err)
			if err == nil {
				buf := make([]byte, 1000)
				got, _, err := s.ReadFrom(buf)
				a.say("read %d of it: %v", got, err)
			}
		}
		buf := make([]byte, 2)
		s.WriteTo([]byte("truncated"), s.LocalAddr())
		n, _, flags, _, err := s.(*net.UDPConn).ReadMsgUDP(buf, nil)
		a.say("%d of it, flags %#x, %v", n, flags, err)
	},
	"options": func(a *arm) {
		lc := net.ListenConfig{Control: func(network, address string, rc syscall.RawConn) error {
			const reusePort = 15 // SO_REUSEPORT, which package syscall lacks
			return rc.Control(func(fd uintptr) {
				a.say("control %s: reuse %v", network, syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, reusePort, 1))
			})
		}}
		c, err := lc.ListenPacket(context.Background(), "udp4", "127.0.0.1:0")
		if err != nil {
			a.must(err)
			return
		}
		defer c.Close()
		u := c.(*net.UDPConn)
		second, err := lc.ListenPacket(context.Background(), "udp4", u.LocalAddr().String())
		a.say("a second one: %v", err)
		second.Close()
		_, err = net.ListenPacket("udp4", u.LocalAddr().String())
		a.say("a third one, without the option: %v", err)
		a.must(u.SetReadBuffer(20000))
		a.must(u.SetWriteBuffer(30000))
		rc, err := u.SyscallConn()
		a.must(err)
		a.must(rc.Control(func(fd uintptr) {
			for _, opt := range []struct{ level, name int }{
				{syscall.SOL_SOCKET, syscall.SO_RCVBUF}, {syscall.SOL_SOCKET, syscall.SO_SNDBUF}, {syscall.SOL_SOCKET, syscall.SO_TYPE},
				{syscall.SOL_SOCKET, syscall.SO_BROADCAST}, {syscall.SOL_SOCKET, syscall.SO_REUSEADDR}, {syscall.SOL_SOCKET, syscall.SO_ERROR},
				{syscall.IPPROTO_IP, syscall.IP_TTL}, {syscall.IPPROTO_IP, syscall.IP_TOS}, {syscall.IPPROTO_IP, syscall.IP_MULTICAST_TTL},
				{syscall.IPPROTO_IP, syscall.IP_MULTICAST_LOOP}, {syscall.IPPROTO_IP, syscall.IP_MTU_DISCOVER},
			} {
				v, err := syscall.GetsockoptInt(int(fd), opt.level, opt.name)
				a.say("option %d/%d: %d, %v", opt.level, opt.name, v, err)
			}
		}))
		a.must(rc.Write(func(fd uintptr) bool {
			a.say("raw write: %v", syscall.Sendto(int(fd), []byte("raw"), 0, sockaddr(u.LocalAddr())))
			return true
		}))
		a.must(rc.Read(func(fd uintptr) bool {
			buf := make([]byte, 10)
			n, _, err := syscall.Recvfrom(int(fd), buf, 0)
			a.say("raw read: %q, %v", buf[:max(n, 0)], err)
			return true
		}))
	},
	"addresses": func(a *arm) {
		for _, x := range []struct{ network, address string }{
			{"udp", "127.0.0.1:0"}, {"udp4", ":0"}, {"udp6", ":0"}, {"udp", ":0"}, {"udp", "[::1]:0"}, {"udp4", "[::1]:0"}, {"udp6", "127.0.0.1:0"},
			{"udp", "127.0.0.1:99999"}, {"udp", "no port"}, {"udp", "127.0.0.2:0"}, {"udp", "192.0.2.1:0"}, {"udp", "localhost:0"}, {"udp9", ":0"},
			{"udp", "no-such-host.invalid:1"},
		} {
			c, err := net.ListenPacket(x.network, x.address)
			if err != nil {
				text := err.Error()
				if strings.Contains(text, "no such host") {
					text = "no such host" // the machine's resolver may be another
				}
				a.say("listen %s %s: %v", x.network, x.address, text)
				continue
			}
			a.say("listen %s %s: %v", x.network, x.address, c.LocalAddr())
			c.Close()
		}
		c, err := net.ListenPacket("udp", ":0")
		a.must(err)
		defer c.Close()
		p := c.LocalAddr().(*net.UDPAddr).Port
		for _, ip := range []string{"127.0.0.1", "::1", "0.0.0.0", "::"} {
			d, err := net.Dial("udp", net.JoinHostPort(ip, fmt.Sprint(p)))
			if err != nil {
				a.say("dial %s: %v", ip, err)
				continue
			}
			fmt.Fprint(d, "x")
			buf := make([]byte, 1)
			c.SetReadDeadline(time.Now().Add(100 * time.Millisecond))
			_, from, err := c.ReadFrom(buf)
			a.say("dial %s: %v -> %v, seen from %v, %v", ip, d.LocalAddr(), d.RemoteAddr(), from, err)
			d.Close()
		}
	},
	"a file of it": func(a *arm) {
		c, err := net.ListenPacket("udp4", "127.0.0.1:0")
		a.must(err)
		f, err := c.(*net.UDPConn).File()
		if err != nil {
			a.must(err)
			return
		}
		d, err := net.FilePacketConn(f)
		a.must(err)
		f.Close()
		a.say("the same: %v", d.LocalAddr().String() == c.LocalAddr().String())
		c.Close()
		_, err = d.WriteTo([]byte("x"), d.LocalAddr())
		a.must(err)
		buf := make([]byte, 1)
		n, _, err := d.ReadFrom(buf)
		a.say("%d, %v", n, err)
		d.Close()
	},
}

func sockaddr(addr net.Addr) syscall.Sockaddr {
	ap := netip.MustParseAddrPort(addr.String())
	return &syscall.SockaddrInet4{Port: int(ap.Port()), Addr: ap.Addr().As4()}
}

// The same program on the real machine and on a simulated host.
func TestTwoArmsOfPackageNet(t *testing.T) {
	for name, body := range bodies {
		t.Run(name, func(t *testing.T) {
			var real, sim arm
			body(&real)
			_, err := world(1, func(boot func(string) *sched.Host) {
				done := make(chan bool)
				boot("a").Go(func() { defer close(done); body(&sim) })
				<-done
			})
			if err != nil {
				t.Fatal(err)
			}
			for i := range max(len(real.lines), len(sim.lines)) {
				var r, s string
				if i < len(real.lines) {
					r = real.lines[i]
				}
				if i < len(sim.lines) {
					s = sim.lines[i]
				}
				if r != s {
					t.Errorf("line %d\nreal      %s\nsimulated %s", i, r, s)
				}
				if strings.Contains(r+s, "UNEXPECTED") {
					t.Errorf("line %d: %s | %s", i, r, s)
				}
			}
		})
	}
}

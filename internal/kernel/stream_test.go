//go:build linux && (amd64 || arm64)

package kernel

import (
	"fmt"
	"syscall"
	"testing"
	"unsafe"

	"github.com/dstkit/dst/internal/netns"
)

func (a *arm) tcp(family int) int {
	return a.open("socket", syscall.SYS_SOCKET, family, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC|syscall.SOCK_NONBLOCK, 0)
}

// listener4 is a socket that listens on a port of 127.0.0.1.
func (a *arm) listener4() (fd, port int) {
	fd = a.tcp(syscall.AF_INET)
	a.do("bind", syscall.SYS_BIND, fd, ptr(in4(loop4, 0)), 16)
	a.do("listen", syscall.SYS_LISTEN, fd, 5)
	return fd, a.name("getsockname", syscall.SYS_GETSOCKNAME, fd)
}

// pair makes a connection; the first socket is the one that dialled.
func (a *arm) pair() (x, y int) {
	l, port := a.listener4()
	x = a.tcp(syscall.AF_INET)
	a.do("connect", syscall.SYS_CONNECT, x, ptr(in4(loop4, port)), 16)
	a.settle()
	y = a.open("accept4", syscall.SYS_ACCEPT4, l, 0, 0, syscall.SOCK_CLOEXEC|syscall.SOCK_NONBLOCK)
	a.do("close listener", syscall.SYS_CLOSE, l)
	return x, y
}

func (a *arm) write(fd int, s string) {
	a.do("write", syscall.SYS_WRITE, fd, bytesPtr([]byte(s)), len(s))
	a.settle()
}

func (a *arm) recv(what string, fd, size, flags int) {
	b := make([]byte, size+1)
	n, errno := a.sys(syscall.SYS_RECVFROM, fd, bytesPtr(b), size, flags, 0, 0)
	if errno != 0 {
		a.logf("%s: %s", what, errname(errno))
		return
	}
	a.logf("%s: %d %q", what, n, b[:min(size, int(n))])
}

func TestStreamsAsOnTheMachine(t *testing.T) {
	onBoth(t, func(a *arm) {
		x := a.tcp(syscall.AF_INET)
		a.name("getsockname of new", syscall.SYS_GETSOCKNAME, x)
		a.name("getpeername of new", syscall.SYS_GETPEERNAME, x)
		a.do("read of new", syscall.SYS_READ, x, bytesPtr(make([]byte, 9)), 9)
		a.do("write of new", syscall.SYS_SENDTO, x, bytesPtr(make([]byte, 9)), 9, msgNoSignal, 0, 0)
		a.do("shutdown of new", syscall.SYS_SHUTDOWN, a.tcp(syscall.AF_INET), syscall.SHUT_WR)
		a.do("accept of new", syscall.SYS_ACCEPT, x, 0, 0)
		a.do("accept4 with wrong flags", syscall.SYS_ACCEPT4, x, 0, 0, 1)
		a.do("bind short", syscall.SYS_BIND, x, ptr(in4(loop4, 0)), 8)
		a.do("bind inet6", syscall.SYS_BIND, x, ptr(in6(loop6, 0)), 28)
		a.do("bind foreign", syscall.SYS_BIND, x, ptr(in4([4]byte{192, 0, 2, 1}, 0)), 16)
		a.do("bind", syscall.SYS_BIND, x, ptr(in4(loop4, 0)), 16)
		xp := a.name("getsockname", syscall.SYS_GETSOCKNAME, x)
		a.do("bind again", syscall.SYS_BIND, x, ptr(in4(loop4, 0)), 16)
		a.option("ACCEPTCONN", x, syscall.SOL_SOCKET, syscall.SO_ACCEPTCONN)
		a.do("listen", syscall.SYS_LISTEN, x, 5)
		a.do("listen again", syscall.SYS_LISTEN, x, 6)
		a.option("ACCEPTCONN", x, syscall.SOL_SOCKET, syscall.SO_ACCEPTCONN)
		a.do("accept nobody", syscall.SYS_ACCEPT, x, 0, 0)
		a.do("read of a listener", syscall.SYS_READ, x, bytesPtr(make([]byte, 9)), 9)
		a.do("write of a listener", syscall.SYS_SENDTO, x, bytesPtr(make([]byte, 9)), 9, msgNoSignal, 0, 0)
		var n int32
		a.do("FIONREAD of a listener", syscall.SYS_IOCTL, x, syscall.TIOCINQ, ptr(&n))
		a.do("connect of a listener", syscall.SYS_CONNECT, x, ptr(in4(loop4, xp)), 16)
		y := a.tcp(syscall.AF_INET)
		a.do("bind taken", syscall.SYS_BIND, y, ptr(in4(loop4, xp)), 16)

		a.do("connect short", syscall.SYS_CONNECT, y, ptr(in4(loop4, xp)), 8)
		a.do("connect inet6", syscall.SYS_CONNECT, y, ptr(in6(loop6, xp)), 28)
		a.do("connect", syscall.SYS_CONNECT, y, ptr(in4(loop4, xp)), 16)
		a.settle()
		a.option("SO_ERROR", y, syscall.SOL_SOCKET, syscall.SO_ERROR)
		a.name("getpeername", syscall.SYS_GETPEERNAME, y, xp)
		a.do("connect again", syscall.SYS_CONNECT, y, ptr(in4(loop4, xp)), 16)
		a.do("connect again", syscall.SYS_CONNECT, y, ptr(in4(loop4, xp)), 16)
		var raw syscall.RawSockaddrInet4
		size := int32(unsafe.Sizeof(raw))
		z := a.open("accept4", syscall.SYS_ACCEPT4, x, ptr(&raw), ptr(&size), syscall.SOCK_CLOEXEC|syscall.SOCK_NONBLOCK)
		a.logf("from family %d, %v, %d bytes", raw.Family, raw.Addr, size)
		a.do("accept nobody", syscall.SYS_ACCEPT, x, 0, 0)
		a.name("getsockname", syscall.SYS_GETSOCKNAME, z, xp)
		a.do("F_GETFL", syscall.SYS_FCNTL, z, syscall.F_GETFL, 0)
		a.do("F_GETFD", syscall.SYS_FCNTL, z, syscall.F_GETFD, 0)

		a.recv("recv nothing", z, 9, 0)
		a.write(y, "hello")
		a.do("FIONREAD", syscall.SYS_IOCTL, z, syscall.TIOCINQ, ptr(&n))
		a.logf("is %d", n)
		a.recv("peek", z, 3, syscall.MSG_PEEK)
		a.recv("peek", z, 30, syscall.MSG_PEEK)
		a.recv("recv", z, 2, 0)
		a.recv("recv, waiting for all", z, 9, syscall.MSG_WAITALL)
		a.recv("recv nothing, blocking or not", z, 9, syscall.MSG_DONTWAIT)
		a.write(y, "dropped and kept")
		b := make([]byte, 16)
		a.do("MSG_TRUNC", syscall.SYS_RECVFROM, z, bytesPtr(b), 12, syscall.MSG_TRUNC, 0, 0)
		a.logf("%q", b)
		a.recv("recv", z, 9, 0)
		a.recv("oob", z, 9, syscall.MSG_OOB)
		a.recv("errors", z, 9, syscall.MSG_ERRQUEUE)
		a.recvfrom("recvfrom", z, 9, 0)
		a.do("SIOCOUTQ", syscall.SYS_IOCTL, y, syscall.TIOCOUTQ, ptr(&n))
		a.logf("is %d", n)
		a.do("sendto with an address", syscall.SYS_SENDTO, y, bytesPtr(b), 1, 0, ptr(in4(loop4, 9)), 16)
		a.do("send nothing", syscall.SYS_SENDTO, y, bytesPtr(b), 0, 0, 0, 0)
		a.settle()
		a.recv("recv", z, 9, 0)

		parts := [][]byte{[]byte("ab"), nil, []byte("cdef"), []byte("ghij")}
		var iov []syscall.Iovec
		for _, p := range parts {
			iov = append(iov, syscall.Iovec{Base: unsafe.SliceData(p), Len: uint64(len(p))})
		}
		a.do("writev", syscall.SYS_WRITEV, y, ptr(&iov[0]), 4)
		a.settle()
		in := [2][6]byte{}
		iin := []syscall.Iovec{{Base: &in[0][0], Len: 5}, {Base: &in[1][0], Len: 6}}
		m := &syscall.Msghdr{Iov: &iin[0], Iovlen: 2, Namelen: 9, Controllen: 0, Flags: 77}
		a.do("recvmsg, peek", syscall.SYS_RECVMSG, z, ptr(m), syscall.MSG_PEEK)
		a.logf("%q, flags %d, name %d", in, m.Flags, m.Namelen)
		in = [2][6]byte{}
		a.do("readv", syscall.SYS_READV, z, ptr(&iin[0]), 2)
		a.logf("%q", in)
		m = &syscall.Msghdr{Iov: &iov[0], Iovlen: 4}
		a.do("sendmsg", syscall.SYS_SENDMSG, y, ptr(m), syscall.MSG_DONTWAIT)
		m.Iovlen = 5000
		a.do("too many parts", syscall.SYS_SENDMSG, y, ptr(m), 0)
		a.settle()
		a.recv("recv", z, 20, 0)

		a.write(z, "bye")
		a.do("shutdown", syscall.SYS_SHUTDOWN, y, syscall.SHUT_WR)
		a.do("shutdown wrong", syscall.SYS_SHUTDOWN, y, 3)
		a.do("write after", syscall.SYS_SENDTO, y, bytesPtr(b), 1, msgNoSignal, 0, 0)
		a.settle()
		a.recv("recv the end", z, 9, 0)
		a.recv("recv the end", z, 9, 0)
		a.recv("recv", y, 9, 0)
		a.recv("recv nothing", y, 9, 0)
		a.do("close", syscall.SYS_CLOSE, z)
		a.settle()
		a.recv("recv the end", y, 9, 0)
		a.name("getpeername at the end", syscall.SYS_GETPEERNAME, y, xp)
	})
}

func TestDualStackStreamsAsOnTheMachine(t *testing.T) {
	// The test binds a port of one address that was chosen for another: nobody else may
	// have it there.
	leave, _ := netns.Enter(t)
	defer leave()
	onBoth(t, func(a *arm) {
		l := a.tcp(syscall.AF_INET6)
		a.set("V6ONLY", l, syscall.IPPROTO_IPV6, syscall.IPV6_V6ONLY, 0)
		a.do("bind", syscall.SYS_BIND, l, ptr(in6([16]byte{}, 0)), 28)
		a.do("listen", syscall.SYS_LISTEN, l, 0)
		lp := a.name("getsockname", syscall.SYS_GETSOCKNAME, l)
		accept := func(xp int) {
			raw := new(syscall.RawSockaddrInet6)
			size := int32(unsafe.Sizeof(*raw))
			y := a.open("accept", syscall.SYS_ACCEPT4, l, ptr(raw), ptr(&size), syscall.SOCK_NONBLOCK)
			a.logf("from family %d, %v, %d bytes", raw.Family, raw.Addr, size)
			a.name("getsockname", syscall.SYS_GETSOCKNAME, y, lp, xp)
			a.name("getpeername", syscall.SYS_GETPEERNAME, y, lp, xp)
			a.option("DOMAIN", y, syscall.SOL_SOCKET, soDomain)
		}
		x := a.tcp(syscall.AF_INET)
		a.do("connect inet", syscall.SYS_CONNECT, x, ptr(in4(loop4, lp)), 16)
		a.settle()
		accept(a.name("getsockname", syscall.SYS_GETSOCKNAME, x, lp))
		x = a.tcp(syscall.AF_INET6)
		a.do("connect inet6", syscall.SYS_CONNECT, x, ptr(in6(loop6, lp)), 28)
		a.settle()
		accept(a.name("getsockname", syscall.SYS_GETSOCKNAME, x, lp))
		x = a.tcp(syscall.AF_INET6)
		a.do("connect mapped", syscall.SYS_CONNECT, x, ptr(in6(mapped, lp)), 28)
		a.settle()
		accept(a.name("getsockname", syscall.SYS_GETSOCKNAME, x, lp))
		x = a.tcp(syscall.AF_INET6)
		a.set("V6ONLY", x, syscall.IPPROTO_IPV6, syscall.IPV6_V6ONLY, 1)
		a.do("connect mapped, v6 only", syscall.SYS_CONNECT, x, ptr(in6(mapped, lp)), 28)
		a.do("connect inet", syscall.SYS_CONNECT, a.tcp(syscall.AF_INET6), ptr(in4(loop4, lp)), 16)
		a.do("connect inet, long", syscall.SYS_CONNECT, x, ptr(in4(loop4, lp)), 28)

		// Ports: IPv4 alone beside IPv6 alone, and after a listener with
		// connections has gone.
		a.set("REUSEADDR", l, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1)
		y := a.tcp(syscall.AF_INET)
		a.do("bind taken", syscall.SYS_BIND, y, ptr(in4(loop4, lp)), 16)
		a.do("close listener", syscall.SYS_CLOSE, l)
		a.settle()
		a.set("REUSEADDR", y, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1)
		a.do("bind beside connections that do not share", syscall.SYS_BIND, y, ptr(in4(loop4, lp)), 16)
		both := a.tcp(syscall.AF_INET6)
		a.set("V6ONLY", both, syscall.IPPROTO_IPV6, syscall.IPV6_V6ONLY, 0)
		a.do("bind to a port that is free in both", syscall.SYS_BIND, both, ptr(in6([16]byte{}, 0)), 28)
		up := a.name("getsockname", syscall.SYS_GETSOCKNAME, both)
		a.do("close", syscall.SYS_CLOSE, both)
		u := a.tcp(syscall.AF_INET6)
		a.set("V6ONLY", u, syscall.IPPROTO_IPV6, syscall.IPV6_V6ONLY, 1)
		a.do("bind", syscall.SYS_BIND, u, ptr(in6(loop6, up)), 28)
		a.do("listen", syscall.SYS_LISTEN, u, 1)
		v := a.tcp(syscall.AF_INET)
		a.do("bind to the same port", syscall.SYS_BIND, v, ptr(in4(loop4, up)), 16)
		a.do("listen", syscall.SYS_LISTEN, v, 1)
		for range 2 {
			z := a.tcp(syscall.AF_INET)
			a.set("REUSEADDR", z, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1)
			a.do("bind beside a listener", syscall.SYS_BIND, z, ptr(in4(loop4, up)), 16)
			a.set("REUSEADDR", v, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1)
		}
	})
	// A server that restarts while connections are there.
	onBoth(t, func(a *arm) {
		listen := func(port int) (fd int) {
			fd = a.tcp(syscall.AF_INET)
			a.set("REUSEADDR", fd, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1)
			a.do("bind", syscall.SYS_BIND, fd, ptr(in4(loop4, port)), 16)
			a.do("listen", syscall.SYS_LISTEN, fd, 5)
			return fd
		}
		l := listen(0)
		port := a.name("getsockname", syscall.SYS_GETSOCKNAME, l)
		for _, first := range []bool{true, false} {
			x := a.tcp(syscall.AF_INET)
			a.do("connect", syscall.SYS_CONNECT, x, ptr(in4(loop4, port)), 16)
			a.settle()
			y := a.open("accept", syscall.SYS_ACCEPT, l, 0, 0)
			if first {
				a.do("close y", syscall.SYS_CLOSE, y) // the server closes first: it waits
				a.settle()
				a.do("close x", syscall.SYS_CLOSE, x)
			}
			a.do("close listener", syscall.SYS_CLOSE, l)
			a.settle()
			l = listen(port)
		}
		listen(port)
		a.do("shutdown of a listener", syscall.SYS_SHUTDOWN, l, syscall.SHUT_RDWR)
		a.do("accept", syscall.SYS_ACCEPT, l, 0, 0)
		listen(port)
	})
}

// Buffers fill up, and drain.
func TestFullBuffersAsOnTheMachine(t *testing.T) {
	onBoth(t, func(a *arm) {
		x, y := a.pair()
		a.set("SNDBUF", x, syscall.SOL_SOCKET, syscall.SO_SNDBUF, 20000)
		b := make([]byte, 100_000)
		sent := 0
		var errno syscall.Errno
		for errno == 0 && sent < 100<<20 {
			var n uintptr
			n, errno = a.sys(syscall.SYS_WRITE, x, bytesPtr(b), len(b))
			if errno == 0 {
				sent += int(n)
			}
			a.settle()
		}
		a.logf("at last: %s", errname(errno))
		got := 0
		for {
			n, errno := a.sys(syscall.SYS_READ, y, bytesPtr(b), len(b))
			a.settle()
			if errno != 0 {
				a.logf("all was read: %v, %s", got == sent, errname(errno))
				break
			}
			got += int(n)
		}
		a.do("write again", syscall.SYS_WRITE, x, bytesPtr(b), 7)
		a.do("shutdown", syscall.SYS_SHUTDOWN, y, syscall.SHUT_RD)
		a.settle()
		a.recv("recv after shutdown", y, 9, 0)
		a.recv("recv after shutdown", y, 9, 0)
		a.write(x, "still taken")
		a.recv("recv after shutdown", y, 20, 0)
		a.do("close", syscall.SYS_CLOSE, y)
		a.settle()
		a.recv("recv", x, 9, 0)
	})
}

func TestResetsAsOnTheMachine(t *testing.T) {
	onBoth(t, func(a *arm) {
		x, y := a.pair()
		a.write(x, "not read")
		a.do("close with unread data", syscall.SYS_CLOSE, y)
		a.settle()
		a.recv("recv reset", x, 9, 0)
		a.recv("recv after", x, 9, 0)
		a.do("write after", syscall.SYS_SENDTO, x, bytesPtr([]byte("x")), 1, msgNoSignal, 0, 0)

		x, y = a.pair()
		a.do("close", syscall.SYS_CLOSE, y)
		a.settle()
		a.recv("recv the end", x, 9, 0)
		a.write(x, "to nobody")
		a.do("write after", syscall.SYS_SENDTO, x, bytesPtr([]byte("x")), 1, msgNoSignal, 0, 0)
		a.option("SO_ERROR", x, syscall.SOL_SOCKET, syscall.SO_ERROR)
		a.recv("recv after", x, 9, 0)

		x, y = a.pair()
		linger := syscall.Linger{Onoff: 1}
		a.do("linger", syscall.SYS_SETSOCKOPT, y, syscall.SOL_SOCKET, syscall.SO_LINGER, ptr(&linger), 8)
		a.do("close", syscall.SYS_CLOSE, y)
		a.settle()
		a.option("SO_ERROR", x, syscall.SOL_SOCKET, syscall.SO_ERROR)
		a.option("SO_ERROR again", x, syscall.SOL_SOCKET, syscall.SO_ERROR)
		a.recv("recv after", x, 9, 0)

		l, port := a.listener4()
		a.do("close listener", syscall.SYS_CLOSE, l)
		z := a.tcp(syscall.AF_INET)
		a.do("connect", syscall.SYS_CONNECT, z, ptr(in4(loop4, port)), 16)
		a.settle()
		a.option("SO_ERROR", z, syscall.SOL_SOCKET, syscall.SO_ERROR)
		a.name("getpeername", syscall.SYS_GETPEERNAME, z)
		a.do("connect", syscall.SYS_CONNECT, z, ptr(in4(loop4, port)), 16)
		a.settle()
		a.recv("recv", z, 9, 0)
		a.recv("recv after", z, 9, 0)
	})
}

func TestStreamOptionsAsOnTheMachine(t *testing.T) {
	for _, family := range []int{syscall.AF_INET, syscall.AF_INET6} {
		onBoth(t, func(a *arm) {
			x := a.tcp(family)
			both := func(level, name int, values ...int) {
				what := fmt.Sprintf("level %d option %d of family %d", level, name, family)
				a.option(what, x, level, name)
				for _, v := range values {
					a.set(fmt.Sprintf("%s to %d", what, v), x, level, name, v)
					a.option(what, x, level, name)
				}
			}
			for _, o := range []int{syscall.SO_REUSEADDR, soReusePort, syscall.SO_BROADCAST, syscall.SO_KEEPALIVE, syscall.SO_OOBINLINE} {
				both(syscall.SOL_SOCKET, o, 1, 0)
			}
			both(syscall.SOL_SOCKET, syscall.SO_TYPE)
			both(syscall.SOL_SOCKET, soProtocol)
			both(syscall.SOL_SOCKET, soDomain)
			both(syscall.SOL_SOCKET, syscall.SO_ERROR)
			both(syscall.SOL_SOCKET, syscall.SO_ACCEPTCONN)
			both(syscall.SOL_SOCKET, syscall.SO_RCVBUF, 100, 5000, 100000)
			a.set("SNDBUF", x, syscall.SOL_SOCKET, syscall.SO_SNDBUF, 100000)
			a.option("SNDBUF", x, syscall.SOL_SOCKET, syscall.SO_SNDBUF)
			both(syscall.IPPROTO_IP, syscall.IP_TTL, 1, 255, 0, 256, -1)
			both(syscall.IPPROTO_IP, syscall.IP_TOS, 16, 0)
			both(syscall.IPPROTO_IP, syscall.IP_MTU)
			both(syscall.IPPROTO_IPV6, syscall.IPV6_V6ONLY, 1, 0)
			both(syscall.IPPROTO_IPV6, syscall.IPV6_UNICAST_HOPS, 0, 255, 256, -1)
			both(syscall.IPPROTO_IPV6, syscall.IPV6_TCLASS, 16, 256, -1)
			both(syscall.IPPROTO_TCP, syscall.TCP_NODELAY, 1, 0)
			both(syscall.IPPROTO_TCP, syscall.TCP_CORK, 1, 0)
			both(syscall.IPPROTO_TCP, syscall.TCP_KEEPIDLE, 15, 0, 32767, 32768)
			both(syscall.IPPROTO_TCP, syscall.TCP_KEEPINTVL, 15, 0, 32767, 32768)
			both(syscall.IPPROTO_TCP, syscall.TCP_KEEPCNT, 9, 0, 127, 128)
			both(syscall.IPPROTO_TCP, tcpUserTimeout, 1500, -1, 0)
			both(syscall.IPPROTO_TCP, syscall.TCP_SYNCNT, 3, 0, 128)
			a.set("DEFER_ACCEPT", x, syscall.IPPROTO_TCP, syscall.TCP_DEFER_ACCEPT, 1)
			a.set("MPTCP", x, solMPTCP, 1, 1)
			a.do("short", syscall.SYS_SETSOCKOPT, x, syscall.IPPROTO_TCP, syscall.TCP_NODELAY, bytesPtr(make([]byte, 4)), 2)
			linger := syscall.Linger{Onoff: 5, Linger: 3}
			a.do("linger", syscall.SYS_SETSOCKOPT, x, syscall.SOL_SOCKET, syscall.SO_LINGER, ptr(&linger), 8)
			n := int32(8)
			a.do("linger", syscall.SYS_GETSOCKOPT, x, syscall.SOL_SOCKET, syscall.SO_LINGER, ptr(&linger), ptr(&n))
			a.logf("%v %d", linger, n)
			b := make([]byte, 300)
			n = 16
			a.do("congestion", syscall.SYS_GETSOCKOPT, x, syscall.IPPROTO_TCP, syscall.TCP_CONGESTION, bytesPtr(b), ptr(&n))
			a.do("congestion", syscall.SYS_SETSOCKOPT, x, syscall.IPPROTO_TCP, syscall.TCP_CONGESTION, bytesPtr([]byte("nonesuch")), 8)
			n = 2
			a.do("info", syscall.SYS_GETSOCKOPT, x, syscall.IPPROTO_TCP, syscall.TCP_INFO, bytesPtr(b), ptr(&n))
			a.logf("state %d, %d bytes", b[0], n)
		})
	}
}

// What accept returns has the options of the listener.
func TestInheritedOptionsAsOnTheMachine(t *testing.T) {
	onBoth(t, func(a *arm) {
		l, port := a.listener4()
		a.set("KEEPALIVE", l, syscall.SOL_SOCKET, syscall.SO_KEEPALIVE, 1)
		a.set("KEEPIDLE", l, syscall.IPPROTO_TCP, syscall.TCP_KEEPIDLE, 77)
		a.set("NODELAY", l, syscall.IPPROTO_TCP, syscall.TCP_NODELAY, 1)
		a.set("TTL", l, syscall.IPPROTO_IP, syscall.IP_TTL, 33)
		a.set("USER_TIMEOUT", l, syscall.IPPROTO_TCP, tcpUserTimeout, 1234)
		x := a.tcp(syscall.AF_INET)
		a.do("connect", syscall.SYS_CONNECT, x, ptr(in4(loop4, port)), 16)
		a.settle()
		y := a.open("accept4", syscall.SYS_ACCEPT4, l, 0, 0, syscall.SOCK_CLOEXEC|syscall.SOCK_NONBLOCK)
		for _, fd := range []int{x, y} {
			a.option("KEEPALIVE", fd, syscall.SOL_SOCKET, syscall.SO_KEEPALIVE)
			a.option("KEEPIDLE", fd, syscall.IPPROTO_TCP, syscall.TCP_KEEPIDLE)
			a.option("NODELAY", fd, syscall.IPPROTO_TCP, syscall.TCP_NODELAY)
			a.option("TTL", fd, syscall.IPPROTO_IP, syscall.IP_TTL)
			a.option("USER_TIMEOUT", fd, syscall.IPPROTO_TCP, tcpUserTimeout)
			a.option("ACCEPTCONN", fd, syscall.SOL_SOCKET, syscall.SO_ACCEPTCONN)
			a.option("TYPE", fd, syscall.SOL_SOCKET, syscall.SO_TYPE)
		}
	})
}

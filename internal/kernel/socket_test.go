//go:build linux && (amd64 || arm64)

package kernel

import (
	"fmt"
	"syscall"
	"testing"
	"unsafe"
)

// in4 and in6 make addresses with room behind them: some calls lie about the
// length.
func in4(addr [4]byte, port int) *syscall.RawSockaddrInet4 {
	room := new([256]byte)
	sa := (*syscall.RawSockaddrInet4)(unsafe.Pointer(room))
	*sa = syscall.RawSockaddrInet4{Family: syscall.AF_INET, Addr: addr}
	sa.Port = uint16(port>>8 | port<<8&0xff00)
	return sa
}

func in6(addr [16]byte, port int) *syscall.RawSockaddrInet6 {
	room := new([256]byte)
	sa := (*syscall.RawSockaddrInet6)(unsafe.Pointer(room))
	*sa = syscall.RawSockaddrInet6{Family: syscall.AF_INET6, Addr: addr}
	sa.Port = uint16(port>>8 | port<<8&0xff00)
	return sa
}

var (
	loop4  = [4]byte{127, 0, 0, 1}
	loop6  = [16]byte{15: 1}
	mapped = [16]byte{10: 0xff, 11: 0xff, 12: 127, 15: 1}
)

// name is getsockname or getpeername; ports are logged as known or not.
func (a *arm) name(what string, trap uintptr, fd int, known ...int) int {
	var raw syscall.RawSockaddrAny
	n := int32(unsafe.Sizeof(raw))
	_, errno := a.sys(trap, fd, ptr(&raw), ptr(&n))
	if errno != 0 {
		a.logf("%s: %s", what, errname(errno))
		return 0
	}
	sa := (*syscall.RawSockaddrInet6)(unsafe.Pointer(&raw))
	port := int(sa.Port>>8 | sa.Port<<8)
	shown := "other"
	if port == 0 {
		shown = "0"
	}
	for i, k := range known {
		if k == port {
			shown = fmt.Sprint("known", i)
		}
	}
	if sa.Family == syscall.AF_INET {
		a.logf("%s: %d bytes, inet %v port %s", what, n, (*syscall.RawSockaddrInet4)(unsafe.Pointer(sa)).Addr, shown)
	} else {
		a.logf("%s: %d bytes, family %d %v port %s", what, n, sa.Family, sa.Addr, shown)
	}
	return port
}

func (a *arm) udp(family int) int {
	return a.open("socket", syscall.SYS_SOCKET, family, syscall.SOCK_DGRAM|syscall.SOCK_CLOEXEC|syscall.SOCK_NONBLOCK, 0)
}

func (a *arm) bound4(known ...int) (fd, port int) {
	fd = a.udp(syscall.AF_INET)
	a.do("bind", syscall.SYS_BIND, fd, ptr(in4(loop4, 0)), 16)
	return fd, a.name("getsockname", syscall.SYS_GETSOCKNAME, fd, known...)
}

func (a *arm) recvfrom(what string, fd, size, flags int, known ...int) {
	b := make([]byte, size+1)
	var raw syscall.RawSockaddrInet6
	n := int32(unsafe.Sizeof(raw))
	r, errno := a.sys(syscall.SYS_RECVFROM, fd, bytesPtr(b), size, flags, ptr(&raw), ptr(&n))
	if errno != 0 {
		a.logf("%s: %s", what, errname(errno))
		return
	}
	port, from := int(raw.Port>>8|raw.Port<<8), -1
	for i, k := range known {
		if k == port {
			from = i
		}
	}
	a.logf("%s: %d %q from family %d, port %d, %d bytes", what, r, b[:min(size, int(r))], raw.Family, from, n)
}

func TestSocketsAsOnTheMachine(t *testing.T) {
	onBoth(t, func(a *arm) {
		a.do("socket of no type", syscall.SYS_SOCKET, syscall.AF_INET, 99, 0)
		a.do("socket of wrong protocol", syscall.SYS_SOCKET, syscall.AF_INET, syscall.SOCK_DGRAM, syscall.IPPROTO_TCP)
		a.do("tcp socket of wrong protocol", syscall.SYS_SOCKET, syscall.AF_INET, syscall.SOCK_STREAM, syscall.IPPROTO_UDP)
		x := a.udp(syscall.AF_INET)
		a.name("getsockname of new", syscall.SYS_GETSOCKNAME, x)
		a.name("getpeername of new", syscall.SYS_GETPEERNAME, x)
		a.do("sendto nowhere", syscall.SYS_SENDTO, x, bytesPtr([]byte("x")), 1, 0, 0, 0)
		a.do("read nothing", syscall.SYS_READ, x, bytesPtr(make([]byte, 9)), 9)
		a.do("bind short", syscall.SYS_BIND, x, ptr(in4(loop4, 0)), 8)
		a.do("bind inet6", syscall.SYS_BIND, x, ptr(in6(loop6, 0)), 28)
		a.do("bind long", syscall.SYS_BIND, x, ptr(in4(loop4, 0)), 200)
		a.do("bind null", syscall.SYS_BIND, x, 0, 16)
		a.do("bind foreign", syscall.SYS_BIND, x, ptr(in4([4]byte{192, 0, 2, 1}, 0)), 16)
		a.do("bind", syscall.SYS_BIND, x, ptr(in4(loop4, 0)), 16)
		xp := a.name("getsockname", syscall.SYS_GETSOCKNAME, x)
		a.do("bind again", syscall.SYS_BIND, x, ptr(in4(loop4, 0)), 16)
		y := a.udp(syscall.AF_INET)
		a.do("bind taken", syscall.SYS_BIND, y, ptr(in4(loop4, xp)), 16)
		a.do("bind y", syscall.SYS_BIND, y, ptr(in4(loop4, 0)), 16)
		yp := a.name("getsockname y", syscall.SYS_GETSOCKNAME, y, xp)

		to := func(s string, port int) {
			a.do("sendto", syscall.SYS_SENDTO, x, bytesPtr([]byte(s)), len(s), 0, ptr(in4(loop4, port)), 16)
		}
		to("hello", yp)
		a.settle()
		var n int32
		a.do("FIONREAD", syscall.SYS_IOCTL, y, syscall.TIOCINQ, ptr(&n))
		a.logf("is %d", n)
		a.recvfrom("peek", y, 100, syscall.MSG_PEEK, xp, yp)
		a.recvfrom("recv", y, 100, 0, xp, yp)
		a.recvfrom("recv none", y, 100, 0, xp, yp)
		to("truncated", yp)
		to("truncated", yp)
		to("", yp)
		a.settle()
		a.recvfrom("recv short", y, 4, 0, xp, yp)
		a.recvfrom("recv short, MSG_TRUNC", y, 4, syscall.MSG_TRUNC, xp, yp)
		a.recvfrom("recv empty", y, 4, 0, xp, yp)
		a.do("sendto port 0", syscall.SYS_SENDTO, x, bytesPtr([]byte("x")), 1, 0, ptr(in4(loop4, 0)), 16)
		a.do("sendto inet6", syscall.SYS_SENDTO, x, bytesPtr([]byte("x")), 1, 0, ptr(in6(loop6, yp)), 28)
		a.do("sendto short", syscall.SYS_SENDTO, x, bytesPtr([]byte("x")), 1, 0, ptr(in4(loop4, yp)), 15)
		a.do("sendto oob", syscall.SYS_SENDTO, x, bytesPtr([]byte("x")), 1, syscall.MSG_OOB, ptr(in4(loop4, yp)), 16)
		a.do("sendto broadcast", syscall.SYS_SENDTO, x, bytesPtr([]byte("x")), 1, 0, ptr(in4([4]byte{255, 255, 255, 255}, yp)), 16)
		big := make([]byte, 70000)
		a.do("sendto 70000", syscall.SYS_SENDTO, x, bytesPtr(big), 70000, 0, ptr(in4(loop4, yp)), 16)
		a.do("sendto 65508", syscall.SYS_SENDTO, x, bytesPtr(big), 65508, 0, ptr(in4(loop4, yp)), 16)
		a.do("sendto 65507", syscall.SYS_SENDTO, x, bytesPtr(big), 65507, 0, ptr(in4(loop4, yp)), 16)
		a.settle()
		a.do("read 65507", syscall.SYS_READ, y, bytesPtr(big), len(big))
		a.do("sendto null buffer", syscall.SYS_SENDTO, x, 0, 1, 0, ptr(in4(loop4, yp)), 16)

		a.do("connect short", syscall.SYS_CONNECT, x, ptr(in4(loop4, yp)), 1)
		a.do("connect short", syscall.SYS_CONNECT, x, ptr(in4(loop4, yp)), 8)
		a.do("connect inet6", syscall.SYS_CONNECT, x, ptr(in6(loop6, yp)), 28)
		a.do("connect", syscall.SYS_CONNECT, x, ptr(in4(loop4, yp)), 16)
		a.name("getpeername", syscall.SYS_GETPEERNAME, x, yp, xp)
		a.do("write", syscall.SYS_WRITE, x, bytesPtr([]byte("abc")), 3)
		a.settle()
		a.recvfrom("recv", y, 100, 0, xp, yp)
		unspec := &syscall.RawSockaddrInet4{}
		a.do("disconnect", syscall.SYS_CONNECT, x, ptr(unspec), 16)
		a.name("getpeername after", syscall.SYS_GETPEERNAME, x, yp)
		a.do("write after", syscall.SYS_WRITE, x, bytesPtr([]byte("abc")), 3)

		a.do("close y", syscall.SYS_CLOSE, y)
		a.do("close y again", syscall.SYS_CLOSE, y)
		a.do("connect to nobody", syscall.SYS_CONNECT, x, ptr(in4(loop4, yp)), 16)
		a.do("write to nobody", syscall.SYS_WRITE, x, bytesPtr([]byte("abc")), 3)
		a.settle()
		a.recvfrom("recv refused", x, 10, 0)
		a.recvfrom("recv none", x, 10, 0)
		a.do("write to nobody", syscall.SYS_WRITE, x, bytesPtr([]byte("abc")), 3)
		a.settle()
		a.option("SO_ERROR", x, syscall.SOL_SOCKET, syscall.SO_ERROR)
		a.option("SO_ERROR again", x, syscall.SOL_SOCKET, syscall.SO_ERROR)
		a.do("write to nobody", syscall.SYS_WRITE, x, bytesPtr([]byte("abc")), 3)
		a.settle()
		a.do("write refused", syscall.SYS_WRITE, x, bytesPtr([]byte("abc")), 3)

		z, _ := a.bound4()
		a.do("shutdown unconnected", syscall.SYS_SHUTDOWN, z, syscall.SHUT_RDWR)
		a.do("shutdown wrong", syscall.SYS_SHUTDOWN, z, 7)
		a.do("listen", syscall.SYS_LISTEN, z, 5)
		a.do("accept", syscall.SYS_ACCEPT, z, 0, 0)
		a.do("lseek", syscall.SYS_LSEEK, z, 0, 0)
		a.do("pread", syscall.SYS_PREAD64, z, bytesPtr(big), 1, 0)
		a.do("fsync", syscall.SYS_FSYNC, z)
		a.do("TIOCGWINSZ", syscall.SYS_IOCTL, z, syscall.TIOCGWINSZ, bytesPtr(big))
		f := a.open("open /dev/null", syscall.SYS_OPENAT, atFDCWD, cstr("/dev/null"), syscall.O_RDWR, 0)
		a.do("bind a file", syscall.SYS_BIND, f, ptr(in4(loop4, 0)), 16)
		a.do("sendto a file", syscall.SYS_SENDTO, f, bytesPtr(big), 1, 0, 0, 0)
		a.do("bind bad fd", syscall.SYS_BIND, 1<<30, ptr(in4(loop4, 0)), 16)
	})
}

func TestDualStackAsOnTheMachine(t *testing.T) {
	onBoth(t, func(a *arm) {
		x := a.udp(syscall.AF_INET6)
		a.option("V6ONLY", x, syscall.IPPROTO_IPV6, syscall.IPV6_V6ONLY)
		a.set("V6ONLY", x, syscall.IPPROTO_IPV6, syscall.IPV6_V6ONLY, 0)
		a.do("bind short", syscall.SYS_BIND, x, ptr(in6(loop6, 0)), 20)
		a.do("bind inet", syscall.SYS_BIND, x, ptr(in4(loop4, 0)), 28)
		a.do("bind", syscall.SYS_BIND, x, ptr(in6([16]byte{}, 0)), 28)
		xp := a.name("getsockname", syscall.SYS_GETSOCKNAME, x)
		a.set("V6ONLY late", x, syscall.IPPROTO_IPV6, syscall.IPV6_V6ONLY, 1)
		y, yp := a.bound4(xp)
		a.do("to mapped", syscall.SYS_SENDTO, x, bytesPtr([]byte("one")), 3, 0, ptr(in6(mapped, yp)), 28)
		a.do("to inet", syscall.SYS_SENDTO, x, bytesPtr([]byte("two")), 3, 0, ptr(in4(loop4, yp)), 16)
		a.settle()
		a.recvfrom("recv", y, 10, 0, xp, yp)
		a.recvfrom("recv", y, 10, 0, xp, yp)
		a.do("back", syscall.SYS_SENDTO, y, bytesPtr([]byte("back")), 4, 0, ptr(in4(loop4, xp)), 16)
		a.do("to self", syscall.SYS_SENDTO, x, bytesPtr([]byte("self")), 4, 0, ptr(in6(loop6, xp)), 28)
		a.settle()
		a.recvfrom("recv", x, 10, 0, xp, yp)
		a.recvfrom("recv", x, 10, 0, xp, yp)
		a.do("connect mapped", syscall.SYS_CONNECT, x, ptr(in6(mapped, yp)), 28)
		a.name("getpeername", syscall.SYS_GETPEERNAME, x, xp, yp)
		a.name("getsockname", syscall.SYS_GETSOCKNAME, x, xp, yp)

		z := a.udp(syscall.AF_INET6)
		a.set("V6ONLY", z, syscall.IPPROTO_IPV6, syscall.IPV6_V6ONLY, 1)
		a.do("bind mapped", syscall.SYS_BIND, z, ptr(in6(mapped, 0)), 28)
		a.do("to mapped", syscall.SYS_SENDTO, z, bytesPtr([]byte("x")), 1, 0, ptr(in6(mapped, yp)), 28)
		a.do("to inet", syscall.SYS_SENDTO, z, bytesPtr([]byte("x")), 1, 0, ptr(in4(loop4, yp)), 16)
		a.do("connect inet", syscall.SYS_CONNECT, z, ptr(in4(loop4, yp)), 16)

		// What package net finds out at its start.
		for _, probe := range []struct {
			only int
			addr [16]byte
		}{{1, loop6}, {0, mapped}} {
			s := a.open("tcp6", syscall.SYS_SOCKET, syscall.AF_INET6, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC|syscall.SOCK_NONBLOCK, syscall.IPPROTO_TCP)
			a.set("V6ONLY", s, syscall.IPPROTO_IPV6, syscall.IPV6_V6ONLY, probe.only)
			a.do("bind", syscall.SYS_BIND, s, ptr(in6(probe.addr, 0)), 28)
			a.name("getsockname", syscall.SYS_GETSOCKNAME, s)
			a.do("close", syscall.SYS_CLOSE, s)
		}
	})
}

// set is setsockopt with an int.
func (a *arm) set(what string, fd, level, name, value int) {
	a.t.Helper()
	v := int32(value)
	a.do("set "+what, syscall.SYS_SETSOCKOPT, fd, level, name, ptr(&v), 4)
}

// option is getsockopt with an int.
func (a *arm) option(what string, fd, level, name int) {
	a.t.Helper()
	v, n := int32(-77), int32(4)
	_, errno := a.sys(syscall.SYS_GETSOCKOPT, fd, level, name, ptr(&v), ptr(&n))
	if errno != 0 {
		a.logf("get %s: %s", what, errname(errno))
		return
	}
	a.logf("get %s: %d, %d bytes", what, v, n)
}

func TestOptionsAsOnTheMachine(t *testing.T) {
	for _, family := range []int{syscall.AF_INET, syscall.AF_INET6} {
		onBoth(t, func(a *arm) {
			x := a.udp(family)
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
			both(syscall.SOL_SOCKET, syscall.SO_SNDBUF, 100, 5000, 100000)
			both(syscall.SOL_SOCKET, syscall.SO_PRIORITY, 3)
			both(syscall.IPPROTO_IP, syscall.IP_TTL, 1, 255, 0, 256, -1)
			both(syscall.IPPROTO_IP, syscall.IP_TOS, 16, 0)
			both(syscall.IPPROTO_IP, syscall.IP_PKTINFO, 1)
			both(syscall.IPPROTO_IP, syscall.IP_RECVTTL, 1)
			both(syscall.IPPROTO_IP, syscall.IP_RECVTOS, 1)
			both(syscall.IPPROTO_IP, syscall.IP_RECVERR, 1)
			both(syscall.IPPROTO_IP, syscall.IP_MTU_DISCOVER, 0, 2, 9)
			both(syscall.IPPROTO_IP, syscall.IP_MULTICAST_TTL, 0, 4, 255, 256, -1)
			both(syscall.IPPROTO_IP, syscall.IP_MULTICAST_LOOP, 0, 1)
			both(syscall.IPPROTO_IP, ipMulticastAll, 0, 1, 2)
			both(syscall.IPPROTO_IP, syscall.IP_FREEBIND)
			both(syscall.IPPROTO_IP, syscall.IP_MTU)
			both(syscall.IPPROTO_IPV6, syscall.IPV6_V6ONLY, 1, 0)
			both(syscall.IPPROTO_IPV6, syscall.IPV6_UNICAST_HOPS, 0, 255, 256, -1)
			both(syscall.IPPROTO_IPV6, syscall.IPV6_TCLASS, 16, 256, -1)
			both(syscall.IPPROTO_IPV6, syscall.IPV6_MULTICAST_HOPS, 0, 4, 256, -1)
			both(syscall.IPPROTO_IPV6, syscall.IPV6_MULTICAST_LOOP, 0, 1)
			both(syscall.IPPROTO_IPV6, syscall.IPV6_RECVPKTINFO, 1)
			both(syscall.IPPROTO_IPV6, syscall.IPV6_RECVHOPLIMIT, 1)
			both(syscall.IPPROTO_IPV6, syscall.IPV6_RECVTCLASS, 1)
			both(syscall.IPPROTO_IPV6, syscall.IPV6_MTU_DISCOVER, 0, 2, 9)
			both(syscall.IPPROTO_IPV6, ip6DontFrag, 1, 0)
			both(syscall.IPPROTO_TCP, syscall.TCP_NODELAY)
			both(1234, 1)
			a.do("short", syscall.SYS_SETSOCKOPT, x, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, bytesPtr(make([]byte, 4)), 2)
			a.do("negative", syscall.SYS_SETSOCKOPT, x, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, bytesPtr(make([]byte, 4)), -1)
			a.do("null", syscall.SYS_SETSOCKOPT, x, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 0, 4)
			linger := syscall.Linger{Onoff: 5, Linger: 3}
			a.do("linger", syscall.SYS_SETSOCKOPT, x, syscall.SOL_SOCKET, syscall.SO_LINGER, ptr(&linger), 8)
			n := int32(8)
			a.do("linger", syscall.SYS_GETSOCKOPT, x, syscall.SOL_SOCKET, syscall.SO_LINGER, ptr(&linger), ptr(&n))
			a.logf("%v %d", linger, n)
			tv := syscall.Timeval{Sec: 2, Usec: 40000}
			a.do("timeout", syscall.SYS_SETSOCKOPT, x, syscall.SOL_SOCKET, syscall.SO_RCVTIMEO, ptr(&tv), 16)
			n = 16
			a.do("timeout", syscall.SYS_GETSOCKOPT, x, syscall.SOL_SOCKET, syscall.SO_RCVTIMEO, ptr(&tv), ptr(&n))
			a.logf("%v %d", tv, n)
		})
	}
}

// recvmsg receives with control messages and logs them.
func (a *arm) recvmsg(what string, fd, control, flags int) {
	b, oob := make([]byte, 8), make([]byte, 256)
	iov := []syscall.Iovec{{Base: &b[0], Len: 2}, {Base: &b[2], Len: 6}}
	m := &syscall.Msghdr{Iov: &iov[0], Iovlen: 2, Control: &oob[0], Controllen: uint64(control)}
	r, errno := a.sys(syscall.SYS_RECVMSG, fd, ptr(m), flags)
	if errno != 0 {
		a.logf("%s: %s", what, errname(errno))
		return
	}
	a.logf("%s: %d %q, flags %#x, %d control", what, r, b[:min(8, r)], m.Flags, m.Controllen)
	for rest := oob[:m.Controllen]; len(rest) >= syscall.SizeofCmsghdr; {
		h := (*syscall.Cmsghdr)(unsafe.Pointer(&rest[0]))
		a.logf("  level %d type %d: %v", h.Level, h.Type, rest[syscall.SizeofCmsghdr:min(uint64(len(rest)), h.Len)])
		if h.Len < syscall.SizeofCmsghdr {
			break
		}
		rest = rest[min(len(rest), cmsgAlign(int(h.Len))):]
	}
}

func TestMessagesAsOnTheMachine(t *testing.T) {
	onBoth(t, func(a *arm) {
		x, xp := a.bound4()
		y, yp := a.bound4(xp)
		a.set("PKTINFO", y, syscall.IPPROTO_IP, syscall.IP_PKTINFO, 1)
		a.set("RECVTTL", y, syscall.IPPROTO_IP, syscall.IP_RECVTTL, 1)
		a.set("RECVTOS", y, syscall.IPPROTO_IP, syscall.IP_RECVTOS, 1)
		parts := [][]byte{[]byte("ab"), []byte("cdef"), []byte("ghij")}
		var iov []syscall.Iovec
		for _, p := range parts {
			iov = append(iov, syscall.Iovec{Base: &p[0], Len: uint64(len(p))})
		}
		oob := make([]byte, 24)
		h := (*syscall.Cmsghdr)(unsafe.Pointer(&oob[0]))
		*h = syscall.Cmsghdr{Len: 20, Level: syscall.IPPROTO_IP, Type: syscall.IP_TTL}
		oob[16] = 9
		m := &syscall.Msghdr{Name: (*byte)(ptr(in4(loop4, yp))), Namelen: 16, Iov: &iov[0], Iovlen: 3}
		a.do("sendmsg", syscall.SYS_SENDMSG, x, ptr(m), 0)
		m.Control, m.Controllen = &oob[0], 24
		for range 5 {
			a.do("sendmsg with TTL", syscall.SYS_SENDMSG, x, ptr(m), 0)
		}
		a.settle()
		a.recvmsg("recvmsg", y, 256, 0)
		a.recvmsg("recvmsg", y, 256, 0)
		a.recvmsg("room for one", y, 32, 0)
		a.recvmsg("room for one and a half", y, 50, 0)
		a.recvmsg("room for nothing", y, 7, 0)
		a.recvmsg("no room", y, 0, syscall.MSG_TRUNC)
		a.recvmsg("none", y, 256, 0)

		h.Len = 99
		a.do("control too long", syscall.SYS_SENDMSG, x, ptr(m), 0)
		h.Len = 3
		a.do("control too short", syscall.SYS_SENDMSG, x, ptr(m), 0)
		h.Len, oob[16] = 20, 0
		a.do("TTL 0", syscall.SYS_SENDMSG, x, ptr(m), 0)
		m.Iovlen = 5000
		a.do("too many parts", syscall.SYS_SENDMSG, x, ptr(m), 0)
		m.Iovlen, m.Iov = 1, nil
		a.do("no parts", syscall.SYS_SENDMSG, x, ptr(m), 0)
		m.Iovlen, m.Controllen = 0, 0
		a.do("empty", syscall.SYS_SENDMSG, x, ptr(m), 0)
		a.settle()
		a.recvmsg("empty", y, 256, 0)

		all := make([]mmsghdr, 3)
		for i := range all {
			all[i].hdr = syscall.Msghdr{Name: (*byte)(ptr(in4(loop4, yp))), Namelen: 16, Iov: &iov[i], Iovlen: 1}
		}
		a.do("sendmmsg", sysSENDMMSG, x, ptr(&all[0]), 3, 0)
		a.logf("%d %d %d", all[0].n, all[1].n, all[2].n)
		a.settle()
		got := make([]mmsghdr, 5)
		bufs := make([][8]byte, 5)
		for i := range got {
			got[i].hdr = syscall.Msghdr{Iov: &syscall.Iovec{Base: &bufs[i][0], Len: 8}, Iovlen: 1}
		}
		a.do("recvmmsg", syscall.SYS_RECVMMSG, y, ptr(&got[0]), 5, 0, 0)
		a.logf("%d %d %d %q", got[0].n, got[1].n, got[2].n, bufs)
		a.do("recvmmsg none", syscall.SYS_RECVMMSG, y, ptr(&got[0]), 5, 0, 0)

		a.do("connect", syscall.SYS_CONNECT, x, ptr(in4(loop4, yp)), 16)
		a.do("writev", syscall.SYS_WRITEV, x, ptr(&iov[0]), 3)
		a.settle()
		in := []syscall.Iovec{{Base: &bufs[0][0], Len: 4}, {Base: &bufs[1][0], Len: 8}}
		a.do("readv", syscall.SYS_READV, y, ptr(&in[0]), 2)
		a.logf("%q", bufs[:2])
		a.do("readv too many", syscall.SYS_READV, y, ptr(&in[0]), 2000)
	})
	onBoth(t, func(a *arm) {
		x := a.udp(syscall.AF_INET6)
		a.do("bind", syscall.SYS_BIND, x, ptr(in6([16]byte{}, 0)), 28)
		xp := a.name("getsockname", syscall.SYS_GETSOCKNAME, x)
		a.set("RECVPKTINFO", x, syscall.IPPROTO_IPV6, syscall.IPV6_RECVPKTINFO, 1)
		a.set("RECVHOPLIMIT", x, syscall.IPPROTO_IPV6, syscall.IPV6_RECVHOPLIMIT, 1)
		a.set("RECVTCLASS", x, syscall.IPPROTO_IPV6, syscall.IPV6_RECVTCLASS, 1)
		y, _ := a.bound4(xp)
		a.do("v4", syscall.SYS_SENDTO, y, bytesPtr([]byte("v4")), 2, 0, ptr(in4(loop4, xp)), 16)
		a.do("v6", syscall.SYS_SENDTO, x, bytesPtr([]byte("v6")), 2, 0, ptr(in6(loop6, xp)), 28)
		a.settle()
		a.recvmsg("recvmsg v4", x, 256, 0)
		a.recvmsg("recvmsg v6", x, 256, 0)
	})
}

func TestDescriptorsAsOnTheMachine(t *testing.T) {
	onBoth(t, func(a *arm) {
		s := a.udp(syscall.AF_INET)
		// Far from what else the machine's process has open.
		x := a.open("F_DUPFD", syscall.SYS_FCNTL, s, syscall.F_DUPFD, s+700)
		rel := func(name string, r uintptr) { a.log[len(a.log)-1] = fmt.Sprintf("%s: +%d", name, int(r)-x) }
		y := a.open("dup", syscall.SYS_FCNTL, x, syscall.F_DUPFD, x)
		rel("dup", uintptr(y))
		fl := func(fd int) {
			a.do("F_GETFL", syscall.SYS_FCNTL, fd, syscall.F_GETFL, 0)
			a.do("F_GETFD", syscall.SYS_FCNTL, fd, syscall.F_GETFD, 0)
		}
		fl(x)
		fl(y)
		a.do("F_SETFL", syscall.SYS_FCNTL, x, syscall.F_SETFL, 0)
		a.do("F_SETFD", syscall.SYS_FCNTL, y, syscall.F_SETFD, 1)
		fl(x)
		fl(y)
		a.do("F_SETFL", syscall.SYS_FCNTL, y, syscall.F_SETFL, syscall.O_NONBLOCK)
		z := a.open("F_DUPFD_CLOEXEC", syscall.SYS_FCNTL, x, fDupfdCloexec, x)
		rel("F_DUPFD_CLOEXEC", uintptr(z))
		v := a.open("F_DUPFD", syscall.SYS_FCNTL, x, syscall.F_DUPFD, x+10)
		rel("F_DUPFD", uintptr(v))
		fl(v)
		a.do("close", syscall.SYS_CLOSE, y)
		u := a.open("dup takes the lowest", syscall.SYS_FCNTL, x, syscall.F_DUPFD, x)
		rel("dup takes the lowest", uintptr(u))
		w := a.open("dup3", syscall.SYS_DUP3, x, x+20, syscall.O_CLOEXEC)
		rel("dup3", uintptr(w))
		fl(w)
		a.do("dup3 same", syscall.SYS_DUP3, x, x, 0)
		a.do("dup3 flags", syscall.SYS_DUP3, x, x+21, 7)
		a.do("dup3 bad", syscall.SYS_DUP3, x+30, x+21, 0)
		w = a.open("dup3 onto open", syscall.SYS_DUP3, v, u, 0)
		rel("dup3 onto open", uintptr(w))
		a.do("dup bad", syscall.SYS_DUP, x+30)
		a.do("F_GETFL bad", syscall.SYS_FCNTL, x+30, syscall.F_GETFL, 0)
		a.do("bind", syscall.SYS_BIND, x, ptr(in4(loop4, 0)), 16)
		a.do("close", syscall.SYS_CLOSE, x)
		a.name("the duplicate lives", syscall.SYS_GETSOCKNAME, z)
		f := a.open("open", syscall.SYS_OPENAT, atFDCWD, cstr("/dev/null"), syscall.O_WRONLY|syscall.O_APPEND|syscall.O_CLOEXEC, 0)
		fl(f)
	})
}

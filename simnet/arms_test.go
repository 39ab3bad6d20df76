//go:build linux && (amd64 || arm64)

package simnet

import (
	"fmt"
	"net/netip"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/dstkit/dst/internal/netns"
	"github.com/dstkit/dst/sched"
)

// The tests of this file run one body twice: against the machine's own
// sockets, on its loopback only, and against the model. What the machine does
// is what the model has to do.

type arm struct {
	*testing.T
	open func(family int) socket
	real bool

	alone bool // no other programs, and no interface but loopback; real only
}

type socket interface {
	bind(addr string) error
	connect(addr string) error
	disconnect() error
	send(payload, to string) error // to may be empty
	recv() (payload, from string, err error)
	local() string
	remote() string
	set(option string, value int) error
	get(option string) int
	join(group string, ifindex int) error
	leave(group string, ifindex int) error
	shutdown(read, write bool) error
	soError() error
	close()
}

const (
	inet  = syscall.AF_INET
	inet6 = syscall.AF_INET6
)

func twoArms(t *testing.T, body func(a *arm)) {
	t.Run("machine", func(t *testing.T) {
		leave, alone := netns.Enter(t)
		defer leave()
		if fd, err := syscall.Socket(inet6, syscall.SOCK_DGRAM|syscall.SOCK_CLOEXEC, 0); err != nil {
			t.Skipf("no IPv6 here: %v", err)
		} else {
			defer syscall.Close(fd)
			if err := syscall.Bind(fd, &syscall.SockaddrInet6{Addr: netip.IPv6Loopback().As16()}); err != nil {
				t.Skipf("no IPv6 here: %v", err)
			}
		}
		body(&arm{T: t, real: true, alone: alone, open: func(family int) socket {
			fd, err := syscall.Socket(family, syscall.SOCK_DGRAM|syscall.SOCK_NONBLOCK|syscall.SOCK_CLOEXEC, 0)
			if err != nil {
				t.Skipf("no such sockets here: %v", err)
			}
			s := &realSocket{fd: fd, family: family}
			t.Cleanup(s.close)
			return s
		}})
	})
	t.Run("model", func(t *testing.T) {
		n := New(sched.New(1))
		s := n.AddHost("a")
		body(&arm{T: t, open: func(family int) socket { return &modelSocket{s.NewUDP(family)} }})
	})
}

// check compares an error by its errno's name.
func (a *arm) check(what string, got error, want syscall.Errno) {
	a.Helper()
	if got == nil {
		got = syscall.Errno(0)
	}
	if got != want {
		a.Errorf("%s: %v, want %v", what, got, want)
	}
}

func (a *arm) equal(what string, got, want any) {
	a.Helper()
	if got != want {
		a.Errorf("%s: %v, want %v", what, got, want)
	}
}

// gets checks the next datagram; an empty want is none.
func (a *arm) gets(what string, s socket, want string) (from string) {
	a.Helper()
	payload, from, err := s.recv()
	if want == "" {
		a.check(what, err, syscall.EAGAIN)
	} else if err != nil || payload != want {
		a.Errorf("%s: received %q, %v, want %q", what, payload, err, want)
	}
	return from
}

func (a *arm) bound(family int, addr string, options ...string) socket {
	a.Helper()
	s := a.open(family)
	for _, o := range options {
		a.check(o, s.set(o, 1), 0)
	}
	a.check("bind "+addr, s.bind(addr), 0)
	return s
}

// at replaces the port of an address by the one that s is bound to.
func at(addr string, s socket) string {
	return netip.AddrPortFrom(netip.MustParseAddr(addr), netip.MustParseAddrPort(s.local()).Port()).String()
}

// host returns an address without its port.
func host(addr string) string { return netip.MustParseAddrPort(addr).Addr().String() }

type modelSocket struct{ u *UDP }

func errOf(e syscall.Errno) error {
	if e == 0 {
		return nil
	}
	return e
}

func (m *modelSocket) bind(addr string) error { return errOf(m.u.Bind(netip.MustParseAddrPort(addr))) }
func (m *modelSocket) connect(addr string) error {
	return errOf(m.u.Connect(netip.MustParseAddrPort(addr)))
}
func (m *modelSocket) disconnect() error { m.u.Disconnect(); return nil }
func (m *modelSocket) local() string     { return m.u.LocalAddr().String() }
func (m *modelSocket) remote() string    { return m.u.RemoteAddr().String() }
func (m *modelSocket) soError() error    { return errOf(m.u.PendingError()) }
func (m *modelSocket) close()            { m.u.Close() }

func (m *modelSocket) shutdown(read, write bool) error { return errOf(m.u.Shutdown(read, write)) }

func (m *modelSocket) send(payload, to string) error {
	var addr netip.AddrPort
	if to != "" {
		addr = netip.MustParseAddrPort(to)
	}
	n, errno := m.u.Send([]byte(payload), addr, nil)
	if errno == 0 && n != len(payload) {
		return fmt.Errorf("sent %d of %d", n, len(payload))
	}
	return errOf(errno)
}

func (m *modelSocket) recv() (string, string, error) {
	d, errno := m.u.Recv(false)
	if errno != 0 {
		return "", "", errno
	}
	defer d.Release()
	return string(d.Payload), d.From.String(), nil
}

func (m *modelSocket) join(group string, ifindex int) error {
	return errOf(m.u.Join(netip.MustParseAddr(group), ifindex))
}

func (m *modelSocket) leave(group string, ifindex int) error {
	return errOf(m.u.Leave(netip.MustParseAddr(group), ifindex))
}

func (m *modelSocket) set(option string, value int) error {
	switch u, on := m.u, value != 0; option {
	case "broadcast":
		u.Broadcast = on
	case "reuseaddr":
		u.ReuseAddr = on
	case "reuseport":
		u.ReusePort = on
	case "dontfragment":
		u.DontFragment = on
	case "loop":
		u.MulticastLoop = on
	case "mcall":
		u.MulticastAll = on
	case "v6only":
		return errOf(u.SetV6Only(on))
	case "rcvbuf":
		u.SetRcvBuf(value, false)
	case "sndbuf":
		u.SetSndBuf(value, false)
	case "ttl":
		return errOf(u.SetTTL(value))
	case "hops":
		return errOf(u.SetHopLimit(value))
	case "tos":
		return errOf(u.SetTOS(value))
	case "tclass":
		return errOf(u.SetTrafficClass(value))
	case "mcttl":
		return errOf(u.SetMulticastTTL(value))
	case "mchops":
		return errOf(u.SetMulticastHops(value))
	case "mcif":
		return errOf(u.SetMulticastInterface(value))
	case "mcif6":
		return errOf(u.SetMulticastInterface6(value))
	}
	return nil
}

func (m *modelSocket) get(option string) int {
	switch u := m.u; option {
	case "rcvbuf":
		return u.RcvBuf()
	case "sndbuf":
		return u.SndBuf()
	case "ttl":
		return u.TTL()
	case "hops":
		return u.HopLimit()
	case "tos":
		return u.TOS()
	case "tclass":
		return u.TrafficClass()
	case "mcttl":
		return u.MulticastTTL()
	case "mchops":
		return u.MulticastHops()
	case "inq":
		return u.NextSize()
	}
	panic(option)
}

type realSocket struct {
	fd, family int
	closed     bool
}

func (r *realSocket) addr(s string) syscall.Sockaddr {
	a := netip.MustParseAddrPort(s)
	if a.Addr().Is4() && r.family == inet {
		return &syscall.SockaddrInet4{Port: int(a.Port()), Addr: a.Addr().As4()}
	}
	return &syscall.SockaddrInet6{Port: int(a.Port()), Addr: a.Addr().As16()}
}

func text(sa syscall.Sockaddr) string {
	switch sa := sa.(type) {
	case *syscall.SockaddrInet4:
		return netip.AddrPortFrom(netip.AddrFrom4(sa.Addr), uint16(sa.Port)).String()
	case *syscall.SockaddrInet6:
		return netip.AddrPortFrom(netip.AddrFrom16(sa.Addr), uint16(sa.Port)).String()
	}
	return netip.AddrPort{}.String()
}

func (r *realSocket) bind(addr string) error    { return syscall.Bind(r.fd, r.addr(addr)) }
func (r *realSocket) connect(addr string) error { return syscall.Connect(r.fd, r.addr(addr)) }
func (r *realSocket) disconnect() error {
	var sa syscall.RawSockaddrInet6 // AF_UNSPEC
	_, _, e := syscall.Syscall(syscall.SYS_CONNECT, uintptr(r.fd), uintptr(unsafe.Pointer(&sa)), unsafe.Sizeof(sa))
	return errOf(e)
}

func (r *realSocket) send(payload, to string) error {
	if to == "" {
		_, err := syscall.Write(r.fd, []byte(payload))
		return err
	}
	return syscall.Sendto(r.fd, []byte(payload), 0, r.addr(to))
}

func (r *realSocket) recv() (string, string, error) {
	buf := make([]byte, 1<<17)
	for try := 0; ; try++ {
		n, from, err := syscall.Recvfrom(r.fd, buf, 0)
		if err == syscall.EAGAIN && try < 3 {
			time.Sleep(time.Millisecond)
			continue
		}
		if err != nil {
			return "", "", err
		}
		return string(buf[:n]), text(from), nil
	}
}

func (r *realSocket) local() string {
	sa, _ := syscall.Getsockname(r.fd)
	return text(sa)
}

func (r *realSocket) remote() string {
	sa, _ := syscall.Getpeername(r.fd)
	return text(sa)
}

var realOptions = map[string][2]int{
	"broadcast":    {syscall.SOL_SOCKET, syscall.SO_BROADCAST},
	"reuseaddr":    {syscall.SOL_SOCKET, syscall.SO_REUSEADDR},
	"reuseport":    {syscall.SOL_SOCKET, 15},
	"rcvbuf":       {syscall.SOL_SOCKET, syscall.SO_RCVBUF},
	"sndbuf":       {syscall.SOL_SOCKET, syscall.SO_SNDBUF},
	"ttl":          {syscall.IPPROTO_IP, syscall.IP_TTL},
	"tos":          {syscall.IPPROTO_IP, syscall.IP_TOS},
	"loop":         {syscall.IPPROTO_IP, syscall.IP_MULTICAST_LOOP},
	"mcall":        {syscall.IPPROTO_IP, 49},
	"mcttl":        {syscall.IPPROTO_IP, syscall.IP_MULTICAST_TTL},
	"v6only":       {syscall.IPPROTO_IPV6, syscall.IPV6_V6ONLY},
	"hops":         {syscall.IPPROTO_IPV6, syscall.IPV6_UNICAST_HOPS},
	"tclass":       {syscall.IPPROTO_IPV6, 67},
	"mchops":       {syscall.IPPROTO_IPV6, syscall.IPV6_MULTICAST_HOPS},
	"mcif6":        {syscall.IPPROTO_IPV6, syscall.IPV6_MULTICAST_IF},
	"dontfragment": {syscall.IPPROTO_IP, syscall.IP_MTU_DISCOVER},
}

func (r *realSocket) set(option string, value int) error {
	if option == "mcif" {
		return syscall.SetsockoptIPMreqn(r.fd, syscall.IPPROTO_IP, syscall.IP_MULTICAST_IF, &syscall.IPMreqn{Ifindex: int32(value)})
	}
	if option == "dontfragment" {
		value = syscall.IP_PMTUDISC_DO
	}
	o := realOptions[option]
	return syscall.SetsockoptInt(r.fd, o[0], o[1], value)
}

func (r *realSocket) get(option string) int {
	if option == "inq" {
		var n int32
		syscall.Syscall(syscall.SYS_IOCTL, uintptr(r.fd), 0x541b, uintptr(unsafe.Pointer(&n)))
		return int(n)
	}
	o := realOptions[option]
	n, _ := syscall.GetsockoptInt(r.fd, o[0], o[1])
	return n
}

func (r *realSocket) member(option4, option6 int, group string, ifindex int) error {
	a := netip.MustParseAddr(group)
	if a.Is4() {
		return syscall.SetsockoptIPMreqn(r.fd, syscall.IPPROTO_IP, option4, &syscall.IPMreqn{Multiaddr: a.As4(), Ifindex: int32(ifindex)})
	}
	return syscall.SetsockoptIPv6Mreq(r.fd, syscall.IPPROTO_IPV6, option6, &syscall.IPv6Mreq{Multiaddr: a.As16(), Interface: uint32(ifindex)})
}

func (r *realSocket) join(group string, ifindex int) error {
	return r.member(syscall.IP_ADD_MEMBERSHIP, syscall.IPV6_JOIN_GROUP, group, ifindex)
}

func (r *realSocket) leave(group string, ifindex int) error {
	return r.member(syscall.IP_DROP_MEMBERSHIP, syscall.IPV6_LEAVE_GROUP, group, ifindex)
}

func (r *realSocket) shutdown(read, write bool) error {
	how := syscall.SHUT_RDWR
	if !write {
		how = syscall.SHUT_RD
	} else if !read {
		how = syscall.SHUT_WR
	}
	return syscall.Shutdown(r.fd, how)
}

func (r *realSocket) soError() error {
	n, _ := syscall.GetsockoptInt(r.fd, syscall.SOL_SOCKET, syscall.SO_ERROR)
	return errOf(syscall.Errno(n))
}

func (r *realSocket) close() {
	if !r.closed {
		r.closed = true
		syscall.Close(r.fd)
	}
}

var big = strings.Repeat("x", 70000)

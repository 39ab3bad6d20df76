//go:build linux && (amd64 || arm64)

package kernel

import (
	"fmt"
	"net/netip"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"
)

// A cmsg is a control message to be sent.
type cmsg struct {
	level, typ int
	data       any // int32, uint16, byte or []byte
}

func (c cmsg) bytes() []byte {
	var b []byte
	switch v := c.data.(type) {
	case int32:
		b = append(b, bytesOf(&v)...)
	case uint16:
		b = append(b, bytesOf(&v)...)
	case byte:
		b = []byte{v}
	case []byte:
		b = v
	}
	h := syscall.Cmsghdr{Len: uint64(cmsgHeader + len(b)), Level: int32(c.level), Type: int32(c.typ)}
	out := append(append([]byte(nil), bytesOf(&h)...), b...)
	return append(out, make([]byte, cmsgAlign(len(out))-len(out))...)
}

// socket opens one that does not block, bound to an address, whose port it
// returns.
func (a *arm) socket(family, typ int, addr string) (fd int, bound netip.AddrPort) {
	a.t.Helper()
	fd = a.open("socket", syscall.SYS_SOCKET, family, typ|syscall.SOCK_NONBLOCK, 0)
	if addr != "" {
		var raw rawSockaddr
		n := raw.encode(family, netip.AddrPortFrom(netip.MustParseAddr(addr), 0), 0)
		a.do("bind", syscall.SYS_BIND, fd, ptr(&raw), int(n))
	}
	return fd, a.bound(fd)
}

func (a *arm) bound(fd int) netip.AddrPort {
	var raw rawSockaddr
	n := uint32(unsafe.Sizeof(raw))
	a.sys(syscall.SYS_GETSOCKNAME, fd, ptr(&raw), ptr(&n))
	return raw.decode()
}

func (raw *rawSockaddr) decode() netip.AddrPort {
	port := uint16(raw.port[0])<<8 | uint16(raw.port[1])
	switch raw.family {
	case syscall.AF_INET:
		return netip.AddrPortFrom(netip.AddrFrom4(raw.flow), port)
	case syscall.AF_INET6:
		return netip.AddrPortFrom(netip.AddrFrom16(raw.addr), port)
	}
	return netip.AddrPort{}
}

func (a *arm) connect(fd int, to netip.AddrPort) {
	a.t.Helper()
	var raw rawSockaddr
	family := syscall.AF_INET6
	if to.Addr().Is4() {
		family = syscall.AF_INET
	}
	n := raw.encode(family, to, 0)
	a.do("connect", syscall.SYS_CONNECT, fd, ptr(&raw), int(n))
}

func (a *arm) setInt(fd, level, name, value int) {
	a.t.Helper()
	v := int32(value)
	a.do(fmt.Sprintf("set %d/%d=%d", level, name, value), syscall.SYS_SETSOCKOPT, fd, level, name, ptr(&v), 4)
}

// send is sendmsg to an address, or to the peer if that is not valid.
func (a *arm) send(fd int, payload string, to netip.AddrPort, flags int, control ...cmsg) {
	a.t.Helper()
	var m syscall.Msghdr
	var raw rawSockaddr
	if to.IsValid() {
		family := syscall.AF_INET6
		if to.Addr().Is4() {
			family = syscall.AF_INET
		}
		m.Namelen = raw.encode(family, to, 0)
		m.Name = (*byte)(ptr(&raw))
	}
	b := []byte(payload)
	iov := syscall.Iovec{Len: uint64(len(b))}
	if len(b) > 0 {
		iov.Base = &b[0]
	}
	m.Iov, m.Iovlen = &iov, 1
	var oob []byte
	for _, c := range control {
		oob = append(oob, c.bytes()...)
	}
	if len(oob) > 0 {
		m.Control, m.Controllen = &oob[0], uint64(len(oob))
	}
	a.do(fmt.Sprintf("send %d bytes", len(payload)), syscall.SYS_SENDMSG, fd, ptr(&m), flags)
}

// receive is recvmsg; it logs all that it tells, but for ports and times.
func (a *arm) receive(fd, size, room, flags int) {
	a.t.Helper()
	var m syscall.Msghdr
	var raw rawSockaddr
	m.Name, m.Namelen = (*byte)(ptr(&raw)), uint32(unsafe.Sizeof(raw))
	b, oob := make([]byte, size+1), make([]byte, room+1)
	iov := syscall.Iovec{Base: &b[0], Len: uint64(size)}
	m.Iov, m.Iovlen = &iov, 1
	m.Control, m.Controllen = &oob[0], uint64(room)
	var n uintptr
	var errno syscall.Errno
	for range 3 { // what is sent over the machine's loopback is there at once, as a rule
		if n, errno = a.sys(syscall.SYS_RECVMSG, fd, ptr(&m), flags); errno != syscall.EAGAIN || a.p != nil {
			break
		}
		time.Sleep(time.Millisecond)
	}
	if errno != 0 {
		a.logf("receive: %s", errname(errno))
		return
	}
	text := string(b[:min(int(n), size)])
	if len(text) > 20 {
		text = fmt.Sprintf("%s… (%d)", text[:20], len(text))
	}
	line := fmt.Sprintf("receive: %d %q from %v, flags %#x", n, text, raw.decode().Addr(), m.Flags&^syscall.MSG_CMSG_CLOEXEC)
	all := oob[:m.Controllen]
	for len(all) >= cmsgHeader {
		h := (*syscall.Cmsghdr)(ptr(&all[0]))
		data := all[cmsgHeader:min(int(h.Len), len(all))]
		switch {
		case len(data) == 16 && h.Level == syscall.SOL_SOCKET && (h.Type == syscall.SO_TIMESTAMP || h.Type == soTimestampNS):
			ts := (*[2]int64)(ptr(&data[0]))
			unit := time.Nanosecond
			if h.Type == syscall.SO_TIMESTAMP {
				unit = time.Microsecond
			}
			now := time.Now().UnixNano()
			if a.p != nil {
				now = a.p.now()
			}
			age := time.Duration(now - ts[0]*1e9 - ts[1]*int64(unit))
			line += fmt.Sprintf(" [%d/%d: %d bytes, just now: %v]", h.Level, h.Type, len(data), -time.Millisecond < age && age < 10*time.Second)
		case len(data) >= syscall.SizeofSockaddrInet4 && (h.Type == ipOrigDstAddr || h.Type == ip6OrigDstAddr):
			line += fmt.Sprintf(" [%d/%d: %v]", h.Level, h.Type, (*rawSockaddr)(ptr(&data[0])).decode().Addr())
		case h.Level == syscall.SOL_SOCKET && h.Type == soTimestampNS:
			line += fmt.Sprintf(" [%d/%d: cut to %d]", h.Level, h.Type, len(data))
		default:
			line += fmt.Sprintf(" [%d/%d: %x]", h.Level, h.Type, data)
		}
		all = all[min(len(all), cmsgAlign(int(h.Len))):]
	}
	a.logf("%s", line)
}

var loopback = map[int]string{syscall.AF_INET: "127.0.0.1", syscall.AF_INET6: "::1"}

// What goes with a datagram, both ways, over IPv4, IPv6, and IPv4 on an IPv6
// socket.
func TestControlMessages(t *testing.T) {
	for _, c := range []struct {
		name     string
		family   int
		receiver string
		sender   int
		from     string
	}{
		{"v4", syscall.AF_INET, "127.0.0.1", syscall.AF_INET, "127.0.0.1"},
		{"v6", syscall.AF_INET6, "::1", syscall.AF_INET6, "::1"},
		{"mapped", syscall.AF_INET6, "::ffff:127.0.0.1", syscall.AF_INET, "127.0.0.1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			onBoth(t, func(a *arm) {
				r, at := a.socket(c.family, syscall.SOCK_DGRAM, c.receiver)
				s, _ := a.socket(c.sender, syscall.SOCK_DGRAM, c.from)
				to := at
				if c.sender == syscall.AF_INET {
					to = netip.AddrPortFrom(at.Addr().Unmap(), at.Port())
				}
				options := [][2]int{
					{0, syscall.IP_PKTINFO}, {0, syscall.IP_RECVTTL}, {0, syscall.IP_RECVTOS}, {0, ipOrigDstAddr},
					{41, syscall.IPV6_RECVPKTINFO}, {41, syscall.IPV6_RECVHOPLIMIT}, {41, syscall.IPV6_RECVTCLASS}, {41, ip6OrigDstAddr},
					{1, syscall.SO_TIMESTAMP}, {1, soTimestampNS}, {1, soRxqOvfl},
				}
				for _, o := range options {
					a.setInt(r, o[0], o[1], 1)
					a.send(s, "one", to, 0)
					a.receive(r, 10, 300, 0)
				}
				level, tos, ttl := syscall.IPPROTO_IP, syscall.IP_TOS, syscall.IP_TTL
				if c.sender == syscall.AF_INET6 {
					level, tos, ttl = syscall.IPPROTO_IPV6, syscall.IPV6_TCLASS, syscall.IPV6_HOPLIMIT
				}
				marks := []cmsg{{syscall.SOL_SOCKET, syscall.SO_MARK, int32(1)}}
				if os.Geteuid() != 0 { // a host's process is root
					marks = nil
				}
				for _, m := range append(marks, []cmsg{
					{level, tos, int32(3)}, {level, tos, int32(0x2e << 2)}, {level, tos, byte(1)}, {level, tos, int32(256)}, {level, tos, int32(-1)},
					{level, tos, uint16(1)}, {level, ttl, int32(3)}, {level, ttl, int32(0)}, {level, ttl, int32(256)}, {level, ttl, int32(-1)},
					{level, ttl, byte(3)}, {solUDP, udpSegment, int32(1)}, {solUDP, 99, int32(1)},
				}...) {
					a.send(s, "with", to, 0, m)
					a.receive(r, 10, 300, 0)
				}
				// Both at once, and a source address.
				a.send(s, "both", to, 0, cmsg{level, tos, int32(2)}, cmsg{level, ttl, int32(9)})
				a.receive(r, 10, 300, 0)
				info4 := append(make([]byte, 4), append(netip.MustParseAddr("127.0.0.2").AsSlice(), 0, 0, 0, 0)...)
				info6 := append(netip.MustParseAddr("::1").AsSlice(), 0, 0, 0, 0)
				any4, any6 := make([]byte, 12), make([]byte, 20)
				u, _ := a.socket(c.sender, syscall.SOCK_DGRAM, "")
				infos := [][]byte{info4, any4, info4[:8]}
				typ := syscall.IP_PKTINFO
				if c.sender == syscall.AF_INET6 {
					infos = [][]byte{info6, any6, info6[:16]}
					typ = syscall.IPV6_PKTINFO
				}
				for _, b := range infos {
					a.send(u, "info", to, 0, cmsg{level, typ, b})
					a.receive(r, 10, 300, 0)
				}
				// Cut.
				for _, room := range []int{0, 10, 16, 20, 32, 40, 60} {
					a.send(s, "cut", to, 0)
					a.receive(r, 2, room, 0)
				}
				a.send(s, "peek", to, 0)
				a.receive(r, 10, 300, syscall.MSG_PEEK)
				a.receive(r, 2, 300, syscall.MSG_PEEK|syscall.MSG_TRUNC)
				a.receive(r, 2, 300, syscall.MSG_TRUNC|syscall.MSG_DONTWAIT|syscall.MSG_WAITALL)
				a.receive(r, 2, 300, syscall.MSG_OOB)
				a.receive(r, 2, 300, syscall.MSG_ERRQUEUE)
				a.receive(r, 2, 300, 0)
			})
		})
	}
}

// UDP_SEGMENT and UDP_GRO.
func TestSegments(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root: SO_RCVBUFFORCE, since the datagrams of a send need more room than a user may ask for")
	}
	big := strings.Repeat("x", 60000)
	for _, family := range []int{syscall.AF_INET, syscall.AF_INET6} {
		for _, gro := range []int{0, 1} {
			t.Run(fmt.Sprintf("%d, GRO %d", family, gro), func(t *testing.T) {
				onBoth(t, func(a *arm) {
					r, to := a.socket(family, syscall.SOCK_DGRAM, loopback[family])
					s, _ := a.socket(family, syscall.SOCK_DGRAM, loopback[family])
					a.setInt(r, syscall.SOL_SOCKET, soRcvBufForce, 1<<20)
					a.setInt(r, solUDP, udpGRO, gro)
					all := func() {
						for range 200 {
							before := len(a.log)
							a.receive(r, 70000, 100, 0)
							if strings.Contains(a.log[before], "errno") {
								return
							}
						}
					}
					for _, c := range []struct {
						size    int
						segment uint16
					}{
						{10, 4}, {12, 4}, {4, 4}, {3, 4}, {0, 4}, {10, 0}, {128, 1}, {129, 1}, {3000, 1000}, {60000, 1200}, {60000, 400}, {60000, 30000}, {1, 65535},
					} {
						a.logf("%d bytes by %d", c.size, c.segment)
						a.send(s, big[:c.size], to, 0, cmsg{solUDP, udpSegment, c.segment})
						all()
					}
					a.send(s, big[:10], to, 0, cmsg{solUDP, udpSegment, byte(4)})
					a.setInt(s, solUDP, udpSegment, 5)
					a.send(s, "aaaaabbbbbcc", to, 0)
					all()
					a.send(s, "aaaaabbbbbcc", to, 0, cmsg{solUDP, udpSegment, uint16(6)})
					all()
					a.send(s, "aaaaabbbbbcc", to, 0, cmsg{solUDP, udpSegment, uint16(0)})
					all()
					a.setInt(s, syscall.SOL_SOCKET, syscall.SO_NO_CHECK, 1)
					a.send(s, "aaaaabbbbbcc", to, 0)
					all()
				})
			})
		}
	}
}

// The error queue.
func TestErrorQueue(t *testing.T) {
	for _, family := range []int{syscall.AF_INET, syscall.AF_INET6} {
		t.Run(fmt.Sprint(family), func(t *testing.T) {
			level, option, discover := syscall.IPPROTO_IP, syscall.IP_RECVERR, syscall.IP_MTU_DISCOVER
			if family == syscall.AF_INET6 {
				level, option, discover = syscall.IPPROTO_IPV6, syscall.IPV6_RECVERR, syscall.IPV6_MTU_DISCOVER
			}
			onBoth(t, func(a *arm) {
				c, closed := a.socket(family, syscall.SOCK_DGRAM, loopback[family])
				a.do("close", syscall.SYS_CLOSE, c)
				s, _ := a.socket(family, syscall.SOCK_DGRAM, loopback[family])
				soError := func() {
					var v, n int32 = 0, 4
					a.sys(syscall.SYS_GETSOCKOPT, s, syscall.SOL_SOCKET, syscall.SO_ERROR, ptr(&v), ptr(&n))
					a.logf("SO_ERROR %d", v)
				}
				events := func() {
					pf := struct {
						fd              int32
						events, revents int16
					}{fd: int32(s), events: 1 | 4}
					var ts syscall.Timespec
					_, errno := a.sys(syscall.SYS_PPOLL, ptr(&pf), 1, ptr(&ts), 0, 0)
					a.logf("events %#x, %v", pf.revents&8, errno)
				}
				a.send(s, "not told", closed, 0)
				a.settle()
				soError()
				a.receive(s, 100, 300, syscall.MSG_ERRQUEUE)
				a.setInt(s, level, option, 1)
				a.send(s, "told", closed, 0)
				a.settle()
				events()
				a.receive(s, 100, 300, syscall.MSG_ERRQUEUE)
				soError()
				a.receive(s, 100, 300, syscall.MSG_ERRQUEUE)
				events()
				a.send(s, "one", closed, 0)
				a.settle()
				a.receive(s, 100, 300, 0)
				a.receive(s, 100, 300, 0)
				a.send(s, "two", closed, 0)
				a.settle()
				a.receive(s, 100, 30, syscall.MSG_ERRQUEUE)
				soError()
				a.receive(s, 2, 300, syscall.MSG_ERRQUEUE|syscall.MSG_DONTWAIT)
				soError()
				a.send(s, "three", closed, 0)
				a.send(s, "four", closed, 0)
				soError()
				a.receive(s, 100, 300, syscall.MSG_ERRQUEUE)
				a.receive(s, 100, 300, syscall.MSG_ERRQUEUE)
				a.send(s, strings.Repeat("y", 2000), closed, 0)
				a.settle()
				a.receive(s, 3000, 300, syscall.MSG_ERRQUEUE)
				a.setInt(s, level, discover, ipPmtuDo)
				a.send(s, strings.Repeat("z", 65500), closed, 0)
				a.receive(s, 100, 300, syscall.MSG_ERRQUEUE)
				soError()
				a.setInt(s, level, option, 0)
				a.receive(s, 100, 300, syscall.MSG_ERRQUEUE)
			})
		})
	}
}

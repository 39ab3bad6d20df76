//go:build linux && (amd64 || arm64)

package kernel

import (
	"fmt"
	"net/netip"
	"syscall"
	"testing"
)

// groupReq makes a struct group_req, or with a source a group_source_req.
func groupReq(ifindex int, addrs ...string) []byte {
	b := make([]byte, 8)
	*(*uint32)(ptr(&b[0])) = uint32(ifindex)
	for _, a := range addrs {
		var raw rawSockaddr
		addr := netip.MustParseAddr(a)
		family := syscall.AF_INET
		if addr.Is6() {
			family = syscall.AF_INET6
		}
		raw.encode(family, netip.AddrPortFrom(addr, 0), 0)
		storage := make([]byte, maxSockaddr)
		copy(storage, bytesOf(&raw))
		b = append(b, storage...)
	}
	return b
}

func (a *arm) setBytes(what string, fd, level, name int, b []byte) {
	a.t.Helper()
	a.do(what, syscall.SYS_SETSOCKOPT, fd, level, name, bytesPtr(b), len(b))
}

var groupOptions = []struct {
	what string
	name int
}{
	{"join source", mcastJoinSourceGroup}, {"leave source", mcastLeaveSource}, {"block", mcastBlockSource}, {"unblock", mcastUnblockSource},
}

// Groups by source, on the loopback interface.
func TestSourceGroups(t *testing.T) {
	const one, two = "127.0.0.1", "127.0.0.2"
	onBoth(t, func(a *arm) {
		r, to := a.socket(syscall.AF_INET, syscall.SOCK_DGRAM, "0.0.0.0")
		var from [2]int
		for i, addr := range []string{one, two} {
			from[i], _ = a.socket(syscall.AF_INET, syscall.SOCK_DGRAM, addr)
			b := append(make([]byte, 4), netip.MustParseAddr(addr).AsSlice()...)
			a.setBytes("interface", from[i], 0, syscall.IP_MULTICAST_IF, append(b, 1, 0, 0, 0))
		}
		group := netip.AddrPortFrom(netip.MustParseAddr("232.1.2.3"), to.Port())
		both := func() {
			for _, s := range from {
				a.send(s, "x", group, 0)
				a.receive(r, 10, 0, 0)
			}
		}
		set := func(option int, addrs ...string) {
			o := groupOptions[option]
			a.setBytes(fmt.Sprint(o.what, addrs), r, 0, o.name, groupReq(1, addrs...))
		}
		a.setInt(r, 0, ipMulticastAll, 0)
		both()
		for _, step := range []struct {
			option int
			source string
		}{
			{1, one}, {2, one}, {3, one}, // none is a member
			{0, one}, {0, one}, {0, two}, {2, one}, {3, one}, {1, one}, {1, one}, {1, two}, {1, two},
		} {
			set(step.option, "232.1.2.3", step.source)
			both()
		}
		// With all sources but some.
		a.setBytes("join", r, 0, mcastJoinGroup, groupReq(1, "232.1.2.3"))
		both()
		for _, step := range []struct {
			option int
			source string
		}{{2, one}, {2, one}, {0, two}, {2, two}, {3, one}, {3, one}, {3, two}, {0, two}, {2, one}} {
			set(step.option, "232.1.2.3", step.source)
			both()
		}
		a.setBytes("join again", r, 0, mcastJoinGroup, groupReq(1, "232.1.2.3"))
		a.setBytes("leave", r, 0, mcastLeaveGroup, groupReq(1, "232.1.2.3"))
		a.setBytes("leave again", r, 0, mcastLeaveGroup, groupReq(1, "232.1.2.3"))
		both()
		// struct ip_mreq_source: the interface by its address.
		mreq := func(group, ifaddr, source string) (b []byte) {
			for _, s := range []string{group, ifaddr, source} {
				b = append(b, netip.MustParseAddr(s).AsSlice()...)
			}
			return b
		}
		for _, o := range []int{syscall.IP_ADD_SOURCE_MEMBERSHIP, syscall.IP_ADD_SOURCE_MEMBERSHIP, syscall.IP_BLOCK_SOURCE,
			syscall.IP_UNBLOCK_SOURCE, syscall.IP_DROP_SOURCE_MEMBERSHIP, syscall.IP_DROP_SOURCE_MEMBERSHIP} {
			a.setBytes(fmt.Sprint("option ", o), r, 0, o, mreq("232.1.2.3", one, one))
			both()
		}
		for i := range 12 {
			a.setBytes("many sources", r, 0, syscall.IP_ADD_SOURCE_MEMBERSHIP, mreq("232.1.2.3", one, fmt.Sprint("10.9.8.", i)))
		}
		for _, o := range groupOptions {
			a.setBytes(o.what+", no group", r, 0, o.name, groupReq(1, one, two))
			a.setBytes(o.what+", short", r, 0, o.name, groupReq(1, one))
			a.setBytes(o.what+", no interface", r, 0, o.name, groupReq(99, "232.9.9.9", two))
			a.setBytes(o.what+", other family", r, 0, o.name, groupReq(1, "ff11::1", "::1"))
		}
		a.setBytes("join, no group", r, 0, mcastJoinGroup, groupReq(1, one))
		a.setBytes("join, short", r, 0, mcastJoinGroup, groupReq(1))
		a.setBytes("join, no interface", r, 0, mcastJoinGroup, groupReq(99, "232.9.9.9"))
		a.setBytes("join, other family", r, 0, mcastJoinGroup, groupReq(1, "ff11::1"))
	})
}

// The same options of IPv6. The loopback interface has no route to groups, so
// nothing is sent.
func TestSourceGroups6(t *testing.T) {
	onBoth(t, func(a *arm) {
		r, _ := a.socket(syscall.AF_INET6, syscall.SOCK_DGRAM, "::")
		for _, step := range []struct {
			option        int
			group, source string
		}{
			{1, "ff3e::1", "::1"}, {2, "ff3e::1", "::1"}, {0, "ff3e::1", "::1"}, {0, "ff3e::1", "::1"}, {0, "ff3e::1", "::2"}, {2, "ff3e::1", "::1"},
			{1, "ff3e::1", "::1"}, {1, "ff3e::1", "::2"}, {1, "ff3e::1", "::2"}, {0, "::1", "::1"}, {0, "232.1.1.1", "127.0.0.1"},
		} {
			o := groupOptions[step.option]
			a.setBytes(fmt.Sprint(o.what, step.group, step.source), r, syscall.IPPROTO_IPV6, o.name, groupReq(1, step.group, step.source))
		}
		a.setBytes("join", r, syscall.IPPROTO_IPV6, mcastJoinGroup, groupReq(1, "ff3e::1"))
		a.setBytes("join again", r, syscall.IPPROTO_IPV6, mcastJoinGroup, groupReq(1, "ff3e::1"))
		a.setBytes("block", r, syscall.IPPROTO_IPV6, mcastBlockSource, groupReq(1, "ff3e::1", "::1"))
		a.setBytes("unblock", r, syscall.IPPROTO_IPV6, mcastUnblockSource, groupReq(1, "ff3e::1", "::1"))
		a.setBytes("leave", r, syscall.IPPROTO_IPV6, mcastLeaveGroup, groupReq(1, "ff3e::1"))
		a.setBytes("leave again", r, syscall.IPPROTO_IPV6, mcastLeaveGroup, groupReq(1, "ff3e::1"))
		a.setBytes("v4", r, syscall.IPPROTO_IPV6, mcastJoinGroup, groupReq(1, "232.1.1.1"))
	})
}

// Sockets bound to a device, to an address that is not there, or to none yet.
func TestBoundSockets(t *testing.T) {
	onBoth(t, func(a *arm) {
		lo := []byte("lo\x00")
		for _, typ := range []int{syscall.SOCK_DGRAM, syscall.SOCK_STREAM} {
			s, at := a.socket(syscall.AF_INET, typ, "127.0.0.1")
			a.setBytes("device", s, syscall.SOL_SOCKET, syscall.SO_BINDTODEVICE, lo)
			var name [16]byte
			for _, room := range []int32{16, 15, 2} {
				n := room
				a.do("device", syscall.SYS_GETSOCKOPT, s, syscall.SOL_SOCKET, syscall.SO_BINDTODEVICE, ptr(&name), ptr(&n))
				a.logf("%q, %d", name, n)
			}
			v, n := int32(0), int32(4)
			a.do("index", syscall.SYS_GETSOCKOPT, s, syscall.SOL_SOCKET, soBindToIfindex, ptr(&v), ptr(&n))
			a.logf("%d", v)
			if typ == syscall.SOCK_DGRAM {
				a.send(s, "to itself", at, 0)
				a.receive(s, 100, 0, 0)
			} else {
				a.do("listen", syscall.SYS_LISTEN, s, 1)
				c, _ := a.socket(syscall.AF_INET, typ, "")
				a.connect(c, at)
			}
			free, _ := a.socket(syscall.AF_INET, typ, "192.0.2.1")
			a.setInt(free, 0, syscall.IP_FREEBIND, 1)
			var raw rawSockaddr
			size := raw.encode(syscall.AF_INET, netip.MustParseAddrPort("192.0.2.1:0"), 0)
			a.do("bind", syscall.SYS_BIND, free, ptr(&raw), int(size))
			a.logf("%v, a port: %v", a.bound(free).Addr(), a.bound(free).Port() != 0)
			later, _ := a.socket(syscall.AF_INET, typ, "")
			a.setInt(later, 0, ipBindNoPort, 1)
			size = raw.encode(syscall.AF_INET, netip.MustParseAddrPort("127.0.0.3:0"), 0)
			a.do("bind", syscall.SYS_BIND, later, ptr(&raw), int(size))
			a.logf("%v, a port: %v", a.bound(later).Addr(), a.bound(later).Port() != 0)
			if typ == syscall.SOCK_DGRAM {
				a.do("bind again", syscall.SYS_BIND, later, ptr(&raw), int(size))
			}
			a.connect(later, at)
			a.logf("%v, a port: %v", a.bound(later).Addr(), a.bound(later).Port() != 0)
		}
		s, to := a.socket(syscall.AF_INET, syscall.SOCK_DGRAM, "127.0.0.1")
		for _, least := range []int{64, 65} {
			a.setInt(s, 0, ipMinTTL, least)
			a.send(s, "hops", to, 0)
			a.receive(s, 10, 0, 0)
		}
	})
}

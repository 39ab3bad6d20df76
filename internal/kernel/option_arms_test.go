//go:build linux && (amd64 || arm64)

package kernel

import (
	"fmt"
	"syscall"
	"testing"
	"unsafe"

	"github.com/dstkit/dst/sched"
)

// socketKinds are the sockets that options are tried on.
var socketKinds = []struct {
	name        string
	family, typ int
}{
	{"udp4", syscall.AF_INET, syscall.SOCK_DGRAM},
	{"udp6", syscall.AF_INET6, syscall.SOCK_DGRAM},
	{"tcp4", syscall.AF_INET, syscall.SOCK_STREAM},
	{"tcp6", syscall.AF_INET6, syscall.SOCK_STREAM},
}

// tryOption reads an option, sets it to several values, of several sizes, and
// reads each back.
func (a *arm) tryOption(kind string, family, typ, level, name int) {
	label := fmt.Sprintf("%s %d/%d", kind, level, name)
	r, errno := a.sys(syscall.SYS_SOCKET, family, typ, 0)
	if errno != 0 {
		a.logf("%s: socket: %v", label, errno)
		return
	}
	fd := int(r)
	defer a.sys(syscall.SYS_CLOSE, fd)
	get := func(room int32) string {
		var buf [64]byte
		n := room
		_, errno := a.sys(syscall.SYS_GETSOCKOPT, fd, level, name, unsafe.Pointer(&buf), unsafe.Pointer(&n))
		if errno != 0 {
			return errname(errno)
		}
		if n < 0 || n > 64 {
			return fmt.Sprint("length ", n)
		}
		return fmt.Sprintf("%x", buf[:n])
	}
	a.logf("%s: get %s, as a byte %s", label, get(4), get(1))
	for _, v := range []int32{0, 1, 2, 3, -1, -2, 5, 6, 7, 64, 255, 256, 1000, 100000, 1 << 30} {
		_, errno := a.sys(syscall.SYS_SETSOCKOPT, fd, level, name, unsafe.Pointer(&v), 4)
		if errno != 0 {
			a.logf("%s: set %d: %s", label, v, errname(errno))
		} else {
			a.logf("%s: set %d: %s", label, v, get(4))
		}
	}
	v := int64(1)
	for _, size := range []int{0, 1, 2, 3, 8} {
		_, errno := a.sys(syscall.SYS_SETSOCKOPT, fd, level, name, unsafe.Pointer(&v), size)
		if errno != 0 {
			a.logf("%s: set %d bytes: %s", label, size, errname(errno))
		} else {
			a.logf("%s: set %d bytes: %s", label, size, get(4))
		}
	}
}

// notModelled are options that Linux has and the simulator refuses, with the
// errno of an option that does not exist.
var notModelled = map[[2]int]string{
	{1, 26}: "SO_ATTACH_FILTER", {1, 27}: "SO_DETACH_FILTER", {1, 50}: "SO_ATTACH_BPF", {1, 51}: "SO_ATTACH_REUSEPORT_CBPF",
	{1, 52}: "SO_ATTACH_REUSEPORT_EBPF", {1, 68}: "SO_DETACH_REUSEPORT_BPF",
	{1, 37}: "SO_TIMESTAMPING", {1, 65}: "SO_TIMESTAMPING_NEW", {1, 42}: "SO_PEEK_OFF", {1, 60}: "SO_ZEROCOPY", {1, 61}: "SO_TXTIME",
	{1, 28}: "SO_PEERNAME", {1, 48}: "SO_BPF_EXTENSIONS", {1, 66}: "SO_RCVTIMEO_NEW", {1, 67}: "SO_SNDTIMEO_NEW",
	{1, 70}: "SO_BUSY_POLL_BUDGET", {1, 71}: "SO_NETNS_COOKIE", {1, 72}: "SO_BUF_LOCK", {1, 73}: "SO_RESERVE_MEM",
	{0, 4}: "IP_OPTIONS", {0, 9}: "IP_PKTOPTIONS", {0, 16}: "IP_IPSEC_POLICY", {0, 17}: "IP_XFRM_POLICY",
	{0, 41}: "IP_MSFILTER", {0, 48}: "MCAST_MSFILTER", {0, 51}: "IP_LOCAL_PORT_RANGE",
	{41, 1}: "IPV6_ADDRFORM", {41, 2}: "IPV6_2292PKTINFO", {41, 3}: "IPV6_2292HOPOPTS", {41, 4}: "IPV6_2292DSTOPTS",
	{41, 5}: "IPV6_2292RTHDR", {41, 6}: "IPV6_2292PKTOPTIONS", {41, 8}: "IPV6_2292HOPLIMIT", {41, 9}: "SCM_SRCRT",
	{41, 11}: "IPV6_FLOWINFO", {41, 22}: "IPV6_ROUTER_ALERT", {41, 24}: "IPV6_MTU, to be set", {41, 27}: "IPV6_JOIN_ANYCAST",
	{41, 28}: "IPV6_LEAVE_ANYCAST", {41, 32}: "IPV6_FLOWLABEL_MGR", {41, 33}: "IPV6_FLOWINFO_SEND", {41, 34}: "IPV6_IPSEC_POLICY",
	{41, 35}: "IPV6_XFRM_POLICY", {41, 48}: "MCAST_MSFILTER", {41, 50}: "IPV6_PKTINFO, to be set", {41, 54}: "IPV6_HOPOPTS",
	{41, 55}: "IPV6_RTHDRDSTOPTS", {41, 57}: "IPV6_RTHDR", {41, 59}: "IPV6_DSTOPTS", {41, 64}: "IP6T_SO_SET_REPLACE",
	{41, 65}: "IP6T_SO_SET_ADD_COUNTERS", {41, 68}: "IP6T_SO_GET_REVISION_MATCH", {41, 69}: "IP6T_SO_GET_REVISION_TARGET",
	{41, 72}: "IPV6_ADDR_PREFERENCES",
	{6, 14}:  "TCP_MD5SIG", {6, 17}: "TCP_THIN_DUPACK", {6, 19}: "TCP_REPAIR", {6, 20}: "TCP_REPAIR_QUEUE", {6, 21}: "TCP_QUEUE_SEQ",
	{6, 22}: "TCP_REPAIR_OPTIONS", {6, 26}: "TCP_CC_INFO", {6, 27}: "TCP_SAVE_SYN", {6, 28}: "TCP_SAVED_SYN", {6, 29}: "TCP_REPAIR_WINDOW",
	{6, 32}: "TCP_MD5SIG_EXT", {6, 33}: "TCP_FASTOPEN_KEY", {6, 35}: "TCP_ZEROCOPY_RECEIVE",
	{17, 1}: "UDP_CORK, but for 0", {17, 100}: "UDP_ENCAP",
}

// ofTheMachine are options whose values are the machine's own.
var ofTheMachine = map[[2]int]string{
	{1, 7}: "SO_SNDBUF: net.core.wmem_max bounds it", {1, 8}: "SO_RCVBUF",
	{1, 18}: "SO_RCVLOWAT: net.ipv4.tcp_rmem bounds it", {1, 32}: "SO_SNDBUFFORCE", {1, 33}: "SO_RCVBUFFORCE", {1, 57}: "SO_COOKIE",
	{1, 77}: "SO_PEERPIDFD", {1, 31}: "SO_PEERSEC", {1, 34}: "SO_PASSSEC: a module's", {1, 41}: "IPT_SO",
	{41, 17}: "IPV6_MULTICAST_IF: it may have more interfaces", {6, 11}: "TCP_INFO", {6, 13}: "TCP_CONGESTION", {6, 24}: "TCP_TIMESTAMP", {0, 64}: "IPT_SO_GET_INFO",
}

// Every option of a socket's levels, up to those of Linux 5.15.
func TestEveryOption(t *testing.T) {
	if syscall.Getuid() != 0 {
		t.Skip("a simulated process is root; here some options are not permitted")
	}
	levels := []struct{ level, end int }{
		{syscall.SOL_SOCKET, 74}, {syscall.IPPROTO_IP, 51}, {syscall.IPPROTO_IPV6, 79}, {syscall.IPPROTO_TCP, 38}, {solUDP, 105}, {3, 2},
	}
	onBoth(t, func(a *arm) {
		for _, k := range socketKinds {
			for _, l := range levels {
				for name := range l.end {
					at := [2]int{l.level, name}
					if notModelled[at] == "" && ofTheMachine[at] == "" {
						a.tryOption(k.name, k.family, k.typ, l.level, name)
					}
				}
			}
		}
	})
}

// What is not modelled is refused, and the run's report says so.
func TestRefusedOptions(t *testing.T) {
	p, _ := newProcess(t, Options{})
	var told string
	p.k.Unsupported = func(_ *sched.Host, name, detail string) { told += name + ": " + detail + "\n" }
	a := &arm{t: t, p: p}
	for at, name := range notModelled {
		typ := syscall.SOCK_DGRAM
		if at[0] == syscall.IPPROTO_TCP || at == [2]int{41, 6} || at == [2]int{0, 9} {
			typ = syscall.SOCK_STREAM
		}
		told = ""
		fd, _ := a.sys(syscall.SYS_SOCKET, syscall.AF_INET6, typ, 0)
		var v [300]byte
		v[0] = 1
		_, errno := a.sys(syscall.SYS_SETSOCKOPT, int(fd), at[0], at[1], unsafe.Pointer(&v), len(v))
		if errno != syscall.ENOPROTOOPT && errno != syscall.EOPNOTSUPP || told == "" {
			t.Errorf("%s: %v, report %q", name, errno, told)
		}
	}
}

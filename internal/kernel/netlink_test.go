//go:build linux && (amd64 || arm64)

package kernel

import (
	"fmt"
	"net/netip"
	"strings"
	"syscall"
	"testing"
	"unsafe"
)

// rib does what syscall.NetlinkRIB does, and checks what it checks.
func (a *arm) rib(typ, family int) []syscall.NetlinkMessage {
	t := a.t
	s, errno := a.sys(syscall.SYS_SOCKET, syscall.AF_NETLINK, syscall.SOCK_RAW|syscall.SOCK_CLOEXEC, syscall.NETLINK_ROUTE)
	if errno != 0 {
		t.Fatal(errno)
	}
	defer a.sys(syscall.SYS_CLOSE, int(s))
	sa := &syscall.RawSockaddrNetlink{Family: syscall.AF_NETLINK}
	if _, errno := a.sys(syscall.SYS_BIND, int(s), ptr(sa), syscall.SizeofSockaddrNetlink); errno != 0 {
		t.Fatal(errno)
	}
	req := &struct {
		syscall.NlMsghdr
		family byte
	}{syscall.NlMsghdr{Len: 17, Type: uint16(typ), Flags: syscall.NLM_F_DUMP | syscall.NLM_F_REQUEST, Seq: 1}, byte(family)}
	if _, errno := a.sys(syscall.SYS_SENDTO, int(s), ptr(req), 17, 0, ptr(sa), syscall.SizeofSockaddrNetlink); errno != 0 {
		t.Fatal(errno)
	}
	n := int32(syscall.SizeofSockaddrNetlink)
	if _, errno := a.sys(syscall.SYS_GETSOCKNAME, int(s), ptr(sa), ptr(&n)); errno != 0 || sa.Family != syscall.AF_NETLINK || sa.Pid == 0 {
		t.Fatal(errno, sa)
	}
	var all []syscall.NetlinkMessage
	for {
		b := make([]byte, 4096)
		n, errno := a.sys(syscall.SYS_RECVFROM, int(s), bytesPtr(b), len(b), 0, 0, 0)
		if errno != 0 {
			t.Fatal(errno)
		}
		msgs, err := syscall.ParseNetlinkMessage(b[:n])
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range msgs {
			if m.Header.Seq != 1 || m.Header.Pid != sa.Pid {
				t.Fatalf("header %+v, port %d", m.Header, sa.Pid)
			}
			switch m.Header.Type {
			case syscall.NLMSG_DONE:
				return all
			case syscall.NLMSG_ERROR:
				t.Fatal("an error")
			}
			all = append(all, m)
		}
	}
}

func TestNetlink(t *testing.T) {
	p, _ := newProcess(t, Options{})
	a := &arm{t: t, p: p}
	var got []string
	for _, m := range a.rib(syscall.RTM_GETLINK, syscall.AF_UNSPEC) {
		ifi := (*syscall.IfInfomsg)(unsafe.Pointer(&m.Data[0]))
		attrs, err := syscall.ParseNetlinkRouteAttr(&m)
		if err != nil {
			t.Fatal(err)
		}
		line := fmt.Sprintf("link %d up %v", ifi.Index, ifi.Flags&syscall.IFF_UP != 0)
		for _, at := range attrs {
			switch at.Attr.Type {
			case syscall.IFLA_IFNAME:
				line += fmt.Sprintf(" name %q", at.Value)
			case syscall.IFLA_MTU:
				line += fmt.Sprintf(" mtu %d", *(*uint32)(unsafe.Pointer(&at.Value[0])))
			case syscall.IFLA_ADDRESS:
				line += fmt.Sprintf(" address of %d", len(at.Value))
			}
		}
		got = append(got, line)
	}
	for _, family := range []int{syscall.AF_UNSPEC, syscall.AF_INET} {
		for _, m := range a.rib(syscall.RTM_GETADDR, family) {
			ifa := (*syscall.IfAddrmsg)(unsafe.Pointer(&m.Data[0]))
			attrs, err := syscall.ParseNetlinkRouteAttr(&m)
			if err != nil {
				t.Fatal(err)
			}
			for _, at := range attrs {
				if at.Attr.Type == syscall.IFA_ADDRESS {
					addr, _ := netip.AddrFromSlice(at.Value)
					if addr.IsLinkLocalUnicast() {
						continue // made from the hardware address
					}
					got = append(got, fmt.Sprintf("address %d %v/%d", ifa.Index, addr, ifa.Prefixlen))
				}
			}
		}
	}
	want := `link 1 up true name "lo\x00" mtu 65536 address of 6
link 2 up true name "eth0\x00" mtu 1500 address of 6
address 1 127.0.0.1/8
address 1 ::1/128
address 2 10.0.0.1/16
address 2 fd00::1/64
address 1 127.0.0.1/8
address 2 10.0.0.1/16`
	if s := strings.Join(got, "\n"); s != want {
		t.Errorf("got\n%s\nwant\n%s", s, want)
	}
}

func TestGroupFiles(t *testing.T) {
	p, _ := newProcess(t, Options{})
	a := &arm{t: t, p: p}
	fd := a.udp(syscall.AF_INET)
	mreq := syscall.IPMreq{Multiaddr: [4]byte{224, 0, 0, 251}}
	if _, errno := a.sys(syscall.SYS_SETSOCKOPT, fd, syscall.IPPROTO_IP, syscall.IP_ADD_MEMBERSHIP, ptr(&mreq), 8); errno != 0 {
		t.Fatal(errno)
	}
	if got := p.igmp(); !strings.Contains(got, "FB0000E0") || !strings.Contains(got, "2\teth0      :     2      V3\n") {
		t.Errorf("/proc/net/igmp:\n%s", got)
	}
	a.sys(syscall.SYS_CLOSE, fd)
	if got := p.igmp(); strings.Contains(got, "FB0000E0") {
		t.Errorf("/proc/net/igmp after the socket was closed:\n%s", got)
	}
}

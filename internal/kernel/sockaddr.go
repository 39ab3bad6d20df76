//go:build linux && (amd64 || arm64)

package kernel

import (
	"net/netip"
	"syscall"
	"unsafe"

	"github.com/dstkit/dst/sched"
)

// maxSockaddr is the size of struct sockaddr_storage.
const maxSockaddr = 128

// minSockaddr6 is the shortest sockaddr_in6, that of RFC 2133, without scope.
const minSockaddr6 = 24

// A sockaddr is a decoded socket address.
type sockaddr struct {
	family uint16
	length uintptr // as given
	addr   netip.AddrPort
	scope  int
}

// rawSockaddr has room for both families; the fields of sockaddr_in are read
// by their place in it.
type rawSockaddr struct {
	family uint16
	port   [2]byte
	flow   [4]byte // sockaddr_in: the address
	addr   [16]byte
	scope  uint32
}

// getSockaddr reads the socket address at ptr. Whether its family and length
// suit the socket is for the call to say: what does not fit is left zero.
func getSockaddr(ptr unsafe.Pointer, length uintptr) (a sockaddr, errno syscall.Errno) {
	length = uintptr(uint32(length))
	if length > maxSockaddr {
		return a, syscall.EINVAL
	}
	a.length = length
	if length == 0 {
		return a, 0
	}
	if absurd(ptr) {
		return a, syscall.EFAULT
	}
	var raw rawSockaddr
	sched.CopyIn(bytesOf(&raw)[:min(length, unsafe.Sizeof(raw))], ptr)
	if length < 2 {
		return a, 0
	}
	a.family = raw.family
	port := uint16(raw.port[0])<<8 | uint16(raw.port[1])
	switch a.family {
	case syscall.AF_INET, syscall.AF_UNSPEC:
		a.addr = netip.AddrPortFrom(netip.AddrFrom4(raw.flow), port)
	case syscall.AF_INET6:
		a.addr = netip.AddrPortFrom(netip.AddrFrom16(raw.addr), port)
		if a.addr.Addr().IsLinkLocalUnicast() || a.addr.Addr().IsLinkLocalMulticast() {
			a.scope = int(raw.scope)
		}
	}
	return a, 0
}

// encode makes the address in the form of a family and returns its size.
func (raw *rawSockaddr) encode(family int, addr netip.AddrPort, scope int) uint32 {
	*raw = rawSockaddr{family: uint16(family)}
	raw.port[0], raw.port[1] = byte(addr.Port()>>8), byte(addr.Port())
	if family == syscall.AF_INET {
		if a := addr.Addr().Unmap(); a.Is4() {
			raw.flow = a.As4()
		}
		return syscall.SizeofSockaddrInet4
	}
	if a := addr.Addr(); a.IsValid() {
		raw.addr = a.As16()
		if a.IsLinkLocalUnicast() || a.IsLinkLocalMulticast() {
			raw.scope = uint32(scope)
		}
	}
	return syscall.SizeofSockaddrInet6
}

// putSockaddr writes an address as getsockname and recvfrom do: as much as
// there is room for, and its full length to lenPtr.
func putSockaddr(ptr, lenPtr unsafe.Pointer, b []byte) syscall.Errno {
	var room int32
	if errno := get(&room, lenPtr); errno != 0 {
		return errno
	}
	if room < 0 {
		return syscall.EINVAL
	}
	if n := min(int(room), len(b)); n > 0 {
		if absurd(ptr) {
			return syscall.EFAULT
		}
		sched.CopyOut(ptr, b[:n])
	}
	full := int32(len(b))
	return put(lenPtr, &full)
}

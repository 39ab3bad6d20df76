package simnet

import (
	"net/netip"
	"syscall"
)

// A UDP is one UDP socket. Its methods are what the system calls of that name
// do on Linux, with their errnos; 0 is success. None of them blocks. Addresses
// may be given in any form (a v4 address, or v4 mapped into v6, for an
// AF_INET6 socket); they are returned in the form of the socket's family.
// Zones are ignored.
type UDP struct {
	// Notify, if set, is called in kernel context whenever the socket's
	// readiness may have changed: data or an error arrived, it was shut down
	// or closed. It must not call the socket's methods other than Readable and
	// Writable.
	Notify func()

	// Options that only change what later calls do.
	Broadcast      bool // SO_BROADCAST
	ReuseAddr      bool // SO_REUSEADDR
	ReusePort      bool // SO_REUSEPORT
	DontFragment   bool // IP_MTU_DISCOVER, IPV6_MTU_DISCOVER is DO or PROBE
	MulticastLoop  bool // IP_MULTICAST_LOOP; true in a new socket
	MulticastLoop6 bool // IPV6_MULTICAST_LOOP; true in a new socket
	MulticastAll   bool // IP_MULTICAST_ALL: groups that other sockets joined; true in a new socket
}

// Control is what comes beside the payload of one Send (its control message).
// The zero value asks for nothing.
type Control struct {
	Source    netip.Addr // ipi_spec_dst, ipi6_addr: send from here
	Interface int        // ipi_ifindex, ipi6_ifindex, or the address's scope id: send through here
	TTL       int        // IP_TTL, IPV6_HOPLIMIT; 0 is the socket's
	TOS       int        // IP_TOS, IPV6_TCLASS if SetTOS
	SetTOS    bool
}

// NewUDP returns a new socket. Family is syscall.AF_INET or syscall.AF_INET6.
func (s *Stack) NewUDP(family int) *UDP { panic("simnet: not built yet") }

// Family returns syscall.AF_INET or syscall.AF_INET6.
func (u *UDP) Family() int { panic("simnet: not built yet") }

// Bind is bind(2). Port 0 asks for an ephemeral port.
func (u *UDP) Bind(addr netip.AddrPort) syscall.Errno { panic("simnet: not built yet") }

// Connect is connect(2). For an address of family AF_UNSPEC call Disconnect.
func (u *UDP) Connect(to netip.AddrPort) syscall.Errno { panic("simnet: not built yet") }

// Disconnect dissolves the association with a peer: connect(2) to AF_UNSPEC.
func (u *UDP) Disconnect() { panic("simnet: not built yet") }

// LocalAddr is getsockname(2): 0.0.0.0:0 or [::]:0 before the socket is bound.
func (u *UDP) LocalAddr() netip.AddrPort { panic("simnet: not built yet") }

// RemoteAddr is getpeername(2): the zero AddrPort (ENOTCONN) if not connected.
func (u *UDP) RemoteAddr() netip.AddrPort { panic("simnet: not built yet") }

// Send is sendmsg(2). A zero to means the connected peer; c may be nil. The
// payload is copied with [sched.CopyIn], so it may be the program's memory.
func (u *UDP) Send(payload []byte, to netip.AddrPort, c *Control) (int, syscall.Errno) {
	panic("simnet: not built yet")
}

// Recv is recvmsg(2): the next datagram, or EAGAIN when there is none. A
// pending error is returned first, once. With peek the datagram stays; it is
// then not to be released.
func (u *UDP) Recv(peek bool) (*Datagram, syscall.Errno) { panic("simnet: not built yet") }

// PendingError is SO_ERROR: it returns the pending error and clears it.
func (u *UDP) PendingError() syscall.Errno { panic("simnet: not built yet") }

// Readable tells whether Recv would return something other than EAGAIN.
func (u *UDP) Readable() bool { panic("simnet: not built yet") }

// Writable tells whether Send would not block: always, as long as it is open.
func (u *UDP) Writable() bool { panic("simnet: not built yet") }

// NextSize is SIOCINQ (FIONREAD): the size of the next datagram, or 0.
func (u *UDP) NextSize() int { panic("simnet: not built yet") }

// Shutdown is shutdown(2), with SHUT_RD as read, SHUT_WR as write. As on
// Linux a socket that is not connected is shut down and ENOTCONN returned.
func (u *UDP) Shutdown(read, write bool) syscall.Errno { panic("simnet: not built yet") }

// Close frees the socket and what it has queued. Closing twice is harmless.
func (u *UDP) Close() { panic("simnet: not built yet") }

// SetV6Only sets IPV6_V6ONLY: EINVAL once bound, ENOPROTOOPT on AF_INET.
func (u *UDP) SetV6Only(on bool) syscall.Errno { panic("simnet: not built yet") }

// V6Only returns IPV6_V6ONLY.
func (u *UDP) V6Only() bool { panic("simnet: not built yet") }

// SetRcvBuf sets SO_RCVBUF: Linux caps the value (unless force, which is
// SO_RCVBUFFORCE), doubles it, and has a minimum.
func (u *UDP) SetRcvBuf(bytes int, force bool) { panic("simnet: not built yet") }

// RcvBuf returns SO_RCVBUF, the doubled value.
func (u *UDP) RcvBuf() int { panic("simnet: not built yet") }

// SetSndBuf sets SO_SNDBUF (SO_SNDBUFFORCE), as SetRcvBuf does.
func (u *UDP) SetSndBuf(bytes int, force bool) { panic("simnet: not built yet") }

// SndBuf returns SO_SNDBUF, the doubled value.
func (u *UDP) SndBuf() int { panic("simnet: not built yet") }

// SetTTL sets IP_TTL: 1 to 255, or -1 for the default; EINVAL otherwise.
func (u *UDP) SetTTL(ttl int) syscall.Errno { panic("simnet: not built yet") }

// TTL returns IP_TTL.
func (u *UDP) TTL() int { panic("simnet: not built yet") }

// SetHopLimit sets IPV6_UNICAST_HOPS: 0 to 255, or -1 for the default.
func (u *UDP) SetHopLimit(hops int) syscall.Errno { panic("simnet: not built yet") }

// HopLimit returns IPV6_UNICAST_HOPS.
func (u *UDP) HopLimit() int { panic("simnet: not built yet") }

// SetTOS sets IP_TOS.
func (u *UDP) SetTOS(tos int) syscall.Errno { panic("simnet: not built yet") }

// TOS returns IP_TOS.
func (u *UDP) TOS() int { panic("simnet: not built yet") }

// SetTrafficClass sets IPV6_TCLASS: 0 to 255, or -1 for the default.
func (u *UDP) SetTrafficClass(class int) syscall.Errno { panic("simnet: not built yet") }

// TrafficClass returns IPV6_TCLASS.
func (u *UDP) TrafficClass() int { panic("simnet: not built yet") }

// SetMulticastTTL sets IP_MULTICAST_TTL: 0 to 255, or -1 for the default (1).
func (u *UDP) SetMulticastTTL(ttl int) syscall.Errno { panic("simnet: not built yet") }

// MulticastTTL returns IP_MULTICAST_TTL.
func (u *UDP) MulticastTTL() int { panic("simnet: not built yet") }

// SetMulticastHops sets IPV6_MULTICAST_HOPS, as SetMulticastTTL.
func (u *UDP) SetMulticastHops(hops int) syscall.Errno { panic("simnet: not built yet") }

// MulticastHops returns IPV6_MULTICAST_HOPS.
func (u *UDP) MulticastHops() int { panic("simnet: not built yet") }

// SetMulticastInterface sets IP_MULTICAST_IF by interface number, 0 for any.
// For its forms with an address see [Stack.InterfaceByAddr].
func (u *UDP) SetMulticastInterface(ifindex int) syscall.Errno { panic("simnet: not built yet") }

// MulticastInterface returns the interface set, or 0.
func (u *UDP) MulticastInterface() int { panic("simnet: not built yet") }

// SetMulticastInterface6 sets IPV6_MULTICAST_IF.
func (u *UDP) SetMulticastInterface6(ifindex int) syscall.Errno { panic("simnet: not built yet") }

// MulticastInterface6 returns IPV6_MULTICAST_IF.
func (u *UDP) MulticastInterface6() int { panic("simnet: not built yet") }

// Join is IP_ADD_MEMBERSHIP or IPV6_JOIN_GROUP, by the group's family.
// Interface 0 lets the route to the group choose.
func (u *UDP) Join(group netip.Addr, ifindex int) syscall.Errno { panic("simnet: not built yet") }

// Leave is IP_DROP_MEMBERSHIP or IPV6_LEAVE_GROUP.
func (u *UDP) Leave(group netip.Addr, ifindex int) syscall.Errno { panic("simnet: not built yet") }

// InterfaceByAddr returns the number of the interface that has a local
// address, or 0: what IP_MULTICAST_IF and IP_ADD_MEMBERSHIP look up.
func (s *Stack) InterfaceByAddr(addr netip.Addr) int { panic("simnet: not built yet") }

// InterfaceByName returns the interface's number, or 0.
func (s *Stack) InterfaceByName(name string) int { panic("simnet: not built yet") }

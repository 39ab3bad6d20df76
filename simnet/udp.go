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
	FreeBind       bool // IP_FREEBIND, IP_TRANSPARENT and their IPv6 kin: Bind takes an address that the host does not have
	NoPort         bool // IP_BIND_ADDRESS_NO_PORT: Bind to port 0 takes none yet
	RecvErr        bool // IP_RECVERR: errors of IPv4 are queued, and told without a connection
	RecvErr6       bool // IPV6_RECVERR
	GRO            bool // UDP_GRO: datagrams of one UDP_SEGMENT send that come together are received as one
	DontFragment   bool // IP_MTU_DISCOVER, IPV6_MTU_DISCOVER is DO or PROBE
	Probe          bool // of these, PROBE: what was found out of the path's MTU does not count
	MulticastLoop  bool // IP_MULTICAST_LOOP; true in a new socket
	MulticastLoop6 bool // IPV6_MULTICAST_LOOP; true in a new socket
	MulticastAll   bool // IP_MULTICAST_ALL: groups that other sockets joined; true in a new socket
	MulticastAll6  bool // IPV6_MULTICAST_ALL; true in a new socket
	NoChecksum     bool // SO_NO_CHECK
	Segment        int  // UDP_SEGMENT: a longer payload is sent in datagrams of this size; 0 is off

	s    *Stack
	life int  // of the stack
	next *UDP // the next older socket bound to the port

	v6, v6only   bool
	closed       bool
	shutR, shutW bool
	fixedAddr    bool // bound by address: Disconnect keeps it
	fixedPort    bool // bound by port: Disconnect keeps it
	inGroup      bool // ReusePort was set when it was bound
	has4, has6   bool // what it receives
	port         uint16
	laddr        netip.Addr     // what it receives is sent to this; not valid: any
	saddr        netip.Addr     // what it sends comes from this; not valid: by route
	raddr        netip.AddrPort // peer, v4 not mapped; not valid: not connected

	err         syscall.Errno // pending
	first, last *Datagram     // receive queue
	rmem        int           // truesize of that
	rcvbuf      int
	sndbuf      int
	drops       uint64    // for want of buffer (SO_MEMINFO, /proc/net/udp)
	failures    *Datagram // error queue, oldest first

	ttl, hops, tos, class int // -1: default
	mcTTL, mcHops         int
	mcIf, mcIf6           int
	joined                []member
	device                int // SO_BINDTODEVICE: interface; 0 is any
	unicastIf             int // IP_UNICAST_IF, IPV6_UNICAST_IF: interface to send through; 0 is any

	way   way    // of a Send with a control message
	cache [4]way // of the last Sends, by the address's last byte
}

// A way is the route of one Send.
type way struct {
	to  netip.AddrPort // as given
	gen uint64         // of the network; 0: nothing cached
	dst netip.AddrPort // on the wire
	route
}

// forget drops the routes that the socket remembers.
func (u *UDP) forget() {
	for i := range u.cache {
		u.cache[i].gen = 0
	}
}

// Control is what comes beside the payload of one Send (its control message).
// The zero value asks for nothing.
type Control struct {
	Source     netip.Addr // ipi_spec_dst, ipi6_addr: send from here
	Interface  int        // ipi_ifindex, ipi6_ifindex, or the address's scope id: send through here
	TTL        int        // IP_TTL, IPV6_HOPLIMIT; 0 is the socket's
	TOS        int        // IP_TOS, IPV6_TCLASS if SetTOS
	SetTOS     bool
	Segment    int // UDP_SEGMENT if SetSegment
	SetSegment bool
	SetTTL     bool // TTL is 0
}

// NewUDP returns a new socket. Family is syscall.AF_INET or syscall.AF_INET6.
func (s *Stack) NewUDP(family int) *UDP {
	if family != syscall.AF_INET && family != syscall.AF_INET6 {
		panic("simnet: NewUDP: family is neither AF_INET nor AF_INET6")
	}
	u := &UDP{
		s: s, life: s.life, v6: family == syscall.AF_INET6,
		MulticastLoop: true, MulticastLoop6: true, MulticastAll: true, MulticastAll6: true,
		rcvbuf: defaultRmem, sndbuf: defaultWmem,
		ttl: -1, hops: -1, class: -1, mcTTL: 1, mcHops: 1,
	}
	return u
}

// Family returns syscall.AF_INET or syscall.AF_INET6.
func (u *UDP) Family() int {
	if u.v6 {
		return syscall.AF_INET6
	}
	return syscall.AF_INET
}

// dead tells whether the socket was closed or its process died.
func (u *UDP) dead() bool { return u.closed || u.life != u.s.life }

func (u *UDP) notify() {
	if u.Notify != nil {
		u.Notify()
	}
}

// form returns an address in the form of the socket's family.
func (u *UDP) form(a netip.AddrPort) netip.AddrPort {
	if u.v6 && a.Addr().Is4() {
		return netip.AddrPortFrom(netip.AddrFrom16(a.Addr().As16()), a.Port())
	}
	return a
}

// family checks that the socket can use an address, and returns it plain.
func (u *UDP) family(a netip.Addr) (netip.Addr, syscall.Errno) {
	if !a.IsValid() || !u.v6 && !a.Is4() {
		return a, syscall.EAFNOSUPPORT
	}
	return plain(a), 0
}

// Bind is bind(2). Port 0 asks for an ephemeral port.
func (u *UDP) Bind(addr netip.AddrPort) syscall.Errno {
	if u.dead() {
		return syscall.EBADF
	}
	a, errno := u.family(addr.Addr())
	if errno != 0 {
		return errno
	}
	if u.v6only && a.Is4() {
		return syscall.EINVAL
	}
	source := a // what it sends comes from the address, if it is one of the host's
	switch {
	case a.IsUnspecified():
		source = netip.Addr{}
	case a.IsMulticast(), isBroadcast(a):
		source = netip.Addr{}
	case !u.s.isLocal(a) && !u.FreeBind:
		return syscall.EADDRNOTAVAIL
	}
	if u.port != 0 || u.raddr.IsValid() {
		return syscall.EINVAL
	}
	u.receive(a)
	u.inGroup = u.ReusePort
	if addr.Port() != 0 || !u.NoPort {
		if errno := u.take(addr.Port()); errno != 0 {
			u.receive(u.any()) // as it was
			return errno
		}
	}
	u.saddr = source
	u.fixedPort = addr.Port() != 0
	u.fixedAddr = u.laddr.IsValid()
	u.forget()
	return 0
}

// receive sets what the socket receives: what is sent to a.
func (u *UDP) receive(a netip.Addr) {
	u.laddr, u.has4, u.has6 = received(a, u.v6, u.v6only)
}

// take gives the socket a port, 0 for any, if nothing in the way holds it.
func (u *UDP) take(port uint16) syscall.Errno {
	if port == 0 {
		port = u.s.n.ephemeral(func(port uint16) bool { return !u.conflicts(port) })
		if port == 0 {
			return syscall.EADDRINUSE
		}
	} else if u.conflicts(port) {
		return syscall.EADDRINUSE
	}
	u.port = port
	u.next = u.s.udp[port]
	u.s.udp[port] = u
	return 0
}

// conflicts tells whether another socket keeps u from binding to port.
func (u *UDP) conflicts(port uint16) bool {
	for o := u.s.udp[port]; o != nil; o = o.next {
		if u.overlaps(o) && !(u.ReuseAddr && o.ReuseAddr) && !(u.ReusePort && o.ReusePort) {
			return true
		}
	}
	return false
}

// overlaps tells whether a packet may be for both.
func (u *UDP) overlaps(o *UDP) bool {
	if !(u.has4 && o.has4) && !(u.has6 && o.has6) || u.device != 0 && o.device != 0 && u.device != o.device {
		return false
	}
	return !u.laddr.IsValid() || !o.laddr.IsValid() || u.laddr == o.laddr
}

// leave takes the socket out of the table of ports.
func (u *UDP) leave() {
	if u.port == 0 {
		return
	}
	if o := u.s.udp[u.port]; o == u {
		if u.next == nil {
			delete(u.s.udp, u.port)
		} else {
			u.s.udp[u.port] = u.next
		}
	} else {
		for o.next != u {
			o = o.next
		}
		o.next = u.next
	}
	u.next = nil
	u.port = 0
}

// autobind gives an unbound socket a port, as sending and connecting do.
func (u *UDP) autobind() syscall.Errno {
	if u.port != 0 {
		return 0
	}
	if !u.fixedAddr {
		u.receive(u.any())
	}
	u.inGroup = u.ReusePort
	if u.take(0) != 0 {
		return syscall.EAGAIN
	}
	return 0
}

// any returns the unspecified address of the socket's family.
func (u *UDP) any() netip.Addr {
	if u.v6 {
		return netip.IPv6Unspecified()
	}
	return netip.IPv4Unspecified()
}

// Connect is connect(2). For an address of family AF_UNSPEC call Disconnect.
func (u *UDP) Connect(to netip.AddrPort) syscall.Errno {
	if u.dead() {
		return syscall.EBADF
	}
	if errno := u.autobind(); errno != 0 {
		return errno
	}
	a, errno := u.family(to.Addr())
	if errno != 0 {
		return errno
	}
	r, errno := u.resolve(a, netip.Addr{}, 0)
	if errno != 0 {
		return errno
	}
	if r.cast == broadcast && !u.Broadcast {
		return syscall.EACCES
	}
	u.raddr = netip.AddrPortFrom(r.dst, to.Port())
	if !u.laddr.IsValid() {
		u.receive(r.src)
	}
	if !u.saddr.IsValid() {
		u.saddr = r.src
	}
	u.forget()
	return 0
}

// Disconnect dissolves the association with a peer: connect(2) to AF_UNSPEC.
// A port or address that the program did not bind by itself is given up too.
func (u *UDP) Disconnect() {
	if u.dead() {
		return
	}
	u.raddr = netip.AddrPort{}
	u.forget()
	if !u.fixedAddr {
		u.saddr = netip.Addr{}
		u.receive(u.any())
	}
	if !u.fixedPort {
		u.leave()
	}
}

// LocalAddr is getsockname(2): 0.0.0.0:0 or [::]:0 before the socket is bound.
func (u *UDP) LocalAddr() netip.AddrPort {
	a := u.laddr
	if !a.IsValid() {
		a = u.any()
		if u.v6 && u.has4 && !u.has6 {
			a = netip.IPv4Unspecified() // bound to ::ffff:0.0.0.0
		}
	}
	return u.form(netip.AddrPortFrom(a, u.port))
}

// RemoteAddr is getpeername(2): the zero AddrPort (ENOTCONN) if not connected.
func (u *UDP) RemoteAddr() netip.AddrPort {
	if !u.raddr.IsValid() {
		return netip.AddrPort{}
	}
	return u.form(u.raddr)
}

// resolve finds the way to an address of a plain form.
func (u *UDP) resolve(a, src netip.Addr, oif int) (r route, errno syscall.Errno) {
	if !src.IsValid() {
		src = u.saddr
	}
	if u.v6 && a == netip.IPv6Unspecified() && u.laddr.Is4() {
		a = loopback4
	}
	if a.Is4() && u.v6only || src.IsValid() && a.Is4() && !src.Is4() {
		return r, syscall.ENETUNREACH
	}
	if !a.Is4() && (src.IsValid() && src.Is4() || u.port != 0 && !u.has6 && !u.raddr.IsValid()) {
		return r, syscall.EAFNOSUPPORT
	}
	if u.device != 0 && (oif == 0 || oif == u.device) {
		oif = u.device
	} else if u.device != 0 {
		return r, syscall.EINVAL // a control message that says otherwise
	}
	if oif == 0 && a.IsMulticast() {
		if oif = u.mcIf; !a.Is4() {
			oif = u.mcIf6
		}
	} else if oif == 0 {
		oif = u.unicastIf
	}
	return u.s.route(a, src, oif)
}

// Recv is recvmsg(2): the next datagram, or EAGAIN when there is none. A
// pending error is returned first, once. With peek the datagram stays; it is
// then not to be released.
func (u *UDP) Recv(peek bool) (*Datagram, syscall.Errno) {
	if u.dead() {
		return nil, syscall.EBADF
	}
	if u.err != 0 {
		return nil, u.PendingError()
	}
	d := u.first
	if d == nil {
		return nil, syscall.EAGAIN
	}
	if !peek {
		u.first = d.next
		if d.next == nil {
			u.last = nil
		}
		d.next = nil
		u.rmem -= d.truesize
	}
	return d, 0
}

// PendingError is SO_ERROR: it returns the pending error and clears it.
func (u *UDP) PendingError() syscall.Errno {
	errno := u.err
	u.err = 0
	return errno
}

// Readable tells whether Recv would return something other than EAGAIN.
func (u *UDP) Readable() bool { return u.first != nil || u.err != 0 || u.dead() }

// Failed is EPOLLERR: an error is pending, or one is in the error queue.
func (u *UDP) Failed() bool { return u.err != 0 || u.failures != nil }

// Writable tells whether Send would not block: always. What waits for a slow
// link waits there and not in the socket's send buffer.
func (u *UDP) Writable() bool { return true }

// NextSize is SIOCINQ (FIONREAD): the size of the next datagram, or 0.
func (u *UDP) NextSize() int {
	if u.first == nil {
		return 0
	}
	return len(u.first.Payload)
}

// Drops tells how many datagrams the socket dropped for want of buffer.
func (u *UDP) Drops() uint64 { return u.drops }

// Shutdown is shutdown(2), with SHUT_RD as read, SHUT_WR as write. As on
// Linux a socket that is not connected is shut down and ENOTCONN returned, a
// socket shut for writing sends nothing (EPIPE), and one shut for reading goes
// on receiving: only a blocking recv would return at once.
func (u *UDP) Shutdown(read, write bool) syscall.Errno {
	if u.dead() {
		return syscall.EBADF
	}
	u.shutR = u.shutR || read
	u.shutW = u.shutW || write
	u.notify()
	if !u.raddr.IsValid() {
		return syscall.ENOTCONN
	}
	return 0
}

// ReadShut tells whether the socket was shut for reading: a blocking recv
// that would wait returns 0 bytes, and poll reports EPOLLIN and EPOLLRDHUP.
func (u *UDP) ReadShut() bool { return u.shutR }

// Close frees the socket and what it has queued. Closing twice is harmless.
func (u *UDP) Close() {
	if u.dead() {
		u.closed = true
		return
	}
	u.leave()
	for len(u.joined) > 0 {
		u.drop(len(u.joined) - 1)
	}
	u.purge()
	u.closed = true
	u.notify()
}

// purge empties the receive queue.
func (u *UDP) purge() {
	for d := u.first; d != nil; {
		next := d.next
		u.s.n.put(d)
		d = next
	}
	for d := u.failures; d != nil; {
		next := d.next
		u.s.n.put(d)
		d = next
	}
	u.first, u.last, u.rmem, u.err, u.failures = nil, nil, 0, 0, nil
}

package simnet

import (
	"net/netip"
	"syscall"
	"time"

	"github.com/dstkit/dst/sched"
)

// A TCP is one TCP socket. Its methods are what the system calls of that name
// do on Linux, with their errnos; 0 is success. None of them blocks: where a
// call on a blocking socket would wait, they return EAGAIN (EINPROGRESS from
// Connect), and [TCP.Notify] tells when to try again. Addresses may be given in
// any form, and are returned in the form of the socket's family.
type TCP struct {
	// Notify, if set, is called in kernel context whenever the socket's
	// readiness may have changed. It must not call the socket's methods other
	// than those that ask (Readable, Writable, HangUp, PeerClosed, Failed). A
	// socket from Accept has none yet: set it, then ask.
	Notify func()

	// Options that only change what later calls do.
	ReuseAddr   bool          // SO_REUSEADDR
	ReusePort   bool          // SO_REUSEPORT
	LingerOn    bool          // SO_LINGER's l_onoff
	LingerTime  time.Duration // SO_LINGER's l_linger; with LingerOn and zero, Close resets the connection
	UserTimeout time.Duration // TCP_USER_TIMEOUT; zero is off
	FreeBind    bool          // IP_FREEBIND, IP_TRANSPARENT: Bind takes an address that the host does not have
	NoPort      bool          // IP_BIND_ADDRESS_NO_PORT: Bind to port 0 leaves the choice of a port to Connect
	MinTTL      int           // IP_MINTTL: what comes with less is dropped
	MinHops     int           // IPV6_MINHOPCOUNT
	SynRetries  int           // TCP_SYNCNT: how often Connect sends SYN again; 0 is the default, 6
	DeferAccept int           // TCP_DEFER_ACCEPT, as so many SYN ACKs: until then a connection without bytes is not accepted
	UnsentLow   int           // TCP_NOTSENT_LOWAT: Send takes nothing while so much was never sent; 0 is off
	RcvLow      int           // SO_RCVLOWAT: Readable with so many bytes; 0 counts as 1

	s    *Stack
	life int // of the stack

	state        state
	v6, v6only   bool
	closed       bool // by the program: nobody will ask any more
	shutR, shutW bool
	fixedAddr    bool // bound by address
	fixedPort    bool // bound by the program: connecting sockets do not share the port
	inGroup      bool // ReusePort was set when it was bound
	has4, has6   bool // what it receives
	listed       bool // in the stack's list
	linked       bool // has a connection, as the program knows
	connecting   bool // Connect was called, and has not told the outcome yet
	hashed       bool // in the stack's table of connections
	port         uint16
	laddr        netip.Addr     // bound or local address; not valid: any
	local        netip.AddrPort // of the connection, v4 not mapped
	remote       netip.AddrPort // of the connection, v4 not mapped

	err  syscall.Errno // pending (sk_err)
	soft syscall.Errno // why segments do not get through (sk_err_soft)

	bucket         *bucket // of its port
	bprev, bnext   *TCP    // in that
	prev, nextSock *TCP    // in the stack's list, oldest first

	*listener // of a listening socket
	parent    *TCP
	patient   bool // in SYN_RECV: the handshake is complete but for TCP_DEFER_ACCEPT
	qnext     *TCP // in the parent's accept queue

	send
	receive
	timers
	urgent

	nodelay  bool
	cork     bool          // TCP_CORK
	fin2     time.Duration // TCP_LINGER2; 0: the default; negative: none
	device   int           // SO_BINDTODEVICE: interface; 0 is any
	outIf    int           // IP_UNICAST_IF: interface to send through; 0 is any
	maxseg   int           // TCP_MAXSEG as set; 0: none
	ttl, tos int           // -1: default
	hops     int
	class    int
	rcvbuf   int
	sndbuf   int
	rcvLock  bool // SO_RCVBUF was set: it does not grow by itself
	sndLock  bool

	keepAlive    bool
	keepIdle     time.Duration
	keepInterval time.Duration
	keepCount    int

	route route  // to the peer
	gen   uint64 // of the network, when the route was found
	peer  *TCP   // the socket that probably receives what this one sends
}

// state is a connection's state, with the names of RFC 9293 and the numbers
// that Linux uses in TCP_INFO and /proc/net/tcp.
type state uint8

const (
	established state = iota + 1
	synSent
	synRcvd
	finWait1
	finWait2
	timeWait
	closed
	closeWait
	lastAck
	listening
	closing
)

var stateNames = [...]string{"?", "ESTABLISHED", "SYN_SENT", "SYN_RECV", "FIN_WAIT1", "FIN_WAIT2", "TIME_WAIT",
	"CLOSE", "CLOSE_WAIT", "LAST_ACK", "LISTEN", "CLOSING"}

func (s state) String() string { return stateNames[s] }

// Sizes of buffers, as in net.ipv4.tcp_rmem and tcp_wmem.
const (
	tcpRmem    = 131072
	tcpRmemMax = 6 << 20
	tcpWmem    = 16384
	tcpWmemLow = 87040 // of a connection
	tcpWmemMax = 4 << 20
	somaxconn  = 4096
)

// NewTCP returns a new socket. Family is syscall.AF_INET or syscall.AF_INET6.
func (s *Stack) NewTCP(family int) *TCP {
	if family != syscall.AF_INET && family != syscall.AF_INET6 {
		panic("simnet: NewTCP: family is neither AF_INET nor AF_INET6")
	}
	t := &TCP{
		s: s, life: s.life, v6: family == syscall.AF_INET6, state: closed,
		rcvbuf: tcpRmem, sndbuf: tcpWmem,
		ttl: -1, hops: -1, class: -1,
		keepIdle: 2 * time.Hour, keepInterval: 75 * time.Second, keepCount: 9,
	}
	s.sockets.add(t)
	return t
}

// Family returns syscall.AF_INET or syscall.AF_INET6.
func (t *TCP) Family() int {
	if t.v6 {
		return syscall.AF_INET6
	}
	return syscall.AF_INET
}

// dead tells whether the socket was closed or its process died.
func (t *TCP) dead() bool { return t.closed || t.life != t.s.life }

func (t *TCP) notify() {
	if t.Notify != nil {
		t.Notify()
	}
}

// form returns an address in the form of the socket's family.
func (t *TCP) form(a netip.AddrPort) netip.AddrPort {
	if t.v6 && a.Addr().Is4() {
		return netip.AddrPortFrom(netip.AddrFrom16(a.Addr().As16()), a.Port())
	}
	return a
}

// any returns the unspecified address of the socket's family.
func (t *TCP) any() netip.Addr {
	if t.v6 {
		return netip.IPv6Unspecified()
	}
	return netip.IPv4Unspecified()
}

// connected tells whether there is a connection that a peer knows of.
func (t *TCP) connected() bool {
	switch t.state {
	case established, finWait1, finWait2, closeWait, lastAck, closing, synRcvd:
		return true
	}
	return false
}

// LocalAddr is getsockname(2): 0.0.0.0:0 or [::]:0 before the socket is bound.
func (t *TCP) LocalAddr() netip.AddrPort {
	a := t.laddr
	if !a.IsValid() {
		a = t.any()
		if t.v6 && t.has4 && !t.has6 {
			a = netip.IPv4Unspecified() // bound to ::ffff:0.0.0.0
		}
	}
	return t.form(netip.AddrPortFrom(a, t.port))
}

// RemoteAddr is getpeername(2): the zero AddrPort (ENOTCONN) if not connected.
func (t *TCP) RemoteAddr() netip.AddrPort {
	if !t.connected() {
		return netip.AddrPort{}
	}
	return t.form(t.remote)
}

// Listening tells whether the socket listens (SO_ACCEPTCONN).
func (t *TCP) Listening() bool { return t.state == listening }

// PendingError is SO_ERROR: it returns the pending error and clears it.
func (t *TCP) PendingError() syscall.Errno {
	errno := t.err
	t.err = 0
	return errno
}

// Readable is EPOLLIN: Recv (Accept of a listening socket) would return
// something other than EAGAIN.
func (t *TCP) Readable() bool {
	if t.state == listening {
		return t.accepted > 0
	}
	low := t.rcvLow()
	if t.AtMark() && !t.inline {
		low = max(1, low) + 1 // the urgent byte does not count
	}
	return t.err != 0 || t.rlen > 0 && t.rlen >= low || t.shutR || t.finned || t.dead()
}

// Writable is EPOLLOUT: Send would return something other than EAGAIN. A full
// send buffer must drain by a third first, as on Linux.
func (t *TCP) Writable() bool {
	switch t.state {
	case listening:
		return t.dead()
	case closed, timeWait:
		return true
	case synSent, synRcvd:
		return t.err != 0 || t.shutW || t.dead()
	}
	if t.err != 0 || t.shutW || t.dead() || 2*(t.sndbuf-t.blen) >= t.blen && !t.unsentFull() {
		return true
	}
	t.starved = true // who asks will be told
	return false
}

// rcvLow is RcvLow, as far as the window can hold it.
func (t *TCP) rcvLow() int { return min(t.RcvLow, t.rcvbuf/2) }

// unsentFull tells whether UnsentLow keeps Send from taking more.
func (t *TCP) unsentFull() bool {
	return t.UnsentLow > 0 && int(t.base+int64(t.blen)-t.max) >= t.UnsentLow
}

// HangUp is EPOLLHUP: both directions have ended, or there was no connection.
func (t *TCP) HangUp() bool {
	return t.state == closed || t.state == timeWait || (t.shutR || t.finned) && t.shutW
}

// PeerClosed is EPOLLRDHUP: the peer will send nothing more, or the socket was
// shut for reading.
func (t *TCP) PeerClosed() bool { return t.shutR || t.finned }

// Failed is EPOLLERR: an error is pending.
func (t *TCP) Failed() bool { return t.err != 0 }

// now is the virtual time.
func (s *Stack) now() int64 { return s.n.w.Now() }

var _ sched.Handler = (*tcpTimer)(nil)

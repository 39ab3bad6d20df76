package simnet

import (
	"net/netip"
	"syscall"
	"time"
)

// A bucket is what uses one local port: sockets that are bound, that listen,
// and connections until the end of TIME_WAIT.
type bucket struct {
	port    uint16
	first   *TCP   // newest first, joined by TCP.bnext
	bound   int    // of these, bound by the program
	listens []*TCP // of these, listening; oldest first
}

// socketList is all sockets of a stack that are open or have a connection,
// oldest first.
type socketList struct{ first, last *TCP }

func (l *socketList) add(t *TCP) {
	t.listed = true
	t.prev = l.last
	if l.last == nil {
		l.first = t
	} else {
		l.last.nextSock = t
	}
	l.last = t
}

func (l *socketList) remove(t *TCP) {
	if !t.listed {
		return
	}
	t.listed = false
	if t.prev == nil {
		l.first = t.nextSock
	} else {
		t.prev.nextSock = t.nextSock
	}
	if t.nextSock == nil {
		l.last = t.prev
	} else {
		t.nextSock.prev = t.prev
	}
	t.prev, t.nextSock = nil, nil
}

// Bind is bind(2). Port 0 asks for an ephemeral port.
func (t *TCP) Bind(addr netip.AddrPort) syscall.Errno {
	if t.dead() {
		return syscall.EBADF
	}
	a, errno := t.family(addr.Addr())
	if errno != 0 {
		return errno
	}
	switch {
	case t.v6only && a.Is4():
		return syscall.EINVAL
	case a.IsUnspecified(), a.Is4() && a.IsMulticast(), isBroadcast(a):
	case !t.s.isLocal(a) && !t.FreeBind:
		return syscall.EADDRNOTAVAIL
	}
	if t.port != 0 || t.fixedAddr || t.state != closed {
		return syscall.EINVAL
	}
	t.accepts(a)
	if t.NoPort && addr.Port() == 0 {
		t.fixedAddr = t.laddr.IsValid()
		return 0
	}
	t.inGroup = t.ReusePort
	t.fixedPort = true
	if errno := t.take(addr.Port()); errno != 0 {
		t.accepts(t.any()) // as it was
		t.fixedPort = false
		return errno
	}
	t.fixedAddr = t.laddr.IsValid()
	return 0
}

// family checks that the socket can use an address, and returns it plain.
func (t *TCP) family(a netip.Addr) (netip.Addr, syscall.Errno) {
	if !a.IsValid() || !t.v6 && !a.Is4() {
		return a, syscall.EAFNOSUPPORT
	}
	return plain(a), 0
}

// accepts sets what the socket receives: what is sent to a.
func (t *TCP) accepts(a netip.Addr) {
	t.laddr, t.has4, t.has6 = received(a, t.v6, t.v6only)
}

// take gives the socket a port, 0 for any, if nothing in the way holds it.
func (t *TCP) take(port uint16) syscall.Errno {
	if port == 0 {
		port = t.s.n.ephemeral(func(port uint16) bool {
			b := t.s.tcp[port]
			return b == nil || !t.conflicts(b, true)
		})
		if port == 0 {
			return syscall.EADDRINUSE
		}
	} else if b := t.s.tcp[port]; b != nil && t.conflicts(b, false) {
		return syscall.EADDRINUSE
	}
	t.join(port)
	return 0
}

// conflicts tells whether another socket keeps t from binding to its port.
// Ephemeral ports are not shared by SO_REUSEADDR.
func (t *TCP) conflicts(b *bucket, ephemeral bool) bool {
	now := t.s.now()
	for o := b.first; o != nil; {
		next := o.bnext
		if o.until != 0 && o.until <= now {
			o.destroy()
		} else if o != t && t.overlaps(o) {
			shares := t.ReuseAddr && o.ReuseAddr && o.state != listening && !ephemeral
			if !shares && !(t.ReusePort && o.ReusePort) {
				return true
			}
		}
		o = next
	}
	return false
}

// overlaps tells whether a connection may be for both.
func (t *TCP) overlaps(o *TCP) bool {
	if !(t.has4 && o.has4) && !(t.has6 && o.has6) || t.device != 0 && o.device != 0 && t.device != o.device {
		return false
	}
	return !t.laddr.IsValid() || !o.laddr.IsValid() || t.laddr == o.laddr
}

// join puts the socket into the bucket of a port.
func (t *TCP) join(port uint16) {
	b := t.s.tcp[port]
	if b == nil {
		b = &bucket{port: port}
		t.s.tcp[port] = b
	}
	t.port, t.bucket = port, b
	t.bnext = b.first
	if b.first != nil {
		b.first.bprev = t
	}
	b.first = t
	if t.fixedPort {
		b.bound++
	}
}

// leave takes the socket out of its bucket. It keeps the number of its port.
func (t *TCP) leave() {
	b := t.bucket
	if b == nil {
		return
	}
	if t.bprev == nil {
		b.first = t.bnext
	} else {
		t.bprev.bnext = t.bnext
	}
	if t.bnext != nil {
		t.bnext.bprev = t.bprev
	}
	if t.fixedPort {
		b.bound--
	}
	t.bprev, t.bnext, t.bucket = nil, nil, nil
	if b.first == nil {
		delete(t.s.tcp, b.port)
	}
}

// autobind gives a connecting socket a port that makes its connection unique.
// Connections to different peers share ports.
func (t *TCP) autobind(local netip.Addr, remote netip.AddrPort) bool {
	const count = lastEphemeral - firstEphemeral + 1
	at, now := t.s.n.net.N(count), t.s.now()
	early := int64(0)
	if local.IsLoopback() {
		early = int64(timeWaitTime - time.Second) // net.ipv4.tcp_tw_reuse is 2
	}
	for i := range count {
		port := uint16(firstEphemeral + (at+i)%count)
		b := t.s.tcp[port]
		if b != nil && b.taken(t.s, local, remote, now+early) {
			continue
		}
		t.join(port)
		return true
	}
	return false
}

// taken tells whether a connecting socket may not use the port. A connection
// that waits until the time given, or less, makes way.
func (b *bucket) taken(s *Stack, local netip.Addr, remote netip.AddrPort, until int64) bool {
	if b.bound > 0 || len(b.listens) > 0 {
		return true
	}
	o := b.first
	if o.remote != remote || o.local.Addr() != local { // it need not be the newest
		o = s.conns[connection{netip.AddrPortFrom(local, b.port), remote}]
	}
	if o != nil && o.until != 0 && o.until <= until && (o.state == timeWait || o.until <= s.now()) {
		o.destroy()
		o = nil
	}
	return o != nil
}

// unique tells whether no connection has the addresses.
func (s *Stack) unique(c connection) bool {
	o := s.conns[c]
	if o != nil && o.until != 0 && o.until <= s.now() {
		o.destroy()
		o = nil
	}
	return o == nil
}

// hash puts the socket's connection into the table.
func (t *TCP) hash() {
	t.s.conns[connection{t.local, t.remote}] = t
	t.hashed = true
}

func (t *TCP) unhash() {
	if t.hashed {
		delete(t.s.conns, connection{t.local, t.remote})
		t.hashed = false
	}
	t.peer = nil
}

// wait lets the connection linger in the table for a minute: in TIME_WAIT, or
// in FIN_WAIT2 without anybody to read. Nothing happens at the end of it: who
// meets the connection later removes it.
func (t *TCP) wait() { t.waitFor(timeWaitTime) }

// orphan is FIN_WAIT2 of a connection that no program has any more: it ends
// after a while, or at once (TCP_LINGER2).
func (t *TCP) orphan() {
	switch {
	case t.fin2 < 0:
		t.abort()
		t.destroy()
	case t.fin2 == 0:
		t.wait()
	default:
		t.waitFor(max(t.fin2, time.Duration(t.rto*7/2)))
	}
}

func (t *TCP) waitFor(d time.Duration) {
	s := t.s
	for o := s.waiting; o != nil && o.until <= s.now(); o = s.waiting {
		o.destroy()
	}
	t.unwait()
	t.until = s.now() + int64(d)
	t.wprev = s.waitingLast
	if s.waitingLast == nil {
		s.waiting = t
	} else {
		s.waitingLast.wnext = t
	}
	s.waitingLast = t
	if t.closed {
		s.sockets.remove(t)
	}
	t.quiet()
}

func (t *TCP) unwait() {
	if t.until == 0 {
		return
	}
	s := t.s
	t.until = 0
	if t.wprev == nil {
		s.waiting = t.wnext
	} else {
		t.wprev.wnext = t.wnext
	}
	if t.wnext == nil {
		s.waitingLast = t.wprev
	} else {
		t.wnext.wprev = t.wprev
	}
	t.wprev, t.wnext = nil, nil
}

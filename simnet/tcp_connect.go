package simnet

import (
	"net/netip"
	"syscall"
)

// Connect is connect(2) of a non-blocking socket: EINPROGRESS, then EALREADY
// until the outcome is there (Writable), which the next call returns: 0 or the
// error; then EISCONN. As on Linux, who reads SO_ERROR instead learns the same.
func (t *TCP) Connect(to netip.AddrPort) syscall.Errno {
	if t.dead() {
		return syscall.EBADF
	}
	a, errno := t.family(to.Addr())
	if errno != 0 {
		return errno
	}
	switch {
	case t.state == listening || t.linked:
		return syscall.EISCONN
	case t.connecting && (t.state == synSent || t.state == synRcvd && t.parent == nil):
		return syscall.EALREADY
	case t.connecting && t.state == closed:
		if errno = t.PendingError(); errno == 0 {
			errno = syscall.ECONNABORTED
		}
		t.renew()
		return errno
	case t.connecting:
		t.connecting, t.linked = false, true
		return 0
	}
	r, errno := t.resolve(a)
	if errno != 0 {
		return errno
	}
	t.s.n.tcpEnter()
	errno = t.open(r, to.Port())
	t.s.n.tcpLeave()
	return errno
}

// resolve finds the way to a peer.
func (t *TCP) resolve(a netip.Addr) (r route, errno syscall.Errno) {
	src := t.laddr
	if src.IsValid() && !t.s.isLocal(src) {
		src = netip.Addr{} // bound to a group
	}
	if t.v6 && a == netip.IPv6Unspecified() && src.Is4() {
		a = loopback4
	}
	if a.Is4() && (t.v6only || src.IsValid() && !src.Is4() || t.port != 0 && !t.has4) {
		return r, syscall.ENETUNREACH
	}
	if !a.Is4() && (src.IsValid() && src.Is4() || t.port != 0 && !t.has6) {
		return r, syscall.EAFNOSUPPORT
	}
	if a.IsMulticast() || isBroadcast(a) {
		return r, syscall.ENETUNREACH
	}
	r, errno = t.s.route(a, src, t.oif())
	if errno == 0 && r.cast != unicast {
		errno = syscall.ENETUNREACH
	}
	return r, errno
}

// oif is the interface that the program chose to send through, or 0.
func (t *TCP) oif() int {
	if t.device != 0 {
		return t.device
	}
	return t.outIf
}

// open sends the first SYN.
func (t *TCP) open(r route, port uint16) syscall.Errno {
	remote := netip.AddrPortFrom(r.dst, port)
	switch {
	case t.bucket != nil:
		if !t.s.unique(connection{netip.AddrPortFrom(r.src, t.port), remote}) {
			return syscall.EADDRNOTAVAIL
		}
	case !t.autobind(r.src, remote):
		return syscall.EADDRNOTAVAIL
	}
	t.laddr = r.src
	t.has4, t.has6 = r.src.Is4(), !r.src.Is4()
	t.local, t.remote = netip.AddrPortFrom(r.src, t.port), remote
	t.route, t.gen = r, t.s.n.gen
	t.err, t.soft = 0, 0
	t.shutR, t.shutW = false, false
	t.connecting = true
	t.state = synSent
	t.hash()
	t.s.c.ActiveOpens++
	t.start()
	t.sendSyn()
	return syscall.EINPROGRESS
}

// renew makes a socket whose connection failed as it was before Connect.
func (t *TCP) renew() {
	t.purge()
	t.send, t.receive, t.urgent = send{}, receive{}, urgent{inline: t.inline}
	t.connecting, t.linked = false, false
	t.shutR, t.shutW = false, false
	if !t.fixedPort {
		t.leave()
		t.port = 0
	}
	if !t.fixedAddr {
		t.accepts(t.any())
		if t.port == 0 {
			t.has4, t.has6 = false, false
		}
	}
}

// Disconnect is connect(2) to AF_UNSPEC: the connection is reset, and the
// socket can be used anew.
func (t *TCP) Disconnect() syscall.Errno {
	if t.dead() {
		return syscall.EBADF
	}
	n := t.s.n
	n.tcpEnter()
	switch {
	case t.state == listening:
		t.stopListening()
	case t.state == timeWait:
		t.unwait()
		t.unhash()
	case t.state != closed:
		if t.state != synSent {
			t.abort()
		}
		t.quiet()
		t.unhash()
	}
	t.state = closed
	t.err = 0
	t.renew()
	n.tcpLeave()
	t.notify()
	return 0
}

// Shutdown is shutdown(2), with SHUT_RD as read, SHUT_WR as write: ENOTCONN if
// there is no connection. A listening socket shut for reading stops listening.
func (t *TCP) Shutdown(read, write bool) syscall.Errno {
	if t.dead() {
		return syscall.EBADF
	}
	n := t.s.n
	n.tcpEnter()
	defer n.tcpLeave()
	switch t.state {
	case closed, timeWait:
		return syscall.ENOTCONN
	case listening:
		if read {
			t.stopListening()
			t.notify()
		}
		return 0
	case synSent:
		t.quiet()
		t.unhash()
		t.state = closed
		t.shutR, t.shutW = true, true
		t.notify()
		return 0
	}
	t.shutR = t.shutR || read
	if write && !t.shutW {
		t.shutW = true
		t.finish()
	}
	t.notify()
	return 0
}

// finish lets FIN follow what was sent.
func (t *TCP) finish() {
	t.finQueued = true
	switch t.state {
	case established:
		t.state = finWait1
	case closeWait:
		t.state = lastAck
	}
	t.push() // in SYN_RECV: once there is a connection
}

// Close is close(2) of the last descriptor. What was sent is still delivered,
// and then FIN; if bytes were received that nobody read, or with a linger time
// of zero, the connection is reset. Closing twice is harmless.
func (t *TCP) Close() {
	if t.dead() {
		t.closed = true
		return
	}
	n := t.s.n
	n.tcpEnter()
	t.close()
	n.tcpLeave()
	t.notify()
}

func (t *TCP) close() {
	t.closed = true
	unread := t.rlen > 0
	t.purge()
	switch {
	case t.state == listening:
		t.stopListening()
		t.destroy()
	case t.state == closed, t.state == synSent:
		t.destroy()
	case t.state == timeWait:
		t.shutR, t.shutW = true, true
		t.s.sockets.remove(t)
	case unread, t.LingerOn && t.LingerTime == 0:
		t.abort()
		t.destroy()
	default:
		t.shutR = true
		if !t.shutW {
			t.shutW = true
			t.finish()
		}
		if t.state == finWait2 {
			t.orphan()
		}
	}
}

// Lingering tells whether a blocking close with a linger time still has to
// wait: bytes or FIN are not confirmed. Notify is called when that changes.
func (t *TCP) Lingering() bool {
	return t.state == finWait1 || t.state == closing || t.state == lastAck
}

// abort tells the peer that the connection is no more.
func (t *TCP) abort() {
	switch t.state {
	case closed, listening, synSent, timeWait:
		return
	}
	t.s.c.OutRsts++
	t.emit(t.segment(flagRST|flagACK, t.max, 0))
}

// done is the end of a connection, with an error unless it is 0. What was
// received can still be read.
func (t *TCP) done(errno syscall.Errno) {
	if l := t.parent; l != nil && t.state == synRcvd {
		l.half--
		t.parent = nil
		t.destroy()
		return
	}
	t.state = closed
	t.err = errno
	t.shutR, t.shutW = true, true
	t.quiet()
	t.unwait()
	t.unhash()
	t.ring.reset()
	t.blen = 0
	if t.closed {
		t.destroy()
	} else if !t.fixedPort {
		t.leave()
	}
	t.notify()
}

// destroy forgets a connection, and its socket unless the program still has
// that, and may read what came.
func (t *TCP) destroy() {
	if t.state != timeWait || t.closed {
		t.s.sockets.remove(t)
		t.purge()
	}
	t.state = closed
	t.quiet()
	t.unwait()
	t.unhash()
	t.leave()
	t.ring.reset()
	t.blen = 0
}

// resetTCP is the end of the process: the kernel closes its sockets.
func (s *Stack) resetTCP() {
	s.n.tcpEnter()
	var open []*TCP
	for t := s.sockets.first; t != nil; t = t.nextSock {
		if !t.closed {
			t.Notify = nil
			open = append(open, t)
		}
	}
	for _, t := range open {
		if !t.closed && t.parent == nil { // else the listening socket closes it
			t.close()
		}
	}
	s.n.tcpLeave()
}

// powerOffTCP forgets all connections without a word.
func (s *Stack) powerOffTCP() {
	for t := s.sockets.first; t != nil; t = s.sockets.first {
		t.Notify = nil
		t.closed = true
		t.listener, t.parent = nil, nil
		t.destroy()
	}
	for t := s.waiting; t != nil; t = s.waiting {
		t.closed = true
		t.destroy()
	}
}

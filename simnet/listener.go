package simnet

import (
	"net/netip"
	"slices"
	"syscall"
)

// A listener is what only a listening socket has.
type listener struct {
	backlog     int
	accepted    int  // length of the accept queue
	first, last *TCP // that queue, joined by TCP.qnext
	half        int  // connections in SYN_RECV
}

// Listen is listen(2). Of a socket that listens it changes the backlog.
func (t *TCP) Listen(backlog int) syscall.Errno {
	if t.dead() {
		return syscall.EBADF
	}
	if backlog < 0 || backlog > somaxconn {
		backlog = somaxconn
	}
	switch t.state {
	case listening:
		t.backlog = backlog
		return 0
	case closed:
	default:
		return syscall.EINVAL
	}
	if t.connecting || t.linked {
		return syscall.EINVAL
	}
	if t.bucket == nil {
		if t.port == 0 {
			t.accepts(t.any())
		}
		t.fixedPort = true
		t.inGroup = t.ReusePort
		if errno := t.take(0); errno != 0 {
			t.fixedPort = false
			return errno
		}
	}
	for _, o := range t.bucket.listens { // both may be bound, with SO_REUSEADDR
		if t.overlaps(o) && !(t.ReusePort && o.ReusePort) {
			return syscall.EADDRINUSE
		}
	}
	t.state = listening
	t.listener = &listener{backlog: backlog}
	t.err, t.shutR, t.shutW = 0, false, false
	t.bucket.listens = append(t.bucket.listens, t)
	t.notify()
	return 0
}

// Accept is accept(2): the next connection, or EAGAIN; EINVAL if the socket
// does not listen.
func (t *TCP) Accept() (*TCP, syscall.Errno) {
	if t.dead() {
		return nil, syscall.EBADF
	}
	if t.state != listening {
		return nil, syscall.EINVAL
	}
	c := t.first
	if c == nil {
		return nil, syscall.EAGAIN
	}
	t.unqueue(c)
	return c, 0
}

// unqueue takes the first connection off the accept queue.
func (t *TCP) unqueue(c *TCP) {
	t.first = c.qnext
	if t.first == nil {
		t.last = nil
	}
	c.qnext, c.parent = nil, nil
	t.accepted--
}

// stopListening resets the connections that nobody accepted.
func (t *TCP) stopListening() {
	b := t.bucket
	b.listens = slices.DeleteFunc(b.listens, func(o *TCP) bool { return o == t })
	t.state = closed
	for c := t.first; c != nil; c = t.first {
		t.unqueue(c)
		c.closed = true
		if c.state != closed {
			c.abort()
		}
		c.destroy()
	}
	if t.half > 0 {
		for o := b.first; o != nil; {
			next := o.bnext
			if o.parent == t {
				o.destroy()
			}
			o = next
		}
	}
	t.listener = nil
}

// lookupListener finds the listening socket for a connection, as lookupUDP
// does for a datagram.
func (s *Stack) lookupListener(src, dst netip.AddrPort, ifindex int) *TCP {
	b := s.tcp[dst.Port()]
	if b == nil {
		return nil
	}
	var best *TCP
	score, ties := -1, 0
	v4 := dst.Addr().Is4()
	for _, t := range b.listens {
		switch v := t.score(dst.Addr(), ifindex, v4); {
		case v > score:
			best, score, ties = t, v, 1
		case v == score && v >= 0:
			ties++
			if !t.inGroup {
				best = t // the newest
			}
		}
	}
	if best == nil || ties == 1 || !best.inGroup {
		return best
	}
	k := s.n.flow(src, dst) % uint64(ties)
	for _, t := range b.listens {
		if t.score(dst.Addr(), ifindex, v4) == score {
			if k == 0 {
				return t
			}
			k--
		}
	}
	return best
}

// score tells how well a listening socket fits; negative if not at all.
func (t *TCP) score(dst netip.Addr, ifindex int, v4 bool) int {
	if v4 && !t.has4 || !v4 && !t.has6 {
		return -1
	}
	v := 0
	if t.device != 0 {
		if t.device != ifindex {
			return -1
		}
		v = 4
	}
	if t.laddr.IsValid() {
		if t.laddr != dst {
			return -1
		}
		v += 2
	}
	if v4 && !t.v6 {
		v++
	}
	return v
}

// incoming answers a SYN, unless too many connections wait to be accepted:
// then it is dropped, and the peer will send it again. There is no limit to
// those that are half open, as with SYN cookies.
func (t *TCP) incoming(p *Datagram) {
	s, g := t.s, &p.seg
	if t.accepted > t.backlog {
		s.c.ListenDrops++
		s.n.note(BufferFull, s, s, p)
		s.n.put(p)
		return
	}
	r, errno := s.route(p.src.Addr(), p.dst.Addr(), t.oif())
	if errno != 0 {
		s.n.put(p)
		return
	}
	c := &TCP{
		s: s, life: t.life, v6: t.v6, v6only: t.v6only, state: synRcvd, parent: t,
		ReuseAddr: t.ReuseAddr, ReusePort: t.ReusePort, inGroup: t.inGroup,
		LingerOn: t.LingerOn, LingerTime: t.LingerTime, UserTimeout: t.UserTimeout,
		FreeBind: t.FreeBind, MinTTL: t.MinTTL, MinHops: t.MinHops, UnsentLow: t.UnsentLow, RcvLow: t.RcvLow,
		urgent: urgent{inline: t.inline}, cork: t.cork, fin2: t.fin2, device: t.device, outIf: t.outIf,
		fixedAddr: true, linked: true,
		nodelay: t.nodelay, maxseg: t.maxseg,
		ttl: t.ttl, tos: t.tos, hops: t.hops, class: t.class,
		rcvbuf: t.rcvbuf, sndbuf: t.sndbuf, rcvLock: t.rcvLock, sndLock: t.sndLock,
		keepAlive: t.keepAlive, keepIdle: t.keepIdle, keepInterval: t.keepInterval, keepCount: t.keepCount,
	}
	c.route, c.gen = r, s.n.gen
	c.local, c.remote = p.dst, p.src
	c.laddr = p.dst.Addr()
	c.has4, c.has6 = c.laddr.Is4(), !c.laddr.Is4()
	c.peer = g.from
	s.sockets.add(c)
	c.join(p.dst.Port())
	c.hash()
	t.half++
	s.c.PassiveOpens++
	c.start()
	c.synchronize(g)
	s.n.put(p)
	c.sendSyn()
}

// complete is the end of the handshake of a connection that a listening socket
// answered. It reports whether there was room in the accept queue.
func (t *TCP) complete() bool {
	l := t.parent
	if l.accepted > l.backlog {
		t.s.c.ListenDrops++
		return false
	}
	l.half--
	if l.last == nil {
		l.first = t
	} else {
		l.last.qnext = t
	}
	l.last = t
	l.accepted++
	return true
}

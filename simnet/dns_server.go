package simnet

import (
	"net/netip"
	"slices"
	"syscall"
	"time"

	"github.com/dstkit/dst/sched"
)

const (
	dnsPort = 53

	// dnsIdle is how long a connection may be idle, "on the order of seconds"
	// (RFC 7766 section 6.2.3).
	dnsIdle = 10 * time.Second
)

// A server is the name server's process. It has sockets as any other, and works
// when an event says that one of them has something.
type server struct {
	d      *DNS
	stack  *Stack
	udp    *UDP // nil while stopped
	tcp    *TCP
	conns  []*dnsConn
	life   int         // counts stops
	wake   sched.Event // a socket has something
	buffer [4096]byte
}

func (s *server) init(d *DNS, stack *Stack) {
	s.d, s.stack = d, stack
	s.start()
}

func (s *server) start() {
	if s.udp != nil {
		return
	}
	any := netip.AddrPortFrom(netip.IPv6Unspecified(), dnsPort)
	s.udp = s.stack.NewUDP(syscall.AF_INET6)
	s.tcp = s.stack.NewTCP(syscall.AF_INET6)
	s.tcp.ReuseAddr = true
	if s.udp.Bind(any) != 0 || s.tcp.Bind(any) != 0 || s.tcp.Listen(somaxconn) != 0 {
		panic("simnet: the name server finds its port taken")
	}
	s.udp.Notify, s.tcp.Notify = s.notify, s.notify
}

func (s *server) stop() {
	if s.udp == nil {
		return
	}
	s.life++
	for _, c := range slices.Clone(s.conns) {
		c.close()
	}
	s.udp.Notify, s.tcp.Notify = nil, nil
	s.udp.Close()
	s.tcp.Close()
	s.udp, s.tcp = nil, nil
	s.d.n.w.Cancel(&s.wake)
}

// notify is called in the middle of what a socket does: the work waits for an
// event.
func (s *server) notify() {
	if !s.wake.Queued() {
		s.d.n.w.Schedule(&s.wake, s.stack.now(), s)
	}
}

// Fire works off what the sockets have.
func (s *server) Fire() {
	for s.udp.Readable() {
		p, errno := s.udp.Recv(false)
		if errno != 0 {
			continue // of a socket that is not connected: none
		}
		from := p.From
		answer, delay := s.d.respond(p.Payload, s.host(from), false)
		p.Release()
		s.later(answer, delay, func() { s.udp.Send(answer, from, nil) })
	}
	for {
		t, errno := s.tcp.Accept()
		if errno != 0 {
			break
		}
		c := &dnsConn{s: s, t: t, host: s.host(t.RemoteAddr())}
		t.Notify = s.notify
		s.conns = append(s.conns, c)
		c.busy()
	}
	for _, c := range slices.Clone(s.conns) {
		c.serve()
	}
}

// host returns the name of the host that has an address.
func (s *server) host(a netip.AddrPort) string {
	if h := s.d.n.byAddr(plain(a.Addr())); h != nil {
		return h.name
	}
	return ""
}

// later sends an answer, if there is one, after a delay.
func (s *server) later(answer []byte, delay time.Duration, send func()) {
	switch {
	case answer == nil:
	case delay == 0:
		send()
	default:
		e := &lateAnswer{s: s, life: s.life, send: send}
		s.d.n.w.Schedule(&e.event, s.stack.now()+int64(delay), e)
	}
}

// A lateAnswer is an answer as an event.
type lateAnswer struct {
	event sched.Event
	s     *server
	life  int
	send  func()
}

func (e *lateAnswer) Fire() {
	if e.life == e.s.life {
		e.send()
	}
}

// A dnsConn is one connection. Its queries are answered as they come, each after its
// length (RFC 1035 section 4.2.2), and the answers may overtake each other
// (RFC 7766 section 6.2.1.1).
type dnsConn struct {
	s      *server
	t      *TCP
	host   string
	in     []byte // read, and not a whole query yet
	out    []byte // answers for which there is no room yet
	late   int    // answers that are to come
	ended  bool   // the peer will ask nothing more
	closed bool
	idle   sched.Event
}

// busy notes that something happened.
func (c *dnsConn) busy() {
	c.s.d.n.w.Schedule(&c.idle, c.s.stack.now()+int64(dnsIdle), c)
}

// Fire ends a connection on which nothing happened. A peer that reads nothing
// would keep it for ever: that one is reset.
func (c *dnsConn) Fire() {
	c.t.LingerOn = c.t.Unsent() > 0
	c.close()
}

func (c *dnsConn) close() {
	if c.closed {
		return
	}
	c.closed = true
	c.s.d.n.w.Cancel(&c.idle)
	c.s.conns = slices.DeleteFunc(c.s.conns, func(o *dnsConn) bool { return o == c })
	c.t.Notify = nil
	c.t.Close()
}

// serve reads what has come, answers, and writes what there is room for.
func (c *dnsConn) serve() {
	for !c.ended {
		n, errno := c.t.Recv(c.s.buffer[:], false)
		if errno == syscall.EAGAIN {
			break
		}
		if errno != 0 {
			c.close()
			return
		}
		if n == 0 {
			c.ended = true
			break
		}
		c.in = append(c.in, c.s.buffer[:n]...)
		c.busy()
	}
	for len(c.in) >= 2 {
		size := int(c.in[0])<<8 | int(c.in[1])
		if len(c.in) < 2+size {
			break
		}
		answer, delay := c.s.d.respond(c.in[2:2+size], c.host, true)
		c.in = c.in[2+size:]
		if answer == nil {
			continue
		}
		c.late++
		c.s.later(answer, delay, func() {
			c.late--
			c.out = append(append(c.out, byte(len(answer)>>8), byte(len(answer))), answer...)
			if delay > 0 {
				c.flush()
			}
		})
	}
	c.flush()
}

// flush writes what there is room for. Nobody waits for more, and the peer
// is done: the connection ends.
func (c *dnsConn) flush() {
	if c.closed {
		return
	}
	for len(c.out) > 0 {
		n, errno := c.t.Send(c.out, false)
		if errno == syscall.EAGAIN {
			c.t.Writable() // so that Notify tells when there is room
			return
		}
		if errno != 0 {
			c.close()
			return
		}
		c.out = c.out[n:]
		c.busy()
	}
	if c.ended && c.late == 0 {
		c.close()
	}
}

package simnet

import (
	"net/netip"
	"syscall"
)

// A Failure is what an error queue (IP_RECVERR, IPV6_RECVERR) tells of a
// datagram that the socket sent: struct sock_extended_err.
type Failure struct {
	Errno    syscall.Errno
	Origin   uint8      // SO_EE_ORIGIN_LOCAL, _ICMP or _ICMP6
	Type     uint8      // of ICMP
	Code     uint8      // of ICMP
	Info     uint32     // with EMSGSIZE, the MTU
	Offender netip.Addr // who says so, in the form of the socket's family; not valid: this host
}

// Where an error comes from, with Linux's values (linux/errqueue.h).
const (
	originLocal = 1
	originICMP  = 2
	originICMP6 = 3
)

// maxFailures bounds an error queue, where Linux counts its bytes in the
// receive buffer.
const maxFailures = 256

// NextFailure is recvmsg(2) with MSG_ERRQUEUE: the oldest error, whose To is
// where the datagram was sent, and whose payload is as much of it as came
// back; EAGAIN when there is none.
func (u *UDP) NextFailure() (*Datagram, Failure, syscall.Errno) {
	if u.dead() {
		return nil, Failure{}, syscall.EBADF
	}
	d := u.failures
	if d == nil {
		return nil, Failure{}, syscall.EAGAIN
	}
	u.failures = d.next
	d.next = nil
	f := *d.failure
	if f.Origin != originLocal { // what is pending is what the queue says next
		u.err = 0
		if next := u.failures; next != nil && next.failure.Origin != originLocal {
			u.err = next.failure.Errno
		}
	}
	return d, f, 0
}

// fail puts an error into the queue. The packet is given away.
func (u *UDP) fail(p *Datagram, f Failure) {
	last, count := &u.failures, 0
	for *last != nil {
		last = &(*last).next
		count++
	}
	if count == maxFailures {
		u.s.n.put(p)
		return
	}
	if f.Offender.IsValid() && u.v6 {
		f.Offender = u.form(netip.AddrPortFrom(f.Offender, 0)).Addr()
	}
	p.failure = &f
	p.From, p.To = u.form(p.src), u.form(p.dst)
	p.next = nil
	*last = p
}

// queues tells whether errors about a come to the socket's queue.
func (u *UDP) queues(a netip.Addr) bool {
	if a.Is4() {
		return u.RecvErr
	}
	return u.RecvErr6
}

// tooBig notes that a datagram was refused with EMSGSIZE.
func (u *UDP) tooBig(to netip.AddrPort, mtu int, payload []byte) {
	if !u.queues(to.Addr()) || len(payload)+udpHeader > 0xffff {
		return
	}
	p := u.s.n.get(0)
	p.proto = protoUDP
	p.src, p.dst = netip.AddrPortFrom(u.saddr, u.port), to
	if !u.saddr.IsValid() {
		p.src = netip.AddrPortFrom(u.any(), u.port)
	}
	u.fail(p, Failure{Errno: syscall.EMSGSIZE, Origin: originLocal, Info: uint32(mtu)})
	u.notify()
}

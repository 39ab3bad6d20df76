package simnet

import "syscall"

// This file is urgent data as Linux has it (tcp(7), RFC 6093): one byte, the
// last of what was sent with MSG_OOB, which the receiver reads apart from the
// others. A later one takes the place of one that was not read.

// urgent is a connection's urgent data.
type urgent struct {
	inline  bool  // SO_OOBINLINE: the byte stays among the others
	marking bool  // the Send that is going on is urgent
	sndUp   int64 // what follows the urgent byte that was sent; 0: none
	at      int64 // the urgent byte that was told of
	state   urgentState
	b       byte
}

type urgentState uint8

const (
	urgentNone   urgentState = iota
	urgentNotYet             // told of, on its way
	urgentValid              // there
	urgentRead
)

// SendUrgent is sendmsg(2) with MSG_OOB: as Send, and the last byte is urgent.
func (t *TCP) SendUrgent(payload []byte) (int, syscall.Errno) {
	t.marking = true
	n, errno := t.Send(payload, false)
	t.marking = false
	return n, errno
}

// SetInline sets SO_OOBINLINE.
func (t *TCP) SetInline(on bool) { t.inline = on }

// Inline returns SO_OOBINLINE.
func (t *TCP) Inline() bool { return t.inline }

// RecvUrgent is recvmsg(2) with MSG_OOB: EINVAL if there is no urgent byte, or
// it was read, or is among the others; EAGAIN if it is on its way.
func (t *TCP) RecvUrgent(peek bool) (b byte, ok bool, errno syscall.Errno) {
	switch {
	case t.dead():
		return 0, false, syscall.EBADF
	case t.inline, t.urgent.state == urgentNone, t.urgent.state == urgentRead:
		return 0, false, syscall.EINVAL
	case t.urgent.state == urgentValid:
		if !peek {
			t.urgent.state = urgentRead
		}
		return t.b, true, 0
	case t.state == closed, t.shutR:
		return 0, false, 0
	}
	return 0, false, syscall.EAGAIN
}

// Urgent is EPOLLPRI: an urgent byte can be read.
func (t *TCP) Urgent() bool { return t.urgent.state == urgentValid }

// AtMark is SIOCATMARK: the next byte to be read is the urgent one.
func (t *TCP) AtMark() bool { return t.urgent.state != urgentNone && t.at == t.copiedTo() }

// copiedTo is the sequence number of the next byte that Recv returns.
func (t *TCP) copiedTo() int64 {
	n := t.rcvNxt - int64(t.rlen)
	if t.finned {
		n--
	}
	return n
}

// urged takes what a segment says of urgent data.
func (t *TCP) urged(p *Datagram) {
	at := p.seg.urg - 1
	if at >= t.rcvNxt && at >= t.copiedTo() && (t.urgent.state == urgentNone || at > t.at) {
		if t.AtMark() && !t.inline && t.rlen > 0 {
			t.skip() // nobody will ask for the one before
		}
		t.urgent.state, t.at = urgentNotYet, at
	}
	if t.urgent.state == urgentNotYet && t.at >= p.seg.seq && t.at < p.seg.seq+int64(len(p.Payload)) {
		t.urgent.state, t.b = urgentValid, p.Payload[t.at-p.seg.seq]
		t.notify()
	}
}

// skip drops the first byte of what Recv has at hand.
func (t *TCP) skip() {
	p := t.rfirst
	t.rlen--
	if p.Payload = p.Payload[1:]; len(p.Payload) == 0 {
		if t.rfirst = p.next; p.next == nil {
			t.rlast = nil
		}
		p.next = nil
		t.s.n.put(p)
	}
}

// mark is what Recv does about the urgent byte: it reads up to it, and passes
// over it.
func (t *TCP) mark(size int) int {
	switch ahead := t.at - t.copiedTo(); {
	case ahead < 0:
		t.urgent.state = urgentNone
	case ahead > 0:
		size = int(min(int64(size), ahead))
	case !t.inline && t.rlen > 0:
		t.skip()
		t.urgent.state = urgentNone
	}
	return size
}

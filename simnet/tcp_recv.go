package simnet

import (
	"syscall"
	"unsafe"

	"github.com/dstkit/dst/sched"
)

// receive is the receiving half of a connection.
type receive struct {
	rcvNxt   int64     // next byte expected
	redge    int64     // end of the window that the peer was told; never goes back
	lastAck  int64     // the rcvNxt that the peer was told
	tsRecent int64     // timestamp to echo
	rfirst   *Datagram // what Recv has at hand, joined by next
	rlast    *Datagram
	rlen     int       // bytes of that
	oooFirst *Datagram // what came out of order, by seq
	oooLast  *Datagram
	finned   bool // FIN came, and all before it

	told  [maxSacks]block // of these, what ACKs tell
	tells uint8

	unacked    int    // segments' bytes since the last ACK
	quick      int    // so many ACKs are not delayed
	challenged int64  // when challenge last sent an ACK
	heard      int64  // when the peer was last heard of
	copied     int    // bytes that Recv took since the buffer grew
	bytesIn    uint64 // in order
	readAt     int64  // when the last bytes that Recv returned came
}

const (
	quickAcks  = 16   // Linux's TCP_MAX_QUICKACKS
	ethernet   = 1460 // a full segment
	smallChunk = 512  // bytes that are added to a queued segment with room for them
)

// window is what the peer is told: how much it may send from rcvNxt on. The
// window never shrinks, and opens by a full segment at least.
func (t *TCP) window() int {
	full := t.rcvbuf / 2
	space := full - t.rlen
	if edge := t.rcvNxt + int64(space); edge > t.redge && space >= min(ethernet, full/2) {
		t.redge = edge
	}
	return int(t.redge - t.rcvNxt)
}

// Recv is recvmsg(2): 0 and no error is the end of the stream. The bytes are
// copied with [sched.CopyOut]. With peek they stay.
func (t *TCP) Recv(buf []byte, peek bool) (int, syscall.Errno) {
	switch {
	case t.dead():
		return 0, syscall.EBADF
	case t.rlen > 0:
	case t.finned:
		return 0, 0
	case t.err != 0:
		return 0, t.PendingError()
	case t.shutR:
		return 0, 0
	case t.state == closed || t.state == listening:
		return 0, syscall.ENOTCONN
	default:
		return 0, syscall.EAGAIN
	}
	if t.urgent.state != urgentNone {
		buf = buf[:t.mark(len(buf))]
		if t.rlen == 0 {
			return t.Recv(buf, peek)
		}
	}
	n := 0
	for p := t.rfirst; p != nil && n < len(buf); {
		k := min(len(buf)-n, len(p.Payload))
		sched.CopyOut(unsafe.Pointer(unsafe.SliceData(buf[n:])), p.Payload[:k])
		n += k
		t.readAt = p.Arrived
		if peek {
			p = p.next
			continue
		}
		if k < len(p.Payload) {
			p.Payload = p.Payload[k:]
			break
		}
		next := p.next
		t.s.n.put(p)
		p = next
		if t.rfirst = next; next == nil {
			t.rlast = nil
		}
	}
	if !peek {
		t.rlen -= n
		if t.urgent.state != urgentNone && t.at < t.copiedTo() {
			t.urgent.state = urgentNone
		}
		t.opened(n)
	}
	return n, 0
}

// opened tells the peer of the window if Recv has at least doubled it.
func (t *TCP) opened(n int) {
	if !t.rcvLock && t.rcvbuf < tcpRmemMax {
		if t.copied += n; t.copied >= t.rcvbuf {
			t.rcvbuf = min(2*t.rcvbuf, tcpRmemMax)
			t.copied = 0
		}
	}
	switch t.state {
	case established, finWait1, finWait2:
	default:
		return
	}
	full, now := t.rcvbuf/2, int(t.redge-t.rcvNxt)
	if space := full - t.rlen; 2*now <= full && space >= 2*now && space >= min(ethernet, full/2) {
		t.s.n.tcpEnter()
		t.sendAck()
		t.s.n.tcpLeave()
	}
}

// data takes the bytes and FIN of a segment that lies in the window at least
// in part, and the segment itself. It reports whether anything new came in
// order.
func (t *TCP) data(p *Datagram) bool {
	g := &p.seg
	if !t.trim(p) {
		t.s.n.put(p)
		return false
	}
	if g.seq > t.rcvNxt {
		t.tell(block{g.seq, g.seq + g.span(len(p.Payload))})
		t.keepAhead(p)
		return false
	}
	t.append(p)
	for q := t.oooFirst; q != nil && q.seg.seq <= t.rcvNxt; q = t.oooFirst {
		t.oooFirst = q.next
		if q.next == nil {
			t.oooLast = nil
		}
		q.next = nil
		if t.trim(q) {
			t.append(q)
		} else {
			t.s.n.put(q)
		}
	}
	t.forget()
	return true
}

// tell notes a block that came out of order as the latest.
func (t *TCP) tell(b block) {
	told, n := t.told, 1
	for _, o := range told[:t.tells] {
		if o.from <= b.to && b.from <= o.to {
			b.from, b.to = min(o.from, b.from), max(o.to, b.to)
		} else if n < maxSacks {
			t.told[n] = o
			n++
		}
	}
	t.told[0], t.tells = b, uint8(n)
}

// forget drops the blocks that are in order now.
func (t *TCP) forget() {
	n := uint8(0)
	for _, o := range t.told[:t.tells] {
		if o.to > t.rcvNxt && !t.finned {
			t.told[n] = o
			n++
		}
	}
	t.tells = n
}

// trim cuts off what came before and what the window does not hold. It reports
// whether anything is left.
func (t *TCP) trim(p *Datagram) bool {
	g := &p.seg
	if t.finned {
		return false
	}
	if old := t.rcvNxt - g.seq; old > 0 {
		k := min(int(old), len(p.Payload))
		p.Payload = p.Payload[k:]
		g.seq += int64(k)
	}
	if over := g.seq + int64(len(p.Payload)) - t.redge; over > 0 {
		p.Payload = p.Payload[:max(0, len(p.Payload)-int(over))]
		g.flags &^= flagFIN
	}
	return len(p.Payload) > 0 || g.flags&flagFIN != 0 && g.seq >= t.rcvNxt
}

// append takes a segment that is next in order.
func (t *TCP) append(p *Datagram) {
	n := len(p.Payload)
	t.rcvNxt += int64(n)
	t.unacked += n
	t.bytesIn += uint64(n)
	if p.seg.flags&flagFIN != 0 {
		t.rcvNxt++
		t.finned = true
		for q := t.oooFirst; q != nil; q = t.oooFirst { // nothing comes after FIN
			t.oooFirst = q.next
			t.s.n.put(q)
		}
		t.oooLast = nil
	}
	l := t.rlast
	switch {
	case n == 0 || t.closed:
		t.s.n.put(p)
		return
	case l == nil:
		t.rfirst = p
		t.rlast = p
	case n <= smallChunk && cap(l.Payload)-len(l.Payload) >= n:
		l.Payload = append(l.Payload, p.Payload...)
		t.s.n.put(p)
	default:
		l.next = p
		t.rlast = p
	}
	t.rlen += n
}

// keepAhead keeps a segment that came too early.
func (t *TCP) keepAhead(p *Datagram) {
	end := func(q *Datagram) int64 { return q.seg.seq + q.seg.span(len(q.Payload)) }
	var before *Datagram
	if l := t.oooLast; l != nil && l.seg.seq <= p.seg.seq {
		before = l
	} else {
		for q := t.oooFirst; q != nil && q.seg.seq <= p.seg.seq; q = q.next {
			before = q
		}
	}
	if before != nil && end(before) >= end(p) {
		t.s.n.put(p) // nothing new
		return
	}
	after := t.oooFirst
	if before != nil {
		after = before.next
	}
	for after != nil && end(after) <= end(p) { // covered by p
		next := after.next
		t.s.n.put(after)
		after = next
	}
	if before == nil {
		t.oooFirst = p
	} else {
		before.next = p
	}
	if p.next = after; after == nil {
		t.oooLast = p
	}
}

// purge gives back what was received.
func (t *TCP) purge() {
	for _, p := range [...]*Datagram{t.rfirst, t.oooFirst} {
		for p != nil {
			next := p.next
			t.s.n.put(p)
			p = next
		}
	}
	t.rfirst, t.rlast, t.oooFirst, t.oooLast, t.rlen = nil, nil, nil, nil, 0
	t.tells = 0
}

// answered notes that a segment tells the peer of all that came.
func (t *TCP) answered() {
	t.lastAck = t.rcvNxt
	t.unacked = 0
	t.ackAt = 0
}

// acknowledge sends an ACK for bytes in order, now or later.
func (t *TCP) acknowledge() {
	switch {
	case t.lastAck == t.rcvNxt: // push told it
	case t.quick > 0:
		t.quick--
		t.sendAck()
	case t.unacked >= 2*min(ethernet, t.mss):
		t.sendAck()
	case t.ackAt == 0:
		t.ackAt = t.s.now() + int64(delayedAck)
		t.arm(t.ackAt)
	}
}

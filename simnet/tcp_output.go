package simnet

import (
	"syscall"
	"unsafe"

	"github.com/dstkit/dst/sched"
)

// send is the sending half of a connection.
type send struct {
	una     int64 // oldest byte that is not confirmed
	nxt     int64 // next to send; behind max while what was lost is sent again
	max     int64 // what follows the highest byte sent
	wl1     int64 // seq of the segment that last told the window
	wnd     int   // bytes from una that the peer takes
	maxWnd  int   // the largest that was
	mss     int   // the largest segment that the peer takes
	ring    ring  // bytes from base on that are not confirmed
	base    int64 // seq of the first of these
	blen    int   // how many
	starved bool  // Send found no room: tell when there is

	finQueued bool // FIN follows the last byte
	more      bool // the last Send said that more will follow
	forced    bool // send what fits

	sacked []block // beyond una, what the peer has: in order, none touches the next
	resent int64   // what follows the highest byte sent again in this recovery

	cwnd, ssthresh int    // bytes
	grown          int    // bytes confirmed since cwnd last grew, beyond slow start
	dupacks        int    // in a row
	recovering     bool   // until recover is confirmed
	recover        int64  //
	srtt, rttvar   int64  // smoothed round trip and its variation; 0: not known
	rto            int64  // without backoff
	retries        int    // timeouts in a row
	acked          uint64 // bytes confirmed
	since          int64  // since when nothing was confirmed
	total          int    // segments sent again
	probes         int    // of the window, unanswered
	probeBackoff   int
	probeSince     int64
	keepProbes     int // keep-alive probes, unanswered
}

// autotune lets the send buffer follow the congestion window.
func (t *TCP) autotune() {
	if !t.sndLock {
		t.sndbuf = max(t.sndbuf, tcpWmemLow, min(2*t.cwnd, tcpWmemMax))
	}
}

// Send is sendmsg(2). It takes as much of payload as there is room for, and
// tells how much: EAGAIN if there is none. The payload is copied with
// [sched.CopyIn], so it may be the program's memory. With more (MSG_MORE, and
// all but the last piece of a writev) a segment that is not full waits.
func (t *TCP) Send(payload []byte, more bool) (int, syscall.Errno) {
	if t.dead() {
		return 0, syscall.EBADF
	}
	if t.err != 0 {
		return 0, t.PendingError()
	}
	if t.shutW {
		return 0, syscall.EPIPE
	}
	switch t.state {
	case established, closeWait:
	case synSent, synRcvd:
		return 0, syscall.EAGAIN
	default:
		return 0, syscall.EPIPE
	}
	n := t.s.n
	done := 0
	for {
		// What is confirmed while segments leave makes room for more.
		room := min(t.sndbuf-t.blen, len(payload)-done)
		if room <= 0 || t.unsentFull() {
			break
		}
		n.tcpEnter()
		t.ring.write(payload[done:done+room], t.blen)
		t.blen += room
		if done += room; t.marking && done == len(payload) {
			t.sndUp = t.base + int64(t.blen)
		}
		t.more = more
		t.push()
		n.tcpLeave()
		if t.state != established && t.state != closeWait {
			break
		}
	}
	if done < len(payload) {
		t.starved = true
		if done == 0 {
			if t.err != 0 {
				return 0, t.PendingError()
			}
			return 0, syscall.EAGAIN
		}
	}
	return done, 0
}

// pending is how much was never sent: bytes, and FIN.
func (t *TCP) pending() int {
	n := int(t.base + int64(t.blen) - t.max)
	if t.finQueued {
		n++
	}
	return n
}

// segmentSize is how many bytes a segment may carry.
func (t *TCP) segmentSize() int {
	size := t.route.mtu(t.s.n) - tcpHeader - ipHeader(t.remote.Addr())
	return max(min(size, t.mss), leastMSS)
}

// push sends what may be sent.
func (t *TCP) push() {
	if t.nxt == t.base+int64(t.blen) && !t.finQueued && t.probeAt == 0 && !t.recovering {
		return // all was sent
	}
	switch t.state {
	case established, closeWait, finWait1, closing, lastAck:
	default:
		return
	}
	t.refreshRoute()
	mss := t.segmentSize()
	limit := mss
	if p := t.route.path; p != nil && p.plain && p.to.gateway == nil && t.blen > mss && mss < offload {
		limit = offload / mss * mss // nobody looks into the segments of a perfect link
	}
	for {
		avail := int(t.base + int64(t.blen) - t.nxt)
		if avail < 0 {
			break // FIN was sent
		}
		again := t.nxt < t.max
		wnd := t.wnd
		ahead := limit // to what the peer has, of what is sent again
		if again {
			wnd = max(wnd, int(t.max-t.una))
			if len(t.sacked) > 0 {
				i := t.beyond(t.nxt)
				if i < len(t.sacked) && t.sacked[i].from <= t.nxt {
					t.nxt = t.sacked[i].to
					continue
				}
				if i < len(t.sacked) {
					ahead = int(min(int64(limit), t.sacked[i].from-t.nxt))
				}
			}
		}
		flight := int(t.nxt - t.una)
		room := min(wnd-flight, t.cwnd-flight)
		if len(t.sacked) > 0 {
			room = min(wnd-flight, t.cwnd-t.pipe())
			if t.recovering && room >= mss && t.fill(mss, true) {
				continue
			}
		}
		n := min(avail, limit, ahead, room)
		if n < 0 {
			n = 0
		}
		if n > mss && n < avail && n < limit {
			n -= n % mss
		}
		last := t.finQueued && n == avail && wnd > flight+n
		if n == 0 && !last {
			break
		}
		if n > 0 && n < mss && !last && !again && !t.forced {
			if n < avail {
				if n < t.maxWnd/2 || n < t.wnd-flight { // a silly window, or cwnd is used up
					break
				}
			} else if t.more || t.cork || !t.nodelay && flight > 0 { // J. Nagle's algorithm
				break
			}
		}
		f := flagACK
		if last {
			f |= flagFIN
		}
		p := t.segment(f, t.nxt, n)
		if n > 0 {
			t.ring.read(p.Payload, int(t.nxt-t.base))
		}
		t.nxt += p.seg.span(n)
		if again {
			t.s.c.RetransSegs++
			t.total++
		}
		if t.max == t.una {
			t.since = t.s.now()
		}
		t.max = max(t.max, t.nxt)
		if t.rtoAt == 0 {
			t.armRTO()
		}
		t.answered()
		t.emit(p)
	}
	for t.recovering && t.cwnd-t.pipe() >= mss && t.fill(mss, false) {
	}
	if t.max == t.una && t.pending() > 0 {
		if t.probeAt == 0 {
			t.armProbe()
		}
	} else {
		t.probeAt, t.probes, t.probeBackoff = 0, 0, 0
	}
}

// resend sends up to size bytes again, from a sequence number on.
func (t *TCP) resend(from int64, size int) {
	t.refreshRoute()
	end := t.base + int64(t.blen)
	n := int(max(0, min(end-from, int64(size), t.max-from)))
	f := flagACK
	if t.finQueued && from+int64(n) == end && t.max > end {
		f |= flagFIN
	}
	if n == 0 && f&flagFIN == 0 {
		return
	}
	p := t.segment(f, from, n)
	if n > 0 {
		t.ring.read(p.Payload, int(from-t.base))
	}
	t.resent = max(t.resent, from+p.seg.span(n))
	t.s.c.RetransSegs++
	t.total++
	t.answered()
	t.emit(p)
}

// segment makes a segment with room for size bytes.
func (t *TCP) segment(f flags, seq int64, size int) *Datagram {
	p := t.s.n.get(size)
	g := &p.seg
	g.flags, g.sacks = f, t.tells
	if g.urg = 0; t.sndUp > seq {
		g.urg = t.sndUp
	}
	if t.tells > 0 {
		g.sack = t.told
	}
	g.seq, g.ack, g.wnd = seq, t.rcvNxt, t.window()
	g.ts, g.echo = t.s.now(), t.tsRecent
	g.from, g.to = t, t.peer
	p.src, p.dst = t.local, t.remote
	ttl, tos := t.ttl, t.tos
	if !p.dst.Addr().Is4() {
		ttl, tos = t.hops, t.class
	}
	if ttl < 0 {
		ttl = defaultTTL
	}
	p.TTL, p.TOS = uint8(ttl), uint8(max(0, tos))
	return p
}

// emit sends a segment on its way, unless the interface is down.
func (t *TCP) emit(p *Datagram) {
	if !t.refreshRoute() {
		t.s.n.note(Unreachable, t.s, nil, p)
		t.s.n.put(p)
		return
	}
	if path := t.route.path; path != nil && len(p.Payload) > 0 {
		size := min(len(p.Payload), t.segmentSize()) + tcpHeader + ipHeader(p.dst.Addr())
		if path.tooBig(size, p.dst.Addr()) {
			path.bounce(p)
			return
		}
	}
	t.s.emit(p, &t.route)
}

// refreshRoute looks for the way to the peer if it may have changed.
func (t *TCP) refreshRoute() bool {
	if n := t.s.n; t.gen != n.gen {
		r, errno := t.s.route(t.remote.Addr(), t.local.Addr(), t.oif())
		if errno != 0 {
			t.soft = errno
			return false
		}
		t.route, t.gen = r, n.gen
	}
	return true
}

// sendSyn sends, or sends again, SYN or SYN ACK.
func (t *TCP) sendSyn() {
	t.armRTO()
	f := flagSYN
	if t.state == synRcvd {
		f |= flagACK
	}
	p := t.segment(f, t.una, 0)
	p.seg.mss = t.route.firstMTU(t.s.n) - tcpHeader - ipHeader(t.remote.Addr())
	if t.maxseg != 0 {
		p.seg.mss = min(p.seg.mss, t.maxseg)
	}
	t.emit(p)
}

// sendAck sends a segment without bytes.
func (t *TCP) sendAck() {
	p := t.segment(flagACK, t.max, 0)
	t.answered()
	t.emit(p)
}

// challenge is an ACK for a segment that makes no sense here: twice a second
// at most if that was without bytes, or two of them could go on for ever.
func (t *TCP) challenge(payload int) {
	now := t.s.now()
	if payload == 0 {
		if t.challenged != 0 && now-t.challenged < int64(oowRate) {
			return
		}
		t.challenged = now
	}
	t.sendAck()
}

// start sets what a new connection begins with.
func (t *TCP) start() {
	n := t.s.n
	n.flows++
	iss := int64(scramble(n.w.Seed()^n.flows*0x9e3779b97f4a7c15)>>17) + 1
	t.una, t.nxt, t.max, t.base = iss, iss+1, iss+1, iss+1
	t.rto = int64(rtoInit)
	t.since = t.s.now()
	t.cwnd, t.ssthresh = 10*defaultMSS, 1<<40
	t.quick = quickAcks
}

// A ring is bytes in a circle that doubles when it is full.
type ring struct {
	buf  []byte // a power of two
	head int    // the first byte
}

func (r *ring) reset() { r.buf, r.head = nil, 0 }

// write adds bytes of the program behind the count that are there.
func (r *ring) write(b []byte, count int) {
	if count == 0 {
		r.head = 0
	}
	if count+len(b) > len(r.buf) {
		r.grow(count, count+len(b))
	}
	at := (r.head + count) & (len(r.buf) - 1)
	k := min(len(b), len(r.buf)-at)
	sched.CopyIn(r.buf[at:at+k], unsafe.Pointer(unsafe.SliceData(b)))
	if k < len(b) {
		rest := b[k:]
		sched.CopyIn(r.buf[:len(rest)], unsafe.Pointer(unsafe.SliceData(rest)))
	}
}

func (r *ring) grow(count, need int) {
	c := max(256, 2*len(r.buf))
	for c < need {
		c *= 2
	}
	buf := make([]byte, c)
	if count > 0 {
		r.read(buf[:count], 0)
	}
	r.buf, r.head = buf, 0
}

// read copies the bytes that begin at off.
func (r *ring) read(dst []byte, off int) {
	at := (r.head + off) & (len(r.buf) - 1)
	k := copy(dst, r.buf[at:])
	copy(dst[k:], r.buf)
}

// drop forgets k of count bytes.
func (r *ring) drop(k, count int) {
	if k == count {
		r.head = 0
		return
	}
	r.head = (r.head + k) & (len(r.buf) - 1)
}

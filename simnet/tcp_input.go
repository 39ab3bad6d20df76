package simnet

import (
	"syscall"
	"time"
)

// synchronize takes the peer's SYN.
func (t *TCP) synchronize(g *segment) {
	t.rcvNxt = g.seq + 1
	t.redge = t.rcvNxt + int64(t.rcvbuf/2)
	t.tsRecent = g.ts
	t.wnd, t.maxWnd, t.wl1 = g.wnd, g.wnd, g.seq
	t.heard = t.s.now()
	mss := t.route.mtu(t.s.n) - tcpHeader - ipHeader(t.remote.Addr())
	if t.maxseg != 0 {
		mss = min(mss, t.maxseg)
	}
	t.mss = max(leastMSS, min(mss, g.mss))
	t.cwnd = 10 * t.mss
	t.autotune()
}

// establish is the end of the handshake.
func (t *TCP) establish(g *segment) {
	now := t.s.now()
	t.state = established
	t.una = g.ack
	t.retries, t.rtoAt, t.since = 0, 0, now
	t.measure(g)
	if t.srtt == 0 {
		t.rto = int64(rtoMin)
	}
	t.heard = now
	t.recover = t.una
	t.rearmKeepAlive()
	if t.shutW { // Shutdown came first
		t.state = finWait1
	}
	if l := t.parent; l != nil {
		l.notify()
	}
	t.notify()
}

// measure takes a round trip's time, as RFC 6298 does, with Linux's bounds.
func (t *TCP) measure(g *segment) {
	if g.echo == 0 {
		return
	}
	r := t.s.now() - g.echo
	if t.srtt == 0 {
		t.srtt, t.rttvar = r, r/2
	} else {
		t.rttvar += (max(r-t.srtt, t.srtt-r) - t.rttvar) / 4
		t.srtt += (r - t.srtt) / 8
	}
	t.rto = min(t.srtt+max(4*t.rttvar, int64(rtoMin)), int64(rtoMax))
}

// input takes a segment for the connection. It gives it back to the pool, or
// keeps it in a queue.
func (t *TCP) input(p *Datagram) {
	if least := t.leastTTL(); least > 0 && int(p.TTL) < least {
		t.s.n.put(p)
		return
	}
	t.peer = p.seg.from
	switch t.state {
	case synSent:
		t.inputSynSent(p)
	case timeWait:
		t.inputTimeWait(p)
	default:
		if t.check(p) {
			t.process(p)
			return
		}
	}
	t.s.n.put(p)
}

// leastTTL is what the TTL of a segment must be at least.
func (t *TCP) leastTTL() int {
	if t.remote.Addr().Is4() {
		return t.MinTTL
	}
	return t.MinHops
}

func (t *TCP) inputSynSent(p *Datagram) {
	g := &p.seg
	acks := g.flags&flagACK != 0
	if acks && g.ack != t.max {
		t.s.reset(p)
		return
	}
	if g.flags&flagRST != 0 {
		if acks {
			t.done(syscall.ECONNREFUSED)
		}
		return
	}
	if g.flags&flagSYN == 0 {
		return
	}
	t.synchronize(g)
	if acks {
		t.establish(g)
		t.sendAck()
		t.push()
		return
	}
	t.state = synRcvd // both opened at once
	t.retries = 0
	t.sendSyn()
}

func (t *TCP) inputTimeWait(p *Datagram) {
	g := &p.seg
	switch {
	case g.flags&flagRST != 0:
		if g.seq == t.rcvNxt {
			t.destroy()
		}
	case g.span(len(p.Payload)) > 0:
		if g.flags&flagFIN != 0 {
			t.wait() // anew: the last ACK was lost
		}
		t.sendAck()
	}
}

// check decides whether a segment belongs to the connection, and answers one
// that does not.
func (t *TCP) check(p *Datagram) bool {
	g := &p.seg
	size := len(p.Payload)
	if g.flags&(flagSYN|flagACK) == flagSYN|flagACK && t.state == synRcvd && g.seq == t.rcvNxt-1 {
		g.flags &^= flagSYN // both opened at once: this confirms ours
		g.seq++
	}
	end := g.seq + g.span(size)
	if end < t.rcvNxt || end == t.rcvNxt && end > g.seq || g.seq > t.redge || t.finned && g.seq > t.rcvNxt {
		switch {
		case g.flags&flagRST != 0:
		case t.state == synRcvd && g.flags&flagSYN != 0:
			t.sendSyn() // it was sent again: ours was lost
		default:
			t.challenge(size + int(g.flags&flagFIN))
		}
		return false
	}
	switch {
	case g.flags&flagRST != 0:
		if g.seq != t.rcvNxt {
			t.challenge(0) // RFC 5961: the peer says it again if it is meant
			return false
		}
		switch t.state {
		case closeWait:
			t.done(syscall.EPIPE)
		case lastAck, closing:
			t.done(0)
		case synRcvd:
			t.done(syscall.ECONNREFUSED)
		default:
			t.done(syscall.ECONNRESET)
		}
		return false
	case g.flags&flagSYN != 0:
		t.challenge(0)
		return false
	case g.flags&flagACK == 0:
		return false
	case g.ack > t.max:
		if t.state == synRcvd {
			t.s.reset(p)
		} else {
			t.challenge(0)
		}
		return false
	}
	if t.state == synRcvd {
		if g.ack <= t.una {
			t.s.reset(p)
			return false
		}
		if t.parent != nil {
			if t.retries < t.parent.DeferAccept && size == 0 && g.flags&flagFIN == 0 {
				t.patient = true // it is accepted when bytes come
				return false
			}
			if !t.complete() {
				return false
			}
		}
		t.wnd, t.maxWnd, t.wl1 = g.wnd, max(g.wnd, t.maxWnd), g.seq
		t.establish(g)
	}
	return true
}

// process takes what an acceptable segment says.
func (t *TCP) process(p *Datagram) {
	g := &p.seg
	size := len(p.Payload)
	now := t.s.now()
	t.heard = now
	t.keepProbes = 0
	t.probes = 0
	if g.seq <= t.lastAck && g.ts >= t.tsRecent || t.tsRecent == 0 {
		t.tsRecent = g.ts
	}
	if !t.confirmed(g, size) {
		t.s.n.put(p)
		return
	}
	if g.urg != 0 {
		t.urged(p)
	}
	if size == 0 && g.flags&flagFIN == 0 {
		t.s.n.put(p)
		t.push()
		return
	}
	end := g.seq + int64(size)
	if end > t.rcvNxt && t.shutR && (t.state == finWait1 || t.state == finWait2 || t.closed) {
		// Nobody will read this, and the peer should know.
		t.s.n.put(p)
		t.abort()
		t.done(syscall.ECONNRESET)
		return
	}
	had := t.finned
	ordered := t.data(p)
	if t.finned && !had {
		t.finReceived()
	}
	t.push()
	switch {
	case t.state == closed:
	case !ordered || t.oooFirst != nil || t.finned:
		if !ordered || t.lastAck != t.rcvNxt {
			t.sendAck()
		}
	default:
		t.acknowledge()
	}
	if ordered {
		t.notify()
	}
}

// finReceived moves on the state after FIN.
func (t *TCP) finReceived() {
	switch t.state {
	case established:
		t.state = closeWait
	case finWait1:
		t.state = closing // its own FIN is not confirmed
	case finWait2:
		t.timeWait()
	}
}

// timeWait is the end of a connection that was closed properly.
func (t *TCP) timeWait() {
	t.state = timeWait
	t.shutR, t.shutW = true, true
	t.wait()
	t.notify()
}

// confirmed takes the ACK of a segment. It reports whether the connection goes
// on.
func (t *TCP) confirmed(g *segment, size int) bool {
	if g.ack < t.una {
		return true // old
	}
	if g.ack > t.una || g.seq > t.wl1 || g.seq == t.wl1 && g.wnd > t.wnd {
		t.wnd, t.wl1 = g.wnd, g.seq
		t.maxWnd = max(t.maxWnd, g.wnd)
	}
	if news := g.sacks > 0 && t.hear(g); g.ack == t.una {
		if news {
			t.duplicate()
		}
		return true
	}
	flight := int(t.max - t.una)
	n := int(g.ack - t.una)
	t.una = g.ack
	t.nxt = max(t.nxt, t.una)
	t.confirm()
	if k := min(int(t.una-t.base), t.blen); k > 0 {
		t.ring.drop(k, t.blen)
		t.blen -= k
		t.base += int64(k)
	}
	t.acked += uint64(n)
	t.soft = 0
	t.measure(g)
	t.retries = 0
	t.since = t.s.now()
	switch {
	case !t.recovering:
		t.dupacks = 0
		t.grow(n, flight)
		t.autotune()
	case g.ack >= t.recover:
		t.recovering, t.dupacks = false, 0
	}
	if t.max == t.una {
		t.rtoAt = 0
	} else {
		t.armRTO()
	}
	if t.finQueued && t.una > t.base+int64(t.blen) {
		switch t.state { // FIN is confirmed
		case finWait1:
			t.state = finWait2
			if t.closed {
				t.orphan()
			}
			t.notify()
		case closing:
			t.timeWait()
			return false
		case lastAck:
			t.done(0)
			return false
		}
	}
	if t.starved && t.Writable() {
		t.starved = false
		t.notify()
	}
	return true
}

// duplicate is an ACK that says that a later segment came. What came before it
// counts as lost after three of them, or as many bytes (RFC 6675).
func (t *TCP) duplicate() {
	t.dupacks++
	if t.recovering || t.una < t.recover || t.dupacks < 3 && !t.lost(0) {
		return
	}
	t.ssthresh = max(int(t.max-t.una)/2, 2*t.mss)
	t.recovering, t.recover = true, t.max
	t.cwnd = t.ssthresh
	t.resend(t.una, t.segmentSize())
	t.armRTO()
}

// grow opens the congestion window if it was used: by what was confirmed in
// slow start, by a segment a round trip beyond.
func (t *TCP) grow(n, flight int) {
	const most = 1 << 30
	switch {
	case t.cwnd >= most:
	case t.cwnd < t.ssthresh:
		if 2*flight >= t.cwnd {
			t.cwnd += n
		}
	case flight+t.mss >= t.cwnd:
		if t.grown += n; t.grown >= t.cwnd {
			t.grown -= t.cwnd
			t.cwnd += t.mss
		}
	}
}

// Info is TCP_INFO.
func (t *TCP) Info() TCPInfo {
	i := TCPInfo{
		State: uint8(t.state), Retransmits: uint8(min(t.retries, 255)), Probes: uint8(min(t.probes, 255)),
		Backoff: uint8(min(t.retries+t.probeBackoff, 255)), RTO: time.Duration(backoff(t.rto, t.retries)),
		RTT: time.Duration(t.srtt), RTTVar: time.Duration(t.rttvar),
		SndMSS: t.MaxSeg(), RcvMSS: t.MaxSeg(), AdvMSS: ethernet, RcvSpace: t.rcvbuf / 2,
		TotalRetrans: t.total, BytesReceived: t.bytesIn,
	}
	if t.state == timeWait {
		i.State = uint8(closed)
	}
	if t.state == listening {
		i.Unacked, i.Sacked = t.accepted, t.backlog
	}
	if t.mss > 0 {
		i.Unacked = (int(t.max-t.una) + t.mss - 1) / t.mss
		i.SndCwnd, i.SndSsthresh = t.cwnd/t.mss, min(t.ssthresh/t.mss, 1<<31-1)
		i.PMTU = t.route.mtu(t.s.n)
		i.BytesAcked = t.acked
		i.NotSentBytes = max(0, int(t.base+int64(t.blen)-t.max))
	}
	return i
}

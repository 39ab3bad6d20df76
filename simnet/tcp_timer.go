package simnet

import (
	"syscall"
	"time"

	"github.com/dstkit/dst/sched"
)

// Linux's times and counts.
const (
	rtoMin       = 200 * time.Millisecond
	rtoMax       = 120 * time.Second
	rtoInit      = time.Second
	synRetries   = 6 // net.ipv4.tcp_syn_retries: gives up after 127 s
	ackRetries   = 5 // net.ipv4.tcp_synack_retries: after 63 s
	probeRetries = 15
	orphanProbes = 8
	giveUp       = 924600 * time.Millisecond // 15 retransmissions from the smallest RTO: net.ipv4.tcp_retries2
	orphanGiveUp = 102200 * time.Millisecond // 8 of them
	delayedAck   = 40 * time.Millisecond
	timeWaitTime = time.Minute
	arpTime      = 3 * time.Second        // until the neighbour that nobody is counts as missing
	oowRate      = 500 * time.Millisecond // net.ipv4.tcp_invalid_ratelimit
)

// timers are when something is due; 0 is never. They share one event, which
// is due at the first of them or earlier: one that is put off leaves the event
// as it is, so that a stream of segments does not queue an event each.
type timers struct {
	event   sched.Event
	rtoAt   int64 // retransmit
	ackAt   int64 // send the delayed ACK
	probeAt int64 // probe a window that is closed, or too small
	keepAt  int64 // keep-alive
	until   int64 // end of the wait in TIME_WAIT; not an event
	wprev   *TCP  // in the stack's list of those
	wnext   *TCP
}

// arm sees to it that the event comes no later than at.
func (t *TCP) arm(at int64) {
	if !t.event.Queued() || t.event.When() > at {
		t.s.n.w.Schedule(&t.event, at, (*tcpTimer)(t))
	}
}

// quiet stops all timers.
func (t *TCP) quiet() {
	t.rtoAt, t.ackAt, t.probeAt, t.keepAt = 0, 0, 0, 0
	t.s.n.w.Cancel(&t.event)
}

// tcpTimer is a socket as an event.
type tcpTimer TCP

func (e *tcpTimer) Fire() {
	t := (*TCP)(e)
	n, now := t.s.n, t.s.now()
	n.tcpEnter()
	if t.rtoAt != 0 && t.rtoAt <= now {
		t.rtoAt = 0
		t.timeout()
	}
	if t.ackAt != 0 && t.ackAt <= now {
		t.ackAt = 0
		t.sendAck()
	}
	if t.probeAt != 0 && t.probeAt <= now {
		t.probeAt = 0
		t.probe()
	}
	if t.keepAt != 0 && t.keepAt <= now {
		t.keepAt = 0
		t.keep()
	}
	n.tcpLeave()
	next := int64(0)
	for _, at := range [...]int64{t.rtoAt, t.ackAt, t.probeAt, t.keepAt} {
		if at != 0 && (next == 0 || at < next) {
			next = at
		}
	}
	if next != 0 {
		t.arm(next)
	}
}

// armRTO starts the retransmission timer anew.
func (t *TCP) armRTO() {
	now := t.s.now()
	rto := backoff(t.rto, t.retries)
	t.rtoAt = now + rto
	if t.UserTimeout > 0 && t.retries > 0 {
		t.rtoAt = max(now+1, min(t.rtoAt, t.since+int64(t.UserTimeout)))
	}
	t.arm(t.rtoAt)
}

// backoff doubles a timeout for each time it passed in vain.
func backoff(rto int64, times int) int64 {
	return min(rto<<min(times, 10), int64(rtoMax))
}

// timeout is the retransmission timer: nothing was confirmed in time.
func (t *TCP) timeout() {
	elapsed := t.s.now() - t.since
	expired := t.UserTimeout > 0 && elapsed >= int64(t.UserTimeout)
	switch {
	case t.state == synSent && t.route.path == nil && !t.route.local && elapsed >= int64(arpTime):
		t.done(syscall.EHOSTUNREACH)
		return
	case t.state == synSent:
		retries := synRetries
		if t.SynRetries != 0 {
			retries = t.SynRetries
		}
		expired = expired || t.retries >= retries
	case t.state == synRcvd && t.parent != nil:
		wanted := t.parent.DeferAccept
		expired = t.retries >= ackRetries && (!t.patient || t.retries >= wanted)
		if !expired && t.patient && t.retries < wanted-1 {
			t.retries++ // it has confirmed the SYN ACK: nothing to send yet
			t.armRTO()
			return
		}
	case t.state == synRcvd:
		expired = expired || t.retries >= ackRetries
	case t.UserTimeout > 0:
	case t.closed:
		expired = elapsed >= int64(orphanGiveUp)
	default:
		expired = elapsed >= int64(giveUp)
	}
	if expired {
		t.done(t.timedOut())
		return
	}
	t.s.c.RetransSegs++
	t.total++
	t.retries++
	if t.state == synSent || t.state == synRcvd {
		t.sendSyn()
		return
	}
	// All over again from the oldest byte, with slow start.
	if t.retries == 1 {
		t.ssthresh = max(int(t.max-t.una)/2, 2*t.mss)
	}
	t.cwnd = t.mss
	if len(t.sacked) > 0 && t.sacked[0].from <= t.una {
		t.sacked = t.sacked[:0] // the peer has thrown away what it had
	}
	t.nxt = t.una
	t.recover = t.max
	t.recovering, t.dupacks = false, 0
	t.push()
	if t.rtoAt == 0 {
		t.armRTO()
	}
}

// timedOut is the error of a connection that nothing gets through: what was the
// matter last, if that is known (Linux's tcp_write_err).
func (t *TCP) timedOut() syscall.Errno {
	if t.soft != 0 {
		return t.soft
	}
	return syscall.ETIMEDOUT
}

// probe asks whether the peer's window has opened, or sends what fits.
func (t *TCP) probe() {
	if t.pending() == 0 || t.max > t.una {
		return
	}
	elapsed := t.s.now() - t.probeSince
	limit := probeRetries
	if t.closed {
		limit = orphanProbes
	}
	if t.UserTimeout > 0 && t.probes > 0 && elapsed >= int64(t.UserTimeout) || t.UserTimeout == 0 && t.probes >= limit {
		t.done(t.timedOut())
		return
	}
	if t.wnd > 0 {
		t.forced = true
		t.push()
		t.forced = false
		return
	}
	t.probes++
	t.probeBackoff++
	t.emit(t.segment(flagACK, t.una-1, 0))
	t.armProbe()
}

func (t *TCP) armProbe() {
	now := t.s.now()
	if t.probes == 0 {
		t.probeSince = now
	}
	t.probeAt = now + backoff(t.rto, t.probeBackoff)
	if t.UserTimeout > 0 && t.probes > 0 {
		t.probeAt = max(now+1, min(t.probeAt, t.probeSince+int64(t.UserTimeout)))
	}
	t.arm(t.probeAt)
}

// rearmKeepAlive starts or stops the keep-alive timer.
func (t *TCP) rearmKeepAlive() {
	t.keepAt = 0
	switch t.state {
	case established, closeWait, finWait1, finWait2:
		if t.keepAlive {
			t.keepAt = t.s.now() + int64(t.keepIdle)
			t.arm(t.keepAt)
		}
	}
}

// keep is the keep-alive timer: was anything heard of the peer?
func (t *TCP) keep() {
	now := t.s.now()
	next := int64(t.keepIdle)
	if t.max > t.una || t.pending() > 0 {
		t.keepAt = now + next // other timers watch
		t.arm(t.keepAt)
		return
	}
	idle := now - t.heard
	if idle < int64(t.keepIdle) {
		next -= idle
	} else {
		expired := t.keepProbes >= t.keepCount
		if t.UserTimeout > 0 {
			expired = t.keepProbes > 0 && idle >= int64(t.UserTimeout)
		}
		if expired {
			t.abort()
			t.done(t.timedOut())
			return
		}
		t.keepProbes++
		next = int64(t.keepInterval)
		t.emit(t.segment(flagACK, t.una-1, 0))
	}
	t.keepAt = now + next
	t.arm(t.keepAt)
}

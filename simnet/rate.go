package simnet

import (
	"fmt"
	"math/bits"

	"github.com/dstkit/dst/sched"
)

// A Rate is how fast a sender puts bits on its wire. What cannot leave at once
// waits in a queue, in order; what finds the queue full is dropped.
type Rate struct {
	Bandwidth int64 // bits a second; 0 is unlimited
	Queue     int   // bytes; 0 is 1.5 MB (1000 full packets)
}

const defaultQueue = 1000 * defaultMTU

func (r Rate) check(call string) {
	switch {
	case r.Bandwidth < 0:
		panic(fmt.Sprintf("simnet: %s: Bandwidth is %d, must not be negative", call, r.Bandwidth))
	case r.Queue < 0:
		panic(fmt.Sprintf("simnet: %s: Queue is %d, must not be negative", call, r.Queue))
	}
}

// String returns a text such as "10 Mbit/s, queue of 64000 bytes".
func (r Rate) String() string {
	if r.Bandwidth == 0 {
		return "unlimited"
	}
	s := fmt.Sprintf("%d bit/s", r.Bandwidth)
	for _, u := range [...]struct {
		size int64
		name string
	}{{1e9, "Gbit/s"}, {1e6, "Mbit/s"}, {1e3, "kbit/s"}} {
		if r.Bandwidth%u.size == 0 {
			s = fmt.Sprintf("%d %s", r.Bandwidth/u.size, u.name)
			break
		}
	}
	if r.Queue != 0 {
		s += fmt.Sprintf(", queue of %d bytes", r.Queue)
	}
	return s
}

// A queue is a sender's: bytes in order of arrival, dropped at its tail.
type queue struct {
	rate  uint64 // bits a second; 0: nothing ever waits
	limit int    // bytes
	busy  int64  // until when there are bits to put on the wire
	high  int    // the most bytes that ever waited
	drops uint64 // packets
}

func (q *queue) set(r Rate) {
	q.rate, q.limit = uint64(r.Bandwidth), r.Queue
	if r.Queue == 0 {
		q.limit = defaultQueue
	}
}

// waiting is how many bytes are not on the wire yet.
func (q *queue) waiting(now int64) int {
	if q.rate == 0 || q.busy <= now {
		return 0
	}
	hi, lo := bits.Mul64(uint64(q.busy-now), q.rate)
	if hi >= 8e9 {
		return int(^uint(0) >> 1)
	}
	bytes, _ := bits.Div64(hi, lo, 8e9)
	return int(min(bytes, uint64(^uint(0)>>1)))
}

// enqueue takes a packet that comes at the time given, and tells when the last
// of it is on the wire, or that there is no room. One packet is always taken
// when the wire is idle.
func (q *queue) enqueue(at int64, bytes int) (leaves int64, ok bool) {
	if q.rate == 0 {
		return at, true
	}
	waiting := q.waiting(at)
	if q.busy > at && waiting > q.limit-bytes {
		q.drops++
		return 0, false
	}
	q.high = max(q.high, waiting+bytes)
	q.busy = max(at, q.busy) + int64((uint64(bytes)*8e9+q.rate-1)/q.rate)
	return q.busy, true
}

// SetUplink sets how fast a host sends, to all others together: a line of its
// own, before the links, which all of its packets share, TCP and UDP alike. The
// zero Rate removes it. What waits in its queue delays all that follows. A NAT's
// line is for what it sends outside, from all hosts behind it.
func (n *Network) SetUplink(host string, r Rate) {
	n.setRate("SetUplink", "uplink", host, r, func(s *Stack) *queue { return &s.uplink })
}

// SetDownlink sets how fast a host receives, from all others together: a line
// behind the links. What its queue holds has left the links.
func (n *Network) SetDownlink(host string, r Rate) {
	n.setRate("SetDownlink", "downlink", host, r, func(s *Stack) *queue { return &s.downlink })
}

func (n *Network) setRate(call, what, host string, r Rate, of func(*Stack) *queue) {
	r.check(call)
	sched.Enter()
	defer sched.Leave()
	s := n.host(call, host)
	of(s).set(r)
	n.refresh()
	n.fault(faultRate, s, nil)
	n.tell("%s of %s: %v", what, host, r)
}

// refresh tells all paths that something besides their link has changed.
func (n *Network) refresh() {
	for _, p := range n.paths {
		p.refresh()
	}
}

package simnet

import "github.com/dstkit/dst/sched"

// Counters tell what became of the packets on the way from one host to another
// (ICMP packets among them). At any time
//
//	Sent + Duplicated = Delivered + Lost + BurstLost + Corrupted + QueueDrops + RuleDrops +
//	    Cut + Unreachable + InFlight + Held
type Counters struct {
	Sent        uint64 // handed to the link
	Bytes       uint64 // payload of these
	Duplicated  uint64 // copies that the link made
	Delivered   uint64 // reached the other host
	Reordered   uint64 // of these, came after one that was sent later
	Mangled     uint64 // of those sent, travelled on with a bit flipped
	Lost        uint64 // lost on the link
	BurstLost   uint64 // lost on the link in bursts
	Corrupted   uint64 // dropped by the checksum
	QueueDrops  uint64 // the queue of the link, or of a host's line, was full
	RuleDrops   uint64 // dropped or rejected by a rule
	Cut         uint64 // the way was cut, partitioned, or down by Flap
	Unreachable uint64 // the receiver's interface was down or its machine off
	InFlight    uint64 // on their way now
	Held        uint64 // held now
	Queued      uint64 // bytes in the link's queue now; of these packets are some of InFlight
	QueueHigh   uint64 // the most bytes that were; of a sum, the highest of all
}

func (c *Counters) add(d Counters) {
	c.Sent += d.Sent
	c.Bytes += d.Bytes
	c.Duplicated += d.Duplicated
	c.Delivered += d.Delivered
	c.Reordered += d.Reordered
	c.Mangled += d.Mangled
	c.Lost += d.Lost
	c.BurstLost += d.BurstLost
	c.Corrupted += d.Corrupted
	c.QueueDrops += d.QueueDrops
	c.RuleDrops += d.RuleDrops
	c.Cut += d.Cut
	c.Unreachable += d.Unreachable
	c.InFlight += d.InFlight
	c.Held += d.Held
	c.Queued += d.Queued
	c.QueueHigh = max(c.QueueHigh, d.QueueHigh)
}

// HostCounters tell what happened within one host, as /proc/net/snmp does.
type HostCounters struct {
	Local        uint64 // datagrams that never left the host
	InDatagrams  uint64 // put into a socket's receive buffer, each copy
	NoPorts      uint64 // arrived, and no socket wanted them
	RcvbufErrors uint64 // arrived, and the socket's receive buffer was full
	NoNeighbour  uint64 // sent to an address of the segment that no host has
	OutICMP      uint64 // port unreachable messages sent

	ActiveOpens  uint64 // TCP connections that Connect began
	PassiveOpens uint64 // and that a listening socket answered
	RetransSegs  uint64 // segments sent again
	OutRsts      uint64 // RST sent
	ListenDrops  uint64 // SYN and ACK dropped since too many connections wait to be accepted

	Uplink, Downlink LineCounters // of its lines; see SetUplink
}

// LineCounters tell of the line of a host. The packets that it dropped are among
// the QueueDrops of the links as well.
type LineCounters struct {
	Queued    uint64 // bytes in its queue now
	QueueHigh uint64 // the most that there were
	Drops     uint64 // packets that found it full
}

func (q *queue) counters(now int64) LineCounters {
	return LineCounters{Queued: uint64(q.waiting(now)), QueueHigh: uint64(q.high), Drops: q.drops}
}

func (p *path) counters() Counters {
	c := p.c
	c.InFlight = uint64(p.inflight)
	q := p.queue.counters(p.n.w.Now())
	c.Queued, c.QueueHigh = q.Queued, q.QueueHigh
	return c
}

// Counters returns what became of the packets from one host to another.
func (n *Network) Counters(from, to string) Counters {
	sched.Enter()
	defer sched.Leave()
	f, t := n.pair("Counters", from, to)
	if p := f.pathTo(t); p != nil {
		return p.counters()
	}
	return Counters{} // not used yet; looking changes nothing
}

// Total returns the sum of the counters of all pairs of hosts.
func (n *Network) Total() Counters {
	sched.Enter()
	defer sched.Leave()
	var c Counters
	for _, p := range n.paths {
		c.add(p.counters())
	}
	return c
}

// HostCounters returns what happened within a host.
func (n *Network) HostCounters(host string) HostCounters {
	sched.Enter()
	defer sched.Leave()
	s := n.host("HostCounters", host)
	c, now := s.c, n.w.Now()
	c.Uplink, c.Downlink = s.uplink.counters(now), s.downlink.counters(now)
	return c
}

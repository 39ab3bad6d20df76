package simnet

import "github.com/dstkit/dst/sched"

// Counters tell what became of the packets on the way from one host to another
// (ICMP packets among them). At any time
//
//	Sent + Duplicated = Delivered + Lost + Corrupted + QueueDrops + Cut + Unreachable + InFlight + Held
type Counters struct {
	Sent        uint64 // handed to the link
	Bytes       uint64 // payload of these
	Duplicated  uint64 // copies that the link made
	Delivered   uint64 // reached the other host
	Reordered   uint64 // of these, came after one that was sent later
	Mangled     uint64 // of those sent, travelled on with a bit flipped
	Lost        uint64 // lost on the link
	Corrupted   uint64 // dropped by the checksum
	QueueDrops  uint64 // the link's queue was full
	Cut         uint64 // the way was cut
	Unreachable uint64 // the receiver's interface was down or its machine off
	InFlight    uint64 // on their way now
	Held        uint64 // held now
}

func (c *Counters) add(d Counters) {
	c.Sent += d.Sent
	c.Bytes += d.Bytes
	c.Duplicated += d.Duplicated
	c.Delivered += d.Delivered
	c.Reordered += d.Reordered
	c.Mangled += d.Mangled
	c.Lost += d.Lost
	c.Corrupted += d.Corrupted
	c.QueueDrops += d.QueueDrops
	c.Cut += d.Cut
	c.Unreachable += d.Unreachable
	c.InFlight += d.InFlight
	c.Held += d.Held
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
}

func (p *path) counters() Counters {
	c := p.c
	c.InFlight = uint64(p.inflight)
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
	return n.host("HostCounters", host).c
}

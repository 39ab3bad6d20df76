package simnet

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/dstkit/dst/sched"
)

// A Link says how packets fare on the way from one host to another. The zero
// Link is perfect and instant. What is off draws nothing. Traffic within one
// host never meets a link.
type Link struct {
	// Latency is drawn for each packet; nil is none. Where it varies, packets
	// overtake each other, unless InOrder: then a packet arrives no earlier than
	// what was sent before it, as behind a queue. Reorder goes on top of that.
	Latency Dist
	InOrder bool

	// Loss is the chance that a packet is lost: each fragment's, of a datagram
	// larger than the MTU, which needs all of them. Burst is loss that comes in
	// runs; Loss applies to what that lets through.
	Loss  float64
	Burst Burst

	// Duplicate is the chance that a packet arrives twice, each copy with a
	// latency of its own.
	Duplicate float64

	// Reorder is the chance that a packet is held back by ReorderDelay beyond
	// its latency, so that later ones overtake it; nil is up to 10 ms.
	Reorder      float64
	ReorderDelay Dist

	// Corrupt is the chance that a packet is damaged. The checksum finds that,
	// and the receiver drops it, unless DeliverCorrupt: then one bit of the
	// payload is flipped and the checksum overlooks it.
	Corrupt        float64
	DeliverCorrupt bool

	// Bandwidth in bits a second; 0 is unlimited. What cannot leave at once
	// waits in a queue of Queue bytes; 0 is 1.5 MB (1000 full packets). A packet
	// that finds the queue full is dropped.
	Bandwidth int64
	Queue     int

	// MTU in bytes, 0 is 1500. A larger datagram is sent in fragments, or
	// refused with EMSGSIZE if the socket asks for that.
	MTU int
}

// A Burst is the model of E. N. Gilbert and E. O. Elliott: the link is good or
// bad, and changes from one to the other by chance at each packet. The zero
// Burst is off. A share of Begin / (Begin + End) of all packets meets a bad
// link, in runs of 1 / End on average.
type Burst struct {
	Begin float64 // the chance that a good link turns bad at a packet
	End   float64 // the chance that a bad one turns good; above 0 if Begin is
	Loss  float64 // the chance of loss on a bad link; 0 means 1: all
}

func (b Burst) String() string {
	if b.Loss == 0 {
		return fmt.Sprintf("{Begin: %v, End: %v}", b.Begin, b.End)
	}
	return fmt.Sprintf("{Begin: %v, End: %v, Loss: %v}", b.Begin, b.End, b.Loss)
}

// String shows what differs from the perfect link: "Link{Loss: 0.05}".
func (l Link) String() string {
	var b strings.Builder
	b.WriteString("Link{")
	field := func(name string, value any, zero bool) {
		if zero {
			return
		}
		if b.Len() > len("Link{") {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%s: %v", name, value)
	}
	field("Latency", l.Latency, l.Latency == nil)
	field("InOrder", l.InOrder, !l.InOrder)
	field("Loss", l.Loss, l.Loss == 0)
	field("Burst", l.Burst, l.Burst == Burst{})
	field("Duplicate", l.Duplicate, l.Duplicate == 0)
	field("Reorder", l.Reorder, l.Reorder == 0)
	field("ReorderDelay", l.ReorderDelay, l.ReorderDelay == nil)
	field("Corrupt", l.Corrupt, l.Corrupt == 0)
	field("DeliverCorrupt", l.DeliverCorrupt, !l.DeliverCorrupt)
	field("Bandwidth", l.Bandwidth, l.Bandwidth == 0)
	field("Queue", l.Queue, l.Queue == 0)
	field("MTU", l.MTU, l.MTU == 0)
	b.WriteByte('}')
	return b.String()
}

const minMTU = 68 // RFC 791; sending IPv6 needs 1280, which is not enforced

var defaultReorderDelay = Uniform(0, 10*time.Millisecond)

// check panics if the link makes no sense.
func (l Link) check(call string) {
	for _, f := range []struct {
		name string
		p    float64
	}{
		{"Loss", l.Loss}, {"Burst.Begin", l.Burst.Begin}, {"Burst.End", l.Burst.End}, {"Burst.Loss", l.Burst.Loss},
		{"Duplicate", l.Duplicate}, {"Reorder", l.Reorder}, {"Corrupt", l.Corrupt},
	} {
		if !(f.p >= 0 && f.p <= 1) {
			panic(fmt.Sprintf("simnet: %s: %s is %v, must be between 0 and 1", call, f.name, f.p))
		}
	}
	Rate{l.Bandwidth, l.Queue}.check(call)
	switch {
	case l.Burst.Begin > 0 && l.Burst.End == 0:
		panic(fmt.Sprintf("simnet: %s: Burst.Begin is %v and Burst.End is 0: the first burst would never end", call, l.Burst.Begin))
	case l.MTU != 0 && l.MTU < minMTU:
		panic(fmt.Sprintf("simnet: %s: MTU is %d, must be 0 or at least %d", call, l.MTU, minMTU))
	}
}

func (l *Link) mtu() int {
	if l.MTU == 0 {
		return defaultMTU
	}
	return l.MTU
}

// perfect tells whether the link does nothing to a packet.
func (l *Link) perfect() bool {
	return l.Latency == nil && l.Loss == 0 && l.Burst.Begin == 0 && l.Duplicate == 0 && l.Reorder == 0 && l.Corrupt == 0 && l.Bandwidth == 0
}

// A path is the way from one host to another: its link, its faults, and what
// is on it.
type path struct {
	n        *Network
	from, to *Stack
	link     Link
	own      bool // the link was set for this path; SetDefault leaves it alone

	cut         bool // by Cut
	partitioned bool // by Partition
	flapped     bool // down just now, by Flap
	hold        bool // by Hold
	clear       bool // none of these
	instant     bool // the link is perfect
	plain       bool // and neither a rule nor the hosts' own lines stand in the way

	inflight int    // packets that have an event
	lastDue  int64  // when the last of them is due
	inOrder  int64  // when the last that keeps its place is due
	queue    queue  // of the link's sender
	uplink   *queue // of its host, before the link …
	downlink *queue // … and of the receiving host, behind it; nil if there is none
	bad      bool   // in a burst of losses
	order    uint64
	newest   uint64 // highest order delivered

	heldFirst, heldLast *Datagram // in order of arrival

	c Counters
}

// refresh works out what the fast path asks.
func (p *path) refresh() {
	p.clear = !p.severed() && !p.hold
	p.instant = p.link.perfect()
	p.uplink, p.downlink = nil, nil
	if q := &p.from.uplink; q.rate > 0 && p.to.behind != p.from { // a NAT's lines lead outside
		p.uplink = q
	}
	if q := &p.to.downlink; q.rate > 0 && p.from.behind != p.to {
		p.downlink = q
	}
	p.plain = p.instant && len(p.n.rules) == 0 && p.uplink == nil && p.downlink == nil
	p.queue.set(Rate{p.link.Bandwidth, p.link.Queue})
	p.bad = p.bad && p.link.Burst.Begin > 0
}

// severed tells whether nothing comes through.
func (p *path) severed() bool { return p.cut || p.partitioned || p.flapped }

// transmit sends a packet on its way, and gives it away. The order of draws is
// part of what a seed means: rules, burst, loss, corruption, duplication, then
// for each copy latency and reordering.
func (p *path) transmit(d *Datagram) {
	p.c.Sent++
	p.c.Bytes += uint64(len(d.Payload))
	d.path = p
	p.order++
	d.order = p.order
	n := p.n
	n.note(Sent, p.from, p.to, d)
	if !p.clear && p.severed() || d.severed {
		p.drop(&p.c.Cut, CutOff, d)
		return
	}
	if p.plain {
		p.schedule(d, 0, false)
		return
	}
	var v sentence
	if len(n.rules) > 0 && !d.answer {
		if v = n.judge(p, d); v.gone {
			return
		}
	}
	l := &p.link
	fragments, bytes := d.fragments(l.mtu())
	now := n.w.Now()
	leaves, ok := now, true
	if p.uplink != nil {
		leaves, ok = p.uplink.enqueue(now, bytes)
	}
	if ok {
		leaves, ok = p.queue.enqueue(leaves, bytes)
	}
	if !ok {
		p.drop(&p.c.QueueDrops, QueueDropped, d)
		return
	}
	wait := time.Duration(leaves-now) + v.delay
	if l.Burst.Begin > 0 && p.burst(fragments) {
		p.drop(&p.c.BurstLost, BurstLost, d)
		return
	}
	if n.net.Chance(anyOf(l.Loss, fragments)) {
		p.drop(&p.c.Lost, Lost, d)
		return
	}
	if v.corrupt || n.net.Chance(anyOf(l.Corrupt, fragments)) {
		if !l.DeliverCorrupt || len(d.Payload) == 0 {
			p.drop(&p.c.Corrupted, Corrupted, d)
			return
		}
		bit := n.net.N(len(d.Payload) * 8)
		d.Payload[bit/8] ^= 1 << (bit % 8)
		p.c.Mangled++
		n.note(Mangled, p.from, p.to, d)
	}
	var second *Datagram
	if v.duplicate || n.net.Chance(l.Duplicate) {
		second = n.clone(d)
		second.path = p
		second.order = d.order
		p.c.Duplicated++
		n.note(Duplicated, p.from, p.to, d)
	}
	p.travel(d, wait)
	if second != nil {
		p.travel(second, wait)
	}
}

// burst lets the link turn bad or good at a packet, and tells whether the packet
// is lost by that.
func (p *path) burst(fragments int) bool {
	b, net := &p.link.Burst, p.n.net
	if p.bad {
		p.bad = !net.Chance(b.End)
	} else {
		p.bad = net.Chance(b.Begin)
	}
	if !p.bad {
		return false
	}
	return b.Loss == 0 || net.Chance(anyOf(b.Loss, fragments))
}

// anyOf is the chance that something of chance p happens to one of count.
func anyOf(p float64, count int) float64 {
	if count == 1 || p == 0 || p == 1 {
		return p
	}
	return -math.Expm1(float64(count) * math.Log1p(-p))
}

// travel draws how long a packet travels, after it has waited.
func (p *path) travel(packet *Datagram, wait time.Duration) {
	l := &p.link
	var d time.Duration
	if l.Latency != nil {
		d = max(0, l.Latency.Draw(p.n.net))
	}
	late := p.n.net.Chance(l.Reorder)
	if late {
		delay := l.ReorderDelay
		if delay == nil {
			delay = defaultReorderDelay
		}
		d += max(0, delay.Draw(p.n.net))
	}
	p.schedule(packet, wait+d, !late && l.InOrder)
}

// schedule lets a packet arrive after a delay, no earlier than those before it if
// it keeps its place.
func (p *path) schedule(d *Datagram, delay time.Duration, inOrder bool) {
	now := p.n.w.Now()
	due := now + int64(delay)
	if inOrder {
		due = max(due, p.inOrder)
		p.inOrder = due
	}
	if p.instant && p.inflight > 0 {
		due = max(due, p.lastDue) // an instant link keeps the order of what was sent before it was one
	} else if due <= now {
		p.arrive(d)
		return
	}
	p.inflight++
	if p.inflight == 1 || due > p.lastDue {
		p.lastDue = due
	}
	p.n.w.Schedule(&d.event, due, (*arrival)(d))
}

// arrive ends a packet's way.
func (p *path) arrive(d *Datagram) {
	if !p.clear {
		if p.severed() {
			p.drop(&p.c.Cut, CutOff, d)
			return
		}
		p.n.note(HeldBack, p.from, p.to, d)
		p.c.Held++
		if p.heldLast == nil {
			p.heldFirst = d
		} else {
			p.heldLast.next = d
		}
		p.heldLast = d
		return
	}
	if !p.to.up || !p.to.on {
		p.drop(&p.c.Unreachable, Unreachable, d)
		return
	}
	if p.downlink != nil && !d.received {
		_, bytes := d.fragments(p.link.mtu())
		due, ok := p.downlink.enqueue(p.n.w.Now(), bytes)
		if !ok {
			p.drop(&p.c.QueueDrops, QueueDropped, d)
			return
		}
		d.received = true
		p.inflight++
		p.n.w.Schedule(&d.event, due, (*arrival)(d))
		return
	}
	p.c.Delivered++
	if d.order < p.newest {
		p.c.Reordered++
	} else {
		p.newest = d.order
	}
	p.n.note(Delivered, p.from, p.to, d)
	d.path = nil
	if p.to.gateway != nil {
		p.to.gateway.forward(d, p.from)
		return
	}
	p.to.input(d)
}

// release lets go of what was held.
func (p *path) release() {
	d := p.heldFirst
	p.heldFirst, p.heldLast = nil, nil
	p.c.Held = 0
	for d != nil {
		next := d.next
		d.next = nil
		p.arrive(d)
		d = next
	}
}

// drop ends a packet's life, and counts why.
func (p *path) drop(counter *uint64, why Verb, d *Datagram) {
	*counter++
	p.n.note(why, p.from, p.to, d)
	p.n.put(d)
}

// fault adds a fault to the trace. The numbers of its kinds are part of the
// fingerprint: add at the end.
func (n *Network) fault(kind faultKind, from, to *Stack) {
	var what uint64
	if to != nil {
		what = uint64(to.ID())
	}
	var host uint32
	if from != nil {
		host = from.ID()
	}
	n.w.Note(sched.KindFault, host, uint64(kind)<<56|what)
}

type faultKind uint8

const (
	faultPartition faultKind = iota + 1
	faultCut
	faultMend
	faultHold
	faultRelease
	faultHeal
	faultDown
	faultUp
	faultLink
	faultDNSRecords
	faultDNSFail
	faultDNSRecover
	faultDNSStop
	faultDNSStart
	faultRate
	faultRule
	faultNoRule
	faultNAT
	faultRebind
	faultForward
	faultFlap
	faultSteady
	faultFlapDown
	faultFlapUp
)

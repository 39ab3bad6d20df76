package simnet

import (
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/dstkit/dst/sched"
)

// A Packet is what a rule sees of a packet that begins its way on a link. It is
// valid during the call; nothing of it may be changed or kept.
type Packet struct {
	Time     int64          // virtual nanoseconds
	From, To string         // the hosts, or NATs, at the two ends of the link
	Proto    string         // "udp", "tcp" or "icmp"
	Src, Dst netip.AddrPort // addresses in the packet; of ICMP, of the packet that it answers
	Payload  []byte         // of UDP and TCP; of ICMP, the beginning of that of the packet it answers
	TTL, TOS uint8

	// Of TCP. The numbers are those on the wire (see [Capture]).
	SYN, ACK, FIN, RST bool
	Seq, AckSeq        uint32

	Count uint64 // how often the rule has decided so far
}

// A Verdict is what a rule does to a packet. The zero Verdict is [Pass].
type Verdict struct {
	what  verdict
	delay time.Duration
	why   unreachable
}

type verdict uint8

const (
	pass verdict = iota
	accept
	drop
	delay
	duplicate
	corrupt
	reject
)

// Verdicts. Of a packet that several rules delay, duplicate or corrupt, all of
// them take effect; the first that accepts, drops or rejects it is the last to
// be asked.
var (
	Pass      = Verdict{}                // no opinion
	Accept    = Verdict{what: accept}    // pass, and do not ask the rules that follow
	Drop      = Verdict{what: drop}      // lost, without a word
	Duplicate = Verdict{what: duplicate} // arrives twice, each copy with a latency of its own
	Corrupt   = Verdict{what: corrupt}   // damaged; see Link.Corrupt and Link.DeliverCorrupt

	// Reject drops the packet and answers it: a TCP segment with RST, a datagram
	// with ICMP port unreachable; RST and ICMP errors are just dropped. The answer
	// takes the way back, as the other host's would, and no rule sees it.
	Reject           = Verdict{what: reject}
	RejectPort       = Verdict{what: reject, why: 1 + portUnreachable} // with ICMP port unreachable, also TCP
	RejectHost       = Verdict{what: reject, why: 1 + hostUnreachable} // with ICMP host unreachable
	RejectProhibited = Verdict{what: reject, why: 1 + prohibited}      // with ICMP communication administratively prohibited
)

// Delay holds a packet back for so long, beyond the link's latency: what follows
// overtakes it, unless Link.InOrder.
func Delay(d time.Duration) Verdict { return Verdict{what: delay, delay: max(0, d)} }

// RuleCounters tell what a rule did.
type RuleCounters struct {
	Seen uint64 // packets that it was asked about and, of a rule given as text, that it is about
	Hits uint64 // of these, those that it decided on: it did not pass them
}

// An activeRule is a rule with what it has counted.
type activeRule struct {
	name string
	fn   func(*Packet) Verdict // or:
	text *Rule
	from *Stack // the hosts that text names, or nil
	to   *Stack
	c    RuleCounters
	flow map[flowKey]uint64 // packets seen, of each flow, if text asks for that
}

type flowKey struct {
	proto    proto
	src, dst netip.AddrPort
}

// Rule adds a rule in its textual form, such as "drop first syn to port 80": see
// [ParseRule] for the grammar. It comes after those that are there. It panics if
// the text is wrong, if it names a host that does not exist or two without a link
// between them, or if there is a rule of that name. [Network.RemoveRule] removes it, and so does Heal.
func (n *Network) Rule(name, text string) {
	r, err := ParseRule(text)
	if err != nil {
		panic(fmt.Sprintf("simnet: Rule %q: %v", name, err))
	}
	sched.Enter()
	defer sched.Leave()
	a := &activeRule{name: name, text: r}
	if r.from.host != "" {
		a.from = n.host("Rule", r.from.host)
	}
	if r.to.host != "" {
		a.to = n.host("Rule", r.to.host)
	}
	if a.from != nil && a.to != nil && a.from != a.to {
		n.linked("Rule", a.from, a.to)
	}
	if r.flow {
		a.flow = map[flowKey]uint64{}
	}
	n.addRule("Rule", a)
	n.tell("rule %q: %s", name, r.String())
}

// RuleFunc adds a rule that is a function: it is asked about each packet that
// begins its way on a link, unless a rule before it has decided. It runs in
// kernel context: it must not wait, call the network, or use anything that is
// not the same in each run of the seed.
func (n *Network) RuleFunc(name string, decide func(*Packet) Verdict) {
	if decide == nil {
		panic(fmt.Sprintf("simnet: RuleFunc %q: needs a function", name))
	}
	sched.Enter()
	defer sched.Leave()
	n.addRule("RuleFunc", &activeRule{name: name, fn: decide})
	n.tell("rule %q: a function", name)
}

func (n *Network) addRule(call string, a *activeRule) {
	switch {
	case a.name == "":
		panic(fmt.Sprintf("simnet: %s: a rule needs a name", call))
	case n.rule(a.name) != nil:
		panic(fmt.Sprintf("simnet: %s: there is a rule %q already; remove it first", call, a.name))
	}
	n.rules = append(n.rules, a)
	n.refresh()
	n.fault(faultRule, a.from, a.to)
}

// RemoveRule removes a rule. Packets under way keep their fate.
func (n *Network) RemoveRule(name string) {
	sched.Enter()
	defer sched.Leave()
	a := n.mustRule("RemoveRule", name)
	var rest []*activeRule
	for _, o := range n.rules {
		if o != a {
			rest = append(rest, o)
		}
	}
	n.rules = rest // a new slice: one may be at work on the old
	n.refresh()
	n.fault(faultNoRule, a.from, a.to)
	n.tell("rule %q removed after %d hits", name, a.c.Hits)
}

// Rules returns the names of the rules, in the order in which they are asked.
func (n *Network) Rules() []string {
	sched.Enter()
	defer sched.Leave()
	return n.ruleNames()
}

func (n *Network) ruleNames() []string {
	names := make([]string, len(n.rules))
	for i, a := range n.rules {
		names[i] = a.name
	}
	return names
}

// RuleCounters returns what a rule did so far.
func (n *Network) RuleCounters(name string) RuleCounters {
	sched.Enter()
	defer sched.Leave()
	return n.mustRule("RuleCounters", name).c
}

func (n *Network) rule(name string) *activeRule {
	for _, a := range n.rules {
		if a.name == name {
			return a
		}
	}
	return nil
}

func (n *Network) mustRule(call, name string) *activeRule {
	a := n.rule(name)
	if a == nil {
		known := "there are none"
		if len(n.rules) > 0 {
			known = "known rules: " + strings.Join(n.ruleNames(), ", ")
		}
		panic(fmt.Sprintf("simnet: %s: no rule %q; %s", call, name, known))
	}
	return a
}

// A sentence is what all rules together do to a packet.
type sentence struct {
	gone               bool // dropped or rejected
	delay              time.Duration
	duplicate, corrupt bool
}

// judge asks the rules about a packet.
func (n *Network) judge(p *path, d *Datagram) (s sentence) {
	var view *Packet
	for _, a := range n.rules {
		var v Verdict
		if a.fn == nil {
			v = a.apply(n.net, p, d)
		} else {
			if view == nil {
				view = n.view(p.from, p.to, d)
			}
			view.Count = a.c.Hits
			a.c.Seen++
			v = a.fn(view)
		}
		if v.what == pass {
			continue
		}
		if a.c.Hits++; a.c.Hits == 1 && n.Told != nil {
			n.tell("rule %q meets its first packet: %s > %s, %v %v > %v", a.name, p.from.name, p.to.name, d.proto, d.src, d.dst)
		}
		n.ruling = a.name
		switch v.what {
		case delay:
			s.delay += v.delay
			n.note(RuleDelayed, p.from, p.to, d)
		case duplicate:
			s.duplicate = true
			n.note(RuleDuplicated, p.from, p.to, d)
		case corrupt:
			s.corrupt = true
			n.note(RuleCorrupted, p.from, p.to, d)
		case drop:
			p.drop(&p.c.RuleDrops, RuleDropped, d)
			s.gone = true
		case reject:
			answer := n.rejection(d, v)
			p.drop(&p.c.RuleDrops, Rejected, d)
			n.ruling = ""
			if answer != nil {
				answer.answer = true
				n.path(p.to, p.from).transmit(answer)
			}
			s.gone = true
		}
		n.ruling = ""
		if s.gone || v.what == accept {
			break
		}
	}
	return s
}

// rejection makes the answer to a packet that is rejected, if it may have one.
func (n *Network) rejection(d *Datagram, v Verdict) *Datagram {
	switch {
	case d.proto == protoICMP, d.cast != unicast, d.proto == protoTCP && d.seg.flags&flagRST != 0:
		return nil // RFC 1122, 3.2.2: nobody answers these
	case d.proto == protoTCP && v.why == 0:
		return n.rst(d)
	case v.why == 0:
		return n.unreachable(d, portUnreachable)
	}
	return n.unreachable(d, v.why-1)
}

// view is what a rule given as a function sees.
func (n *Network) view(from, to *Stack, d *Datagram) *Packet {
	v := &Packet{
		Time: n.w.Now(), Proto: d.proto.String(), Src: d.src, Dst: d.dst,
		Payload: d.Payload[:len(d.Payload):len(d.Payload)], TTL: d.TTL, TOS: d.TOS,
	}
	if from != nil {
		v.From = from.name
	}
	if to != nil {
		v.To = to.name
	}
	if d.proto == protoTCP {
		g := &d.seg
		v.SYN, v.ACK, v.FIN, v.RST = g.flags&flagSYN != 0, g.flags&flagACK != 0, g.flags&flagFIN != 0, g.flags&flagRST != 0
		v.Seq = uint32(g.seq)
		if v.ACK {
			v.AckSeq = uint32(g.ack)
		}
	}
	return v
}

// apply tells what a rule given as text does to a packet.
func (a *activeRule) apply(net *sched.Stream, p *path, d *Datagram) Verdict {
	r := a.text
	if a.from != nil && a.from != p.from || a.to != nil && a.to != p.to || !r.about(d) {
		return Pass
	}
	a.c.Seen++
	nth := a.c.Seen
	if a.flow != nil {
		k := flowKey{d.proto, d.src, d.dst}
		a.flow[k]++
		nth = a.flow[k]
	}
	if !r.picks(nth) || !net.Chance(r.percent/100) {
		return Pass
	}
	v := r.verdict
	if r.upTo > v.delay {
		v.delay = Uniform(v.delay, r.upTo).Draw(net)
	}
	return v
}

package simnet

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dstkit/dst/sched"
)

// host returns the named host's stack for a call of a test, which is told if
// there is none.
func (n *Network) host(call, name string) *Stack {
	if name == NameServer {
		return n.nameServer().server.stack
	}
	s := n.byName[name]
	if s == nil {
		panic(fmt.Sprintf("simnet: %s: no host %q; known hosts: %s", call, name, strings.Join(n.names(), ", ")))
	}
	return s
}

func (n *Network) pair(call, from, to string) (*Stack, *Stack) {
	f, t := n.host(call, from), n.host(call, to)
	if f == t {
		panic(fmt.Sprintf("simnet: %s: %q to itself: traffic within a host meets no link", call, from))
	}
	return f, t
}

// linked panics if packets between two hosts do not take a link between them.
func (n *Network) linked(call string, a, b *Stack) {
	if n.direct(a, b) || n.direct(b, a) {
		return
	}
	if a.behind == nil {
		a, b = b, a
	}
	panic(fmt.Sprintf("simnet: %s: there is no link between %q and %q: %q is behind the NAT %q, and its links lead there", call, a.name, b.name, a.name, a.behind.name))
}

// SetDefault sets the link of every pair of hosts that has none of its own,
// of hosts yet to come too. Packets under way keep their fate.
func (n *Network) SetDefault(l Link) {
	l.check("SetDefault")
	sched.Enter()
	defer sched.Leave()
	n.def = l
	for _, p := range n.paths {
		if !p.own {
			p.link = l
			p.refresh()
		}
	}
	n.fault(faultLink, nil, nil)
	n.tell("default link %v", l)
}

// SetLink sets the link between two hosts, in both directions.
func (n *Network) SetLink(a, b string, l Link) {
	l.check("SetLink")
	sched.Enter()
	defer sched.Leave()
	x, y := n.pair("SetLink", a, b)
	n.linked("SetLink", x, y)
	n.setLink(x, y, l)
	n.setLink(y, x, l)
	n.tell("link %s = %s %v", a, b, l)
}

// SetLinkOneWay sets the link from one host to another.
func (n *Network) SetLinkOneWay(from, to string, l Link) {
	l.check("SetLinkOneWay")
	sched.Enter()
	defer sched.Leave()
	f, t := n.pair("SetLinkOneWay", from, to)
	n.linked("SetLinkOneWay", f, t)
	n.setLink(f, t, l)
	n.tell("link %s > %s %v", from, to, l)
}

func (n *Network) setLink(from, to *Stack, l Link) {
	p := n.path(from, to)
	p.own = true
	p.link = l
	p.refresh()
	n.fault(faultLink, from, to)
}

// Partition cuts the network into sides: hosts of different sides do not
// reach each other. Hosts that are not named keep reaching everyone. One side
// alone is cut from all hosts that are not on it. Partitions add up until
// Heal. The name server is one of the hosts, by its name [NameServer]. A packet
// is lost if its way is partitioned when it is sent or when it is due to arrive.
func (n *Network) Partition(sides ...[]string) {
	sched.Enter()
	defer sched.Leave()
	members := n.stacks
	sideOf := make([]int, len(n.stacks)+1) // 0: not named; the last is the name server's
	side := func(s *Stack) *int { return &sideOf[min(s.index, len(n.stacks))] }
	for i, names := range sides {
		for _, name := range names {
			s := n.host("Partition", name)
			if at := *side(s); at != 0 && at != i+1 {
				panic(fmt.Sprintf("simnet: Partition: host %q is on two sides", name))
			}
			*side(s) = i + 1
			if s.index == serverIndex && len(members) == len(n.stacks) {
				members = append(slices.Clone(n.stacks), s)
			}
		}
	}
	alone := len(sides) == 1
	n.tell("partition %s", fmt.Sprint(sides))
	for _, a := range n.stacks {
		if alone && *side(a) != 0 && len(members) == len(n.stacks) {
			n.leaveServer(a)
		}
	}
	for _, a := range members {
		for _, b := range members {
			x, y := *side(a), *side(b)
			if x == y || !alone && (x == 0 || y == 0) {
				continue
			}
			p := n.path(a, b)
			p.partitioned = true
			p.refresh()
			n.fault(faultPartition, a, b)
		}
	}
}

// leaveServer cuts a host from the name server, which need not be there yet.
func (n *Network) leaveServer(s *Stack) {
	s.alone = true
	if n.dns == nil {
		return
	}
	server := n.dns.server.stack
	for _, p := range [...]*path{s.toServer, server.pathTo(s)} {
		if p != nil {
			p.partitioned = true
			p.refresh()
		}
	}
}

// Cut cuts the way from one host to another; the way back stays. A packet is
// lost if its way is cut when it is sent or when it is due to arrive.
func (n *Network) Cut(from, to string) {
	sched.Enter()
	defer sched.Leave()
	n.setFault("Cut", faultCut, from, to, func(p *path) { p.cut = true })
}

// Mend undoes Cut and Partition for the way from one host to another.
func (n *Network) Mend(from, to string) {
	sched.Enter()
	defer sched.Leave()
	n.setFault("Mend", faultMend, from, to, func(p *path) { p.cut, p.partitioned = false, false })
}

// Hold keeps the packets that arrive at the end of the way from one host to
// another, until Release or Heal.
func (n *Network) Hold(from, to string) {
	sched.Enter()
	defer sched.Leave()
	n.setFault("Hold", faultHold, from, to, func(p *path) { p.hold = true })
}

// Release ends Hold: what was held arrives now, in the order in which it
// would have.
func (n *Network) Release(from, to string) {
	sched.Enter()
	defer sched.Leave()
	n.setFault("Release", faultRelease, from, to, func(p *path) { p.hold = false }).release()
}

func (n *Network) setFault(call string, kind faultKind, from, to string, set func(*path)) *path {
	f, t := n.pair(call, from, to)
	if kind == faultHold || kind == faultRelease {
		n.linked(call, f, t)
	}
	p := n.path(f, t)
	set(p)
	p.refresh()
	n.fault(kind, p.from, p.to)
	n.tell("%s %s > %s", strings.ToLower(call), from, to)
	return p
}

// Heal ends every fault that was asked for: partitions and cuts are mended,
// what is held is released (in order of arrival on each way, one way after the
// other), interfaces that are down come up, flapping ends, rules are removed, and
// the name server recovers. Links, lines and records keep their settings, and NATs
// their mappings.
func (n *Network) Heal() {
	sched.Enter()
	defer sched.Leave()
	n.fault(faultHeal, nil, nil)
	n.tell("heal")
	for len(n.flaps) > 0 {
		n.flaps[0].end()
	}
	n.rules = nil
	for _, s := range n.stacks {
		s.down, s.alone = false, false
		s.refresh()
	}
	if n.dns != nil {
		n.dns.heal()
	}
	for _, p := range n.paths {
		p.cut, p.partitioned, p.hold = false, false, false
		p.refresh()
	}
	for _, p := range n.paths {
		p.release()
	}
}

// Down takes a host's interface eth0 down: what it sends to others fails with
// ENETUNREACH, and what arrives for it is lost. Traffic within the host goes
// on, and so do packets that it sent before.
func (n *Network) Down(host string) {
	sched.Enter()
	defer sched.Leave()
	s := n.host("Down", host)
	s.down = true
	s.refresh()
	n.fault(faultDown, s, nil)
	n.tell("interface of %s down", host)
}

// Up brings a host's interface up again.
func (n *Network) Up(host string) {
	sched.Enter()
	defer sched.Leave()
	s := n.host("Up", host)
	s.down = false
	s.refresh()
	n.fault(faultUp, s, nil)
	n.tell("interface of %s up", host)
}

func (n *Network) tell(format string, args ...any) {
	if n.Told != nil {
		n.Told(format, args...)
	}
}

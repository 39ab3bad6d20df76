package simnet

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
)

// A zone is all the names that the server knows, from the root down.
type zone struct {
	nodes  map[dnsName]*node // by folded name
	rotate bool              // each answer begins with another record
	serial uint32            // counts changes
}

// A node is one name. It is there as long as it, or a name below it, has a
// record: a name between is there without records (RFC 8020).
type node struct {
	records []dnsRecord // in the order they were added
	below   int         // nodes right below it
	asked   int         // answers with more than one record, for rotate
}

func newZone() *zone { return &zone{nodes: map[dnsName]*node{rootName: {}}} }

// node returns the node of a folded name, which it makes, with those above it.
func (z *zone) node(name dnsName) *node {
	n := z.nodes[name]
	if n == nil {
		n = &node{}
		z.nodes[name] = n
		z.node(name.parent()).below++
	}
	return n
}

// prune removes what holds nothing any more.
func (z *zone) prune(name dnsName) {
	for name != rootName {
		if n := z.nodes[name]; n == nil || len(n.records) > 0 || n.below > 0 {
			return
		}
		delete(z.nodes, name)
		name = name.parent()
		z.nodes[name].below--
	}
}

// add adds a record, or changes the TTL of the one that says the same. A CNAME
// stands alone (RFC 1034 section 3.6.2): add reports whether that holds.
func (z *zone) add(r dnsRecord) bool {
	n := z.node(r.name.fold()) // if it is new, it has nothing that r could disagree with
	for i := range n.records {
		o := &n.records[i]
		switch {
		case o.typ == r.typ && o.data == r.data:
			o.ttl = r.ttl
			z.serial++
			return true
		case o.typ == typeCNAME || r.typ == typeCNAME:
			return false
		}
	}
	n.records = append(n.records, r)
	z.serial++
	return true
}

// remove removes the records of a name for which gone holds, and tells how many
// there were.
func (z *zone) remove(name dnsName, gone func(*dnsRecord) bool) int {
	name = name.fold()
	n := z.nodes[name]
	if n == nil {
		return 0
	}
	before := len(n.records)
	n.records = slices.DeleteFunc(n.records, func(r dnsRecord) bool { return gone(&r) })
	if before != len(n.records) {
		z.serial++
	}
	z.prune(name)
	return before - len(n.records)
}

// find returns the node that answers for a name: its own, or the wildcard's
// that covers it (RFC 4592): that right below the nearest name that is there. It is
// nil if the name is not there.
func (z *zone) find(name dnsName) *node {
	name = name.fold()
	if n := z.nodes[name]; n != nil {
		return n
	}
	for name != rootName {
		name = name.parent()
		if z.nodes[name] != nil {
			return z.nodes["\x01*"+name]
		}
	}
	return nil
}

// soa returns the record that says for how long a name's absence may be
// remembered: that of the nearest name above that has one.
func (z *zone) soa(name dnsName) (dnsRecord, bool) {
	for name = name.fold(); ; name = name.parent() {
		if n := z.nodes[name]; n != nil {
			for _, r := range n.records {
				if r.typ == typeSOA {
					r.ttl = min(r.ttl, soaMinimum(r.data)) // RFC 2308 section 3
					return r, true
				}
			}
		}
		if name == rootName {
			return dnsRecord{}, false
		}
	}
}

// soaMinimum returns the last number of an SOA record.
func soaMinimum(data string) uint32 {
	d := data[len(data)-4:]
	return uint32(d[0])<<24 | uint32(d[1])<<16 | uint32(d[2])<<8 | uint32(d[3])
}

// Codes of answers (RFC 1035, RFC 6891).
const (
	rcodeOK       = 0
	rcodeFormErr  = 1
	rcodeServFail = 2
	rcodeNXDomain = 3
	rcodeNotImp   = 4
	rcodeRefused  = 5
	rcodeBadVers  = 16
)

// maxAliases is how many CNAME records one answer follows.
const maxAliases = 16

// lookup answers a question: the records, the SOA record where there are none,
// and the code.
func (z *zone) lookup(q dnsQuestion) (answers, authority []dnsRecord, rcode int) {
	name := q.name
	for range maxAliases {
		n := z.find(name)
		if n == nil {
			rcode = rcodeNXDomain // also where a CNAME leads nowhere (RFC 6604)
		} else {
			found, alias := n.answer(name, q.typ, z.rotate)
			answers = append(answers, found...)
			if alias != "" {
				name = alias
				continue
			}
			if len(found) > 0 {
				return answers, nil, rcodeOK
			}
		}
		if soa, ok := z.soa(name); ok {
			authority = append(authority, soa)
		}
		return answers, authority, rcode
	}
	return nil, nil, rcodeServFail // it goes in a circle, or nearly
}

// answer returns what a node has for a question, as records of the name that was
// asked for, and where to go on if that is a CNAME.
func (n *node) answer(name dnsName, typ dnsType, rotate bool) (found []dnsRecord, alias dnsName) {
	if typ == typeANY && len(n.records) > 0 {
		// RFC 8482: who asks for everything is told that nobody does any more.
		return []dnsRecord{{name, typeHINFO, classIN, 3600, "\x07RFC8482\x00"}}, ""
	}
	for _, r := range n.records {
		switch r.typ {
		case typ:
		case typeCNAME: // it stands alone
			alias = dnsName(r.data)
		default:
			continue
		}
		r.name = name
		found = append(found, r)
	}
	if rotate && len(found) > 1 {
		k := n.asked % len(found)
		n.asked++
		found = append(found[k:len(found):len(found)], found[:k]...)
	}
	return found, alias
}

// reverse returns the name at which the name of an address is found: RFC 1035
// section 3.5, RFC 3596 section 2.5.
func reverse(a netip.Addr) dnsName {
	b := a.AsSlice()
	var s strings.Builder
	for i := len(b) - 1; i >= 0; i-- {
		if a.Is4() {
			fmt.Fprintf(&s, "%d.", b[i])
		} else {
			fmt.Fprintf(&s, "%x.%x.", b[i]&15, b[i]>>4)
		}
	}
	if a.Is4() {
		s.WriteString("in-addr.arpa")
	} else {
		s.WriteString("ip6.arpa")
	}
	n, err := parseName(s.String())
	if err != nil {
		panic("simnet: " + err.Error())
	}
	return n
}

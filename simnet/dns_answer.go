package simnet

// edns is what a query's OPT record says (RFC 6891).
type edns struct {
	present bool
	size    int // of the largest datagram that the sender takes
	version uint8
	do      bool // DNSSEC OK, to be repeated
}

// options reads the OPT record of a query; false if it is malformed.
func (m *dnsMessage) options() (e edns, ok bool) {
	for _, r := range m.additional {
		if r.typ != typeOPT {
			continue
		}
		if e.present || r.name != rootName {
			return e, false
		}
		e = edns{true, max(int(r.class), dnsMinUDP), uint8(r.ttl >> 16), r.ttl&(1<<15) != 0}
	}
	return e, true
}

// A dnsReply is the answer to one query.
type dnsReply struct {
	dnsMessage
	asked bool // the query has a question that records could answer
	limit int  // bytes that whoever asks takes in a datagram
	edns  edns
}

// readQuery reads a query and prepares the answer: with its code, unless asked is
// set, which leaves that to resolve. It returns nil for what is not a query.
func readQuery(query []byte) *dnsReply {
	if len(query) < dnsHeader || query[2]&0x80 != 0 {
		return nil
	}
	a := &dnsReply{limit: dnsMinUDP}
	a.id = uint16(query[0])<<8 | uint16(query[1])
	flags := uint16(query[2])<<8 | uint16(query[3])
	a.flags = dnsResponse | flags&(dnsOpcode|dnsRecursionDesired|dnsCheckingDisabled) | dnsRecursion
	if flags&dnsOpcode != 0 {
		a.code(rcodeNotImp)
		return a
	}
	m, err := unpackMessage(query)
	if err != nil || len(m.questions) != 1 || len(m.answers) > 0 {
		a.code(rcodeFormErr)
		return a
	}
	a.questions = m.questions
	var ok bool
	if a.edns, ok = m.options(); !ok {
		a.code(rcodeFormErr)
		return a
	}
	if a.edns.present {
		a.limit = min(a.edns.size, dnsMaxUDP)
	}
	switch q := m.questions[0]; {
	case a.edns.version != 0:
		a.code(rcodeBadVers)
	case q.class != classIN && q.class != classANY:
		a.code(rcodeRefused)
	case q.typ == typeAXFR || q.typ == typeIXFR:
		a.code(rcodeRefused)
	case q.typ == typeMAILA || q.typ == typeMAILB:
		a.code(rcodeNotImp)
	case q.typ.meta() && q.typ != typeANY:
		a.code(rcodeFormErr)
	default:
		a.asked = true
		return a
	}
	return a
}

// code sets the answer's code, which ends with the OPT record.
func (a *dnsReply) code(rcode int) {
	a.flags |= uint16(rcode & 0xf)
	if a.edns.present {
		ttl := uint32(rcode>>4) << 24
		if a.edns.do {
			ttl |= 1 << 15
		}
		a.additional = []dnsRecord{{name: rootName, typ: typeOPT, class: dnsMaxUDP, ttl: ttl}}
	}
}

// resolve looks the answer up.
func (a *dnsReply) resolve(z *zone) {
	var rcode int
	a.answers, a.authority, rcode = z.lookup(a.questions[0])
	a.code(rcode)
}

// bytes returns the answer as it is sent: over UDP, one that does not fit has no
// records, and says that it was truncated.
func (a *dnsReply) bytes(tcp bool) []byte {
	b := a.pack()
	limit := a.limit
	if tcp {
		limit = dnsMax
	}
	if len(b) <= limit {
		return b
	}
	if tcp { // more than a message can hold
		a.flags |= rcodeServFail
	} else {
		a.flags |= dnsTruncatedFlag
	}
	a.answers, a.authority = nil, nil
	return a.pack()
}

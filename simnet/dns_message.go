package simnet

import (
	"encoding/binary"
	"errors"
)

// A dnsMessage is one query or answer (RFC 1035 section 4).
type dnsMessage struct {
	id         uint16
	flags      uint16
	questions  []dnsQuestion
	answers    []dnsRecord
	authority  []dnsRecord
	additional []dnsRecord
}

type dnsQuestion struct {
	name  dnsName
	typ   dnsType
	class uint16
}

// A dnsRecord is one resource record. Of OPT, class and ttl have meanings of
// their own (RFC 6891).
type dnsRecord struct {
	name  dnsName
	typ   dnsType
	class uint16
	ttl   uint32
	data  string // as on the wire, with names not compressed
}

// Bits of a message's flags.
const (
	dnsResponse         = 1 << 15
	dnsOpcode           = 0xf << 11
	dnsTruncatedFlag    = 1 << 9
	dnsRecursionDesired = 1 << 8
	dnsRecursion        = 1 << 7 // available
	dnsCheckingDisabled = 1 << 4
)

const (
	dnsHeader = 12
	classIN   = 1
	classANY  = 255
	dnsMax    = 65535 // bytes of a message over TCP
)

// Sizes of messages over UDP: without EDNS (RFC 1035 section 4.2.1), and the
// largest that is not in danger of being fragmented.
const (
	dnsMinUDP = 512
	dnsMaxUDP = 1232
)

// layout tells where names are in the data of a record: so many after so many
// bytes, and whether they may be compressed (RFC 3597 section 4).
func (t dnsType) layout() (skip, names int, squeeze bool) {
	switch t {
	case typeNS, typeCNAME, typePTR:
		return 0, 1, true
	case typeMX:
		return 2, 1, true
	case typeSOA:
		return 0, 2, true
	case typeSRV:
		return 6, 1, false
	}
	return 0, 0, false
}

// packer writes a message.
type packer struct {
	b     []byte
	names map[dnsName]int // where a name, or the end of one, stands
}

// pack returns the message as bytes. Its names are valid.
func (m *dnsMessage) pack() []byte {
	p := &packer{b: make([]byte, dnsHeader, dnsMinUDP), names: map[dnsName]int{}}
	for i, v := range []int{int(m.id), int(m.flags), len(m.questions), len(m.answers), len(m.authority), len(m.additional)} {
		binary.BigEndian.PutUint16(p.b[2*i:], uint16(v))
	}
	for _, q := range m.questions {
		p.name(q.name, true)
		p.uint16(uint16(q.typ))
		p.uint16(q.class)
	}
	for _, section := range [...][]dnsRecord{m.answers, m.authority, m.additional} {
		for i := range section {
			p.record(&section[i])
		}
	}
	return p.b
}

func (p *packer) uint16(v uint16) { p.b = binary.BigEndian.AppendUint16(p.b, v) }

// name writes a name; where its end stands already, a pointer to that. The case
// of letters is kept, so that only what is the same is shared.
func (p *packer) name(n dnsName, squeeze bool) {
	for ; n != rootName; n = n.parent() {
		if at, ok := p.names[n]; ok && squeeze {
			p.uint16(0xc000 | uint16(at))
			return
		} else if !ok && len(p.b) < 0x4000 {
			p.names[n] = len(p.b)
		}
		p.b = append(p.b, n[:1+n[0]]...)
	}
	p.b = append(p.b, 0)
}

func (p *packer) record(r *dnsRecord) {
	p.name(r.name, true)
	p.uint16(uint16(r.typ))
	p.uint16(r.class)
	p.b = binary.BigEndian.AppendUint32(p.b, r.ttl)
	at := len(p.b)
	p.uint16(0)
	skip, names, squeeze := r.typ.layout()
	data := r.data
	p.b = append(p.b, data[:skip]...)
	for data = data[skip:]; names > 0; names-- {
		n := nameIn(data)
		p.name(n, squeeze)
		data = data[len(n):]
	}
	p.b = append(p.b, data...)
	binary.BigEndian.PutUint16(p.b[at:], uint16(len(p.b)-at-2))
}

// nameIn returns the name that data, which is valid, begins with.
func nameIn(data string) dnsName {
	i := 0
	for data[i] != 0 {
		i += 1 + int(data[i])
	}
	return dnsName(data[:i+1])
}

var (
	errShortMessage = errors.New("the message ends too early")
	errBadName      = errors.New("a name is malformed")
	errBadData      = errors.New("a record's data is malformed")
	errTrailing     = errors.New("bytes follow the message")
)

// unpacker reads a message.
type unpacker struct {
	b   []byte
	at  int
	err error // the first
}

// unpackMessage reads a message.
func unpackMessage(b []byte) (*dnsMessage, error) {
	u := &unpacker{b: b}
	m := &dnsMessage{id: u.uint16(), flags: u.uint16()}
	var count [4]int
	for i := range count {
		count[i] = int(u.uint16())
	}
	for i := 0; i < count[0] && u.err == nil; i++ {
		m.questions = append(m.questions, dnsQuestion{u.name(), dnsType(u.uint16()), u.uint16()})
	}
	for i, section := range [...]*[]dnsRecord{&m.answers, &m.authority, &m.additional} {
		for j := 0; j < count[i+1] && u.err == nil; j++ {
			*section = append(*section, u.record())
		}
	}
	if u.err == nil && u.at != len(b) {
		u.err = errTrailing
	}
	if u.err != nil {
		return nil, u.err
	}
	return m, nil
}

func (u *unpacker) fail(err error) {
	if u.err == nil {
		u.err = err
	}
}

// take returns the next n bytes; zeros where the message has ended.
func (u *unpacker) take(n int) []byte {
	if u.err != nil || len(u.b)-u.at < n {
		u.fail(errShortMessage)
		return make([]byte, n)
	}
	u.at += n
	return u.b[u.at-n : u.at]
}

func (u *unpacker) uint16() uint16 { return binary.BigEndian.Uint16(u.take(2)) }

// name reads a name. Each pointer leads to before where its part of the name began,
// so that they come to an end.
func (u *unpacker) name() dnsName {
	var n []byte
	at, start, jumped := u.at, u.at, false
	for u.err == nil {
		if at >= len(u.b) {
			u.fail(errShortMessage)
			break
		}
		c := int(u.b[at])
		switch c & 0xc0 {
		case 0:
			if at+1+c > len(u.b) || len(n)+1+c > maxName || c != 0 && len(n)+2+c > maxName {
				u.fail(errBadName)
				break
			}
			n = append(n, u.b[at:at+1+c]...)
			at += 1 + c
			if c == 0 {
				if !jumped {
					u.at = at
				}
				return dnsName(n)
			}
		case 0xc0:
			if at+2 > len(u.b) {
				u.fail(errShortMessage)
				break
			}
			to := c&0x3f<<8 | int(u.b[at+1])
			if to >= start {
				u.fail(errBadName)
				break
			}
			if !jumped {
				u.at, jumped = at+2, true
			}
			at, start = to, to
		default:
			u.fail(errBadName)
		}
	}
	return rootName
}

func (u *unpacker) record() dnsRecord {
	r := dnsRecord{name: u.name(), typ: dnsType(u.uint16()), class: u.uint16()}
	r.ttl = binary.BigEndian.Uint32(u.take(4))
	size := int(u.uint16())
	if u.err == nil && len(u.b)-u.at < size {
		u.fail(errShortMessage)
	}
	if u.err != nil {
		return r
	}
	end := u.at + size
	skip, names, _ := r.typ.layout()
	if skip > size {
		u.fail(errBadData)
		return r
	}
	data := append([]byte(nil), u.take(skip)...)
	for ; names > 0 && u.err == nil; names-- {
		data = append(data, u.name()...)
	}
	if u.err == nil && u.at > end {
		u.fail(errBadData)
	}
	if u.err != nil {
		return r
	}
	data = append(data, u.take(end-u.at)...)
	r.data = string(data)
	return r
}

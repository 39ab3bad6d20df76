package simnet

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"
)

// dnsType is the type of a record, or what a question asks for.
type dnsType uint16

const (
	typeA     dnsType = 1
	typeNS    dnsType = 2
	typeCNAME dnsType = 5
	typeSOA   dnsType = 6
	typePTR   dnsType = 12
	typeHINFO dnsType = 13
	typeMX    dnsType = 15
	typeTXT   dnsType = 16
	typeAAAA  dnsType = 28
	typeSRV   dnsType = 33
	typeOPT   dnsType = 41
	typeTKEY  dnsType = 249
	typeTSIG  dnsType = 250
	typeIXFR  dnsType = 251
	typeAXFR  dnsType = 252
	typeMAILB dnsType = 253
	typeMAILA dnsType = 254
	typeANY   dnsType = 255
)

var typeNames = []struct {
	typ  dnsType
	name string
}{
	{typeA, "A"}, {typeNS, "NS"}, {typeCNAME, "CNAME"}, {typeSOA, "SOA"}, {typePTR, "PTR"}, {typeHINFO, "HINFO"},
	{typeMX, "MX"}, {typeTXT, "TXT"}, {typeAAAA, "AAAA"}, {typeSRV, "SRV"}, {typeANY, "ANY"},
}

func (t dnsType) String() string {
	for _, known := range typeNames {
		if known.typ == t {
			return known.name
		}
	}
	return fmt.Sprintf("TYPE%d", uint16(t)) // RFC 3597
}

func parseType(s string) (dnsType, bool) {
	for _, known := range typeNames {
		if strings.EqualFold(known.name, s) {
			return known.typ, true
		}
	}
	if len(s) > 4 && strings.EqualFold(s[:4], "TYPE") {
		n, err := strconv.ParseUint(s[4:], 10, 16)
		return dnsType(n), err == nil
	}
	return 0, false
}

// meta tells whether no record can have the type.
func (t dnsType) meta() bool {
	return t == 0 || t == typeOPT || typeTKEY <= t && t <= typeANY
}

// A word is one piece of a line of a master file.
type word struct {
	text   string // with its escapes
	quoted bool
}

// words splits a line of a master file. A comment ends it.
func words(line string) (all []word, err error) {
	for i := 0; i < len(line); {
		switch c := line[i]; {
		case c == ' ' || c == '\t':
			i++
			continue
		case c == ';':
			return all, nil
		case c == '\n' || c == '(' || c == ')':
			return nil, fmt.Errorf("it has %q: a record is one line", c)
		}
		quoted := line[i] == '"'
		if quoted {
			i++
		}
		start := i
		for i < len(line) && (quoted && line[i] != '"' || !quoted && !strings.ContainsRune(" \t;\"", rune(line[i]))) {
			if line[i] == '\\' {
				i++
			}
			i++
		}
		if i > len(line) {
			return nil, errors.New("a backslash ends it")
		}
		all = append(all, word{line[start:i], quoted})
		if quoted {
			if i == len(line) {
				return nil, errors.New("a quote is not closed")
			}
			i++
		}
	}
	return all, nil
}

// defaultTTL of records in which none is given, in seconds.
const defaultRecordTTL = 60

// parseRecord reads a line of a master file: name, TTL and class (both
// optional), type, data.
func parseRecord(line string) (r dnsRecord, err error) {
	w, err := words(line)
	if err != nil {
		return r, err
	}
	if len(w) < 3 {
		return r, errors.New("want a name, a type and data, such as \"db 30 A 10.0.0.1\"")
	}
	if r.name, err = absolute(w[0].text); err != nil {
		return r, err
	}
	w = w[1:]
	r.class, r.ttl = classIN, defaultRecordTTL
	for range 2 { // in either order
		if len(w) > 1 && strings.EqualFold(w[0].text, "IN") {
			w = w[1:]
		} else if len(w) > 1 && w[0].text != "" && isDigit(w[0].text[0]) {
			ttl, err := strconv.ParseUint(w[0].text, 10, 31)
			if err != nil {
				return r, fmt.Errorf("the TTL is %q, want seconds, at most %d", w[0].text, 1<<31-1)
			}
			r.ttl = uint32(ttl)
			w = w[1:]
		}
	}
	typ, ok := parseType(w[0].text)
	if !ok || typ.meta() {
		return r, fmt.Errorf("there is no record of type %q; other types than A, AAAA, CNAME, HINFO, MX, NS, PTR, SOA, SRV and TXT are written as TYPE65 \\# 3 00010a (RFC 3597)", w[0].text)
	}
	r.typ = typ
	r.data, err = parseData(typ, w[1:])
	if err == nil && len(r.data) > dnsMax-dnsHeader-2*maxName-20 {
		err = fmt.Errorf("its data has %d bytes, which no message holds", len(r.data))
	}
	return r, err
}

// absolute returns the name that a test means: one without any dot is of the
// hosts' domain.
func absolute(s string) (dnsName, error) {
	if s != "" && !strings.Contains(s, ".") {
		s += "." + Domain
	}
	return parseName(s)
}

// forms tell what the data of a record is written as: n is a name, 2 and 4 are
// numbers of so many bytes, s is a string.
var forms = map[dnsType]struct{ form, example string }{
	typeNS:    {"n", "a name"},
	typeCNAME: {"n", "a name"},
	typePTR:   {"n", "a name"},
	typeMX:    {"2n", "a preference and a name, such as \"10 mail.example.com\""},
	typeSRV:   {"222n", "priority, weight, port and name, such as \"0 5 443 a.example.com\""},
	typeSOA:   {"nn44444", "two names and five numbers"},
	typeHINFO: {"ss", "two strings"},
}

// parseData returns the data of a record as it is on the wire.
func parseData(typ dnsType, w []word) (string, error) {
	f, ok := forms[typ]
	switch {
	case typ == typeA || typ == typeAAAA:
		if len(w) == 1 {
			if a, err := netip.ParseAddr(w[0].text); err == nil && a.Is4() == (typ == typeA) && a.Zone() == "" {
				return string(a.AsSlice()), nil
			}
		}
		return "", fmt.Errorf("its data is not one IP address as %v has it", typ)
	case typ == typeTXT:
		f.form = strings.Repeat("s", len(w))
	case !ok:
		return parseUnknown(typ, w)
	}
	if len(w) != len(f.form) || len(w) == 0 {
		return "", fmt.Errorf("the data of %v has %d parts, want %s", typ, len(w), f.example)
	}
	var b []byte
	var err error
	for i, kind := range f.form {
		if b, err = appendPart(b, kind, w[i].text); err != nil {
			return "", err
		}
	}
	return string(b), nil
}

func appendPart(b []byte, kind rune, text string) ([]byte, error) {
	switch kind {
	case 'n':
		n, err := absolute(text)
		return append(b, n...), err
	case 's':
		return appendText(b, text)
	}
	size := int(kind - '0')
	v, err := strconv.ParseUint(text, 10, 8*size)
	if err != nil {
		return b, fmt.Errorf("%q is not a number of %d bytes", text, size)
	}
	if size == 2 {
		return binary.BigEndian.AppendUint16(b, uint16(v)), nil
	}
	return binary.BigEndian.AppendUint32(b, uint32(v)), nil
}

// appendText adds strings of 255 bytes, of which readers of TXT records make
// one again.
func appendText(b []byte, text string) ([]byte, error) {
	var s []byte
	for text != "" {
		c, n, err := unescape(text)
		if err != nil {
			return b, err
		}
		s = append(s, c)
		text = text[n:]
	}
	for {
		k := min(len(s), 255)
		b = append(append(b, byte(k)), s[:k]...)
		if s = s[k:]; len(s) == 0 {
			return b, nil
		}
	}
}

// parseUnknown reads data of any type as RFC 3597 writes it: \#, its size, and
// it in hexadecimal.
func parseUnknown(typ dnsType, w []word) (string, error) {
	if len(w) >= 2 && w[0].text == `\#` {
		var digits string
		for _, part := range w[2:] {
			digits += part.text
		}
		if b, err := hex.DecodeString(digits); err == nil && w[1].text == strconv.Itoa(len(b)) {
			return string(b), nil
		}
	}
	return "", fmt.Errorf("the data of %v is written as \\#, a size, and so many bytes in hexadecimal: \\# 3 00010a (RFC 3597)", typ)
}

// String writes the record as a line of a master file.
func (r dnsRecord) String() string {
	return fmt.Sprintf("%v %d IN %v %s", r.name, r.ttl, r.typ, r.text())
}

func (r dnsRecord) text() string {
	data := r.data
	form := forms[r.typ].form
	switch {
	case r.typ == typeA && len(data) == 4, r.typ == typeAAAA && len(data) == 16:
		a, _ := netip.AddrFromSlice([]byte(data))
		return a.String()
	case form == "" && r.typ != typeTXT:
		return fmt.Sprintf("\\# %d %x", len(data), data)
	}
	var parts []string
	for i := 0; i < len(form) || form == "" && len(data) > 0; i++ {
		kind := byte('s')
		if form != "" {
			kind = form[i]
		}
		switch kind {
		case 'n':
			n := nameIn(data)
			parts, data = append(parts, n.String()), data[len(n):]
		case '2':
			parts, data = append(parts, fmt.Sprint(int(data[0])<<8|int(data[1]))), data[2:]
		case '4':
			parts, data = append(parts, fmt.Sprint(binary.BigEndian.Uint32([]byte(data[:4])))), data[4:]
		case 's':
			k := 1 + int(data[0])
			parts, data = append(parts, quote(data[1:k])), data[k:]
		}
	}
	return strings.Join(parts, " ")
}

func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c < ' ' || c >= 0x7f:
			fmt.Fprintf(&b, "\\%03d", c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}

package simnet

import (
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
)

func TestDNSNames(t *testing.T) {
	for in, want := range map[string]string{
		"": ".", ".": ".", "a": "a.", "a.": "a.", "A.b": "A.b.", `a\.b.c`: `a\.b.c.`, `\065x`: "Ax.", `\000`: `\000.`, `a\ b`: `a\032b.`,
		strings.Repeat("x", 63): strings.Repeat("x", 63) + ".",
	} {
		n, err := parseName(in)
		if err != nil || n.String() != want {
			t.Errorf("%q: %v, %v, want %s", in, n, err, want)
		}
		if again, err := parseName(n.String()); again != n || err != nil {
			t.Errorf("%q: read again as %v, %v", in, again, err)
		}
	}
	long := strings.Repeat("abcdefg.", 31) + "abcde" // 254 bytes on the wire, with the root's label
	if n, err := parseName(long); err != nil || len(n) != maxName {
		t.Errorf("the longest name: %d bytes, %v", len(n), err)
	}
	for _, in := range []string{"..", ".a", "a..b", strings.Repeat("x", 64), long + "f", `a\`, `a\25`, `a\256`, `a\2x5`} {
		if n, err := parseName(in); err == nil {
			t.Errorf("%q is taken for %v", in, n)
		}
	}
}

func TestDNSRecords(t *testing.T) {
	for in, want := range map[string]string{
		"db A 10.0.0.1":                       "db.sim.internal. 60 IN A 10.0.0.1",
		"db. 5 A 10.0.0.1":                    "db. 5 IN A 10.0.0.1",
		"a.example in 7 aaaa fd00::1 ; hosts": "a.example. 7 IN AAAA fd00::1",
		"a.example 0 IN CNAME B":              "a.example. 0 IN CNAME B.sim.internal.",
		"a.b MX 10 mail.a.b":                  "a.b. 60 IN MX 10 mail.a.b.",
		"a.b SRV 1 2 3 .":                     "a.b. 60 IN SRV 1 2 3 .",
		"a.b NS c":                            "a.b. 60 IN NS c.sim.internal.",
		"a.b PTR c.d":                         "a.b. 60 IN PTR c.d.",
		`a.b TXT "a b" c "" "\"\\;\001" x\;y`: `a.b. 60 IN TXT "a b" "c" "" "\"\\;\001" "x;y"`,
		"a.b TXT " + strings.Repeat("x", 300): `a.b. 60 IN TXT "` + strings.Repeat("x", 255) + `" "` + strings.Repeat("x", 45) + `"`,
		`a.b HINFO "a pdp" tops`:              `a.b. 60 IN HINFO "a pdp" "tops"`,
		"a.b SOA n h 1 2 3 4 4294967295":      "a.b. 60 IN SOA n.sim.internal. h.sim.internal. 1 2 3 4 4294967295",
		`a.b TYPE65 \# 3 00 010a`:             `a.b. 60 IN TYPE65 \# 3 00010a`,
		"*.a.b A 1.2.3.4":                     "*.a.b. 60 IN A 1.2.3.4",
		`_x._tcp.a\.b 2147483647 A 1.2.3.4`:   `_x._tcp.a\.b. 2147483647 IN A 1.2.3.4`,
	} {
		r, err := parseRecord(in)
		if err != nil || r.String() != want {
			t.Errorf("%s: %v, %v; want %s", in, r, err, want)
			continue
		}
		if again, err := parseRecord(r.String()); again != r || err != nil {
			t.Errorf("%s: read again as %v, %v", in, again, err)
		}
	}
	for _, in := range []string{
		"", "a", "a A", "a 1.2.3.4", "a A fd00::1", "a AAAA 1.2.3.4", "a A 1.2.3.4 1.2.3.5", "a AAAA fe80::1%eth0", "a..b A 1.2.3.4",
		"a MX mail", "a MX 65536 mail", "a SRV 1 2 3", "a TXT", `a TXT "x`, `a TXT "x\`, `a TXT \300`, "a ANY x", "a OPT x", "a TYPE0 x", "a AXFR x", "a TYPE65 x",
		`a TYPE65 \# 2 00`, `a TYPE65 \# 1 0`, "a 2147483648 A 1.2.3.4", "a CH A 1.2.3.4", "a A 1.2.3.4\nb A 1.2.3.4", "a SOA ( 1 )", "a CNAME b c",
	} {
		if r, err := parseRecord(in); err == nil {
			t.Errorf("%q is taken for %v", in, r)
		}
	}
}

// ns is the records that the tests of lookups ask.
func ns(t *testing.T, lines ...string) *zone {
	z := newZone()
	for _, line := range lines {
		r, err := parseRecord(line)
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if !z.add(r) {
			t.Fatalf("%s: refused", line)
		}
	}
	return z
}

// ask looks up "name TYPE" and writes the answer: the code and the records, with
// those of the authority section after a slash.
func (z *zone) ask(question string) string {
	f := strings.Fields(question)
	name, err := parseName(f[0])
	typ, ok := parseType(f[1])
	if err != nil || !ok {
		return "no question"
	}
	answers, authority, rcode := z.lookup(dnsQuestion{name, typ, classIN})
	s := []string{map[int]string{0: "ok", 2: "servfail", 3: "nxdomain"}[rcode]}
	show := func(r dnsRecord) { s = append(s, fmt.Sprint(r.name, " ", r.typ, " ", r.text())) }
	for _, r := range answers {
		show(r)
	}
	if len(authority) > 0 {
		s = append(s, "/ "+authority[0].name.String())
	}
	return strings.Join(s, "; ")
}

func TestDNSLookup(t *testing.T) {
	z := ns(t,
		". SOA n. h. 1 2 3 4 5",
		"example. SOA n. h. 1 2 3 4 5", "example. NS n.",
		"two.example. A 10.0.0.2", "two.example. A 10.0.0.1", "two.example. AAAA fd00::1",
		"alias.example. CNAME alias2.example.", "alias2.example. CNAME Two.example.", "lost.example. CNAME nothing.example.", "six.example. CNAME four.example.", "four.example. A 10.0.0.4",
		"round.example. CNAME round2.example.", "round2.example. CNAME round.example.",
		"a.b.example. TXT x",
		// The example of RFC 4592 section 2.2.1, more or less.
		"*.wild.example. TXT wild", "*.wild.example. MX 10 host1.example.", "sub.*.wild.example. TXT no",
		"host1.wild.example. A 10.0.0.5", "_ssh._tcp.host1.wild.example. SRV 1 2 3 host1.example.",
		"*.cwild.example. CNAME two.example.",
	)
	for q, want := range map[string]string{
		"two.example. A":                       "ok; two.example. A 10.0.0.2; two.example. A 10.0.0.1",
		"TWO.example. AAAA":                    "ok; TWO.example. AAAA fd00::1",
		"two.example. MX":                      "ok; / example.",
		"x.two.example. A":                     "nxdomain; / example.",
		"nothing. A":                           "nxdomain; / .",
		"example. A":                           "ok; / example.",
		". NS":                                 "ok; / .",
		"b.example. A":                         "ok; / example.", // it is only on the way to another
		"alias.example. A":                     "ok; alias.example. CNAME alias2.example.; alias2.example. CNAME Two.example.; Two.example. A 10.0.0.2; Two.example. A 10.0.0.1",
		"alias.example. CNAME":                 "ok; alias.example. CNAME alias2.example.",
		"alias.example. TXT":                   "ok; alias.example. CNAME alias2.example.; alias2.example. CNAME Two.example.; / example.",
		"lost.example. A":                      "nxdomain; lost.example. CNAME nothing.example.; / example.",
		"six.example. AAAA":                    "ok; six.example. CNAME four.example.; / example.",
		"round.example. A":                     "servfail",
		"round.example. CNAME":                 "ok; round.example. CNAME round2.example.",
		"two.example. ANY":                     "ok; two.example. HINFO \"RFC8482\" \"\"",
		"b.example. ANY":                       "ok; / example.",
		"nothing.example. ANY":                 "nxdomain; / example.",
		"x.wild.example. TXT":                  `ok; x.wild.example. TXT "wild"`,
		"x.wild.example. A":                    "ok; / example.",
		"x.y.wild.example. TXT":                `ok; x.y.wild.example. TXT "wild"`,
		"*.wild.example. TXT":                  `ok; *.wild.example. TXT "wild"`,
		"wild.example. TXT":                    "ok; / example.",
		"host1.wild.example. TXT":              "ok; / example.", // the name is there, so no wildcard
		"x.host1.wild.example. TXT":            "nxdomain; / example.",
		"_tcp.host1.wild.example. TXT":         "ok; / example.",
		"_telnet._tcp.host1.wild.example. SRV": "nxdomain; / example.",
		"x.*.wild.example. TXT":                "nxdomain; / example.",
		"x.cwild.example. A":                   "ok; x.cwild.example. CNAME two.example.; two.example. A 10.0.0.2; two.example. A 10.0.0.1",
	} {
		if got := z.ask(q); got != want {
			t.Errorf("%s:\n\t%s, want\n\t%s", q, got, want)
		}
	}
	// What is removed is not there, nor what was there because of it.
	all := func(*dnsRecord) bool { return true }
	for _, name := range []string{"a.b.example", "host1.wild.example"} {
		n, _ := parseName(name)
		if z.remove(n, all) == 0 || z.remove(n, all) != 0 {
			t.Errorf("%s was not removed once", name)
		}
	}
	for q, want := range map[string]string{
		"a.b.example. TXT": "nxdomain; / example.", "b.example. A": "nxdomain; / example.",
		"host1.wild.example. A": "ok; / example.",
	} {
		if got := z.ask(q); got != want {
			t.Errorf("after removal: %s: %s, want %s", q, got, want)
		}
	}
	z.rotate = true
	for _, want := range []string{"2;1", "1;2", "2;1"} {
		if got := z.ask("two.example. A"); got != strings.NewReplacer("2;1", "ok; two.example. A 10.0.0.2; two.example. A 10.0.0.1", "1;2", "ok; two.example. A 10.0.0.1; two.example. A 10.0.0.2").Replace(want) {
			t.Errorf("rotated: %s, want %s", got, want)
		}
	}
	for _, line := range []string{"two.example. CNAME x.", "alias.example. A 10.0.0.1"} {
		if r, _ := parseRecord(line); z.add(r) {
			t.Errorf("%s stands beside others", line)
		}
	}
}

// query makes a query; opts are what its OPT record has: size, and the ttl field.
func query(name string, typ dnsType, opts ...uint32) *dnsMessage {
	n, err := parseName(name)
	if err != nil {
		panic(err)
	}
	m := &dnsMessage{id: 7, flags: dnsRecursionDesired, questions: []dnsQuestion{{n, typ, classIN}}}
	if len(opts) > 0 {
		m.additional = []dnsRecord{{name: rootName, typ: typeOPT, class: uint16(opts[0]), ttl: append(opts, 0)[1]}}
	}
	return m
}

// answered answers a query, over UDP or TCP.
func (z *zone) answered(t *testing.T, query []byte, tcp bool) *dnsMessage {
	t.Helper()
	a := readQuery(query)
	if a == nil {
		return nil
	}
	if a.asked {
		a.resolve(z)
	}
	m, err := unpackMessage(a.bytes(tcp))
	if err != nil {
		t.Fatalf("the answer to %x: %v", query, err)
	}
	return m
}

func TestDNSAnswers(t *testing.T) {
	big := strings.Repeat("0123456789", 60)
	z := ns(t, ". SOA n. h. 1 2 3 4 5", "a. A 10.0.0.1", "big. TXT "+big, "huge. TXT "+strings.Repeat(big, 3))
	edit := func(m *dnsMessage, f func(*dnsMessage)) *dnsMessage { f(m); return m }
	for _, c := range []struct {
		what string
		m    *dnsMessage
		tcp  bool
		want string // flags, records of the sections, code in the OPT record
	}{
		{"a name", query("a", typeA), false, "8180 1 0 0"},
		{"with EDNS", query("a", typeA, 4096), false, "8180 1 0 1 opt 4d0 0"},
		{"with DO", query("a", typeA, 4096, 1<<15), false, "8180 1 0 1 opt 4d0 8000"},
		{"no recursion asked for", edit(query("a", typeA), func(m *dnsMessage) { m.flags = 0 }), false, "8080 1 0 0"},
		{"checking disabled", edit(query("a", typeA), func(m *dnsMessage) { m.flags |= 0x30 }), false, "8190 1 0 0"},
		{"no data", query("a", typeMX, 1232), false, "8180 0 1 1 opt 4d0 0"},
		{"no name", query("b", typeMX, 1232), false, "8183 0 1 1 opt 4d0 0"},
		{"too large without EDNS", query("big", typeTXT), false, "8380 0 0 0"},
		{"not with EDNS", query("big", typeTXT, 1232), false, "8180 1 0 1 opt 4d0 0"},
		{"an EDNS size below 512 is 512", query("big", typeTXT, 10), false, "8380 0 0 1 opt 4d0 0"},
		{"too large for any datagram", query("huge", typeTXT, 65535), false, "8380 0 0 1 opt 4d0 0"},
		{"not for TCP", query("huge", typeTXT), true, "8180 1 0 0"},
		{"EDNS version 1", query("a", typeA, 1232, 1<<16), false, "8180 0 0 1 opt 4d0 1000000"},
		{"two OPT records", edit(query("a", typeA, 1232), func(m *dnsMessage) { m.additional = append(m.additional, m.additional[0]) }), false, "8181 0 0 1 opt 4d0 0"},
		{"OPT of a name", edit(query("a", typeA, 1232), func(m *dnsMessage) { m.additional[0].name = "\x01a\x00" }), false, "8181 0 0 0"},
		{"two questions", edit(query("a", typeA), func(m *dnsMessage) { m.questions = append(m.questions, m.questions[0]) }), false, "8181 0 0 0"},
		{"no question", edit(query("a", typeA), func(m *dnsMessage) { m.questions = nil }), false, "8181 0 0 0"},
		{"an answer in a query", edit(query("a", typeA), func(m *dnsMessage) { m.answers = []dnsRecord{{name: rootName, typ: typeTXT, data: "\x00"}} }), false, "8181 0 0 0"},
		{"class CHAOS", edit(query("version.bind", typeTXT), func(m *dnsMessage) { m.questions[0].class = 3 }), false, "8185 0 0 0"},
		{"class ANY", edit(query("a", typeA), func(m *dnsMessage) { m.questions[0].class = classANY }), false, "8180 1 0 0"},
		{"AXFR", query("a", typeAXFR), true, "8185 0 0 0"},
		{"MAILB", query("a", typeMAILB), false, "8184 0 0 0"},
		{"type OPT", query("a", typeOPT), false, "8181 0 0 0"},
		{"an update", edit(query("a", typeSOA), func(m *dnsMessage) { m.flags = 5 << 11 }), false, "a884 0 0 0"},
	} {
		a := z.answered(t, c.m.pack(), c.tcp)
		got := fmt.Sprintf("%x %d %d %d", a.flags, len(a.answers), len(a.authority), len(a.additional))
		for _, r := range a.additional {
			got += fmt.Sprintf(" opt %x %x", r.class, r.ttl)
		}
		if got != c.want || a.id != c.m.id {
			t.Errorf("%s: id %d, %s; want %s", c.what, a.id, got, c.want)
		}
		if len(a.questions) > 0 && a.questions[0] != c.m.questions[0] {
			t.Errorf("%s: asked %v, answered %v", c.what, c.m.questions, a.questions)
		}
	}
	whole := query("a", typeA).pack()
	for n := range whole {
		a := z.answered(t, whole[:n], false)
		if n < dnsHeader && a != nil || n >= dnsHeader && a.flags != 0x8181 {
			t.Errorf("%d bytes of a query are answered with %+v", n, a)
		}
	}
	if a := z.answered(t, append(whole, 0), false); a.flags != 0x8181 {
		t.Errorf("with a byte too much: %+v", a)
	}
	if a := z.answered(t, z.pack("a A"), false); a != nil {
		t.Errorf("an answer is answered with %+v", a)
	}
}

// pack answers a question as bytes.
func (z *zone) pack(question string) []byte {
	f := strings.Fields(question)
	typ, _ := parseType(f[1])
	a := readQuery(query(f[0], typ).pack())
	a.resolve(z)
	return a.bytes(false)
}

// TestDNSWire compares bytes with those worked out by hand.
func TestDNSWire(t *testing.T) {
	z := ns(t, "www.a.b. 1 CNAME A.b.", "a.b. 2 MX 3 mail.a.b.", "_x.a.b. 4 SRV 5 6 7 www.a.b.")
	for q, want := range map[string]string{
		// The owner is the name that was asked for; the target keeps its case, and so
		// shares only "b".
		"www.a.b CNAME": "0007818000010001000000000377777701610162000005" + "0001" + "c00c0005000100000001" + "0004" + "0141c012",
		"a.b MX":        "00078180000100010000000001610162" + "00000f0001" + "c00c000f000100000002" + "0009" + "0003046d61696cc00c",
		// The target of SRV is not compressed (RFC 2782).
		"_x.a.b SRV": "000781800001000100000000025f7801610162" + "0000210001" + "c00c0021000100000004" + "000f" + "000500060007" + "0377777701610162" + "00",
	} {
		if got := hex.EncodeToString(z.pack(q)); got != want {
			t.Errorf("%s:\n\t%s, want\n\t%s", q, got, want)
		}
	}
}

func TestDNSMalformed(t *testing.T) {
	head := "000701000001000000000000"
	for what, c := range map[string]struct {
		hex  string
		want error
	}{
		"pointer to itself":       {head + "c00c" + "00010001", errBadName},
		"pointer forward":         {head + "c00e" + "00010001", errBadName},
		"pointer past the end":    {head + "ffff" + "00010001", errBadName},
		"circle":                  {head + "0161c00c" + "00010001", errBadName},
		"half a pointer":          {head + "c0", errShortMessage},
		"label type 01":           {head + "4161" + "0000010001", errBadName},
		"label past the end":      {head + "0561", errBadName},
		"no end of the name":      {head + "0161", errShortMessage},
		"no class":                {head + "00" + "0001", errShortMessage},
		"longer than 255":         {head + strings.Repeat("3f"+strings.Repeat("61", 63), 4) + "0000010001", errBadName},
		"trailing bytes":          {head + "00" + "00010001" + "00", errTrailing},
		"data past the end":       {"000701000000000100000000" + "00" + "00010001" + "00000000" + "0005" + "01", errShortMessage},
		"name beyond its data":    {"000701000000000100000000" + "00" + "00020001" + "00000000" + "0001" + "016100", errBadData},
		"too little before names": {"000701000000000100000000" + "00" + "000f0001" + "00000000" + "0001" + "00", errBadData},
	} {
		b, err := hex.DecodeString(c.hex)
		if err != nil {
			t.Fatal(what, err)
		}
		if m, err := unpackMessage(b); err != c.want {
			t.Errorf("%s: %+v, %v; want %v", what, m, err, c.want)
		}
	}
}

// TestDNSRoundTrip packs random messages and reads them again.
func TestDNSRoundTrip(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	labels := []string{"a", "B", "b", "example", "com", strings.Repeat("long", 15), "\\.", "\\000"}
	name := func() dnsName {
		var s []string
		for range rng.IntN(5) {
			s = append(s, labels[rng.IntN(len(labels))])
		}
		n, err := parseName(strings.Join(s, "."))
		if err != nil {
			return rootName // longer than a name may be
		}
		return n
	}
	bytes := func(n int) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(rng.Uint32())
		}
		return string(b)
	}
	types := []dnsType{typeA, typeNS, typeCNAME, typeSOA, typePTR, typeMX, typeTXT, typeSRV, typeOPT, 65}
	records := func() (all []dnsRecord) {
		for range rng.IntN(12) {
			r := dnsRecord{name(), types[rng.IntN(len(types))], uint16(rng.Uint32()), rng.Uint32(), ""}
			skip, names, _ := r.typ.layout()
			r.data = bytes(skip)
			for range names {
				r.data += string(name())
			}
			r.data += bytes(rng.IntN(30))
			all = append(all, r)
		}
		return all
	}
	shared := 0
	for range 2000 {
		m := &dnsMessage{id: uint16(rng.Uint32()), flags: uint16(rng.Uint32()), answers: records(), authority: records(), additional: records()}
		for range rng.IntN(3) {
			m.questions = append(m.questions, dnsQuestion{name(), types[rng.IntN(len(types))], classIN})
		}
		b := m.pack()
		again, err := unpackMessage(b)
		if err != nil || !reflect.DeepEqual(again, m) {
			t.Fatalf("%+v is read as %+v, %v", m, again, err)
		}
		if len(b) < m.size() {
			shared++
		}
	}
	if shared < 1000 {
		t.Errorf("%d of 2000 messages became smaller by sharing names", shared)
	}
}

// size is how long the message is without sharing names.
func (m *dnsMessage) size() int {
	n := dnsHeader
	for _, q := range m.questions {
		n += len(q.name) + 4
	}
	for _, s := range [...][]dnsRecord{m.answers, m.authority, m.additional} {
		for _, r := range s {
			n += len(r.name) + 10 + len(r.data)
		}
	}
	return n
}

// FuzzDNSMessage reads anything, and what could be read again after it was
// written. A server answers anything, or is silent.
func FuzzDNSMessage(f *testing.F) {
	z := newZone()
	for _, line := range []string{". SOA n. h. 1 2 3 4 5", "a. A 10.0.0.1", "*.w. CNAME a.", "t. TXT x y"} {
		r, err := parseRecord(line)
		if err != nil {
			f.Fatal(err)
		}
		z.add(r)
	}
	for _, q := range []string{"a A", "x.w A", "t TXT", "t ANY", "nothing MX"} {
		f.Add(z.pack(q))
		typ, _ := parseType(strings.Fields(q)[1])
		f.Add(query(strings.Fields(q)[0], typ).pack())
		f.Add(query(strings.Fields(q)[0], typ, 1232, 1<<15).pack())
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if m, err := unpackMessage(b); err == nil {
			if again, err := unpackMessage(m.pack()); err != nil || !reflect.DeepEqual(m, again) {
				t.Fatalf("%+v is read as %+v, %v", m, again, err)
			}
		}
		for _, tcp := range []bool{false, true} {
			if a := z.answered(t, b, tcp); a != nil && (a.id != uint16(b[0])<<8|uint16(b[1]) || a.flags&dnsResponse == 0) {
				t.Fatalf("answered with %+v", a)
			}
		}
	})
}

// FuzzDNSRecord reads any line, and a record again as it is written.
func FuzzDNSRecord(f *testing.F) {
	for _, line := range []string{"a A 10.0.0.1", `a.b 5 IN TXT "x y" z\001`, `a TYPE65 \# 1 00`, "a SOA b. c. 1 2 3 4 5", "a SRV 1 2 3 b", `\.x. HINFO a ""`, "a. AAAA ::1", `@ TXT \"`} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		r, err := parseRecord(line)
		if err != nil {
			return
		}
		if again, err := parseRecord(r.String()); err != nil || again != r {
			t.Fatalf("%q: %v is read as %v, %v", line, r, again, err)
		}
		m := &dnsMessage{answers: []dnsRecord{r}}
		if again, err := unpackMessage(m.pack()); err != nil || again.answers[0] != r {
			t.Fatalf("%q: sent as %+v, %v", line, again, err)
		}
	})
}

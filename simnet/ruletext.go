package simnet

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// A Rule is a rule in its textual form, which ParseRule makes.
type Rule struct {
	verdict Verdict
	upTo    time.Duration // of a delay that varies

	// Which of the packets that it is about.
	first, last uint64 // by number, from 1; last is never for no end
	every       uint64 // each so manieth
	percent     float64

	kind     kind
	ports    ports // of either end
	from, to end
	over     int  // bytes of payload that are not too many; -1: none are
	flow     bool // numbers count within each flow
}

const never = math.MaxUint64

// end is one end of a packet's way: a host, ports, both, or neither.
type end struct {
	host  string
	ports ports
}

// ports are ranges of port numbers; none stand for all.
type ports [][2]uint16

func (s ports) has(port uint16) bool {
	for _, r := range s {
		if r[0] <= port && port <= r[1] {
			return true
		}
	}
	return len(s) == 0
}

func (s ports) String() string {
	var b strings.Builder
	for i, r := range s {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "%d", r[0])
		if r[0] != r[1] {
			fmt.Fprintf(&b, "-%d", r[1])
		}
	}
	return b.String()
}

// kind is what kind of packets a rule is about.
type kind uint8

const (
	anyKind kind = iota
	kindUDP
	kindICMP
	kindTCP
	kindSYN
	kindSYNACK
	kindACK
	kindFIN
	kindRST
	kindData
)

var kindNames = [...]string{"", "udp", "icmp", "tcp", "syn", "syn-ack", "ack", "fin", "rst", "tcp data"}

// about tells whether a packet is of the kind that the rule is about, but for
// its hosts.
func (r *Rule) about(d *Datagram) bool {
	if r.kind != anyKind {
		if d.proto != protoTCP {
			if r.kind != kindUDP || d.proto != protoUDP {
				if r.kind != kindICMP || d.proto != protoICMP {
					return false
				}
			}
		} else if f := d.seg.flags; !(r.kind == kindTCP ||
			r.kind == kindSYN && f&(flagSYN|flagACK) == flagSYN ||
			r.kind == kindSYNACK && f&(flagSYN|flagACK) == flagSYN|flagACK ||
			r.kind == kindACK && f == flagACK && len(d.Payload) == 0 ||
			r.kind == kindFIN && f&flagFIN != 0 ||
			r.kind == kindRST && f&flagRST != 0 ||
			r.kind == kindData && len(d.Payload) > 0) {
			return false
		}
	}
	src, dst := d.src.Port(), d.dst.Port()
	return (r.ports.has(src) || r.ports.has(dst)) && r.from.ports.has(src) && r.to.ports.has(dst) && len(d.Payload) > r.over
}

// picks tells whether the rule is for the packet of that number.
func (r *Rule) picks(nth uint64) bool {
	if r.every > 0 {
		return nth%r.every == 0
	}
	return r.first <= nth && nth <= r.last
}

// String returns the rule in the form that ParseRule's documentation gives.
func (r *Rule) String() string {
	var b strings.Builder
	switch r.verdict.what {
	case accept:
		b.WriteString("accept")
	case drop:
		b.WriteString("drop")
	case duplicate:
		b.WriteString("duplicate")
	case corrupt:
		b.WriteString("corrupt")
	case delay:
		fmt.Fprintf(&b, "delay %v", r.verdict.delay)
		if r.upTo > 0 {
			fmt.Fprintf(&b, "-%v", r.upTo)
		}
	case reject:
		b.WriteString("reject")
		if r.verdict.why > 0 {
			b.WriteString(" with " + rejectNames[r.verdict.why-1])
		}
	}
	switch {
	case r.every > 0:
		b.WriteString(" every " + ordinal(r.every))
	case r.percent < 100:
		b.WriteString(" " + strconv.FormatFloat(r.percent, 'f', -1, 64) + "%")
	case r.first == 1 && r.last == never:
	case r.last == never:
		b.WriteString(" after " + ordinal(r.first-1))
	default:
		b.WriteString(" " + ordinal(r.first))
		if r.last > r.first {
			b.WriteString("-" + ordinal(r.last))
		}
	}
	if r.kind != anyKind {
		b.WriteString(" " + kindNames[r.kind])
	}
	if len(r.ports) > 0 {
		b.WriteString(" port " + r.ports.String())
	}
	r.from.write(&b, "from")
	r.to.write(&b, "to")
	if r.over >= 0 {
		fmt.Fprintf(&b, " over %d bytes", r.over)
	}
	if r.flow {
		b.WriteString(" of each flow")
	}
	return b.String()
}

func (e *end) write(b *strings.Builder, word string) {
	if e.host == "" && len(e.ports) == 0 {
		return
	}
	b.WriteString(" " + word)
	if e.host != "" {
		if isWord[e.host] {
			b.WriteString(" " + strconv.Quote(e.host))
		} else {
			b.WriteString(" " + e.host)
		}
	}
	if len(e.ports) > 0 {
		b.WriteString(" port " + e.ports.String())
	}
}

// isWord are the words that can follow "from" and "to" without being a host.
var isWord = map[string]bool{"port": true, "from": true, "to": true, "over": true, "of": true}

var rejectNames = [...]string{"port-unreachable", "host-unreachable", "prohibited"}

// ordinal returns 1st, 2nd, 3rd, 4th, 11th, 21st, …
func ordinal(n uint64) string {
	suffix := "th"
	if n/10%10 != 1 {
		switch n % 10 {
		case 1:
			suffix = "st"
		case 2:
			suffix = "nd"
		case 3:
			suffix = "rd"
		}
	}
	return strconv.FormatUint(n, 10) + suffix
}

// A RuleError tells what is wrong with the text of a rule.
type RuleError struct {
	Text     string
	Column   int    // in bytes, from 1; behind the last where something is missing
	Found    string // the word there; empty at the end of the text
	Expected string // what could have been there
}

func (e *RuleError) Error() string {
	found := strconv.Quote(e.Found)
	if e.Found == "" {
		found = "the end"
	}
	return fmt.Sprintf("rule %q: column %d: found %s, expected %s", e.Text, e.Column, found, e.Expected)
}

// ParseRule parses a rule, which is one line:
//
//	rule    = action [ which ] [ kind ] { where }
//	action  = "drop" | "accept" | "duplicate" | "corrupt"
//	        | "delay" duration [ "-" duration ]
//	        | "reject" [ "with" answer ]
//	answer  = "port-unreachable" | "host-unreachable" | "prohibited"
//	which   = "first" [ number ] | nth [ "-" nth ] | "every" nth | "after" nth | percentage
//	kind    = "udp" | "icmp" | "tcp" | "tcp data" | "syn" | "syn-ack" | "ack" | "fin" | "rst"
//	where   = "port" ports              either end has one of these ports
//	        | "from" end | "to" end     each once, and so for the others
//	        | "over" number "bytes"     of payload
//	        | "of each flow"            which counts the packets of each flow by themselves
//	end     = host [ "port" ports ] | "port" ports
//	ports   = range { "," range }
//	range   = number [ "-" number ]
//
// Words stand apart by spaces, but a range has none. A duration is one of Go, such
// as 200ms; nth is 1st, 2nd, 3rd, and so on; a percentage is 10% or 0.5%. A host
// that is called like a word of the grammar stands in quotes. Without which, the
// rule is for all packets of its kind. The kind syn is SYN without ACK, tcp data
// are segments with payload, ack are those with neither payload nor another flag.
// Retransmissions count as packets. A flow is what has one protocol, source and
// destination, each with its port.
//
// A percentage and a delay that varies draw from the stream "net", and only for
// packets that the rule is about. The error is a [*RuleError].
func ParseRule(text string) (*Rule, error) {
	p := &ruleParser{text: text}
	p.next()
	r := &Rule{first: 1, last: never, percent: 100, over: -1}
	if p.rule(r); p.err != nil {
		return nil, p.err
	}
	return r, nil
}

// A ruleParser reads words. After an error it reads none.
type ruleParser struct {
	text string
	at   int    // of the word that comes next
	word string // which is this; empty at the end
	err  *RuleError
}

// next moves on to the next word.
func (p *ruleParser) next() {
	p.at += len(p.word)
	for p.at < len(p.text) && p.text[p.at] == ' ' {
		p.at++
	}
	end := p.at
	for end < len(p.text) && p.text[end] != ' ' {
		end++
	}
	p.word = p.text[p.at:end]
}

// fail says that something else should stand at an offset within the word.
func (p *ruleParser) fail(offset int, expected string) {
	if p.err == nil {
		p.err = &RuleError{Text: p.text, Column: p.at + offset + 1, Found: p.word[offset:], Expected: expected}
	}
	p.at, p.word = len(p.text), ""
}

// take moves on if the next word is the one given.
func (p *ruleParser) take(word string) bool {
	if p.err != nil || p.word != word {
		return false
	}
	p.next()
	return true
}

const (
	wantWhich = "which (first, 2nd, 1st-3rd, every 5th, after 3rd, 10%)"
	wantKind  = "a kind of packets (udp, tcp, tcp data, icmp, syn, syn-ack, ack, fin, rst)"
	wantWhere = "port, from, to, over, of"
)

func (p *ruleParser) rule(r *Rule) {
	p.action(r)
	which := p.which(r)
	if kind := p.kind(r); !kind && p.word != "" && !isWord[p.word] {
		expected := wantKind + ", " + wantWhere + " or the end"
		if !which {
			expected = wantWhich + ", " + expected
		}
		p.fail(0, expected)
	}
	seen := map[string]bool{}
	for p.err == nil && p.word != "" {
		word := p.word
		switch {
		case !isWord[word]:
			p.fail(0, wantWhere+" or the end")
		case seen[word]:
			p.fail(0, "no second "+word)
		}
		seen[word] = true
		switch {
		case p.take("port"):
			r.ports = p.ports()
		case p.take("from"):
			r.from = p.end()
		case p.take("to"):
			r.to = p.end()
		case p.take("over"):
			r.over = int(p.number(0, 65535, "how many bytes, at most 65535"))
			if !p.take("bytes") {
				p.fail(0, "bytes")
			}
		case p.take("of"):
			if !p.take("each") || !p.take("flow") {
				p.fail(0, "of each flow")
			}
			r.flow = true
		}
	}
}

func (p *ruleParser) action(r *Rule) {
	switch {
	case p.take("drop"):
		r.verdict = Drop
	case p.take("accept"):
		r.verdict = Accept
	case p.take("duplicate"):
		r.verdict = Duplicate
	case p.take("corrupt"):
		r.verdict = Corrupt
	case p.take("delay"):
		p.delay(r)
	case p.take("reject"):
		r.verdict = Reject
		if p.take("with") {
			for i, name := range rejectNames {
				if p.take(name) {
					r.verdict.why = unreachable(i) + 1
					return
				}
			}
			p.fail(0, strings.Join(rejectNames[:], ", "))
		}
	default:
		p.fail(0, "an action (drop, delay, duplicate, corrupt, reject, accept)")
	}
}

func (p *ruleParser) delay(r *Rule) {
	const expected = "a duration such as 200ms"
	low, high, varies := strings.Cut(p.word, "-")
	d, err := time.ParseDuration(low)
	if err != nil || d < 0 {
		p.fail(0, expected)
		return
	}
	r.verdict = Delay(d)
	if varies {
		up, err := time.ParseDuration(high)
		if err != nil || up <= d {
			p.fail(len(low)+1, fmt.Sprintf("a duration above %v", d))
			return
		}
		r.upTo = up
	}
	p.next()
}

// which reads which packets the rule picks, if that is what stands there.
func (p *ruleParser) which(r *Rule) bool {
	switch {
	case p.err != nil:
		return false
	case p.take("first"):
		r.last = 1
		if p.word != "" && isDigit(p.word[0]) {
			r.last = p.number(1, never-1, "how many")
		}
	case p.take("every"):
		r.every = p.nth(p.word, 0, 1)
		p.next()
	case p.take("after"):
		r.first = p.nth(p.word, 0, 1) + 1
		p.next()
	case strings.HasSuffix(p.word, "%"):
		f, err := strconv.ParseFloat(strings.TrimSuffix(p.word, "%"), 64)
		if err != nil || !(f > 0 && f <= 100) {
			p.fail(0, "a percentage above 0 and up to 100")
			return true
		}
		r.percent = f
		p.next()
	case p.word != "" && isDigit(p.word[0]):
		low, high, isRange := strings.Cut(p.word, "-")
		r.first = p.nth(low, 0, 1)
		r.last = r.first
		if isRange {
			r.last = p.nth(high, len(low)+1, r.first)
		}
		p.next()
	default:
		return false
	}
	return true
}

// nth reads a number such as 3rd, which stands at an offset within the word.
func (p *ruleParser) nth(s string, offset int, least uint64) uint64 {
	digits := strings.TrimRight(s, "stndrh")
	n, err := strconv.ParseUint(digits, 10, 63)
	switch {
	case p.err != nil:
	case err != nil || n == 0:
		p.fail(offset, "a number such as 1st, 2nd, 3rd")
	case s != ordinal(n):
		p.fail(offset, ordinal(n))
	case n < least:
		p.fail(offset, ordinal(least)+" or later")
	}
	return n
}

func (p *ruleParser) kind(r *Rule) bool {
	if p.err != nil {
		return false
	}
	if p.word == "icmp" && r.verdict.what == reject {
		p.fail(0, "another kind, or another action: nobody answers an ICMP error")
		return true
	}
	if p.take("tcp") {
		if r.kind = kindTCP; p.take("data") {
			r.kind = kindData
		}
		return true
	}
	for k, name := range kindNames {
		if name != "" && p.take(name) {
			r.kind = kind(k)
			return true
		}
	}
	return false
}

// canName tells whether a host, NAT or name server can be called so.
func canName(name string) bool { return name == NameServer || checkName(name) == "" }

func (p *ruleParser) end() (e end) {
	switch {
	case p.word == "":
		p.fail(0, "a host, or port")
	case p.word[0] == '"':
		name, err := strconv.Unquote(p.word)
		if err != nil || !canName(name) {
			p.fail(0, "a host's name in quotes")
			return e
		}
		e.host = name
		p.next()
	case !isWord[p.word]:
		if !canName(p.word) {
			p.fail(0, "a host, or port")
			return e
		}
		e.host = p.word
		p.next()
	case p.word != "port":
		p.fail(0, "a host, or port")
	}
	if p.take("port") {
		e.ports = p.ports()
	}
	return e
}

func (p *ruleParser) ports() (s ports) {
	const expected = "ports such as 53, 8000-8100 or 80,443"
	if p.word == "" {
		p.fail(0, expected)
		return nil
	}
	offset := 0
	for part := range strings.SplitSeq(p.word, ",") {
		low, high, isRange := strings.Cut(part, "-")
		a, err := strconv.ParseUint(low, 10, 16)
		if err != nil {
			p.fail(offset, expected)
			return nil
		}
		b := a
		if isRange {
			if b, err = strconv.ParseUint(high, 10, 16); err != nil || b < a {
				p.fail(offset+len(low)+1, fmt.Sprintf("a port from %d to 65535", a))
				return nil
			}
		}
		s = append(s, [2]uint16{uint16(a), uint16(b)})
		offset += len(part) + 1
	}
	p.next()
	return s
}

// number reads a plain number.
func (p *ruleParser) number(low, high uint64, expected string) uint64 {
	n, err := strconv.ParseUint(p.word, 10, 64)
	if err != nil || n < low || n > high {
		p.fail(0, expected)
		return 0
	}
	p.next()
	return n
}

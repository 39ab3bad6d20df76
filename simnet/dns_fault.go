package simnet

import (
	"fmt"
	"time"

	"github.com/dstkit/dst/sched"
)

// A DNSFault says how the name server fails, and for which queries: those for which
// Host, Name and Type hold.
type DNSFault struct {
	Host string // that asks; "" is any
	Name string // that is asked for; "*.example.com" is any below example.com; "" is any
	Type string // that is asked for: "AAAA"; "" is any

	// Chance that a query meets the fault; 0 is always. It is drawn for each
	// query from the stream "net".
	Chance float64

	// Delay is how much later than at once the answer leaves.
	Delay Dist

	// Answer is what whoever asks gets; the zero value is the right answer.
	Answer DNSAnswer

	name dnsName // of Name, folded
	wild bool
	typ  dnsType
}

// A DNSAnswer is a kind of answer, right or wrong.
type DNSAnswer uint8

// What a resolver makes of each is a table in the package documentation.
const (
	DNSRight     DNSAnswer = iota // the right answer
	DNSServFail                   // the code SERVFAIL: the server has trouble of its own
	DNSRefused                    // the code REFUSED
	DNSNotImp                     // the code NOTIMP
	DNSFormErr                    // the code FORMERR
	DNSNXDomain                   // the code NXDOMAIN: no such name
	DNSNoData                     // no records, and no error: the name has none of that type
	DNSSilent                     // no answer
	DNSTruncated                  // over UDP, that the answer is too large: ask again over TCP
	DNSWrongID                    // the right answer to another query
	DNSGarbage                    // an answer that breaks off within its records
)

var answerNames = [...]string{"right", "SERVFAIL", "REFUSED", "NOTIMP", "FORMERR", "NXDOMAIN", "NODATA", "silent", "truncated", "wrong id", "garbage"}

func (a DNSAnswer) String() string {
	if int(a) < len(answerNames) {
		return answerNames[a]
	}
	return fmt.Sprintf("DNSAnswer(%d)", uint8(a))
}

var answerCodes = [...]int{DNSServFail: rcodeServFail, DNSRefused: rcodeRefused, DNSNotImp: rcodeNotImp, DNSFormErr: rcodeFormErr, DNSNXDomain: rcodeNXDomain, DNSNoData: rcodeOK}

// String shows what differs from no fault.
func (f DNSFault) String() string {
	s := f.Answer.String()
	if f.Delay != nil {
		s += fmt.Sprintf(", delay %v", f.Delay)
	}
	if f.Chance != 0 {
		s += fmt.Sprintf(", chance %v", f.Chance)
	}
	for _, of := range [...][2]string{{"type", f.Type}, {"name", f.Name}, {"host", f.Host}} {
		if of[1] != "" {
			s += fmt.Sprintf(", %s %s", of[0], of[1])
		}
	}
	return s
}

// Fail makes the server fail, until Recover or [Network.Heal]. A query meets the fault made last of those
// that it fits, with that one's chance, and no other. It panics if the fault makes no sense.
func (d *DNS) Fail(f DNSFault) {
	if !(f.Chance >= 0 && f.Chance <= 1) {
		panic(fmt.Sprintf("simnet: DNS.Fail: Chance is %v, must be between 0 and 1", f.Chance))
	}
	if int(f.Answer) >= len(answerNames) {
		panic(fmt.Sprintf("simnet: DNS.Fail: Answer is %v, which is none", f.Answer))
	}
	if f.Answer == DNSRight && f.Delay == nil {
		panic("simnet: DNS.Fail: the fault has neither an Answer nor a Delay")
	}
	sched.Enter()
	defer sched.Leave()
	if f.Host != "" {
		d.n.host("DNS.Fail", f.Host)
	}
	if f.Type != "" {
		f.typ = d.typ("Fail", f.Type)
	}
	if f.Name != "" {
		f.name = d.name("Fail", f.Name).fold()
		if f.wild = f.name[0] == 1 && f.name[1] == '*'; f.wild {
			f.name = f.name.parent()
		}
	}
	d.faults = append(d.faults, f)
	// A Dist may print as an address, which differs from run to run.
	d.told(faultDNSFail, fmt.Sprint(f.Answer, f.name, f.typ, f.Host), "dns fails: %v", f)
}

// Recover undoes Fail. Answers that are late stay late.
func (d *DNS) Recover() {
	sched.Enter()
	defer sched.Leave()
	d.faults = nil
	d.told(faultDNSRecover, "", "dns recovers")
}

// Stop ends the server's process: its port is closed, and queries are refused
// (ECONNREFUSED) until Start or [Network.Heal]. What it has not answered yet it
// forgets; connections end. Records stay.
func (d *DNS) Stop() {
	sched.Enter()
	defer sched.Leave()
	d.server.stop()
	d.told(faultDNSStop, "", "dns stops")
}

// Start starts the server again.
func (d *DNS) Start() {
	sched.Enter()
	defer sched.Leave()
	d.server.start()
	d.told(faultDNSStart, "", "dns starts")
}

// heal undoes all faults, as part of [Network.Heal].
func (d *DNS) heal() {
	d.faults = nil
	d.server.stack.down, d.server.stack.flap = false, false
	d.server.stack.refresh()
	d.server.start()
}

// fault returns the fault that a query meets, or nil.
func (d *DNS) fault(host string, q dnsQuestion) *DNSFault {
	name := q.name.fold()
	for i := len(d.faults) - 1; i >= 0; i-- {
		f := &d.faults[i]
		switch {
		case f.Host != "" && f.Host != host:
		case f.typ != 0 && f.typ != q.typ:
		case f.wild && !name.below(f.name):
		case f.name != "" && !f.wild && f.name != name:
		case f.Chance != 0 && !d.n.net.Chance(f.Chance):
			return nil
		default:
			return f
		}
	}
	return nil
}

// respond answers one query of a host. A nil answer is silence.
func (d *DNS) respond(query []byte, host string, tcp bool) (answer []byte, delay time.Duration) {
	d.counters.Queries++
	if tcp {
		d.counters.TCP++
	}
	a := readQuery(query)
	if a == nil {
		d.counters.Malformed++
		return nil, 0
	}
	if len(a.questions) == 0 {
		d.counters.Malformed++
		d.counters.Errors++
		return a.bytes(tcp), 0
	}
	q := a.questions[0]
	d.count(host, q.name)
	fault := d.fault(host, q)
	kind := DNSRight
	if fault != nil {
		d.counters.Faults++
		if kind = fault.Answer; fault.Delay != nil {
			delay = max(0, fault.Delay.Draw(d.n.net))
		}
	}
	switch {
	case kind == DNSSilent:
		d.counters.Silent++
		return nil, 0
	case !a.asked:
	case DNSServFail <= kind && kind <= DNSNoData:
		if soa, ok := d.records().soa(q.name); ok && (kind == DNSNXDomain || kind == DNSNoData) {
			a.authority = []dnsRecord{soa}
		}
		a.code(answerCodes[kind])
	default:
		a.resolve(d.records())
	}
	if kind == DNSTruncated && !tcp {
		a.limit = 0
	}
	answer = a.bytes(tcp)
	d.counters.outcome(a)
	switch kind {
	case DNSWrongID:
		answer[0] ^= 0x80
	case DNSGarbage:
		answer = garble(answer, q)
	}
	return answer, delay
}

// garble keeps an answer's header and question, and claims that a record follows.
func garble(b []byte, q dnsQuestion) []byte {
	b = b[:dnsHeader+len(q.name)+4]
	copy(b[6:], []byte{0, 1, 0, 0, 0, 0})
	return append(b, 0xff, 0xff, 0xff)
}

func (c *DNSCounters) outcome(a *dnsReply) {
	switch code := a.flags & 0xf; {
	case a.flags&dnsTruncatedFlag != 0:
		c.Truncated++
	case code == rcodeNXDomain:
		c.NXDomain++
	case code != rcodeOK || !a.asked:
		c.Errors++
	case len(a.answers) > 0 && a.answers[len(a.answers)-1].typ != typeCNAME || a.questions[0].typ == typeCNAME && len(a.answers) > 0:
		c.NoError++
	default:
		c.NoData++
	}
}

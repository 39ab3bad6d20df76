package simnet

import (
	"fmt"
	"hash/fnv"
	"io"
	"net/netip"

	"github.com/dstkit/dst/sched"
)

const (
	// NameServer is the name by which the network's name server is given to
	// [Network.Partition], [Network.SetLink] and so on. No host can have it.
	NameServer = "dns"

	// Domain is the domain of the hosts, which each host's resolver searches.
	Domain = "sim.internal"
)

var (
	nameServer4 = netip.AddrFrom4([4]byte{10, 0, 255, 53})
	nameServer6 = netip.AddrFrom16([16]byte{0: 0xfd, 13: 0xff, 15: 0x53})
)

// serverIndex is the name server's place behind all hosts.
const serverIndex = maxHosts

// A DNS is the network's name server: see "Names" in the package documentation.
// Its methods may be called from any goroutine.
//
// Names are absolute, with or without the dot at the end, in any case; one without
// any other dot is short for one in [Domain]: "db" is db.sim.internal.
type DNS struct {
	n        *Network
	zone     *zone
	hosts    int // of the network, that have records
	faults   []DNSFault
	counters DNSCounters
	asked    map[asked]uint64
	server   server
}

// asked is who asked for what; "" is any.
type asked struct {
	host string
	name dnsName
}

// DNS returns the network's name server, to change records and make faults.
func (n *Network) DNS() *DNS {
	sched.Enter()
	defer sched.Leave()
	return n.nameServer()
}

// nameServer returns the server, which is there from when it is first needed.
func (n *Network) nameServer() *DNS {
	if n.dns == nil {
		s := n.newStack(NameServer, serverIndex, nameServer4, nameServer6)
		s.id = serverID
		n.dns = &DNS{n: n, asked: map[asked]uint64{}}
		n.dns.server.init(n.dns, s)
		n.w.Name(serverID, NameServer)
	}
	return n.dns
}

// records returns the records, with those of all hosts there are.
func (d *DNS) records() *zone {
	if d.zone == nil {
		d.zone = newZone()
		for _, line := range []string{
			". 86400 SOA dns hostmaster 1 3600 600 86400 60",
			". 86400 NS dns",
			Domain + ". 86400 SOA dns hostmaster 1 3600 600 86400 60",
			Domain + ". 86400 NS dns",
			"localhost. 86400 A 127.0.0.1", // RFC 6761 section 6.3
			"localhost. 86400 AAAA ::1",
		} {
			r, err := parseRecord(line)
			if err != nil {
				panic("simnet: " + err.Error())
			}
			d.zone.add(r)
		}
		d.addHost(d.server.stack)
	}
	for ; d.hosts < len(d.n.stacks); d.hosts++ {
		d.addHost(d.n.stacks[d.hosts])
	}
	return d.zone
}

// addHost adds the records of a host's own, where no CNAME is in the way.
func (d *DNS) addHost(s *Stack) {
	name, err := parseName(s.name + "." + Domain)
	if err != nil {
		return // such as a..b
	}
	for _, a := range [...]netip.Addr{s.addr, s.addr6} {
		typ := typeA
		if a.Is6() {
			typ = typeAAAA
		}
		d.zone.add(dnsRecord{name, typ, classIN, defaultRecordTTL, string(a.AsSlice())})
		d.zone.add(dnsRecord{reverse(a), typePTR, classIN, defaultRecordTTL, string(name)})
	}
}

// Addr returns the server's IPv4 address, 10.0.255.53.
func (d *DNS) Addr() netip.Addr { return nameServer4 }

// Addr6 returns the server's IPv6 address, fd00::ff:53.
func (d *DNS) Addr6() netip.Addr { return nameServer6 }

// parse reads a record that a test gives.
func (d *DNS) parse(call, line string) dnsRecord {
	r, err := parseRecord(line)
	if err != nil {
		panic(fmt.Sprintf("simnet: DNS.%s: record %q: %v", call, line, err))
	}
	return r
}

// Add adds records, each written as a line of a master file (RFC 1035 section 5):
// name, TTL in seconds (60 if there is none), type, data.
//
//	db 30 A 10.0.0.2
//	*.apps.example.com AAAA fd00::3
//	www.example.com CNAME db
//	_http._tcp.example.com SRV 0 5 80 web
//	example.com MX 10 mail
//	example.com TXT "v=spf1 -all"
//
// Answers have the records of a name in the order in which they were added. A record that
// is there already gets the TTL. A string of a TXT record that is longer than 255 bytes is split.
// Add panics if a line is not a record, or if a CNAME would not be its name's only one.
func (d *DNS) Add(records ...string) {
	sched.Enter()
	defer sched.Leave()
	z := d.records()
	for _, line := range records {
		r := d.parse("Add", line)
		if !z.add(r) {
			panic(fmt.Sprintf("simnet: DNS.Add: record %q: %v has other records already, and a CNAME stands alone; Replace removes them", line, r.name))
		}
		d.told(faultDNSRecords, r.String(), "dns adds %s", r.String())
	}
}

// Replace removes the records that have a name and type of those given, and
// adds these. A CNAME replaces all records of its name, and all replace a CNAME. It
// panics as Add does.
func (d *DNS) Replace(records ...string) {
	sched.Enter()
	defer sched.Leave()
	z := d.records()
	all := make([]dnsRecord, len(records))
	for i, line := range records {
		all[i] = d.parse("Replace", line)
	}
	for _, r := range all {
		z.remove(r.name, func(o *dnsRecord) bool { return o.typ == r.typ || o.typ == typeCNAME || r.typ == typeCNAME })
	}
	for i, r := range all {
		if !z.add(r) {
			panic(fmt.Sprintf("simnet: DNS.Replace: record %q: a CNAME stands alone", records[i]))
		}
		d.told(faultDNSRecords, r.String(), "dns has %s", r.String())
	}
}

// Remove removes the records of a name, of the types given ("A", "TXT") or all,
// and tells how many there were. It panics if a type is none.
func (d *DNS) Remove(name string, types ...string) int {
	sched.Enter()
	defer sched.Leave()
	n := d.name("Remove", name)
	var typ []dnsType
	for _, t := range types {
		typ = append(typ, d.typ("Remove", t))
	}
	removed := d.records().remove(n, func(r *dnsRecord) bool {
		for _, t := range typ {
			if t == r.typ {
				return true
			}
		}
		return len(typ) == 0
	})
	what := fmt.Sprint(n, " ", types)
	d.told(faultDNSRecords, what, "dns removes %s", what)
	return removed
}

// Records returns the records of a name, in the form that Add takes.
func (d *DNS) Records(name string) (all []string) {
	sched.Enter()
	defer sched.Leave()
	if n := d.records().nodes[d.name("Records", name).fold()]; n != nil {
		for _, r := range n.records {
			all = append(all, r.String())
		}
	}
	return all
}

// Rotate lets each answer begin with the next of a name's records, as many
// servers do to spread load. Without it the order stays the same.
func (d *DNS) Rotate(on bool) {
	sched.Enter()
	defer sched.Leave()
	d.records().rotate = on
	d.told(faultDNSRecords, fmt.Sprint(on), "dns rotates: %v", on)
}

func (d *DNS) name(call, s string) dnsName {
	n, err := absolute(s)
	if err != nil {
		panic(fmt.Sprintf("simnet: DNS.%s: %v", call, err))
	}
	return n
}

func (d *DNS) typ(call, s string) dnsType {
	t, ok := parseType(s)
	if !ok {
		panic(fmt.Sprintf("simnet: DNS.%s: %q is not a type of records, such as A, AAAA, TXT or TYPE65", call, s))
	}
	return t
}

// told adds what the test did to the trace, where a hash of what stands for it, and
// to the journal.
func (d *DNS) told(kind faultKind, what, format string, args ...any) {
	h := fnv.New64a()
	io.WriteString(h, what)
	d.n.w.Note(sched.KindFault, serverID, uint64(kind)<<56|h.Sum64()>>8)
	d.n.tell(format, args...)
}

// serverID is the server's number in the trace.
const serverID = serverIndex + 1

// DNSCounters tell what became of the queries that reached the server.
type DNSCounters struct {
	Queries   uint64 // reached the server
	TCP       uint64 // of these, over TCP
	Malformed uint64 // of these, were none that has one question
	NoError   uint64 // answered with records
	NoData    uint64 // answered that the name has no such records
	NXDomain  uint64 // answered that there is no such name
	Truncated uint64 // answered that the answer is too large for UDP
	Errors    uint64 // answered with another code
	Faults    uint64 // met a DNSFault
	Silent    uint64 // of these, were not answered
}

// Counters returns what became of the queries.
func (d *DNS) Counters() DNSCounters {
	sched.Enter()
	defer sched.Leave()
	return d.counters
}

// Asked tells how often a host ("" for any) has asked for a name ("" for any),
// whatever the type. It counts queries that reached the server: std asks for A and
// AAAA records, and each name that a search list makes, one by one.
func (d *DNS) Asked(host, name string) uint64 {
	sched.Enter()
	defer sched.Leave()
	if host != "" {
		d.n.host("DNS.Asked", host)
	}
	k := asked{host: host}
	if name != "" {
		k.name = d.name("Asked", name).fold()
	}
	return d.asked[k]
}

func (d *DNS) count(host string, name dnsName) {
	name = name.fold()
	for _, k := range [...]asked{{host, name}, {host, ""}, {"", name}, {"", ""}} {
		d.asked[k]++
	}
}

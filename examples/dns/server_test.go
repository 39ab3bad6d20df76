package dns

import (
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/miekg/dns"
)

// A flaw is a mistake that somebody might make with a name server or a client.
type flaw int

const (
	none        flaw = iota
	applyAsRead      // a secondary takes each part of a transfer into the zone at once
	anySerial        // a secondary takes a zone that is older than its own
	trustAnyID       // a client takes whatever answer comes first
	noTCP            // a client takes a truncated answer for a whole one
	neverAgain       // a secondary does not try again when a transfer has failed
)

const (
	zoneName = "example.test."
	records  = 120 // of a zone; each in its own message of a transfer
	refresh  = 5 * time.Second
	retry    = 2 * time.Second
)

// A zone is what a server knows at one time. All its addresses tell its serial, so that
// one that is mixed shows.
type zone struct {
	serial uint32
	rrs    map[string][]dns.RR // by name
}

// host returns the name of the zone's host i, which has one address.
func host(i int) string { return fmt.Sprintf("h%d.%s", i, zoneName) }

// many is a name with so many addresses that they do not fit into a datagram.
const many, manyCount = "many." + zoneName, 60

// address is what host i has in the version of the zone with that serial.
func address(i int, serial uint32) net.IP {
	return net.IPv4(10, byte(serial), byte(i>>8), byte(i))
}

// version makes the version of the zone with that serial.
func version(serial uint32) *zone {
	z := &zone{serial: serial, rrs: map[string][]dns.RR{}}
	add := func(name string, i int) {
		z.rrs[name] = append(z.rrs[name], &dns.A{Hdr: dns.RR_Header{Name: name, Rrtype: dns.TypeA, Class: dns.ClassINET, Ttl: 60}, A: address(i, serial)})
	}
	for i := range records - manyCount {
		add(host(i), i)
	}
	for i := range manyCount {
		add(many, i)
	}
	return z
}

func (z *zone) soa() dns.RR {
	return &dns.SOA{Hdr: dns.RR_Header{Name: zoneName, Rrtype: dns.TypeSOA, Class: dns.ClassINET, Ttl: 60},
		Ns: "ns." + zoneName, Mbox: "hostmaster." + zoneName, Serial: z.serial, Refresh: 5, Retry: 2, Expire: 3600, Minttl: 60}
}

// A server answers for a zone.
type server struct {
	flaw
	wait time.Duration     // before each message of a transfer
	news func(from uint32) // if not nil, is called when the zone has changed

	mu   sync.Mutex
	zone *zone // nil: not known yet
}

func (s *server) get() *zone {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.zone
}

func (s *server) set(z *zone) {
	s.mu.Lock()
	was := s.zone
	s.zone = z
	s.mu.Unlock()
	if s.news != nil && was != nil {
		s.news(was.serial)
	}
}

// ServeDNS answers a question, or sends the zone.
func (s *server) ServeDNS(w dns.ResponseWriter, q *dns.Msg) {
	m := new(dns.Msg)
	z := s.get()
	name, kind := q.Question[0].Name, q.Question[0].Qtype
	_, udp := w.RemoteAddr().(*net.UDPAddr)
	switch {
	case z == nil:
		m.SetRcode(q, dns.RcodeServerFailure)
	case kind == dns.TypeAXFR && !udp:
		s.transfer(w, q, z)
		return
	case kind == dns.TypeSOA && name == zoneName:
		m.SetReply(q)
		m.Answer = []dns.RR{z.soa()}
	default:
		m.SetReply(q)
		s.mu.Lock()
		if kind == dns.TypeA {
			m.Answer = append([]dns.RR(nil), z.rrs[name]...)
		}
		if len(z.rrs[name]) == 0 {
			m.Rcode = dns.RcodeNameError
		}
		m.Ns = []dns.RR{z.soa()} // so that who asks knows which version it is
		s.mu.Unlock()
	}
	m.Authoritative = true
	if udp {
		size := dns.MinMsgSize
		if opt := q.IsEdns0(); opt != nil {
			size = int(opt.UDPSize())
			m.SetEdns0(1232, false)
		}
		m.Truncate(size)
	}
	w.WriteMsg(m)
}

// transfer sends all of the zone, a record a message (RFC 5936).
func (s *server) transfer(w dns.ResponseWriter, q *dns.Msg, z *zone) {
	defer w.Close()
	out := make(chan *dns.Envelope)
	done := make(chan error, 1)
	go func() { done <- new(dns.Transfer).Out(w, q, out) }()
	send := func(rr dns.RR) bool {
		time.Sleep(s.wait)
		select {
		case out <- &dns.Envelope{RR: []dns.RR{rr}}:
			return true
		case <-done: // the connection has failed
			return false
		}
	}
	if !send(z.soa()) {
		return
	}
	for i := range records - manyCount {
		for _, rr := range z.rrs[host(i)] {
			if !send(rr) {
				return
			}
		}
	}
	for _, rr := range z.rrs[many] {
		if !send(rr) {
			return
		}
	}
	if send(z.soa()) {
		close(out)
		<-done
	}
}

// listen serves on UDP and TCP until one of them fails.
func (s *server) listen(addr string) error {
	failed := make(chan error, 2)
	for _, network := range []string{"udp", "tcp"} {
		srv := &dns.Server{Addr: addr, Net: network, Handler: s}
		go func() { failed <- srv.ListenAndServe() }()
	}
	return <-failed
}

// follow keeps a secondary's zone at the latest version of its primaries, which it asks
// in turn.
func (s *server) follow(primaries ...string) {
	for i := 0; ; i++ {
		wait := refresh
		if err := s.update(primaries[i%len(primaries)]); err != nil {
			if s.flaw == neverAgain && s.get() != nil {
				return
			}
			wait = retry
		}
		time.Sleep(wait)
	}
}

// update asks the primary for its version, and transfers it if it is a later one.
func (s *server) update(primary string) error {
	q := new(dns.Msg)
	q.SetQuestion(zoneName, dns.TypeSOA)
	a, _, err := new(dns.Client).Exchange(q, primary)
	if err != nil {
		return err
	}
	if len(a.Answer) != 1 {
		return fmt.Errorf("no version: %v", a)
	}
	soa, ok := a.Answer[0].(*dns.SOA)
	if !ok {
		return fmt.Errorf("no version: %v", a)
	}
	own := s.get()
	if own != nil && (soa.Serial == own.serial || soa.Serial < own.serial && s.flaw != anySerial) {
		return nil
	}
	q = new(dns.Msg)
	q.SetAxfr(zoneName)
	parts, err := new(dns.Transfer).In(q, primary)
	if err != nil {
		return err
	}
	z := &zone{rrs: map[string][]dns.RR{}}
	if s.flaw == applyAsRead {
		s.set(z)
	}
	soas := 0
	for part := range parts {
		if part.Error != nil {
			err = part.Error
			continue
		}
		s.mu.Lock()
		for _, rr := range part.RR {
			if soa, ok := rr.(*dns.SOA); ok {
				z.serial = soa.Serial
				soas++
			} else {
				name := rr.Header().Name
				z.rrs[name] = append(z.rrs[name], rr)
			}
		}
		s.mu.Unlock()
	}
	if err != nil {
		return err
	}
	if soas != 2 {
		return fmt.Errorf("the transfer had %d SOA records, want 2", soas)
	}
	s.set(z)
	return nil
}

// ask asks a server over UDP, again if nothing comes, and over TCP if the answer is
// truncated.
func ask(addr, name string, f flaw, edns bool) (*dns.Msg, error) {
	var err error
	for range 4 {
		q := new(dns.Msg)
		q.SetQuestion(name, dns.TypeA)
		if edns {
			q.SetEdns0(1232, false)
		}
		c := &dns.Client{Timeout: time.Second, UDPSize: 1232}
		var a *dns.Msg
		if a, _, err = c.Exchange(q, addr); err != nil {
			continue
		}
		if a.Truncated && f != noTCP {
			c.Net = "tcp"
			if a, _, err = c.Exchange(q, addr); err != nil {
				continue
			}
		}
		return a, nil
	}
	return nil, err
}

// An asker asks all its questions over one socket, as forwarders do, and tells what comes
// by its ID.
type asker struct {
	flaw
	conn *dns.Conn
}

func (a *asker) ask(name string) (*dns.Msg, error) {
	q := new(dns.Msg)
	q.SetQuestion(name, dns.TypeA)
	if a.flaw != trustAnyID {
		m, _, err := (&dns.Client{Timeout: 100 * time.Millisecond}).ExchangeWithConn(q, a.conn)
		return m, err
	}
	if err := a.conn.WriteMsg(q); err != nil {
		return nil, err
	}
	a.conn.SetReadDeadline(time.Now().Add(100 * time.Millisecond))
	return a.conn.ReadMsg()
}

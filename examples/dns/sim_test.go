//go:build dst

package dns

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dstkit/dst"
	"github.com/dstkit/dst/simnet"
	"github.com/miekg/dns"
)

var servers = []string{"primary", "second", "third"}

var usual = simnet.Link{
	Latency:   simnet.Uniform(time.Millisecond, 60*time.Millisecond),
	Loss:      0.05,
	Duplicate: 0.05,
	Reorder:   0.05,
}

// A day is one run, and what its oracle knows.
type day struct {
	w *dst.World
	flaw

	mu      sync.Mutex
	wrong   []string
	counts  map[string]int
	servers map[string]*server // those that run
	left    int
}

// fault notes that something happened that must not.
func (d *day) fault(format string, args ...any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.wrong = append(d.wrong, fmt.Sprintf(format, args...))
	d.w.Logf("WRONG: %s", d.wrong[len(d.wrong)-1])
}

func (d *day) count(what string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.counts[what]++
}

const serialFile = "/var/lib/serial"

// primary serves the version that its file tells, and looks at it every half a second.
func (d *day) primary() error {
	s := &server{flaw: d.flaw, wait: 2 * time.Millisecond}
	go func() {
		for {
			data, err := d.w.Host("primary").Disk().ReadFile(serialFile)
			if err != nil {
				d.w.Fatalf("%v", err)
			}
			serial, err := strconv.Atoi(string(data))
			if err != nil {
				d.w.Fatalf("%v", err)
			}
			if z := s.get(); z == nil || z.serial != uint32(serial) {
				s.set(version(uint32(serial)))
			}
			time.Sleep(500 * time.Millisecond)
		}
	}()
	d.runs("primary", s)
	return s.listen(":53")
}

// secondary follows its primaries.
func (d *day) secondary(name string, primaries ...string) error {
	s := &server{flaw: d.flaw, wait: 2 * time.Millisecond}
	s.news = func(from uint32) {
		if z := s.get(); z.serial < from {
			d.fault("%s went back from version %d to %d", name, from, z.serial)
		}
	}
	d.runs(name, s)
	go s.follow(primaries...)
	return s.listen(":53")
}

func (d *day) runs(name string, s *server) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.servers[name] = s
}

// verify checks an answer: it is to the question asked, and all of it is of one version.
func (d *day) verify(who, name string, a *dns.Msg) {
	if len(a.Question) != 1 || a.Question[0].Name != name {
		d.fault("%s asked for %s, and took an answer to %v", who, name, a.Question)
		return
	}
	if a.Rcode == dns.RcodeServerFailure {
		d.count("server failure")
		return
	}
	var ips []net.IP
	for _, rr := range a.Answer {
		ips = append(ips, rr.(*dns.A).A.To4())
	}
	d.count("answer")
	serial := d.addresses(who, name, ips)
	if len(a.Ns) == 1 && a.Ns[0].(*dns.SOA).Serial != serial {
		d.fault("%s asked for %s: an answer of version %d and %d", who, name, serial, a.Ns[0].(*dns.SOA).Serial)
	}
}

// addresses checks that these are the name's, all of one version, and returns that.
func (d *day) addresses(who, name string, ips []net.IP) (serial uint32) {
	want := []int{0}
	if name == many {
		want = nil
		for i := range manyCount {
			want = append(want, i)
		}
	} else {
		fmt.Sscanf(name, "h%d.", &want[0])
	}
	var got []int
	for _, ip := range ips {
		got = append(got, int(ip[2])<<8|int(ip[3]))
		if serial = uint32(ips[0][1]); uint32(ip[1]) != serial {
			d.fault("%s asked for %s: addresses of versions %d and %d", who, name, serial, ip[1])
		}
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		d.fault("%s asked for %s: addresses of %v, want %v", who, name, got, want)
	}
	return serial
}

// use asks so many questions in one way.
func (d *day) use(user string, how func(name string) error, questions int, most time.Duration) {
	rng := d.w.Rand()
	for range questions {
		name := host(rng.IntN(records - manyCount))
		if rng.IntN(4) == 0 {
			name = many
		}
		began := d.w.Elapsed()
		err := how(name)
		took := d.w.Elapsed() - began
		d.w.Logf("%s: %v after %v", name, err, took)
		if took > most {
			d.fault("%s asked for %s for %v, want at most %v: %v", user, name, took, most, err)
		}
		if err != nil {
			d.count(user + " failed")
		}
		time.Sleep(time.Duration(rng.IntN(500)) * time.Millisecond)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.left--
}

// users start all the users.
func (d *day) users() {
	any := func() string { return servers[d.w.Rand().IntN(len(servers))] }
	d.left = 3
	d.w.Host("client").Go(func() {
		d.use("client", func(name string) error {
			a, err := ask(any()+":53", name, d.flaw, d.w.Rand().IntN(2) == 0)
			if err == nil {
				d.verify("client", name, a)
			}
			return err
		}, 80, 4*3*time.Second) // over UDP, dialling TCP, over TCP
	})
	d.w.Host("forwarder").Go(func() {
		conn, err := dns.Dial("udp", any()+":53")
		if err != nil {
			d.w.Fatalf("%v", err)
		}
		a := &asker{d.flaw, conn}
		d.use("forwarder", func(string) error {
			name := host(d.w.Rand().IntN(records - manyCount))
			m, err := a.ask(name)
			if err == nil {
				d.verify("forwarder", name, m)
			}
			return err
		}, 120, 200*time.Millisecond)
	})
	std := d.w.Host("std")
	for file, content := range map[string]string{
		"/etc/resolv.conf":   fmt.Sprintf("nameserver %v\nnameserver %v\noptions timeout:1 attempts:2\n", d.w.Host("second").Addr(), d.w.Host("third").Addr()),
		"/etc/nsswitch.conf": "hosts: files dns\n",
	} {
		if err := errors.Join(std.Disk().Remove(file), std.Disk().WriteFile(file, []byte(content))); err != nil {
			d.w.Fatalf("%v", err)
		}
	}
	std.Go(func() {
		d.use("std", func(name string) error {
			ips, err := net.DefaultResolver.LookupIP(context.Background(), "ip4", strings.TrimSuffix(name, "."))
			if err == nil {
				for i := range ips {
					ips[i] = ips[i].To4()
				}
				d.addresses("std", name, ips)
			}
			return err
		}, 80, 2*2*2*time.Second+100*time.Millisecond) // attempts, servers, UDP and TCP
	})
}

// disturb lets one thing go wrong for a while, and returns what it was.
func (d *day) disturb() string {
	w, rng, net := d.w, d.w.Rand(), d.w.Net()
	pause := func() { time.Sleep(time.Duration(rng.Int64N(int64(6 * time.Second)))) }
	name := servers[rng.IntN(len(servers))]
	s := w.Host(name)
	other := servers[rng.IntN(len(servers))]
	down := func(kill func()) {
		kill()
		d.mu.Lock()
		delete(d.servers, name)
		d.mu.Unlock()
		pause()
		s.Restart()
	}
	switch rng.IntN(5) {
	case 0:
		net.Partition([]string{name})
		pause()
		net.Heal()
		return "partition"
	case 1:
		if name != other {
			net.Cut(name, other)
		}
		pause()
		net.Heal()
		return "one-way cut"
	case 2:
		down(s.Crash)
		return "crash"
	case 3:
		down(s.PowerLoss)
		return "loss of power"
	default:
		s.Pause()
		pause()
		s.Resume()
		return "pause"
	}
}

// A tally counts what happened in all runs.
type tally struct {
	runs, caught   int
	virtual        time.Duration
	counts, faults map[string]int
}

func (s *tally) report(t *testing.T, f flaw) {
	t.Logf("%d runs of %v, %d with something wrong; %v; faults %v", s.runs, s.virtual, s.caught, s.counts, s.faults)
	if f != none && s.runs >= 100 && s.caught == 0 {
		t.Error("the flaw was never caught")
	}
}

// An answer is to the question that was asked, and of one version of the zone. A
// secondary's version never goes back, and when all is well again, it is soon the
// primary's.
func zoneDay(w *dst.World, f flaw, s *tally) {
	d := &day{w: w, flaw: f, counts: map[string]int{}, servers: map[string]*server{}}
	w.Net().SetDefault(usual)
	serial := 1
	publish := func() {
		if err := w.Host("primary").Disk().WriteFile(serialFile, []byte(strconv.Itoa(serial))); err != nil {
			w.Fatalf("%v", err)
		}
		serial++
	}
	w.Host("primary")
	publish()
	w.Host("primary", d.primary)
	w.Host("second", func() error { return d.secondary("second", "primary:53") })
	w.Host("third", func() error { return d.secondary("third", "primary:53", "second:53") })
	d.users()
	for range 6 {
		time.Sleep(time.Duration(w.Rand().Int64N(int64(3 * time.Second))))
		publish()
		if s.faults == nil {
			s.faults, s.counts = map[string]int{}, map[string]int{}
		}
		s.faults[d.disturb()]++
	}
	w.HealAll()

	// The third asks the primary every second time; a transfer may fail a few times.
	const most = 30 * time.Second
	versions := func() (v [3]uint32) {
		d.mu.Lock()
		defer d.mu.Unlock()
		for i, name := range servers {
			if s := d.servers[name]; s != nil && s.get() != nil {
				v[i] = s.get().serial
			}
		}
		return v
	}
	want := [3]uint32{uint32(serial - 1), uint32(serial - 1), uint32(serial - 1)}
	for end := w.Elapsed() + most; versions() != want; time.Sleep(100 * time.Millisecond) {
		if w.Elapsed() > end {
			d.fault("not within %v: all serve version %d: %v", most, serial-1, versions())
			break
		}
	}
	left := func() int {
		d.mu.Lock()
		defer d.mu.Unlock()
		return d.left
	}
	for end := w.Elapsed() + 3*time.Minute; left() > 0; time.Sleep(100 * time.Millisecond) {
		if w.Elapsed() > end {
			d.fault("%d users are not done", left())
			break
		}
	}
	s.runs++
	s.virtual += w.Elapsed()
	for what, n := range d.counts {
		s.counts[what] += n
	}
	if len(d.wrong) > 0 {
		s.caught++
	}
	if f == none {
		for _, what := range d.wrong {
			w.Failf("%s", what)
		}
	}
}

func TestZone(t *testing.T) {
	var s tally
	dst.Run(t, func(w *dst.World) { zoneDay(w, none, &s) }, dst.Seeds(20))
	s.report(t, none)
	if s.runs >= 50 && len(s.faults) != 5 {
		t.Errorf("of 5 kinds of faults only these happened: %v", s.faults)
	}
}

// What the oracle has to find.
func TestZoneFlaws(t *testing.T) {
	for _, c := range []struct {
		name string
		flaw
	}{{"applyAsRead", applyAsRead}, {"anySerial", anySerial}, {"trustAnyID", trustAnyID}, {"noTCP", noTCP}, {"neverAgain", neverAgain}} {
		t.Run(c.name, func(t *testing.T) {
			var s tally
			dst.Run(t, func(w *dst.World) { zoneDay(w, c.flaw, &s) }, dst.Seeds(5))
			s.report(t, c.flaw)
		})
	}
}

//go:build dst

package dst_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/dstkit/dst"
	"github.com/dstkit/dst/simnet"
)

// seconds checks that f takes so long, up to the cost of its steps.
func seconds(w *dst.World, what string, want float64, f func()) {
	start := time.Now()
	f()
	if d := time.Since(start).Seconds(); d < want || d > want+0.05 {
		w.Fatalf("%s took %.3f s, want %v s", what, d, want)
	}
}

// lookupError checks what is said about a failed lookup: the fields that hold, and
// a part of the text.
func lookupError(w *dst.World, what string, err error, fields, text string) {
	var e *net.DNSError
	if !errors.As(err, &e) {
		w.Fatalf("%s: %v (%T), want a DNSError", what, err, err)
	}
	var is []string
	for _, f := range []struct {
		name string
		is   bool
	}{{"notfound", e.IsNotFound}, {"temporary", e.IsTemporary}, {"timeout", e.IsTimeout}} {
		if f.is {
			is = append(is, f.name)
		}
	}
	if s := strings.Join(is, " "); s != fields || !strings.Contains(err.Error(), text) {
		w.Fatalf("%s: %v (%s), want %q (%s)", what, err, s, text, fields)
	}
}

// looks checks what a name's addresses are.
func looks(w *dst.World, name, want string) {
	addrs, err := net.LookupHost(name)
	if s := strings.Join(addrs, " "); err != nil || s != want {
		w.Fatalf("%s is %s, %v; want %s", name, s, err, want)
	}
}

func TestNames(t *testing.T) {
	dst.Run(t, func(w *dst.World) {
		a := w.Host("a")
		w.Host("b")
		d := w.Net().DNS()
		long := strings.Repeat("0123456789", 200)
		d.Add(
			"db 30 A 10.0.0.9", "db A 10.0.0.8", "www.example.com CNAME DB", "six AAAA fd00::7", "*.apps.example.com A 10.0.0.7",
			"example.com MX 20 b", "example.com MX 10 a", `example.com TXT "one" "two"`, "example.com TXT three", "example.com NS ns1.example.com", "big.example.com TXT "+long,
			"_http._tcp.example.com SRV 20 0 81 b", "_http._tcp.example.com SRV 10 0 80 a",
			"1.2.0.192.in-addr.arpa PTR one.example.com", "1.2.0.192.in-addr.arpa PTR two.example.com",
		)
		is := func(what string, got any, err error, want string) {
			if s := fmt.Sprint(got); err != nil || s != want {
				w.Fatalf("%s: %s, %v; want %s", what, s, err, want)
			}
		}
		a.Do(func() {
			looks(w, "b", "10.0.0.2 fd00::2")
			if n := d.Counters().Queries; n != 0 {
				w.Fatalf("%d queries for a name in /etc/hosts", n)
			}
			looks(w, "b.sim.internal", "10.0.0.2 fd00::2")
			looks(w, "B.SIM.internal.", "10.0.0.2 fd00::2")
			looks(w, "db", "10.0.0.9 10.0.0.8")
			looks(w, "www.example.com", "10.0.0.9 10.0.0.8")
			looks(w, "six", "fd00::7")
			looks(w, "x.y.apps.example.com", "10.0.0.7")
			ctx, r := context.Background(), net.DefaultResolver
			ips, err := r.LookupIP(ctx, "ip4", "db")
			is("LookupIP", ips, err, "[10.0.0.9 10.0.0.8]")
			addrs, err := r.LookupNetIP(ctx, "ip6", "six")
			is("LookupNetIP", addrs, err, "[fd00::7]")
			_, err = r.LookupIP(ctx, "ip4", "six.sim.internal.")
			lookupError(w, "LookupIP of ip4", err, "notfound", "no such host")
			names, err := net.LookupAddr("192.0.2.1")
			is("LookupAddr", names, err, "[one.example.com. two.example.com.]")
			names, err = net.LookupAddr("10.0.255.53")
			is("LookupAddr of the server", names, err, "[dns.sim.internal.]")
			names, err = net.LookupAddr("fd00::2") // of /etc/hosts
			is("LookupAddr of a host", names, err, "[b]")
			_, err = net.LookupAddr("192.0.2.9")
			lookupError(w, "LookupAddr of nothing", err, "notfound", "lookup 9.2.0.192.in-addr.arpa. on 10.0.255.53:53: no such host")
			cname, err := net.LookupCNAME("www.example.com")
			is("LookupCNAME", cname, err, "DB.sim.internal.")
			mx, err := net.LookupMX("example.com")
			if len(mx) != 2 || *mx[0] != (net.MX{Host: "a.sim.internal.", Pref: 10}) || *mx[1] != (net.MX{Host: "b.sim.internal.", Pref: 20}) {
				w.Fatalf("LookupMX: %v, %v", mx, err)
			}
			ns, err := net.LookupNS("example.com")
			if len(ns) != 1 || ns[0].Host != "ns1.example.com." {
				w.Fatalf("LookupNS: %v, %v", ns, err)
			}
			cname, srv, err := net.LookupSRV("http", "tcp", "example.com")
			if cname != "_http._tcp.example.com." || len(srv) != 2 || *srv[0] != (net.SRV{Target: "a.sim.internal.", Port: 80, Priority: 10}) || srv[1].Port != 81 {
				w.Fatalf("LookupSRV: %s, %v, %v", cname, srv, err)
			}
			txt, err := net.LookupTXT("example.com")
			is("LookupTXT", txt, err, "[onetwo three]")
			if n := d.Counters().TCP; n != 0 {
				w.Fatalf("%d queries over TCP so far", n)
			}
			txt, err = net.LookupTXT("big.example.com")
			is("LookupTXT, over TCP", txt, err, "["+long+"]")
			if c := d.Counters(); c.TCP != 1 || c.Truncated != 1 {
				w.Fatalf("%+v, want one truncated, then TCP", c)
			}
			for _, name := range []string{"nobody", "nobody.example.com", "apps.example.com."} {
				_, err = net.LookupHost(name)
				lookupError(w, name, err, "notfound", "lookup "+name+" on 10.0.255.53:53: no such host")
			}
			// Each of the names that the search list makes, for A and AAAA.
			if n, m := d.Asked("a", "nobody"), d.Asked("", "nobody."); n != 2 || m != 2 {
				w.Fatalf("nobody was asked for %d, %d times", n, m)
			}
		})
	}, dst.Seeds(3))
}

// A client finds the service by its name, again and again; the name moves.
func TestNamesFailover(t *testing.T) {
	dst.Run(t, func(w *dst.World) {
		serve := func(name string) func() error {
			return serveTCP(":80", func(c *net.TCPConn) { fmt.Fprint(c, name) })
		}
		w.Host("a", serve("a"))
		w.Host("b", serve("b"))
		client := w.Host("client")
		w.Net().SetDefault(wan)
		d := w.Net().DNS()
		d.Add("web.example.com 5 A 10.0.0.1")
		answers := func() string {
			var s string
			client.Do(func() {
				var c net.Conn
				for try := 0; c == nil; try++ { // a query may be lost in both attempts
					var err error
					if c, err = net.DialTimeout("tcp", "web.example.com:80", 30*time.Second); err != nil && try == 5 {
						w.Fatalf("%v", err)
					}
				}
				defer c.Close()
				buf := make([]byte, 10)
				n, _ := c.Read(buf)
				s = string(buf[:n])
			})
			return s
		}
		if s := answers(); s != "a" {
			w.Failf("%q answers, want a", s)
		}
		w.Host("a").PowerLoss()
		d.Replace("web.example.com 5 A 10.0.0.2")
		if s := answers(); s != "b" {
			w.Failf("%q answers, want b", s)
		}
		// Of two addresses the first is dark: the next is tried.
		d.Replace("web.example.com 5 A 10.0.0.1", "web.example.com 5 A 10.0.0.2")
		if s := answers(); s != "b" {
			w.Failf("%q answers, want b", s)
		}
	}, dst.Seeds(5))
}

// A name has an address that is dark, and one of the other family: RFC 8305, "happy
// eyeballs", which std begins after 300 ms.
func TestNamesHappyEyeballs(t *testing.T) {
	dst.Run(t, func(w *dst.World) {
		w.Host("b", serveTCP(":80", echo))
		a := w.Host("a")
		d := w.Net().DNS()
		d.Add("web A 10.0.77.77", "web AAAA fd00::1", "web4 A 10.0.77.77", "web4 A 10.0.0.1", "six AAAA fd00::1")
		dial := func(name, want string) {
			c, err := net.Dial("tcp", name+":80")
			if err != nil {
				w.Fatalf("%s: %v", name, err)
			}
			defer c.Close()
			if s := c.RemoteAddr().String(); s != want {
				w.Fatalf("%s: connected to %s, want %s", name, s, want)
			}
		}
		a.Do(func() {
			time.Sleep(time.Second)
			seconds(w, "IPv6 only", 0, func() { dial("six", "[fd00::1]:80") })
			seconds(w, "the other family", 0.3, func() { dial("web", "[fd00::1]:80") })
			seconds(w, "the next address", 3, func() { dial("web4", "10.0.0.1:80") }) // no neighbour
		})
	}, dst.Seeds(3))
}

// What a resolver with std's defaults makes of each fault, with times.
func TestNamesFaults(t *testing.T) {
	type fault = simnet.DNSFault
	for _, c := range []struct {
		name    string
		fault   fault
		seconds float64
		fields  string // "": the lookup succeeds
		text    string
		queries uint64 // A and AAAA
		tcp     uint64
	}{
		{"none", fault{Host: "b", Answer: simnet.DNSSilent}, 0, "", "", 2, 0},
		{"silent", fault{Answer: simnet.DNSSilent}, 10, "temporary timeout", "i/o timeout", 4, 0},
		{"SERVFAIL", fault{Answer: simnet.DNSServFail}, 0, "temporary", "server misbehaving", 4, 0},
		{"REFUSED", fault{Answer: simnet.DNSRefused}, 0, "", "server misbehaving", 4, 0},
		{"NOTIMP", fault{Answer: simnet.DNSNotImp}, 0, "", "server misbehaving", 4, 0},
		{"FORMERR", fault{Answer: simnet.DNSFormErr}, 0, "", "server misbehaving", 4, 0},
		{"NXDOMAIN", fault{Answer: simnet.DNSNXDomain}, 0, "notfound", "no such host", 2, 0},
		{"no data", fault{Answer: simnet.DNSNoData}, 0, "notfound", "no such host", 2, 0},
		{"truncated", fault{Answer: simnet.DNSTruncated}, 0, "", "", 4, 2},
		{"wrong id", fault{Answer: simnet.DNSWrongID}, 10, "temporary timeout", "i/o timeout", 4, 0},
		{"garbage", fault{Answer: simnet.DNSGarbage}, 0, "", "cannot unmarshal DNS message", 4, 0},
		{"late", fault{Delay: simnet.Constant(3 * time.Second)}, 3, "", "", 2, 0},
		{"later than an attempt", fault{Delay: simnet.Constant(6 * time.Second)}, 10, "temporary timeout", "i/o timeout", 4, 0},
		{"late and wrong", fault{Delay: simnet.Constant(time.Second), Answer: simnet.DNSServFail}, 2, "temporary", "server misbehaving", 4, 0},
		{"no AAAA", fault{Type: "AAAA", Answer: simnet.DNSSilent}, 10, "", "", 3, 0}, // one family is enough, once the other has failed
	} {
		t.Run(strings.ReplaceAll(c.name, " ", "_"), func(t *testing.T) {
			dst.Run(t, func(w *dst.World) {
				a := w.Host("a")
				w.Host("b")
				d := w.Net().DNS()
				d.Add("x.example A 10.0.0.7")
				d.Fail(c.fault)
				a.Do(func() {
					var addrs []string
					var err error
					seconds(w, "the lookup", c.seconds, func() { addrs, err = net.LookupHost("x.example.") })
					if c.text == "" {
						if err != nil || fmt.Sprint(addrs) != "[10.0.0.7]" {
							w.Fatalf("%q, %v", addrs, err)
						}
					} else {
						lookupError(w, "lookup", err, c.fields, c.text)
					}
				})
				if n := d.Counters(); n.Queries != c.queries || n.TCP != c.tcp {
					w.Failf("%+v, want %d queries, %d over TCP", n, c.queries, c.tcp)
				}
				w.Net().Heal()
				a.Do(func() {
					seconds(w, "the lookup after Heal", 0, func() { looks(w, "x.example", "10.0.0.7") })
				})
			}, dst.Seeds(2))
		})
	}
}

// The way to the server is cut, the server is stopped: names in /etc/hosts do.
func TestNamesWithoutServer(t *testing.T) {
	dst.Run(t, func(w *dst.World) {
		a, b := w.Host("a"), w.Host("b")
		d := w.Net().DNS()
		d.Add("x.example A 10.0.0.7")
		w.Net().Partition([]string{"a"}, []string{simnet.NameServer})
		b.Do(func() { seconds(w, "on the other side", 0, func() { looks(w, "x.example", "10.0.0.7") }) })
		a.Do(func() {
			seconds(w, "by the search list", 20, func() {
				_, err := net.LookupHost("x.example")
				lookupError(w, "partition", err, "temporary timeout", "i/o timeout")
			})
			seconds(w, "a host", 0, func() { looks(w, "b", "10.0.0.2 fd00::2") })
			w.Net().Mend("a", simnet.NameServer)
			w.Net().Mend(simnet.NameServer, "a")
			w.Net().Cut(simnet.NameServer, "a")
			time.AfterFunc(4*time.Second, func() { w.Net().Mend(simnet.NameServer, "a") })
			seconds(w, "answered at the second attempt", 5, func() { looks(w, "x.example", "10.0.0.7") })
			w.Net().Partition([]string{"a"})
			ctx, cancel := context.WithTimeout(context.Background(), 1500*time.Millisecond)
			defer cancel()
			seconds(w, "with a deadline", 1.5, func() {
				_, err := net.DefaultResolver.LookupHost(ctx, "x.example")
				lookupError(w, "deadline", err, "temporary timeout", "i/o timeout")
			})
			start := time.Now()
			ctx, cancel = context.WithCancel(context.Background())
			time.AfterFunc(time.Second, cancel)
			_, err := net.DefaultResolver.LookupTXT(ctx, "x.example.")
			if d := time.Since(start); d < time.Second || d > 11*time.Second {
				w.Fatalf("cancelled: after %v: %v", d, err)
			}
			if _, err := net.DialTimeout("tcp", "x.example:80", 2*time.Second); err == nil || !err.(net.Error).Timeout() {
				w.Fatalf("dial: %v", err)
			}
		})
		w.HealAll()
		a.Do(func() { seconds(w, "healed", 0, func() { looks(w, "x.example", "10.0.0.7") }) })
		d.Stop()
		a.Do(func() {
			seconds(w, "stopped", 0, func() {
				_, err := net.LookupHost("x.example.")
				lookupError(w, "stopped", err, "temporary", "connection refused")
			})
		})
		d.Start()
		a.Do(func() { looks(w, "x.example", "10.0.0.7") })
		w.Net().Down("a")
		a.Do(func() {
			_, err := net.LookupHost("x.example.")
			lookupError(w, "interface down", err, "temporary", "network is unreachable")
		})
	}, dst.Seeds(3))
}

// The files of one host are changed, by the test and by the host.
func TestNamesFiles(t *testing.T) {
	dst.Run(t, func(w *dst.World) {
		a, b := w.Host("a"), w.Host("b")
		d := w.Net().DNS()
		d.Add("db.prod.example A 10.0.0.7", "db.x.prod.example A 10.0.0.6", "db.x A 10.0.0.5")
		write := func(h *dst.Host, path, content string) {
			if err := h.Disk().WriteFile(path, []byte(content)); err != nil {
				w.Fatalf("%v", err)
			}
		}
		write(a, "/etc/resolv.conf", "nameserver 10.0.255.53\nsearch corp.example prod.example\noptions ndots:2 timeout:1 attempts:3\n")
		write(a, "/etc/hosts", "127.0.0.1 localhost\n10.0.0.99 special b\n")
		a.Do(func() {
			looks(w, "db", "10.0.0.7")
			looks(w, "db.x", "10.0.0.6") // fewer dots than ndots: the search list comes first
			looks(w, "db.x.", "10.0.0.5")
			looks(w, "special", "10.0.0.99")
			looks(w, "b", "10.0.0.99")
			looks(w, "b.sim.internal", "10.0.0.2 fd00::2")
		})
		b.Do(func() {
			looks(w, "db.x", "10.0.0.5")
			looks(w, "b", "10.0.0.2 fd00::2")
			_, err := net.LookupHost("special")
			lookupError(w, "on b", err, "notfound", "no such host")
		})
		d.Fail(simnet.DNSFault{Answer: simnet.DNSSilent})
		a.Do(func() {
			seconds(w, "three attempts of a second", 3, func() {
				_, err := net.LookupHost("db.x.")
				lookupError(w, "silent", err, "temporary timeout", "i/o timeout")
			})
		})
		d.Recover()
		// std looks at the file again after five seconds.
		write(a, "/etc/resolv.conf", "nameserver 10.0.0.77\nnameserver fd00::ff:53\noptions timeout:2 attempts:1\n")
		write(a, "/etc/hosts", "10.0.0.98 special\n")
		time.Sleep(6 * time.Second)
		a.Do(func() {
			seconds(w, "the first server is dark", 2, func() { looks(w, "db.x.", "10.0.0.5") })
			looks(w, "special", "10.0.0.98")
		})
		a.PowerLoss()
		a.Boot(nil)
		a.Do(func() { looks(w, "special", "10.0.0.98") })
		if text, err := b.Disk().ReadFile("/etc/resolv.conf"); string(text) != "nameserver 10.0.255.53\nsearch sim.internal\n" {
			w.Failf("/etc/resolv.conf of b: %q, %v", text, err)
		}
	}, dst.Seeds(3))
}

// Hosts that ask for one name at one time ask each for itself: what one is told, or its
// end, is not the other's.
func TestNamesApart(t *testing.T) {
	dst.Run(t, func(w *dst.World) {
		a, b, c := w.Host("a"), w.Host("b"), w.Host("c")
		d := w.Net().DNS()
		d.Add("x.example A 10.0.0.7")
		d.Fail(simnet.DNSFault{Host: "a", Answer: simnet.DNSSilent})
		d.Fail(simnet.DNSFault{Host: "c", Answer: simnet.DNSNXDomain})
		for range 2 {
			a.Go(func() {
				net.DefaultResolver.LookupIPAddr(context.Background(), "x.example.")
				w.Failf("a was answered")
			})
			time.Sleep(time.Millisecond)
		}
		// LookupIPAddr, which Dial calls, merges lookups; LookupHost does not.
		ask := func() {
			addrs, err := net.DefaultResolver.LookupIPAddr(context.Background(), "x.example.")
			if err != nil || len(addrs) != 1 || addrs[0].String() != "10.0.0.7" {
				w.Fatalf("%v, %v", addrs, err)
			}
		}
		b.Do(func() { seconds(w, "lookup on b", 0, ask) })
		c.Do(func() {
			_, err := net.DefaultResolver.LookupIPAddr(context.Background(), "x.example.")
			lookupError(w, "on c", err, "notfound", "no such host")
		})
		// Within a process, the second asker shares the answer of the first.
		if n, m := d.Asked("a", "x.example"), d.Asked("b", "x.example"); n != 2 || m != 2 {
			w.Failf("a has asked %d times, b %d times", n, m)
		}
		a.Crash()
		d.Recover()
		b.Do(ask)
		a.Boot(nil)
		a.Do(func() { seconds(w, "after the crash", 0, ask) })
	}, dst.Seeds(3))
}

// Lookups over a link that loses and reorders, while records change and the server
// fails: each run is the same twice.
func TestNamesChaos(t *testing.T) {
	dst.Run(t, func(w *dst.World) {
		d := w.Net().DNS()
		long := strings.Repeat("x", 1500)
		d.Add("x.example A 10.0.0.7", "x.example AAAA fd00::7", "x.example TXT "+long)
		answered, failed := 0, 0
		link := simnet.Link{Latency: simnet.Uniform(time.Millisecond, 50*time.Millisecond), Loss: 0.2, Duplicate: 0.1, Reorder: 0.1, Corrupt: 0.05, DeliverCorrupt: true}
		hosts := []*dst.Host{w.Host("a"), w.Host("b"), w.Host("c")}
		ended := make(chan bool)
		for _, h := range hosts {
			w.Net().SetLink(h.Name(), simnet.NameServer, link)
			h.Go(func() {
				for range 6 {
					_, err := net.LookupHost("x.example")
					_, err2 := net.LookupTXT("x.example")
					for _, err := range []error{err, err2} {
						ended <- err == nil
					}
				}
			})
		}
		d.Fail(simnet.DNSFault{Answer: simnet.DNSServFail, Chance: 0.2})
		d.Fail(simnet.DNSFault{Type: "AAAA", Delay: simnet.Exponential(time.Second), Chance: 0.5})
		for i := range 36 {
			if <-ended {
				answered++
			} else {
				failed++
			}
			switch w.Rand().IntN(10) {
			case 0:
				d.Replace(fmt.Sprintf("x.example A 10.0.1.%d", i))
			case 1:
				d.Stop()
				d.Start()
			case 2:
				w.Net().Heal()
			}
		}
		if answered < 10 {
			w.Failf("%d lookups were answered, %d failed", answered, failed)
		}
	}, dst.Seeds(10), dst.Twice())
}

// More processes than fit into the first buckets of what package net knows of each, all
// with the same /etc/hosts, which grows while they use it. The second run of a seed finds
// parsed what the first has left, and must be the same run.
func TestNamesOfManyHosts(t *testing.T) {
	dst.Run(t, func(w *dst.World) {
		const n = 50
		name := func(i int) string { return fmt.Sprint("host", i) }
		look := func(from, of int, found bool) {
			w.Host(name(from)).Do(func() {
				addrs, err := net.LookupHost(name(of))
				switch {
				case !found && err == nil:
					w.Failf("%s finds %s, which is not there, at %v", name(from), name(of), addrs)
				case found && (err != nil || addrs[0] != w.Host(name(of)).Addr().String()):
					w.Failf("%s finds %s at %v (%v), want %v", name(from), name(of), addrs, err, w.Host(name(of)).Addr())
				}
			})
		}
		for i := range n {
			w.Host(name(i))
			look(i, i/2, true)
			look(i, i+1, false)
		}
		time.Sleep(6 * time.Second) // package net believes what it has read for five
		for i := range n {
			look(i, (i+1)%n, true)
		}
		w.Host(name(7)).Crash()
		w.Host(name(7)).Boot(nil)
		look(7, 8, true)
	}, dst.Seeds(2), dst.Twice())
}

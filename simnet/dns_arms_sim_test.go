//go:build dst

package simnet_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dstkit/dst"
	"github.com/dstkit/dst/simnet"
)

// loopback is a name server on real sockets.
type loopback struct {
	mu  sync.Mutex
	d   *simnet.DNS
	udp net.PacketConn
	tcp net.Listener
}

func (l *loopback) answer(query []byte, tcp bool, send func([]byte)) {
	l.mu.Lock()
	answer, delay := l.d.Respond(query, tcp)
	l.mu.Unlock()
	if answer != nil {
		time.Sleep(delay)
		send(answer)
	}
}

func (l *loopback) serveUDP() {
	for {
		buf := make([]byte, 4096)
		n, from, err := l.udp.ReadFrom(buf)
		if err != nil {
			return
		}
		go l.answer(buf[:n], false, func(b []byte) { l.udp.WriteTo(b, from) })
	}
}

func (l *loopback) serveTCP() {
	for {
		c, err := l.tcp.Accept()
		if err != nil {
			return
		}
		go func() {
			defer c.Close()
			for {
				var size uint16
				if binary.Read(c, binary.BigEndian, &size) != nil {
					return
				}
				buf := make([]byte, size)
				if _, err := io.ReadFull(c, buf); err != nil {
					return
				}
				l.answer(buf, true, func(b []byte) { c.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(b))), b...)) })
			}
		}()
	}
}

// listen opens the server's sockets, and returns a resolver that asks it.
func (l *loopback) listen(t *testing.T) *net.Resolver {
	var err error
	if l.udp, err = net.ListenPacket("udp4", "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	if l.tcp, err = net.Listen("tcp4", "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.udp.Close(); l.tcp.Close() })
	go l.serveUDP()
	go l.serveTCP()
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
		addr := l.udp.LocalAddr()
		if strings.HasPrefix(network, "tcp") {
			addr = l.tcp.Addr()
		}
		return new(net.Dialer).DialContext(ctx, network, addr.String())
	}}
}

// lookups is the body of both arms: it changes the server by control, asks by r, and
// returns what it was told. All names are rooted: which are searched is the
// machine's.
func lookups(r *net.Resolver, control func(func(d *simnet.DNS))) (said []string) {
	ctx := context.Background()
	say := func(what string, got any, err error) {
		var e *net.DNSError
		if errors.As(err, &e) {
			text, _, _ := strings.Cut(e.Err, ":") // of a failed read: addresses follow
			if _, after, ok := strings.Cut(e.Err, "i/o timeout"); ok {
				text = "i/o timeout" + after
			}
			got = fmt.Sprint(text, " name ", e.Name, " notfound ", e.IsNotFound, " temporary ", e.IsTemporary, " timeout ", e.IsTimeout)
		} else if err != nil {
			got = err.Error()
		}
		said = append(said, fmt.Sprintf("%s: %v", what, got))
	}
	all := func(what, name string) {
		for _, network := range []string{"ip4", "ip6"} {
			ips, err := r.LookupIP(ctx, network, name)
			say(what+network+" of "+name, ips, err)
		}
		if name != "alias2.example." { // std asks for A, AAAA and CNAME at once: the first to answer has its say
			cname, err := r.LookupCNAME(ctx, name)
			say(what+"CNAME of "+name, cname, err)
		}
		mx, err := r.LookupMX(ctx, name)
		for _, m := range mx {
			say("an MX", *m, nil)
		}
		say(what+"MX of "+name, len(mx), err)
		ns, err := r.LookupNS(ctx, name)
		for _, n := range ns {
			say("an NS", *n, nil)
		}
		say(what+"NS of "+name, len(ns), err)
		txt, err := r.LookupTXT(ctx, name)
		say(what+"TXT of "+name, txt, err)
		cname, srv, err := r.LookupSRV(ctx, "", "", name)
		for _, s := range srv {
			say("an SRV", *s, nil)
		}
		say(what+"SRV of "+name, cname, err)
	}
	control(func(d *simnet.DNS) {
		d.Add(
			"one.example A 192.0.2.1", "one.example TXT a b", `one.example TXT "\"\\\200"`, "one.example MX 5 mx2.example", "one.example MX 3 mx1.example",
			"two.example A 192.0.2.2", "two.example A 192.0.2.1", "two.example AAAA 2001:db8::2",
			"alias.example CNAME Two.Example", "alias2.example CNAME alias.example", "lost.example CNAME nowhere.example", "round.example CNAME round.example",
			"example NS ns1.example", "*.wild.example CNAME two.example", "_x._udp.srv.example SRV 1 0 99 two.example", "deep.below.example A 192.0.2.9",
			"big.example TXT "+strings.Repeat("0123456789", 150), "strange.example TYPE999 \\# 2 ffff",
			"7.2.0.192.in-addr.arpa PTR seven.example", "7.2.0.192.in-addr.arpa PTR 7.example",
		)
		for i := range 100 {
			d.Add(fmt.Sprintf("many.example A 192.0.2.%d", 100+i))
		}
	})
	for _, name := range []string{"one", "two", "alias", "alias2", "lost", "round", "x.wild", "WILD", "wild", "_x._udp.srv", "below", "big", "strange", "many", "nothing"} {
		all("", name+".example.")
	}
	all("", "example.")
	all("", "nothing.")
	for _, addr := range []string{"192.0.2.7", "192.0.2.8"} {
		names, err := r.LookupAddr(ctx, addr)
		say("addr "+addr, names, err)
	}
	for _, f := range []simnet.DNSFault{
		{Answer: simnet.DNSServFail}, {Answer: simnet.DNSRefused}, {Answer: simnet.DNSNotImp}, {Answer: simnet.DNSFormErr}, {Answer: simnet.DNSNXDomain},
		{Answer: simnet.DNSNoData}, {Answer: simnet.DNSTruncated}, {Answer: simnet.DNSGarbage}, {Delay: simnet.Constant(10 * time.Millisecond)},
		{Type: "TXT", Name: "*.example", Answer: simnet.DNSServFail},
	} {
		control(func(d *simnet.DNS) { d.Fail(f) })
		all(f.String()+": ", "two.example.")
		control((*simnet.DNS).Recover)
	}
	for _, f := range []simnet.DNSFault{{Answer: simnet.DNSSilent}, {Answer: simnet.DNSWrongID}, {Delay: simnet.Constant(time.Minute)}} {
		control(func(d *simnet.DNS) { d.Fail(f) })
		short, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
		txt, err := r.LookupTXT(short, "one.example.")
		say(f.String()+": TXT within 50 ms", txt, err)
		addrs, err := r.LookupHost(short, "one.example.")
		say(f.String()+": addresses within 50 ms", addrs, err)
		cancel()
		control((*simnet.DNS).Recover)
	}
	return said
}

// std's resolver is told the same by the server on real sockets and by the one in the
// simulation.
func TestDNSArms(t *testing.T) {
	l := &loopback{d: simnet.NewDNS()}
	real := lookups(l.listen(t), func(f func(*simnet.DNS)) {
		l.mu.Lock()
		defer l.mu.Unlock()
		f(l.d)
	})
	dst.Run(t, func(w *dst.World) {
		var simulated []string
		w.Host("a").Do(func() {
			simulated = lookups(net.DefaultResolver, func(f func(*simnet.DNS)) { f(w.Net().DNS()) })
		})
		if len(simulated) < 150 {
			w.Failf("%d lines", len(simulated))
		}
		for i := range max(len(real), len(simulated)) {
			var x, y string
			if i < len(real) {
				x = real[i]
			}
			if i < len(simulated) {
				y = simulated[i]
			}
			if x != y {
				w.Failf("line %d: on the machine\n%s\nsimulated\n%s", i, x, y)
			}
		}
		if !slices.ContainsFunc(real, func(s string) bool { return strings.HasPrefix(s, "CNAME of alias.example.: Two.Example.") }) {
			w.Failf("%s", strings.Join(real, "\n"))
		}
	}, dst.Seeds(2))
}

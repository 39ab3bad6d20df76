package dns

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/miekg/dns"
)

// The same servers and clients on real sockets, undisturbed.
func TestLoopback(t *testing.T) {
	start := func(s *server) string {
		lis, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		addr := lis.Addr().String()
		pc, err := net.ListenPacket("udp", addr)
		if err != nil {
			t.Fatal(err)
		}
		for _, srv := range []*dns.Server{{Listener: lis, Handler: s}, {PacketConn: pc, Handler: s}} {
			go srv.ActivateAndServe()
			t.Cleanup(func() { srv.Shutdown() })
		}
		return addr
	}
	primary, secondary := &server{zone: version(7)}, &server{}
	addr := start(primary)
	if err := secondary.update(addr); err != nil {
		t.Fatal(err)
	}
	addr = start(secondary)
	for _, edns := range []bool{false, true} {
		for name, want := range map[string]int{host(3): 1, many: manyCount} {
			if a, err := ask(addr, name, none, edns); err != nil || len(a.Answer) != want {
				t.Errorf("%s: %v, %v, want %d answers", name, a, err, want)
			}
		}
	}
	r := &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, addr)
	}}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if ips, err := r.LookupNetIP(ctx, "ip4", many); err != nil || len(ips) != manyCount {
		t.Errorf("package net: %v, %v", ips, err)
	}
}

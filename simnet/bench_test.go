package simnet

import (
	"net/netip"
	"syscall"
	"testing"
	"time"

	"github.com/dstkit/dst/sched"
)

func benchLAN(b *testing.B, link Link) (l *lan, x, y *UDP) {
	l = newLAN(b, 1, "a", "b")
	l.SetDefault(link)
	b.ReportAllocs()
	return l, l.socks["a"], l.socks["b"]
}

// One datagram: sent, received and released.
func BenchmarkDatagram(b *testing.B) {
	payload := make([]byte, 64)
	b.Run("perfect", func(b *testing.B) {
		l, x, y := benchLAN(b, Link{})
		to := l.addr("b")
		for b.Loop() {
			x.Send(payload, to, nil)
			d, _ := y.Recv(false)
			d.Release()
		}
	})
	b.Run("perfect/dual-stack", func(b *testing.B) {
		l, _, _ := benchLAN(b, Link{})
		x, y := l.bind("a", inet6any, 9), l.bind("b", inet6any, 9)
		to := netip.MustParseAddrPort("[::ffff:10.0.0.2]:9")
		for b.Loop() {
			x.Send(payload, to, nil)
			d, _ := y.Recv(false)
			d.Release()
		}
	})
	b.Run("perfect/connected", func(b *testing.B) {
		l, x, y := benchLAN(b, Link{})
		x.Connect(l.addr("b"))
		for b.Loop() {
			x.Send(payload, netip.AddrPort{}, nil)
			d, _ := y.Recv(false)
			d.Release()
		}
	})
	b.Run("perfect/two-peers", func(b *testing.B) {
		l, x, _ := benchLAN(b, Link{})
		l.AddHost("c")
		l.socks["c"] = l.bind("c", inet4any, 7)
		for b.Loop() {
			for _, h := range [...]string{"b", "c"} {
				x.Send(payload, l.addr(h), nil)
				d, _ := l.socks[h].Recv(false)
				d.Release()
			}
		}
	})
	b.Run("loopback", func(b *testing.B) {
		l, x, y := benchLAN(b, Link{})
		_ = x
		to := netip.AddrPortFrom(loopback4, 7)
		u := l.bind("b", inet4any, 9)
		for b.Loop() {
			u.Send(payload, to, nil)
			d, _ := y.Recv(false)
			d.Release()
		}
	})
	b.Run("lossy", func(b *testing.B) {
		l, x, y := benchLAN(b, Link{Latency: Uniform(time.Millisecond, 100*time.Millisecond), Loss: 0.05})
		to := l.addr("b")
		for b.Loop() {
			x.Send(payload, to, nil)
			l.w.Step()
			if d, errno := y.Recv(false); errno == 0 {
				d.Release()
			}
		}
	})
}

// A world with three hosts and a socket each.
func BenchmarkWorld(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		n := New(sched.New(1))
		for _, name := range []string{"a", "b", "c"} {
			n.AddHost(name).NewUDP(syscall.AF_INET).Bind(netip.MustParseAddrPort("0.0.0.0:7"))
		}
	}
}

package simnet

import (
	"testing"
	"time"
)

// One byte there and one back.
func BenchmarkTCPRoundTrip(b *testing.B) {
	for _, c := range []struct {
		name string
		link Link
	}{{"perfect", Link{}}, {"slow", Link{Latency: Constant(time.Millisecond)}}} {
		b.Run(c.name, func(b *testing.B) {
			l := newLAN(b, 1, "a", "b")
			x, y := l.conn()
			x.SetNoDelay(true)
			y.SetNoDelay(true)
			l.SetDefault(c.link)
			buf := make([]byte, 1)
			pass := func(from, to *TCP) {
				from.Send(buf, false)
				for to.Unread() == 0 {
					l.w.Step()
				}
				to.Recv(buf, false)
			}
			b.ReportAllocs()
			for b.Loop() {
				pass(x, y)
				pass(y, x)
			}
		})
	}
}

func BenchmarkTCPStream(b *testing.B) {
	for _, c := range []struct {
		name string
		link Link
	}{
		{"perfect", Link{}},
		{"slow", Link{Latency: Constant(time.Millisecond)}},
		{"lossy", Link{Latency: Constant(time.Millisecond), Loss: 0.001}},
	} {
		b.Run(c.name, func(b *testing.B) {
			l := newLAN(b, 1, "a", "b")
			x, y := l.conn()
			l.SetDefault(c.link)
			out, in := make([]byte, 1<<16), make([]byte, 1<<16)
			for range 1000 { // the windows open
				x.Send(out, false)
				for l.w.Step() {
				}
				y.Recv(in, false)
			}
			b.SetBytes(int64(len(out)))
			b.ReportAllocs()
			for b.Loop() {
				for sent, got := 0, 0; got < len(out); {
					n, _ := x.Send(out[sent:], false)
					sent += n
					m, _ := y.Recv(in, false)
					if got += m; n == 0 && m == 0 {
						l.w.Step()
					}
				}
			}
		})
	}
}

// A connection: made, used for a byte, closed.
func BenchmarkTCPConnection(b *testing.B) {
	l := newLAN(b, 1, "a", "b")
	ls := l.listen("b", "0.0.0.0:80", 10)
	buf := make([]byte, 1)
	b.ReportAllocs()
	for b.Loop() {
		x := l.dial("a", "10.0.0.2:80")
		y, _ := ls.Accept()
		x.Send(buf, false)
		y.Recv(buf, false)
		x.Close()
		y.Close()
		l.wait(10 * time.Millisecond)
	}
}

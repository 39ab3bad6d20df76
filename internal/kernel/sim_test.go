//go:build dstsim && linux && (amd64 || arm64)

package kernel_test

import (
	"fmt"
	"net"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/dstkit/dst/internal/kernel"
	"github.com/dstkit/dst/sched"
	"github.com/dstkit/dst/simfs"
	"github.com/dstkit/dst/simnet"
)

// world boots hosts and runs main as the test's own goroutine.
func world(seed uint64, main func(boot func(name string) *sched.Host)) (*sched.World, error) {
	w := sched.New(seed)
	n := simnet.New(w)
	k := kernel.New(w, n)
	defer k.Close()
	err := w.Run(func() {
		main(func(name string) *sched.Host {
			sched.Enter()
			defer sched.Leave()
			h := w.NewHost(name)
			k.Boot(h, n.AddHost(name), simfs.New(w, name), kernel.Options{})
			return h
		})
	})
	return w, err
}

func TestUDP(t *testing.T) {
	var mu sync.Mutex
	var log string
	say := func(a ...any) {
		mu.Lock()
		defer mu.Unlock()
		log += fmt.Sprintln(a...)
	}
	_, err := world(1, func(boot func(string) *sched.Host) {
		a, b := boot("a"), boot("b")
		ready, done := make(chan bool), make(chan bool)
		a.Go(func() {
			c, err := net.ListenPacket("udp", "a:7000")
			if err != nil {
				panic(err)
			}
			close(ready)
			buf := make([]byte, 100)
			for {
				c.SetReadDeadline(time.Now().Add(3 * time.Second))
				n, from, err := c.ReadFrom(buf)
				if err != nil {
					say(err)
					c.Close()
					close(done)
					return
				}
				c.WriteTo(buf[:n], from)
			}
		})
		b.Go(func() {
			<-ready
			name, _ := os.Hostname()
			c, err := net.Dial("udp", "a:7000")
			if err != nil {
				panic(err)
			}
			for i := range 3 {
				fmt.Fprintf(c, "%s %d", name, i)
				buf := make([]byte, 100)
				n, err := c.Read(buf)
				say(string(buf[:n]), err)
			}
		})
		<-done
	})
	if err != nil {
		t.Fatal(err)
	}
	want := "b 0 <nil>\nb 1 <nil>\nb 2 <nil>\nread udp 10.0.0.1:7000: i/o timeout\n"
	if log != want {
		t.Fatalf("got\n%s\nwant\n%s", log, want)
	}
}

// ask makes n round trips with a server that answers what it gets.
func ask(c net.Conn, n int) {
	buf := make([]byte, 100)
	for range n {
		c.Write(buf[:32])
		if _, err := c.Read(buf); err != nil {
			panic(err)
		}
	}
}

func BenchmarkUDPRoundTrip(b *testing.B) {
	echo := func(c net.PacketConn) {
		buf := make([]byte, 100)
		for {
			n, from, err := c.(*net.UDPConn).ReadFromUDPAddrPort(buf)
			if err != nil {
				return
			}
			c.(*net.UDPConn).WriteToUDPAddrPort(buf[:n], from)
		}
	}
	b.Run("real", func(b *testing.B) {
		s, err := net.ListenPacket("udp", "127.0.0.1:0")
		if err != nil {
			b.Fatal(err)
		}
		defer s.Close()
		go echo(s)
		c, err := net.Dial("udp", s.LocalAddr().String())
		if err != nil {
			b.Fatal(err)
		}
		defer c.Close()
		b.ReportAllocs()
		b.ResetTimer()
		ask(c, b.N)
	})
	b.Run("sim", func(b *testing.B) {
		b.ReportAllocs()
		_, err := world(1, func(boot func(string) *sched.Host) {
			s, c := boot("s"), boot("c")
			done := make(chan bool)
			s.Go(func() {
				conn, _ := net.ListenPacket("udp", ":7000")
				echo(conn)
			})
			c.Go(func() {
				time.Sleep(time.Second)
				conn, _ := net.Dial("udp", "s:7000")
				ask(conn, b.N)
				close(done)
			})
			<-done
		})
		if err != nil {
			b.Fatal(err)
		}
	})
}

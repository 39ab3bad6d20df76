//go:build dstsim && linux && (amd64 || arm64)

package kernel_test

import (
	"fmt"
	"net"
	"os"
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
	var log string
	_, err := world(1, func(boot func(string) *sched.Host) {
		a, b := boot("a"), boot("b")
		done := make(chan bool)
		a.Go(func() {
			c, err := net.ListenPacket("udp", "a:7000")
			if err != nil {
				panic(err)
			}
			buf := make([]byte, 100)
			for {
				c.SetReadDeadline(time.Now().Add(3 * time.Second))
				n, from, err := c.ReadFrom(buf)
				if err != nil {
					log += fmt.Sprintln(err)
					c.Close()
					close(done)
					return
				}
				c.WriteTo(buf[:n], from)
			}
		})
		b.Go(func() {
			name, _ := os.Hostname()
			c, err := net.Dial("udp", "a:7000")
			if err != nil {
				panic(err)
			}
			for i := range 3 {
				fmt.Fprintf(c, "%s %d", name, i)
				buf := make([]byte, 100)
				n, err := c.Read(buf)
				log += fmt.Sprintln(string(buf[:n]), err)
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

//go:build dst

package dst_test

import (
	"fmt"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dstkit/dst"
	"github.com/dstkit/dst/simnet"
)

// primary is the program of a server that says who it is.
func primary(name string) func() error {
	return serveTCP(":7000", func(c *net.TCPConn) { fmt.Fprint(c, name) })
}

// follow is the program under test: each second, it asks whoever service.example.com
// is. It looks the name up each time; one that kept the address would fail the test.
func follow(saw *atomic.Value) func() error {
	return func() error {
		for ; ; time.Sleep(time.Second) {
			c, err := net.DialTimeout("tcp", "service.example.com:7000", 3*time.Second)
			if err != nil {
				fmt.Println(err) // in the report, if the seed fails
				continue
			}
			c.SetDeadline(time.Now().Add(3 * time.Second))
			buf := make([]byte, 10)
			if n, err := c.Read(buf); err == nil {
				saw.Store(string(buf[:n]))
			}
			c.Close()
		}
	}
}

// The service moves to another host while the name server has troubles of its own.
// Once these end, the client follows.
func TestExampleNames(t *testing.T) {
	dst.Run(t, func(w *dst.World) {
		w.Net().SetDefault(simnet.Link{Latency: simnet.Uniform(time.Millisecond, 20*time.Millisecond), Loss: 0.05})
		east, west := w.Host("east", primary("east")), w.Host("west", primary("west"))
		dns := w.Net().DNS()
		dns.Add(fmt.Sprintf("service.example.com 5 A %v", east.Addr()))
		var saw atomic.Value
		w.Host("client", follow(&saw))
		follows := func(name string) {
			w.Eventually("the client is served by "+name, time.Minute, func() error {
				if s := saw.Load(); s != name {
					return fmt.Errorf("it was served by %v", s)
				}
				return nil
			})
		}
		follows("east")

		switch w.Rand().IntN(4) {
		case 0:
			dns.Fail(simnet.DNSFault{Answer: simnet.DNSServFail, Chance: 0.5})
		case 1:
			dns.Fail(simnet.DNSFault{Host: "client", Answer: simnet.DNSSilent})
		case 2:
			dns.Fail(simnet.DNSFault{Name: "service.example.com", Delay: simnet.Exponential(2 * time.Second)})
		case 3:
			w.Net().Partition([]string{"client"}, []string{simnet.NameServer})
		}
		east.PowerLoss()
		dns.Replace(fmt.Sprintf("service.example.com 5 A %v", west.Addr()))
		time.Sleep(time.Duration(w.Rand().IntN(30)) * time.Second)
		w.Net().Heal()
		follows("west")
	}, dst.Seeds(20))
}

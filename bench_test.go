//go:build dst && linux

package dst

import (
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"testing"
	"time"

	"github.com/dstkit/dst/examples/udpservice/client"
	"github.com/dstkit/dst/examples/udpservice/naive"
	"github.com/dstkit/dst/simnet"
)

// BenchmarkNaiveSeeds is a sweep over seeds of the naive store: three nodes and
// a client that puts ten values, on a network with delays and losses.
func BenchmarkNaiveSeeds(b *testing.B) {
	b.ReportAllocs()
	nodes := []string{"a:7000", "b:7000", "c:7000"}
	quiet := log.New(io.Discard, "", 0)
	RunWorlds(b, b.N, func(w *World) {
		w.Net().SetDefault(simnet.Link{Latency: simnet.Uniform(time.Millisecond, 100*time.Millisecond), Loss: 0.05})
		for id, name := range []string{"a", "b", "c"} {
			w.Host(name, func() error {
				return naive.Run(context.Background(), naive.Config{Nodes: nodes, ID: id, Log: quiet})
			})
		}
		w.Host("client").Do(func() {
			c := client.New(nodes[0])
			defer c.Close()
			for i := range 10 {
				c.Put(context.Background(), "key", fmt.Sprint(i))
			}
		})
	})
}

// BenchmarkIdleHour is an hour of three hosts that exchange heartbeats every
// 100 ms. It reports how many times faster than real time that is.
func BenchmarkIdleHour(b *testing.B) {
	names := []string{"a", "b", "c"}
	RunWorlds(b, b.N, func(w *World) {
		for _, name := range names {
			w.Host(name, func() error {
				c, err := net.ListenPacket("udp", ":7000")
				if err != nil {
					return err
				}
				go func() {
					buf := make([]byte, 100)
					for {
						if _, _, err := c.ReadFrom(buf); err != nil {
							return
						}
					}
				}()
				var peers []*net.UDPAddr
				for _, peer := range names {
					if peer != name {
						addr, err := net.ResolveUDPAddr("udp", peer+":7000")
						if err != nil {
							return err
						}
						peers = append(peers, addr)
					}
				}
				for range time.Tick(100 * time.Millisecond) {
					for _, peer := range peers {
						c.WriteTo([]byte("alive"), peer)
					}
				}
				return nil
			})
		}
		time.Sleep(time.Hour)
	})
	b.ReportMetric(float64(b.N)*float64(time.Hour)/float64(b.Elapsed()), "×real")
}

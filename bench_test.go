//go:build dst && linux

package dst

import (
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"runtime"
	"slices"
	"syscall"
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

// BenchmarkHosts is a minute of many hosts, each of which sends a datagram to three
// others every second, by address or by name, over links with delays. It reports what a
// datagram costs in processor time, which should not depend on how many hosts there are, and the heap
// that a host takes.
func BenchmarkHosts(b *testing.B) {
	for _, by := range []string{"address", "name"} {
		for _, n := range []int{10, 100, 1000} {
			b.Run(fmt.Sprintf("by=%s/hosts=%d", by, n), func(b *testing.B) { benchmarkHosts(b, n, by == "name") })
		}
	}
}

func benchmarkHosts(b *testing.B, n int, names bool) {
	const minute, peers = 60, 3
	var heap uint64
	cpu := cpuTime(b)
	b.ReportAllocs()
	RunWorlds(b, b.N, func(w *World) {
		before := heapAlloc()
		w.Net().SetDefault(simnet.Link{Latency: simnet.Uniform(time.Millisecond, 20*time.Millisecond)})
		addrs := make([]string, n)
		for i := range n {
			addrs[i] = fmt.Sprint("h", i)
		}
		for i, name := range slices.Clone(addrs) {
			h := w.Host(name)
			if !names {
				addrs[i] = h.Addr().String()
			}
			h.Boot(func() error {
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
				for range time.Tick(time.Second) {
					for k := range peers {
						peer, err := net.ResolveUDPAddr("udp", addrs[(i+1+k*k)%n]+":7000")
						if err != nil {
							return err
						}
						c.WriteTo([]byte("alive"), peer)
					}
				}
				return nil
			})
		}
		time.Sleep(minute * time.Second)
		heap = heapAlloc() - before
		if got, want := w.Net().Total().Delivered, uint64(n*peers*(minute-2)); got < want {
			b.Errorf("%d datagrams arrived, want %d at least", got, want)
		}
	})
	b.ReportMetric(float64(cpuTime(b)-cpu)/float64(b.N*n*peers*minute), "cpu-ns/datagram")
	b.ReportMetric(float64(heap)/float64(n)/1024, "KiB/host")
}

// cpuTime returns the processor time that this process has taken.
func cpuTime(b *testing.B) time.Duration {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		b.Fatal(err)
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

// heapAlloc returns how much of the heap is in use.
func heapAlloc() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
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

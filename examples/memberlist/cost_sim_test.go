//go:build dst

package memberlist

import (
	"flag"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/dstkit/dst"
	"github.com/dstkit/dst/simnet"
)

var hosts = flag.String("hosts", "10,30", "the sizes of clusters that TestCost measures")

// What a cluster costs: first to find itself, then a minute of its life on links that
// delay and lose a little. Times are those of the processor.
func TestCost(t *testing.T) {
	t.Log("hosts  boot: ms  join: virtual-s      s  life: virtual-s/s  packets/s/host  µs/packet  KiB/host")
	for f := range strings.SplitSeq(*hosts, ",") {
		n, err := strconv.Atoi(f)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(f, func(t *testing.T) {
			dst.Run(t, func(w *dst.World) {
				heap, cpu := heapInUse(), cpuTime(t)
				w.Net().SetDefault(simnet.Link{Latency: simnet.Uniform(time.Millisecond, 20*time.Millisecond), Loss: 0.01})
				c := newCluster(w, n, change{})
				boot := cpuTime(t) - cpu
				cpu += boot
				w.Eventually("all know all", time.Hour, c.agreed)
				join, found := cpuTime(t)-cpu, w.Elapsed()
				heap = heapInUse() - heap
				cpu = cpuTime(t)
				sent := w.Net().Total().Sent
				time.Sleep(time.Minute)
				life := cpuTime(t) - cpu
				sent = w.Net().Total().Sent - sent
				t.Logf("%5d  %8.1f  %15.1f  %5.2f  %17.1f  %14.1f  %9.1f  %8.1f", n,
					boot.Seconds()*1e3, found.Seconds(), join.Seconds(),
					60/life.Seconds(), float64(sent)/60/float64(n), life.Seconds()*1e6/float64(sent), heap/1024/float64(n))
			}, dst.Seeds(1))
		})
	}
}

func heapInUse() float64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}

// cpuTime returns the processor time that this process has taken.
func cpuTime(t *testing.T) time.Duration {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		t.Fatal(err)
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

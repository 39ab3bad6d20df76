//go:build dst

package dst_test

import (
	"fmt"
	"math/rand"
	"runtime"
	"runtime/debug"
	"sync"
	"testing"
	"time"
	"unique"
	"weak"

	"github.com/dstkit/dst"
	"github.com/dstkit/dst/simnet"
)

// Garbage collections, however many and whenever, do not change a run: pools, caches
// of unique values, finalizers, cleanups and timers that nobody holds.
func TestGCChangesNothing(t *testing.T) {
	fingerprints := map[uint64]uint64{}
	for _, mode := range []string{"ordinary", "GOGC=1", "now and then"} {
		t.Run(mode, func(t *testing.T) {
			if mode == "GOGC=1" {
				defer debug.SetGCPercent(debug.SetGCPercent(1))
			}
			dst.Run(t, func(w *dst.World) {
				w.Net().SetDefault(simnet.Link{Latency: simnet.Uniform(0, 10*time.Millisecond), Loss: 0.1})
				var mu sync.Mutex
				pool := sync.Pool{New: func() any { return new([256]byte) }}
				var kept []weak.Pointer[[64]byte]
				calls := 0
				collect := func() { // draws nothing of the world
					calls++
					if mode == "now and then" && calls%17 == 0 {
						runtime.GC()
					}
				}
				main := func() error {
					c := make(chan int, 3)
					for i := range 5 {
						go func() {
							for {
								time.Sleep(time.Duration(rand.Intn(100)) * time.Millisecond)
								b := pool.Get().(*[256]byte)
								b[0]++
								if b[0]%3 != 0 {
									pool.Put(b)
								}
								x := new([64]byte)
								runtime.SetFinalizer(x, func(*[64]byte) { c <- 1 })
								runtime.AddCleanup(new([64]byte), func(int) { c <- 2 }, 0)
								unique.Make(fmt.Sprint("x", rand.Intn(100)))
								time.NewTimer(time.Minute)
								select {
								case c <- i:
								case <-c:
								case <-time.After(time.Millisecond):
								}
								mu.Lock()
								kept = append(kept, weak.Make(x))
								collect()
								mu.Unlock()
							}
						}()
					}
					select {}
				}
				for _, name := range []string{"a", "b", "c"} {
					w.Host(name, main)
				}
				time.Sleep(time.Second)
				w.Host("b").Crash()
				w.Host("b").Restart()
				time.Sleep(time.Second)
				if was, ok := fingerprints[w.Seed()]; !ok {
					fingerprints[w.Seed()] = w.Fingerprint()
				} else if was != w.Fingerprint() {
					w.Failf("the fingerprint is %#x, without collections %#x", w.Fingerprint(), was)
				}
				mu.Lock()
				defer mu.Unlock()
				if calls < 100 {
					w.Failf("only %d rounds", calls)
				}
			}, dst.Seeds(3))
		})
	}
}

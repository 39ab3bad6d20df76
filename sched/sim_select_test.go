//go:build dstsim

package sched_test

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dstkit/dst/sched"
)

// selects is a run with selects of several timers, and of one channel twice, whose
// channels lie where the garbage collector left room: scatter makes that differ.
func selects(seed uint64, scatter int) (fingerprint uint64, err error) {
	w := sched.New(seed)
	var chosen [8]atomic.Int32
	err = w.Run(func() {
		var wg sync.WaitGroup
		var mu sync.Mutex
		var kept []*[14]*int // which are as large as a channel
		room := func() {
			mu.Lock()
			defer mu.Unlock()
			for k := range 100 * scatter {
				if b := new([14]*int); k%(scatter+1) == 0 {
					kept = append(kept, b)
				}
			}
			if scatter > 0 {
				kept = kept[len(kept)/2:]
				runtime.GC()
			}
		}
		for range 8 {
			wg.Go(func() {
				twice := make(chan int)
				go func() {
					for k := range 200 {
						time.Sleep(time.Duration(100+10*k%200) * time.Microsecond)
						twice <- k
					}
				}()
				a := time.NewTimer(time.Hour)
				room()
				b := time.NewTimer(time.Minute)
				room()
				c := time.NewTimer(time.Hour)
				room()
				tie := time.NewTimer(time.Hour)
				read := -time.Until(time.Now()) // what reading the clock costs
				d := make(chan int)
				for range 200 {
					c.Reset(150 * time.Microsecond)
					tie.Reset(150*time.Microsecond - read) // due when c is
					select {
					case <-a.C:
						chosen[1].Add(1)
					case <-twice:
						chosen[2].Add(1)
					case <-b.C:
						chosen[3].Add(1)
					case <-d:
						chosen[4].Add(1)
					case <-twice:
						chosen[5].Add(1)
					case <-c.C:
						chosen[6].Add(1)
					case <-tie.C:
						chosen[7].Add(1)
						runtime.Gosched() // which one it was is to be seen
					}
				}
			})
		}
		wg.Wait()
	})
	if err == nil && (chosen[2].Load() == 0 || chosen[5].Load() == 0 || chosen[6].Load() == 0 || chosen[7].Load() == 0) {
		err = fmt.Errorf("cases 2, 5, 6 and 7 were not all chosen: %v", &chosen)
	}
	return w.Fingerprint(), err
}

// Where channels lie in memory must not be seen.
func TestSelectAddresses(t *testing.T) {
	for seed := range uint64(5) {
		want, err := selects(seed, 0)
		if err != nil {
			t.Fatal(err)
		}
		for scatter := 1; scatter < 4; scatter++ {
			if got, err := selects(seed, scatter); err != nil {
				t.Fatal(err)
			} else if got != want {
				t.Errorf("seed %d, channels in other places: fingerprint %#x, want %#x", seed, got, want)
			}
		}
	}
}

//go:build dstsim

package sched_test

import (
	"fmt"
	"math/rand"
	"sync"
	"testing"
	"time"

	"github.com/dstkit/dst/sched"
)

func newHost(w *sched.World, name string) *sched.Host {
	sched.Enter()
	defer sched.Leave()
	return w.NewHost(name)
}

func mixed(seed uint64) (string, uint64, error) {
	w := sched.New(seed)
	var log []byte
	err := w.Run(func() {
		var mu sync.Mutex
		var wg sync.WaitGroup
		ch := make(chan int)
		for i := range 10 {
			wg.Add(1)
			go func() {
				defer wg.Done()
				for range 5 {
					mu.Lock()
					log = fmt.Appendf(log, "%d@%v ", i, w.Elapsed())
					time.Sleep(time.Duration(rand.Intn(1000)) * time.Microsecond)
					mu.Unlock()
					select {
					case ch <- i:
					case v := <-ch:
						mu.Lock()
						log = fmt.Appendf(log, "%d<-%d ", i, v)
						mu.Unlock()
					case <-time.After(time.Millisecond):
					}
				}
				for k := range map[string]int{"a": 1, "b": 2, "c": 3} {
					mu.Lock()
					log = fmt.Appendf(log, "%s ", k)
					mu.Unlock()
				}
			}()
		}
		wg.Wait()
	})
	return string(log), w.Fingerprint(), err
}

func TestMixed(t *testing.T) {
	for seed := range uint64(200) {
		a, fa, err := mixed(seed)
		if err != nil {
			t.Fatal(err)
		}
		b, fb, _ := mixed(seed)
		if a != b || fa != fb {
			t.Fatalf("seed %d: %x %x\n%s\n%s", seed, fa, fb, a, b)
		}
		if seed < 2 {
			t.Log(a, fa)
		}
	}
}

func BenchmarkChan(b *testing.B) {
	run := func(b *testing.B) {
		c, d := make(chan int), make(chan int)
		go func() {
			for range b.N {
				d <- <-c
			}
		}()
		for range b.N {
			c <- 1
			<-d
		}
	}
	b.Run("real", run)
	b.Run("sim", func(b *testing.B) {
		w := sched.New(1)
		if err := w.Run(func() { run(b) }); err != nil {
			b.Fatal(err)
		}
	})
}

func BenchmarkWorld(b *testing.B) {
	for b.Loop() {
		w := sched.New(1)
		if err := w.Run(func() {
			for range 4 {
				newHost(w, "abcdefgh"[len(w.Hosts()):])
			}
		}); err != nil {
			b.Fatal(err)
		}
	}
}

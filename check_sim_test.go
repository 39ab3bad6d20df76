//go:build dst

package dst_test

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dstkit/dst"
)

func init() {
	children["always"] = func(t *testing.T) {
		dst.Run(t, func(w *dst.World) {
			var leaders atomic.Int32
			w.Always("two hosts at most", func() error { return nil })
			w.Always("one leader at most", func() error {
				if n := leaders.Load(); n > 1 {
					return fmt.Errorf("there are %d", n)
				}
				return nil
			})
			for i, name := range []string{"a", "b"} {
				w.Host(name, func() error {
					time.Sleep(time.Duration(i+1) * time.Second)
					leaders.Add(1)
					time.Sleep(time.Hour)
					leaders.Store(0)
					return nil
				})
			}
			time.Sleep(time.Minute)
			w.Logf("the body went on")
		}, dst.Seeds(1))
	}
	children["atend"] = func(t *testing.T) {
		dst.Run(t, func(w *dst.World) {
			var over atomic.Bool
			w.Always("not over", func() error {
				if over.Load() {
					return errors.New("over")
				}
				return nil
			})
			over.Store(true)
		}, dst.Seeds(1))
	}
	children["checkfatal"] = func(t *testing.T) {
		dst.Run(t, func(w *dst.World) {
			w.Always("calm", func() error { t.Fatal("a check calls t.Fatal"); return nil })
			time.Sleep(time.Hour)
			w.Logf("the body went on")
		}, dst.Seeds(1))
	}
	children["checkpanic"] = func(t *testing.T) {
		dst.Run(t, func(w *dst.World) {
			var m map[int]int
			w.Always("calm", func() error { m[0]++; return nil })
			time.Sleep(time.Hour)
			w.Logf("the body went on")
		}, dst.Seeds(1))
	}
	children["eventually"] = func(t *testing.T) {
		dst.Run(t, func(w *dst.World) {
			defer fmt.Println("deferred")
			calls := 0
			w.Eventually("replicas agree", 10*time.Second, func() error { calls++; return fmt.Errorf("differ at call %d", calls) })
			w.Logf("the body went on")
		}, dst.Seeds(1))
	}
	children["fatalf"] = func(t *testing.T) {
		dst.Run(t, func(w *dst.World) {
			w.Host("a").Do(func() { w.Fatalf("from a host: %d", 7) })
			w.Logf("the body went on")
		}, dst.Seeds(1))
	}
}

// A check fails its seed when the state is wrong, not later, and ends the world.
func TestAlways(t *testing.T) {
	runChild(t, "always").has(t, "seed 1 failed at 2.00", `"one leader at most" does not hold: there are 2`, "--- FAIL: TestChild/seed=1").hasNot(t, "the body went on")
	runChild(t, "atend").has(t, `"not over" does not hold: over`)
	runChild(t, "checkfatal").has(t, "a check calls t.Fatal", "--- FAIL: TestChild/seed=1").hasNot(t, "the body went on")
	runChild(t, "checkpanic").has(t, "the test itself panicked: assignment to entry in nil map", "check_sim_test.go:").hasNot(t, "the body went on")
}

// A check sees every step.
func TestAlwaysSeesEveryStep(t *testing.T) {
	dst.Run(t, func(w *dst.World) {
		var n atomic.Int32
		var mu sync.Mutex
		seen := map[int32]bool{}
		w.Always("is looked at", func() error {
			mu.Lock()
			seen[n.Load()] = true
			mu.Unlock()
			return nil
		})
		time.Sleep(time.Millisecond)
		c := make(chan int)
		go func() {
			for range 50 {
				n.Add(1)
				c <- 1
			}
			close(c)
		}()
		for range c {
		}
		time.Sleep(time.Millisecond)
		mu.Lock()
		defer mu.Unlock()
		for i := int32(0); i < 50; i++ {
			// Two values may be set within one step, no more.
			if !seen[i] && !seen[i+1] {
				w.Failf("of %d values, neither %d nor the next was seen", n.Load(), i)
			}
		}
	})
}

func TestEventually(t *testing.T) {
	runChild(t, "eventually").has(t, "seed 1 failed at 10.0", "check_sim_test.go:", `: not within 10s: "replicas agree": differ at call 101`, "deferred").hasNot(t, "the body went on")
	runChild(t, "fatalf").has(t, "check_sim_test.go:", "from a host: 7").hasNot(t, "the body went on")
	dst.Run(t, func(w *dst.World) {
		var ready atomic.Bool
		w.Host("a").Go(func() { time.Sleep(5 * time.Second); ready.Store(true) })
		w.Eventually("ready", 10*time.Second, func() error {
			if !ready.Load() {
				return errors.New("not ready")
			}
			return nil
		})
		if e := w.Elapsed(); e < 5*time.Second || e > 5200*time.Millisecond {
			w.Failf("found ready at %v", e)
		}
	})
}

// The workload's numbers follow from the seed, and from nothing else.
func TestRand(t *testing.T) {
	numbers := map[uint64]string{}
	for range 2 {
		dst.Run(t, func(w *dst.World) {
			if len(numbers) > 0 {
				w.Net() // whatever else happens
				time.Sleep(time.Second)
			}
			s := fmt.Sprint(w.Rand().IntN(1e9), w.Rand().IntN(1e9), w.Rand().Perm(5))
			if old, ok := numbers[w.Seed()]; ok && old != s {
				w.Failf("the numbers were %s, are %s", old, s)
			}
			numbers[w.Seed()] = s
		})
	}
	different := map[string]bool{}
	for _, s := range numbers {
		different[s] = true
	}
	if len(different) != len(numbers) {
		t.Errorf("of %d seeds some have the same numbers: %v", len(numbers), numbers)
	}
}

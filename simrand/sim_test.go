//go:build dstsim

package simrand_test

import (
	crand "crypto/rand"
	"fmt"
	"hash/maphash"
	"math/rand"
	randv2 "math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/dstkit/dst/sched"
)

// draws is what a program draws in all the ways that std has.
func draws(t *testing.T) string {
	var b strings.Builder
	key := make([]byte, 16)
	crand.Read(key)
	prime, err := crand.Prime(crand.Reader, 64)
	if err != nil {
		t.Error(err)
	}
	fmt.Fprintln(&b, rand.Int63(), rand.Perm(5), randv2.Uint64(), randv2.N(time.Hour), key, prime, crand.Text())
	fmt.Fprintln(&b, maphash.String(maphash.MakeSeed(), "x"))
	m := map[int]bool{}
	for i := range 100 {
		m[i] = true
	}
	for i := range m {
		fmt.Fprint(&b, i, " ")
	}
	return b.String()
}

// run has two hosts draw, b after a drew extra times more; it returns what each drew.
func run(t *testing.T, seed uint64, extra int) (a, b string) {
	w := sched.New(seed)
	err := w.Run(func() {
		sched.Enter()
		ha, hb := w.NewHost("a"), w.NewHost("b")
		sched.Leave()
		done := make(chan bool)
		ha.Go(func() {
			a = draws(t)
			for range extra {
				rand.Int()
				crand.Read(make([]byte, 8))
			}
			done <- true
		})
		<-done
		time.Sleep(time.Second)
		hb.Go(func() { b = draws(t); done <- true })
		<-done
	})
	if err != nil {
		t.Fatal(err)
	}
	return a, b
}

func TestAProgramsRandomness(t *testing.T) {
	a1, b1 := run(t, 1, 0)
	a2, b2 := run(t, 1, 0)
	if a1 != a2 || b1 != b2 {
		t.Errorf("a seed drew two things:\n%s\n%s\n%s\n%s", a1, a2, b1, b2)
	}
	if a1 == b1 {
		t.Error("two hosts drew the same")
	}
	if a3, b3 := run(t, 2, 0); a3 == a1 || b3 == b1 {
		t.Error("two seeds drew the same")
	}
	if _, b4 := run(t, 1, 10); b4 != b1 {
		t.Errorf("more draws of host a moved those of host b:\n%s\n%s", b1, b4)
	}
}

// What happens once a process does not move what comes after it.
func TestOnceAProcess(t *testing.T) {
	once := true
	var drawn [2]string
	for i := range drawn {
		w := sched.New(7)
		err := w.Run(func() {
			if once {
				once = false
				rand.Int()
				for range map[int]int{1: 1, 2: 2, 3: 3} {
				}
			}
			time.Sleep(time.Millisecond)
			drawn[i] = draws(t)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if drawn[0] != drawn[1] {
		t.Errorf("the first run drew\n%s\nthe second\n%s", drawn[0], drawn[1])
	}
}

// Outside of a world, randomness is as it always is.
func TestOutside(t *testing.T) {
	if a, b := crand.Text(), crand.Text(); a == b || randv2.Uint64() == randv2.Uint64() {
		t.Error("the same was drawn twice")
	}
}

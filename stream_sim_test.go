//go:build dst

package dst_test

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	crand "crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"fmt"
	"math/rand"
	randv2 "math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/dstkit/dst"
	"github.com/dstkit/dst/simnet"
	"github.com/dstkit/dst/simtime"
)

// secrets is what a program draws through crypto.
func secrets() string {
	var b strings.Builder
	id := make([]byte, 16)
	crand.Read(id)
	fmt.Fprintf(&b, "%x %s ", id, crand.Text())
	ec, err := ecdsa.GenerateKey(elliptic.P256(), crand.Reader)
	if err != nil {
		return err.Error()
	}
	digest := sha256.Sum256([]byte("x"))
	sig, _ := ecdsa.SignASN1(crand.Reader, ec, digest[:])
	fmt.Fprintf(&b, "%x %x ", ec.D, sig)
	_, ed, _ := ed25519.GenerateKey(nil)
	fmt.Fprintf(&b, "%x ", ed)
	key, err := rsa.GenerateKey(crand.Reader, 1024)
	if err != nil {
		return err.Error()
	}
	fmt.Fprintf(&b, "%x ", key.D)
	c, _, err := certificate("x")
	fmt.Fprintf(&b, "%x %v", sha256.Sum256(c.Certificate[0]), err)
	dir, _ := os.MkdirTemp("", "x")
	fmt.Fprint(&b, dir)
	return b.String()
}

// What a program draws, through crypto too, follows from the seed, the host and
// its incarnation.
func TestSecrets(t *testing.T) {
	t.Setenv("GODEBUG", os.Getenv("GODEBUG")+",rsa1024min=0")
	seen := map[string]string{}
	dst.Run(t, func(w *dst.World) {
		for _, name := range []string{"a", "b", "a again"} {
			host, again := strings.CutSuffix(name, " again")
			h := w.Host(host)
			if again {
				h.Boot(nil)
			}
			h.Do(func() {
				s := secrets()
				if first, ok := seen[fmt.Sprint(w.Seed(), name)]; !ok {
					seen[fmt.Sprint(w.Seed(), name)] = s
				} else if s != first {
					w.Failf("%s drew\n%s, and in another run\n%s", name, s, first)
				}
			})
		}
	}, dst.Seeds(2), dst.Twice())
	byValue := map[string]string{}
	for name, s := range seen {
		for i, part := range strings.Fields(s)[:6] {
			if was, ok := byValue[part]; ok {
				t.Errorf("%s and %s drew the same at %d: %s", was, name, i, part)
			}
			byValue[part] = name
		}
	}
	if len(seen) != 6 {
		t.Errorf("%d processes", len(seen))
	}
}

// Draws of one stream, or of one host, move no other.
func TestStreams(t *testing.T) {
	type result struct{ work, faults, clock, a, b, net, ids string }
	run := func(t *testing.T, extra string) (r result) {
		more := func(name string) bool { return name == extra }
		dst.Run(t, func(w *dst.World) {
			w.Clocks(simtime.Spread{Offset: time.Second, Drift: 50})
			w.Net().SetDefault(simnet.Link{Latency: simnet.Uniform(0, time.Second)})
			for range 10 {
				if more("work") {
					w.Rand().Uint64()
				}
				if more("faults") {
					w.Stream("faults").Uint64()
				}
			}
			draws := func(n uint64) string { return fmt.Sprint(n) }
			if !more("work") {
				r.work = draws(w.Rand().Uint64())
			}
			if !more("faults") {
				r.faults = draws(w.Stream("faults").Uint64())
			}
			a, b := w.Host("a"), w.Host("b")
			r.clock = fmt.Sprint(a.Clock().Offset().Round(time.Millisecond), b.Clock().Offset().Round(time.Millisecond))
			a.Do(func() {
				if more("a") {
					rand.Int()
					randv2.Int()
					crand.Text()
				} else {
					r.a = fmt.Sprint(rand.Int(), randv2.Int(), crand.Text())
				}
			})
			time.Sleep(time.Until(time.Unix(1767225600+10, 0))) // the same time in each run
			b.Do(func() { r.b = fmt.Sprint(rand.Int(), randv2.Int(), crand.Text()) })
			if w.Stream("x") != w.Stream("x") || w.Stream("x").Uint64() == w.Stream("y").Uint64() {
				w.Failf("named streams")
			}
		}, dst.Seeds(1))
		return r
	}
	calm := run(t, "")
	for _, extra := range []string{"work", "faults", "a"} {
		got := run(t, extra)
		switch extra {
		case "work":
			got.work = calm.work
		case "faults":
			got.faults = calm.faults
		case "a":
			got.a = calm.a
		}
		if got != calm {
			t.Errorf("more draws of %s: %+v, without: %+v", extra, got, calm)
		}
	}
}

// Clocks that are spread, and corrected, and what programs see of it.
func TestClocks(t *testing.T) {
	dst.Run(t, func(w *dst.World) {
		names := []string{"a", "b", "c", "d"}
		first := w.Host("a")
		w.Clocks(simtime.Spread{Offset: 10 * time.Second, Drift: 100})
		offsets := map[time.Duration]bool{}
		for _, name := range names {
			c := w.Host(name).Clock()
			offsets[c.Offset()] = true
			if o := c.Offset(); o > 10*time.Second || -o > 10*time.Second {
				w.Failf("%s is wrong by %v", name, o)
			}
		}
		if len(offsets) != len(names) {
			w.Failf("%d hosts have %d offsets", len(names), len(offsets))
		}
		w.Clocks(simtime.Spread{Offset: time.Minute, Drift: 100, Sync: simtime.Sync{Every: time.Minute, Error: 5 * time.Millisecond}})
		time.Sleep(time.Hour)
		for range 100 {
			time.Sleep(10 * time.Second)
			for _, name := range names {
				if o := w.Host(name).Clock().Offset(); o > 15*time.Millisecond || -o > 15*time.Millisecond {
					w.Failf("%s is wrong by %v, with a daemon", name, o)
				}
			}
		}
		w.Clocks(simtime.Spread{})
		for _, name := range names {
			if o := w.Host(name).Clock().Offset(); o != 0 {
				w.Failf("%s is wrong by %v", name, o)
			}
		}
		// A step moves the wall clock, and no timer; a drift moves timers.
		first.Do(func() {
			start, wall := time.Now(), time.Now().Round(0)
			timer := time.NewTimer(10 * time.Second)
			first.Clock().Step(-time.Hour)
			<-timer.C
			if d := time.Since(start).Round(time.Second); d != 10*time.Second {
				w.Failf("a timer of 10s after a step: %v", d)
			}
			if d := time.Now().Round(0).Sub(wall).Round(time.Second); d != 10*time.Second-time.Hour {
				w.Failf("the wall clock has moved by %v", d)
			}
			first.Clock().Reset()
			first.Clock().Drift(100000)
			before := w.Elapsed()
			time.Sleep(11 * time.Second)
			if d := (w.Elapsed() - before).Round(time.Millisecond); d != 10*time.Second {
				w.Failf("11s of a clock that is a tenth too fast take %v", d)
			}
			first.Clock().Reset()
			first.Clock().Slew(time.Second)
			start = time.Now()
			before = w.Elapsed()
			time.Sleep(1000 * time.Second)
			if d := (w.Elapsed() - before - time.Since(start)).Round(time.Millisecond); d != -500*time.Millisecond {
				w.Failf("in 1000 s of slewing the clock gains %v", -d)
			}
		})
	}, dst.Twice())
}

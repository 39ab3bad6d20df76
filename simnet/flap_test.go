package simnet

import (
	"fmt"
	"syscall"
	"testing"
	"time"
)

func TestFlap(t *testing.T) {
	l := newLAN(t, 1, "a", "b", "c")
	f := l.Flap("a", "b", Constant(3*time.Second), Constant(time.Second))
	story := ""
	for range 10 {
		l.wait(500 * time.Millisecond)
		for _, to := range []string{"b", "c"} {
			l.send("a", to, "x")
		}
		l.send("b", "a", "y")
		n, m := len(got(l.socks["b"])), len(got(l.socks["a"]))
		if len(got(l.socks["c"])) != 1 || n != m {
			t.Error("the other link flaps, or one direction alone")
		}
		story += fmt.Sprint(n)
		l.wait(500 * time.Millisecond)
	}
	if story != "1110111011" || l.net.Draws() != 0 {
		t.Errorf("%s", story)
	}
	l.counters("a", "b", func(c Counters) bool { return c.Cut == 2 && c.Delivered == 8 })
	l.wait(1500 * time.Millisecond) // down
	f.Stop()
	f.Stop()
	l.send("a", "b", "x")
	l.expect("stopped", l.socks["b"], "x")
	if d := l.run(); d != 0 {
		t.Errorf("goes on for %v", d)
	}
	l.conserved()
}

// TestFlapHost: the host's own sends fail while it is down, and Down is a fault of its
// own beside it. TCP rides it out.
func TestFlapHost(t *testing.T) {
	l := newLAN(t, 1, "a", "b")
	l.FlapHost("a", Constant(time.Second), Constant(time.Second))
	send := func(want syscall.Errno) {
		t.Helper()
		_, errno := l.socks["a"].Send([]byte("x"), l.addr("b"), nil)
		l.is("send", errno, want)
	}
	l.send("b", "a", "before")
	l.expect("a", l.socks["a"], "before")
	l.wait(1500 * time.Millisecond)
	send(syscall.ENETUNREACH)
	l.send("b", "a", "lost")
	l.wait(time.Second)
	send(0)
	l.expect("a", l.socks["a"])
	l.Down("a")
	send(syscall.ENETUNREACH)
	l.wait(2 * time.Second) // up again, but for Down
	send(syscall.ENETUNREACH)
	l.Up("a")
	send(0)
	l.counters("b", "a", func(c Counters) bool { return c.Unreachable == 1 })
	ls := l.listen("b", "0.0.0.0:80", 1)
	x := l.dial("a", "10.0.0.2:80")
	l.wait(100 * time.Millisecond)
	y := l.accept(ls)
	for range 10 {
		l.sends(x, "0123456789")
		l.wait(900 * time.Millisecond)
	}
	l.wait(10 * time.Second)
	want := ""
	for range 10 {
		want += "0123456789"
	}
	l.gets(y, want, again)
	l.wait(time.Duration(1500-l.w.Elapsed().Milliseconds()%2000+2000) * time.Millisecond)
	send(syscall.ENETUNREACH)
	l.Heal()
	send(0)
	if l.run(); len(l.flaps) != 0 {
		t.Error("Heal left a flapping")
	}
	l.conserved()
}

// TestFlapDraws: times are drawn while it flaps, and no longer; a distribution that
// gives nothing does not stop the clock.
func TestFlapDraws(t *testing.T) {
	var stories [2]string
	for i := range stories {
		l := newLAN(t, 7, "a", "b")
		l.Told = func(format string, args ...any) {
			stories[i] += fmt.Sprintf("%v "+format+"\n", append([]any{l.w.Elapsed()}, args...)...)
		}
		l.Flap("b", "a", Exponential(time.Second), Uniform(0, time.Second))
		l.wait(20 * time.Second)
		if n := l.net.Draws(); n < 10 {
			t.Errorf("%d draws", n)
		}
		l.Heal()
		draws := l.net.Draws()
		l.send("a", "b", "x")
		l.wait(20 * time.Second)
		if l.net.Draws() != draws {
			t.Error("draws when off")
		}
		l.Flap("a", "b", Constant(0), Constant(-1))
		l.wait(time.Millisecond)
		l.Heal()
		l.run()
	}
	if stories[0] != stories[1] {
		t.Error("two runs part")
	}
	l := newLAN(t, 1, "a", "b")
	l.Flap("a", "b", Constant(1), Constant(1))
	defer func() {
		if r := recover(); r != "simnet: Flap: the link b = a flaps already; stop that first" {
			t.Error(r)
		}
	}()
	l.Flap("b", "a", Constant(1), Constant(1))
}

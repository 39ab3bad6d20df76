package simnet

import (
	"flag"
	"net/netip"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestScenario tells a story whose trace is kept in a file, to be read.
func TestScenario(t *testing.T) {
	l := newLAN(t, 42, "a", "b", "c").traced()
	say := func(s string) { l.log = append(l.log, "", "# "+s) }
	wait := func(d time.Duration) { l.w.StepUntil(l.w.Now() + int64(d)) }

	say("Perfect links: there at once.")
	l.send("a", "b", "hello")

	say("Latency of 1 to 5 ms, a tenth lost, a tenth doubled.")
	l.SetDefault(Link{Latency: Uniform(time.Millisecond, 5*time.Millisecond), Loss: 0.1, Duplicate: 0.1})
	for range 10 {
		l.send("a", "b", "hello")
	}
	wait(10 * time.Millisecond)

	say("a is cut off while a packet is on the wire.")
	l.SetDefault(Link{Latency: Constant(time.Millisecond)})
	l.send("a", "c", "early")
	l.Partition([]string{"a"})
	wait(2 * time.Millisecond)
	l.send("a", "c", "late")
	l.Heal()

	say("A closed port: refused by a packet that travels back.")
	u := l.Lookup("a").NewUDP(syscall.AF_INET)
	u.Connect(netip.AddrPortFrom(l.Lookup("b").Addr(), 99))
	u.Send([]byte("anyone?"), netip.AddrPort{}, nil)
	wait(5 * time.Millisecond)

	say("Held, and released in order.")
	l.Hold("b", "c")
	l.send("b", "c", "1")
	wait(5 * time.Millisecond)
	l.send("b", "c", "22")
	wait(5 * time.Millisecond)
	l.Release("b", "c")

	say("A broadcast, while c is down.")
	l.Down("c")
	l.socks["a"].Broadcast = true
	l.socks["a"].Send([]byte("all"), netip.MustParseAddrPort("255.255.255.255:7"), nil)
	wait(5 * time.Millisecond)

	l.golden("testdata/scenario.txt")
}

// golden compares the trace with a file.
func (l *lan) golden(file string) {
	l.Helper()
	got := strings.TrimSpace(strings.Join(l.log, "\n")) + "\n"
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o666); err != nil {
			l.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		l.Fatal(err)
	}
	if got != string(want) {
		l.Errorf("the trace changed (see -update):\n%s", got)
	}
}

// TestTCPScenario tells the story of connections.
func TestTCPScenario(t *testing.T) {
	l := newLAN(t, 42, "a", "b").traced()
	say := func(s string) { l.log = append(l.log, "", "# "+s) }
	l.SetDefault(Link{Latency: Constant(5 * time.Millisecond)})

	say("A connection.")
	ls := l.listen("b", "0.0.0.0:80", 10)
	x := l.dial("a", "10.0.0.2:80")
	l.wait(20 * time.Millisecond)
	y := l.accept(ls)

	say("A request and its answer, which confirms it.")
	l.sends(x, "request")
	l.wait(6 * time.Millisecond)
	l.gets(y, "request", again)
	l.sends(y, "an answer")
	l.wait(time.Second)
	l.gets(x, "an answer", again)

	say("Two and a half segments, the first of which is lost: one later segment confirms nothing new, and 200 ms pass.")
	l.Cut("a", "b")
	l.sends(x, strings.Repeat("x", 1460))
	l.wait(5 * time.Millisecond)
	l.Mend("a", "b")
	l.sends(x, strings.Repeat("x", 2190))
	l.wait(time.Second)
	l.gets(y, strings.Repeat("x", 3650), again)

	say("a says that it is done, b has the last word.")
	l.ok("shutdown", x.Shutdown(false, true))
	l.wait(time.Second)
	l.gets(y, "", 0)
	l.sends(y, "bye")
	y.Close()
	l.wait(time.Second)
	l.gets(x, "bye", 0)

	say("The process on b dies, and has not read all.")
	x = l.dial("a", "10.0.0.2:80")
	l.wait(20 * time.Millisecond)
	l.accept(ls)
	l.sends(x, "unread")
	l.wait(time.Second)
	l.Lookup("b").Reset()
	l.wait(time.Second)
	l.gets(x, "", syscall.ECONNRESET)

	say("Nobody listens there any more.")
	x = l.dial("a", "10.0.0.2:80")
	l.wait(time.Second)
	l.is("SO_ERROR", x.PendingError(), syscall.ECONNREFUSED)
	l.golden("testdata/tcp.txt")
}

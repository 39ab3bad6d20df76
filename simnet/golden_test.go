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

	got := strings.TrimSpace(strings.Join(l.log, "\n")) + "\n"
	const file = "testdata/scenario.txt"
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("the trace changed (see -update):\n%s", got)
	}
}

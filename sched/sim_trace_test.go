//go:build dstsim

package sched_test

import (
	"bytes"
	"flag"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/dstkit/dst/sched"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// scenario is a little of everything that a trace shows: two hosts, a channel
// between them, timers, an event, a pause and a kill.
func scenario(t *testing.T, wait time.Duration) *sched.Trace {
	w := sched.New(42)
	w.Record()
	err := w.Run(func() {
		ping, pong := newHost(w, "ping"), newHost(w, "pong")
		c := make(chan int)
		ping.Go(func() {
			for i := range 3 {
				c <- i
				time.Sleep(wait)
			}
		})
		pong.Go(func() {
			for range c {
			}
		})
		sched.Enter()
		w.After(1500*time.Microsecond, func() { w.Note(sched.KindUser, pong.ID(), 7) })
		sched.Leave()
		time.Sleep(2500 * time.Microsecond)
		sched.Enter()
		pong.Pause()
		sched.Leave()
		time.Sleep(time.Millisecond)
		sched.Enter()
		pong.Resume()
		ping.Kill()
		sched.Leave()
		time.Sleep(time.Millisecond)
	})
	if err != nil {
		t.Fatal(err)
	}
	return w.Trace()
}

func TestTraceScenario(t *testing.T) {
	trace := scenario(t, time.Millisecond)
	var text bytes.Buffer
	if err := trace.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	// The stacks hold paths of this machine; the steps are the scenario.
	var steps strings.Builder
	head, _, _ := strings.Cut(text.String(), "\n\n")
	for line := range strings.Lines(head + "\n") {
		step, _, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t#")
		steps.WriteString(step + "\n")
	}
	const golden = "testdata/scenario.txt"
	if *update {
		if err := os.WriteFile(golden, []byte(steps.String()), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if steps.String() != string(want) {
		t.Errorf("got\n%s\nwant (%s; rewrite it with -update)\n%s", steps.String(), golden, want)
	}

	// Read back, it is the same trace, and differs from another.
	earlier, err := sched.ReadTrace(&text)
	if err != nil {
		t.Fatal(err)
	}
	if d := scenario(t, time.Millisecond).DiffText(earlier); d != nil {
		t.Errorf("a trace read back: %v", d)
	}
	d := scenario(t, 1100*time.Microsecond).DiffText(earlier)
	if d == nil {
		t.Fatal("two different traces are the same")
	}
	mentions(t, d, "host ping goroutine", "part at step", "sim_trace_test.go")
	if strings.Count(d.Error(), "sim_trace_test.go") < 2 {
		t.Errorf("want the stacks of both runs: %v", d)
	}
}

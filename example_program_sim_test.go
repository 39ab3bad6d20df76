//go:build dst

package dst_test

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/dstkit/dst"
	"github.com/dstkit/dst/simtime"
)

// A service that runs a program of the machine is tested with a Go function in its
// place. This is a test rather than an Example since worlds need a testing.T.
func TestExampleProgram(t *testing.T) {
	dst.Run(t, func(w *dst.World) {
		w.Program("convert", func() int {
			if len(os.Args) != 3 {
				fmt.Fprintln(os.Stderr, "usage: convert in out")
				return 2
			}
			b, err := os.ReadFile(os.Args[1])
			if err != nil {
				fmt.Fprintln(os.Stderr, err)
				return 1
			}
			time.Sleep(2 * time.Second) // it takes its time
			os.WriteFile(os.Args[2], append([]byte("converted "), b...), 0o644)
			return 0
		})
		h := w.Host("worker", func() error {
			os.WriteFile("/tmp/in", []byte("picture"), 0o644)
			if out, err := exec.Command("convert", "/tmp/in", "/tmp/out").CombinedOutput(); err != nil {
				return fmt.Errorf("%v: %s", err, out)
			}
			b, err := os.ReadFile("/tmp/out")
			fmt.Println(string(b))
			return err
		})
		time.Sleep(time.Minute)
		if out := h.Output(); len(out) != 1 || out[0].Text != "converted picture" {
			w.Failf("the worker wrote %v", out)
		}
	})
}

// A cluster whose clocks disagree, and a service that is told to reload.
func TestExampleClocksAndSignals(t *testing.T) {
	dst.Run(t, func(w *dst.World) {
		w.Clocks(simtime.Spread{Offset: 200 * time.Millisecond, Drift: 50, Sync: simtime.Sync{Every: 64 * time.Second, Error: 10 * time.Millisecond}})
		h := w.Host("a", func() error { time.Sleep(time.Hour); return nil })
		time.Sleep(10 * time.Minute)
		if off := h.Clock().Offset(); off.Abs() > 200*time.Millisecond {
			w.Failf("the clock is wrong by %v", off)
		}
		h.Signal(syscall.SIGHUP) // which it does not handle
		if h.Running() || fmt.Sprint(h.Err()) != "signal: hangup" {
			w.Failf("after SIGHUP: running: %v, %v", h.Running(), h.Err())
		}
	})
}

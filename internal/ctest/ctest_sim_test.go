//go:build dst && cgo

package ctest_test

import (
	"os"
	"os/exec"
	"plugin"
	"strings"
	"testing"
	"time"

	"github.com/dstkit/dst"
	"github.com/dstkit/dst/internal/ctest"
)

// TestChild is run by TestCalls in a process of its own.
func TestChild(t *testing.T) {
	if os.Getenv("DST_CHILD") == "" {
		t.Skip("runs in a process of TestCalls")
	}
	dst.Run(t, func(w *dst.World) {
		w.Host("a").Do(func() {
			time.Sleep(time.Second)
			if w.Seed() == 1 {
				ctest.Add(1, 2)
			} else {
				plugin.Open("/tmp/none.so") // which is C, too
			}
			w.Failf("C was called")
		})
		w.Failf("the run went on")
	}, dst.Seeds(2))
}

// A host that calls C has escaped, unless the test allows it.
func TestCalls(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, "-test.run=^TestChild$")
	cmd.Env = append(os.Environ(), "DST_CHILD=1", "DST_SEED=", "DST_SEEDS=", "DST_V=", "TMPDIR="+t.TempDir())
	out, err := cmd.CombinedOutput()
	if err == nil || strings.Contains(string(out), "C was called") || strings.Contains(string(out), "the run went on") {
		t.Errorf("not stopped: %v\n%s", err, out)
	}
	for _, want := range []string{"seed 1 failed at 1.0", "seed 2 failed at 1.0", "escape: host a calls C", "plugin.Open", "dst.AllowCgo", "ctest._Cfunc_add", "ctest_sim_test.go:"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("the output does not have %q:\n%s", want, out)
		}
	}
	dst.Run(t, func(w *dst.World) {
		if ctest.Add(1, 2) != 3 { // the test itself is real
			w.Failf("1 + 2 in C")
		}
		w.Host("a").Do(func() {
			for i := range 100 {
				if ctest.Add(i, 1) != i+1 {
					w.Failf("%d + 1 in C", i)
				}
				time.Sleep(time.Millisecond)
			}
		})
	}, dst.AllowCgo(), dst.Twice())
}

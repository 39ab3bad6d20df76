//go:build !dst

package dst_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/dstkit/dst"
)

// In a plain build Run fails its test, and says what to run instead.
func TestRunWithoutSimulator(t *testing.T) {
	if os.Getenv("DST_CHILD") != "" {
		dst.Run(t, func(w *dst.World) { t.Error("body was called") })
		t.Error("Run returned")
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, "-test.run=^TestRunWithoutSimulator$")
	cmd.Env = append(os.Environ(), "DST_CHILD=1")
	out, err := cmd.CombinedOutput()
	const want = "plain_test.go:17: dst: this test binary was built without the simulator; run: go run "
	if err == nil || !strings.Contains(string(out), want) || strings.Count(string(out), "plain_test.go") != 1 {
		t.Errorf("want a failure that says %q once, got %v:\n%s", want, err, out)
	}
}

// A build with the tag but without the simulator ends at once.
func TestTagWithoutSimulator(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a test binary")
	}
	out, err := exec.Command("go", "test", "-tags=dst", "-run=^$", ".").CombinedOutput()
	const want = "dst: this test binary was built without the simulator; run: go run "
	if err == nil || !strings.HasPrefix(string(out), want) || strings.Count(string(out), "dst: ") != 1 {
		t.Errorf("want a failure that begins with %q, got %v:\n%s", want, err, out)
	}
}

//go:build dst

package dst_test

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// A child is a test that is run in a process of its own, so that another test
// can look at how it fails.
var children = map[string]func(t *testing.T){}

// TestChild is what runChild runs.
func TestChild(t *testing.T) {
	f := children[os.Getenv("DST_CHILD")]
	if f == nil {
		t.Skip("runs in processes of other tests")
	}
	f(t)
}

// A result is how a child ended.
type result struct {
	out    string
	failed bool
}

// runChild runs a child with flags of the test binary.
func runChild(t *testing.T, name string, args ...string) result {
	t.Helper()
	return runChildEnv(t, name, nil, args...)
}

func runChildEnv(t *testing.T, name string, env []string, args ...string) result {
	t.Helper()
	if children[name] == nil {
		t.Fatalf("there is no child %q", name)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, append([]string{"-test.run=^TestChild$", "-test.timeout=60s"}, args...)...)
	cmd.Env = append(os.Environ(), "DST_CHILD="+name, "DST_SEED=", "DST_SEEDS=", "DST_V=", "DST_CHECK=", "DST_TRACE=", "DST_PCAP=", "TMPDIR="+t.TempDir())
	cmd.Env = append(cmd.Env, env...)
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return result{string(out), err != nil}
}

// has checks that the child failed, and said this.
func (r result) has(t *testing.T, want ...string) result {
	t.Helper()
	if !r.failed {
		t.Errorf("did not fail; output:\n%s", r.out)
	}
	return r.says(t, want...)
}

// says checks what the child's output has.
func (r result) says(t *testing.T, want ...string) result {
	t.Helper()
	for _, w := range want {
		if !strings.Contains(r.out, w) {
			t.Errorf("output does not have %q:\n%s", w, r.out)
		}
	}
	return r
}

// hasNot checks what the child's output does not have.
func (r result) hasNot(t *testing.T, words ...string) result {
	t.Helper()
	for _, w := range words {
		if strings.Contains(r.out, w) {
			t.Errorf("output has %q:\n%s", w, r.out)
		}
	}
	return r
}

// passes checks that the child passed.
func (r result) passes(t *testing.T) result {
	t.Helper()
	if r.failed {
		t.Errorf("failed:\n%s", r.out)
	}
	return r
}

//go:build !dstsim

package dropin

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
)

// TestCostsNothing shows that in a normal build each drop-in function is put into its
// caller, so that a call of it is a call of std's function; or that std's function is put
// into it, so that there is one call all the same.
func TestCostsNothing(t *testing.T) {
	args := []string{"build", "-gcflags=-m"}
	for _, p := range Packages {
		args = append(args, p.Path)
	}
	out, err := exec.Command("go", args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	inlined := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^(\S+)/std\.go:\d+:\d+: (?:can inline |inlining call to \w+\.)(\w+)`).FindAllStringSubmatch(string(out), -1) {
		abs, err := filepath.Abs(m[1])
		if err != nil {
			t.Fatal(err)
		}
		inlined[abs+" "+m[2]] = true
	}
	n := 0
	for _, p := range Packages {
		dir, err := filepath.Abs(filepath.Join("../..", p.Dir))
		if err != nil {
			t.Fatal(err)
		}
		src, err := os.ReadFile(filepath.Join(dir, "std.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`(?m)^func (\w+)`).FindAllStringSubmatch(string(src), -1) {
			n++
			if m[1] == "N" {
				continue // it has no body before it has a type
			}
			if !inlined[dir+" "+m[1]] {
				t.Errorf("%s.%s is not inlined, nor is std's", p.Dir, m[1])
			}
		}
	}
	if n < 150 {
		t.Errorf("only %d functions were looked at", n)
	}
}

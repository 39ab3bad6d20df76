package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestPublic finds what is known to be wrong in public modules.
func TestPublic(t *testing.T) {
	tool := filepath.Join(t.TempDir(), "dstvet")
	if out, err := exec.Command("go", "build", "-o", tool, ".").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	for _, test := range []struct {
		module, pkg string
		want        []string
	}{
		{"github.com/cockroachdb/pebble/v2@v2.1.7", "./vfs", []string{
			// One seed, many crash images.
			"mem_fs.go:703:3: the order of iteration over map f.children can be seen: it draws randomness (memNode.CrashClone → rand.Rand.IntN) (mapiter)",
		}},
		{"github.com/quic-go/quic-go@v0.65.0", "./internal/monotime", []string{
			"time.go:14:18: reads the clock at package initialisation, before any simulation: var start → time.Now (wallclock)",
		}},
		{"github.com/xtaci/kcp-go/v5@v5.7.6", ".", []string{
			"kcp.go:104:30: reads the clock at package initialisation, before any simulation: var refTime → time.Now (wallclock)",
		}},
	} {
		t.Run(test.module, func(t *testing.T) {
			dir := fetch(t, test.module)
			cmd := exec.Command(tool, test.pkg)
			cmd.Dir = dir
			var stderr strings.Builder
			cmd.Stderr = &stderr
			out, _ := cmd.Output()
			if code := cmd.ProcessState.ExitCode(); code != exitFindings {
				t.Fatalf("exit code %d, want %d\n%s%s", code, exitFindings, out, stderr.String())
			}
			for _, want := range test.want {
				if !strings.Contains(string(out), want) {
					t.Errorf("expected the finding\n\t%s\nfound\n%s", want, out)
				}
			}
		})
	}
}

// fetch copies a module to where it can be a main module, and skips the test when
// there is no network to get it, or what it needs, from.
func fetch(t *testing.T, module string) string {
	download := func(dir string, args ...string) []byte {
		cmd := exec.Command("go", append([]string{"mod", "download", "-json"}, args...)...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod")
		out, err := cmd.Output()
		if err != nil {
			t.Skipf("%s cannot be fetched: %v\n%s", module, err, out)
		}
		return out
	}
	var m struct{ Dir string }
	if err := json.Unmarshal(download(t.TempDir(), module), &m); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(m.Dir)); err != nil {
		t.Fatal(err)
	}
	// The module cache is read-only.
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		mode := os.FileMode(0o644)
		if d.IsDir() {
			mode = 0o755
		}
		return os.Chmod(path, mode)
	})
	if err != nil {
		t.Fatal(err)
	}
	download(dir)
	return dir
}

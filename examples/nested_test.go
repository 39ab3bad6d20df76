// Package examples has the examples' programs and tests below it. Some are modules of
// their own, so that what they depend on is no dependency of the toolkit.
package examples

import (
	"context"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/dstkit/dst/sched"
)

// The go command's ./... stops at a nested module. This test goes on there: it runs the
// tests of each nested module, in a simulation build if it is in one itself.
func TestNestedModules(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: building and testing the nested modules takes a minute")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Minute)
	defer cancel()
	if end, ok := t.Deadline(); ok {
		ctx, cancel = context.WithDeadline(ctx, end.Add(-10*time.Second))
		defer cancel()
	}
	test := []string{"go", "test", "./..."}
	if sched.Available() {
		dstrewrite := filepath.Join(t.TempDir(), "dstrewrite")
		run(ctx, t, "..", "go", "build", "-o", dstrewrite, "./cmd/dstrewrite")
		test[0] = dstrewrite
	}
	for _, dir := range nested(t) {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			t.Logf("\n%s", run(ctx, t, dir, test...))
		})
	}
}

// nested returns the folders below this one that have a go.mod. It walks through the
// whole toolkit, so that go test takes no result from its cache if a file has changed.
func nested(t *testing.T) (dirs []string) {
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == ".git" || d.Name() == "testdata"):
			return fs.SkipDir
		case d.Name() == "go.mod" && filepath.Dir(path) != "..":
			dirs = append(dirs, filepath.Dir(path))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(dirs) == 0 {
		t.Fatal("no nested modules were found")
	}
	return dirs
}

// run runs a command in a folder and returns its output, which fails the test if the
// command does.
func run(ctx context.Context, t *testing.T, dir string, command ...string) string {
	t.Helper()
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Dir = dir
	// Pure Go: some modules have a part in C for speed, which a host may not call.
	cmd.Env = append(os.Environ(), "GOWORK=off", "CGO_ENABLED=0")
	// Interrupted, go test ends the tests that it has begun.
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %s: %v\n%s", dir, strings.Join(command, " "), err, out)
	}
	return string(out)
}

// Package passtest runs the passes' tests.
package passtest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/analysistest"

	"github.com/dstkit/dst/passes/internal/report"
)

// Run analyses testdata/src/a at the default level and testdata/src/sim with -sim,
// and checks that the first holds at least 20 constructs that are reported (lines
// with a want comment) and 20 that are not (lines with an ok comment).
//
//dst:ignore wallclock,escape analysistest runs the go command
func Run(t *testing.T, a *analysis.Analyzer) {
	dir := analysistest.TestData()
	t.Run("default", func(t *testing.T) { analysistest.Run(t, dir, a, "a") })
	t.Run("sim", func(t *testing.T) {
		report.Sim = true
		defer func() { report.Sim = false }()
		analysistest.Run(t, dir, a, "sim")
	})
	want, ok := count(t, filepath.Join(dir, "src", "a"))
	if want < 20 || ok < 20 {
		t.Errorf("testdata/src/a has %d constructs that are reported and %d that are silent: expected 20 of each at least", want, ok)
	}
}

func count(t *testing.T, dir string) (want, ok int) {
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(data)) {
			want += strings.Count(line, "// want ")
			if strings.Contains(line, "// ok") {
				ok++
			}
		}
	}
	return want, ok
}

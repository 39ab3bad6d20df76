package passes

import (
	"flag"

	"golang.org/x/tools/go/analysis"

	"github.com/dstkit/dst/passes/ignore"
	"github.com/dstkit/dst/passes/internal/report"
)

// All returns the analyzers of dstvet, in the order of their names.
func All() []*analysis.Analyzer {
	all := append([]*analysis.Analyzer(nil), ignore.Ignorable...)
	for i, a := range all {
		if a.Name > ignore.Analyzer.Name {
			all = append(all[:i], append([]*analysis.Analyzer{ignore.Analyzer}, all[i:]...)...)
			break
		}
	}
	return all
}

// AddFlags declares the flags that all analyzers share, -sim and -test.
func AddFlags(fs *flag.FlagSet) { report.AddFlags(fs) }

// Configure sets what the flags would set, for drivers that have none. It is for
// the start of a program: the analyzers read it while they run.
func Configure(sim, tests bool) { report.Sim, report.Tests = sim, tests }

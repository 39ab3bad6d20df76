package report

import (
	"flag"
	"go/ast"
	"go/token"
	"strings"

	"golang.org/x/tools/go/analysis"
)

// Sim leaves only what stays nondeterministic inside the simulator.
var Sim bool

// Tests includes what is found in _test.go files.
var Tests bool

// AddFlags declares the flags that all passes share.
func AddFlags(fs *flag.FlagSet) {
	fs.BoolVar(&Sim, "sim", false, "report only what stays nondeterministic inside the simulator")
	fs.BoolVar(&Tests, "test", false, "report what is found in _test.go files too")
}

// A Reporter reports the findings of one pass over one package.
type Reporter struct {
	pass *analysis.Pass
	idx  *Index
}

// New returns the reporter of a pass, which has to require [Ignores].
func New(pass *analysis.Pass) *Reporter {
	return &Reporter{pass, pass.ResultOf[Ignores].(*Index)}
}

// Ignored tells whether a directive covers pos, and notes that it was of use.
func (r *Reporter) Ignored(pos token.Pos) bool {
	return r.idx.match(r.pass.Analyzer.Name, pos)
}

// Report reports d, unless a directive ignores it or it is outside of what was
// asked for. Findings that the simulator makes deterministic have inSim false.
// Directives are matched first: an ignore is in use at every level.
func (r *Reporter) Report(d analysis.Diagnostic, inSim bool) {
	if r.idx.generated[r.pass.Fset.File(d.Pos)] || r.Ignored(d.Pos) {
		return
	}
	if Sim && !inSim || !Tests && inTest(r.pass.Fset, d.Pos) {
		return
	}
	r.pass.Report(d)
}

func inTest(fset *token.FileSet, pos token.Pos) bool {
	return strings.HasSuffix(fset.File(pos).Name(), "_test.go")
}

// InTest tells whether a file is a test's.
func InTest(fset *token.FileSet, n ast.Node) bool { return inTest(fset, n.Pos()) }

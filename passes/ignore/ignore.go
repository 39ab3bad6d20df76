package ignore

import (
	_ "embed"
	"fmt"
	"strings"

	"golang.org/x/tools/go/analysis"

	"github.com/dstkit/dst/passes/escape"
	"github.com/dstkit/dst/passes/globalrand"
	"github.com/dstkit/dst/passes/internal/doc"
	"github.com/dstkit/dst/passes/internal/report"
	"github.com/dstkit/dst/passes/mapiter"
	"github.com/dstkit/dst/passes/sharedstate"
	"github.com/dstkit/dst/passes/straygo"
	"github.com/dstkit/dst/passes/wallclock"
)

//go:embed doc.go
var text string

// Ignorable lists the analyzers whose findings can be ignored.
var Ignorable = []*analysis.Analyzer{
	escape.Analyzer, globalrand.Analyzer, mapiter.Analyzer, sharedstate.Analyzer, straygo.Analyzer, wallclock.Analyzer,
}

// Analyzer checks directives. It requires the others, so that it comes after them.
var Analyzer = &analysis.Analyzer{
	Name:     "ignore",
	Doc:      doc.Of(text),
	URL:      doc.URL("ignore"),
	Run:      run,
	Requires: append([]*analysis.Analyzer{report.Ignores}, Ignorable...),
}

func run(pass *analysis.Pass) (any, error) {
	idx := pass.ResultOf[report.Ignores].(*report.Index)
	known := make(map[string]bool)
	var names []string
	for _, a := range Ignorable {
		known[a.Name] = true
		names = append(names, a.Name)
	}
	for _, d := range idx.All() {
		if !report.Tests && report.InTest(pass.Fset, d) {
			continue // nothing was looked for there
		}
		msg := ""
		switch {
		case len(d.Names) == 0:
			msg = "expected //dst:ignore NAME REASON, with NAME one of " + strings.Join(names, ", ")
		case d.Reason == "":
			msg = fmt.Sprintf("//dst:ignore %s needs a reason: it ignores nothing without one", strings.Join(d.Names, ","))
		}
		var unknown, unused []string
		for _, n := range d.Names {
			if !known[n] {
				unknown = append(unknown, n)
			}
		}
		if msg == "" && len(unknown) > 0 {
			msg = fmt.Sprintf("//dst:ignore names %s, which is no analyzer of dstvet: expected one of %s", strings.Join(unknown, ", "), strings.Join(names, ", "))
		}
		if unused = idx.Unused(d); msg == "" && len(unused) > 0 {
			msg = fmt.Sprintf("//dst:ignore %s is of no use: nothing is found here", strings.Join(unused, ","))
		}
		if msg != "" {
			pass.Report(analysis.Diagnostic{Pos: d.Pos(), End: d.End(), Message: msg})
		}
	}
	return nil, nil
}

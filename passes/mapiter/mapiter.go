package mapiter

import (
	_ "embed"
	"fmt"

	"golang.org/x/tools/go/analysis"

	"github.com/dstkit/dst/passes/internal/doc"
	"github.com/dstkit/dst/passes/internal/effect"
	"github.com/dstkit/dst/passes/internal/order"
	"github.com/dstkit/dst/passes/internal/report"
)

//go:embed doc.go
var text string

var Analyzer = &analysis.Analyzer{
	Name:     "mapiter",
	Doc:      doc.Of(text),
	URL:      doc.URL("mapiter"),
	Run:      run,
	Requires: []*analysis.Analyzer{order.Analyzer, report.Ignores},
}

func run(pass *analysis.Pass) (any, error) {
	rep := report.New(pass)
	for _, l := range pass.ResultOf[order.Analyzer].([]*order.Loop) {
		if l.PointerKeys {
			continue // escape's
		}
		seen := l.Seen[0]
		msg := fmt.Sprintf("the order of iteration over map %s can be seen: %s", l.Name, seen.What)
		if seen.Chain != "" {
			msg += " (" + effect.Link(l.Func.Name, seen.Chain) + ")"
		}
		d := analysis.Diagnostic{Pos: l.Node.Pos(), End: l.HeadEnd, Message: msg}
		if seen.Pos.IsValid() {
			d.Related = []analysis.RelatedInformation{{Pos: seen.Pos, Message: seen.What}}
		}
		if fix, ok := sortedFix(pass, l); ok {
			d.SuggestedFixes = []analysis.SuggestedFix{fix}
		}
		rep.Report(d, l.Func.Init)
	}
	return nil, nil
}

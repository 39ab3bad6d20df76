package wallclock

import (
	_ "embed"

	"golang.org/x/tools/go/analysis"

	"github.com/dstkit/dst/passes/internal/doc"
	"github.com/dstkit/dst/passes/internal/effect"
	"github.com/dstkit/dst/passes/internal/report"
	"github.com/dstkit/dst/passes/internal/site"
)

//go:embed doc.go
var text string

// Analyzer reports uses of the wall clock.
var Analyzer = &analysis.Analyzer{
	Name:     "wallclock",
	Doc:      doc.Of(text),
	URL:      doc.URL("wallclock"),
	Run:      run,
	Requires: []*analysis.Analyzer{effect.Analyzer, report.Ignores},
}

func run(pass *analysis.Pass) (any, error) {
	fx := pass.ResultOf[effect.Analyzer].(*effect.Info)
	rep := report.New(pass)
	seeds := fx.ClockSeeds()
	check := site.Check{
		Kind:  effect.Clock,
		Does:  "reads the clock",
		Holds: "holds the clock",
		Skip: func(s effect.Site) bool {
			for _, c := range seeds {
				if c.Pos() <= s.Node.Pos() && s.Node.Pos() < c.End() {
					return true // globalrand's
				}
			}
			return false
		},
	}
	check.Report(pass, rep, fx)
	check.ReportInit(pass, rep, fx)
	return nil, nil
}

package straygo

import (
	_ "embed"
	"go/ast"
	"go/types"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/types/typeutil"

	"github.com/dstkit/dst/passes/internal/doc"
	"github.com/dstkit/dst/passes/internal/effect"
	"github.com/dstkit/dst/passes/internal/report"
	"github.com/dstkit/dst/passes/internal/site"
)

//go:embed doc.go
var text string

// Analyzer reports goroutines that nobody looks after.
var Analyzer = &analysis.Analyzer{
	Name:     "straygo",
	Doc:      doc.Of(text),
	URL:      doc.URL("straygo"),
	Run:      run,
	Requires: []*analysis.Analyzer{effect.Analyzer, report.Ignores},
}

func run(pass *analysis.Pass) (any, error) {
	fx := pass.ResultOf[effect.Analyzer].(*effect.Info)
	rep := report.New(pass)
	site.Check{Kind: effect.Go, Does: "starts a goroutine"}.ReportInit(pass, rep, fx)
	for _, f := range fx.Funcs {
		fd, ok := f.Node.(*ast.FuncDecl)
		if !ok || fd.Body == nil || pass.Pkg.Name() == "main" && fd.Name.Name == "main" {
			continue
		}
		ast.Inspect(fd.Body, func(n ast.Node) bool {
			if g, ok := n.(*ast.GoStmt); ok && !(f.Init && runsAtInit(f, g)) && !looked(pass, fx, g) {
				rep.Report(analysis.Diagnostic{
					Pos: g.Pos(), End: g.Call.Fun.Pos(),
					Message: "nobody can wait for this goroutine or stop it: it has no channel, context, WaitGroup or anything that can be closed",
				}, false)
			}
			return true
		})
	}
	return nil, nil
}

// runsAtInit tells whether a go statement is told already, as part of initialisation.
func runsAtInit(f *effect.Func, g *ast.GoStmt) bool {
	for _, s := range f.Sites {
		if s.Node == g && s.Reach.Runs {
			return true
		}
	}
	return false
}

// looked tells whether somebody may look after a goroutine.
func looked(pass *analysis.Pass, fx *effect.Info, g *ast.GoStmt) bool {
	switch callee := typeutil.Callee(pass.TypesInfo, g.Call).(type) {
	case *types.Var:
		return true // a function value
	case *types.Func:
		if recv := callee.Signature().Recv(); recv != nil && types.IsInterface(recv.Type()) {
			return true
		}
	case nil:
		if _, ok := ast.Unparen(g.Call.Fun).(*ast.FuncLit); !ok {
			return true // f()()
		}
	}
	return fx.CanWait(g.Call)
}

package globalrand

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

// Analyzer reports randomness that no seed of the program's decides.
var Analyzer = &analysis.Analyzer{
	Name:     "globalrand",
	Doc:      doc.Of(text),
	URL:      doc.URL("globalrand"),
	Run:      run,
	Requires: []*analysis.Analyzer{effect.Analyzer, report.Ignores},
}

func run(pass *analysis.Pass) (any, error) {
	fx := pass.ResultOf[effect.Analyzer].(*effect.Info)
	rep := report.New(pass)
	seeds := fx.ClockSeeds()
	check := site.Check{
		Kind:  effect.Rand,
		Does:  "draws randomness that is not seeded",
		Holds: "holds randomness that is not seeded",
		Skip: func(s effect.Site) bool {
			for _, c := range seeds {
				if c.Pos() <= s.Node.Pos() && s.Node.Pos() < c.Args[0].Pos() {
					return true // rand.Seed(time.Now()…): told below
				}
			}
			return false
		},
	}
	check.Report(pass, rep, fx)
	check.ReportInit(pass, rep, fx)
	for _, call := range seeds {
		fn := typeutil.Callee(pass.TypesInfo, call)
		msg, atInit := "seeds a generator from the clock: "+effect.Name(fn), initOf(fx, call)
		if atInit {
			msg = "seeds a generator from the clock at package initialisation, before any simulation: " + effect.Name(fn)
		}
		rep.Report(analysis.Diagnostic{Pos: call.Pos(), End: call.End(), Message: msg}, atInit)
	}
	hashes(pass, rep)
	return nil, nil
}

// initOf tells whether a node runs at the package's initialisation.
func initOf(fx *effect.Info, n ast.Node) bool {
	for _, f := range fx.Funcs {
		if !f.Init || n.Pos() < f.Node.Pos() || f.Node.End() <= n.Pos() {
			continue
		}
		for _, s := range f.Sites {
			if s.Reach.Runs && n.Pos() <= s.Node.Pos() && s.Node.Pos() < n.End() {
				return true
			}
		}
	}
	return false
}

// hashes reports variables of type maphash.Hash that draw their own seed.
func hashes(pass *analysis.Pass, rep *report.Reporter) {
	seeded := make(map[types.Object]bool)
	var used []*ast.Ident
	for _, file := range pass.Files {
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
			if !ok {
				return true
			}
			fn, ok := pass.TypesInfo.Uses[sel.Sel].(*types.Func)
			if !ok || fn.Pkg() == nil || fn.Pkg().Path() != "hash/maphash" || fn.Signature().Recv() == nil {
				return true
			}
			id := lastIdent(sel.X)
			if id == nil {
				return true
			}
			if fn.Name() == "SetSeed" {
				seeded[pass.TypesInfo.Uses[id]] = true
			} else if fn.Name() != "Reset" && fn.Name() != "Size" && fn.Name() != "BlockSize" {
				used = append(used, id)
			}
			return true
		})
	}
	for _, id := range used {
		if obj := pass.TypesInfo.Uses[id]; !seeded[obj] {
			seeded[obj] = true
			rep.Report(analysis.Diagnostic{Pos: id.Pos(), End: id.End(), Message: "draws randomness that is not seeded: " + id.Name +
				" is a maphash.Hash without SetSeed"}, false)
		}
	}
}

func lastIdent(x ast.Expr) *ast.Ident {
	switch x := ast.Unparen(x).(type) {
	case *ast.Ident:
		return x
	case *ast.SelectorExpr:
		return x.Sel
	case *ast.UnaryExpr:
		return lastIdent(x.X)
	}
	return nil
}

// Package site reports the places where functions reach an effect: one finding
// for each function, or for each function of another module that is to blame.
package site

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strconv"

	"golang.org/x/tools/go/analysis"

	"github.com/dstkit/dst/passes/internal/effect"
	"github.com/dstkit/dst/passes/internal/report"
)

// A Check is how one pass tells of one kind of effect.
type Check struct {
	Kind  effect.Kind
	Does  string // "reads the clock": of the function
	Holds string // "holds the clock": of a function or variable that uses a source as a value
	InSim bool   // the simulator does not help
	Skip  func(effect.Site) bool
}

// Report tells the findings of c, except those at initialisation.
func (c Check) Report(pass *analysis.Pass, rep *report.Reporter, fx *effect.Info) {
	type far struct {
		d analysis.Diagnostic
		n int
	}
	var order []types.Object
	byObj := make(map[types.Object]*far)
	for _, f := range fx.Funcs {
		var first *effect.Site
		n := 0
		for i := range f.Sites {
			s := &f.Sites[i]
			if s.Reach.Kind != c.Kind || f.Init && s.Reach.Runs || c.Skip != nil && c.Skip(*s) || rep.Ignored(s.Node.Pos()) {
				continue
			}
			if s.Far {
				if o, ok := byObj[s.Obj]; ok {
					o.n++
					continue
				}
				if report.InTest(pass.Fset, s.Node) && !report.Tests {
					continue
				}
				byObj[s.Obj] = &far{d: c.diagnostic(f, s)}
				order = append(order, s.Obj)
				continue
			}
			if first == nil {
				first = s
			} else {
				n++
			}
		}
		if first != nil {
			d := c.diagnostic(f, first)
			d.Message += more(n, "function")
			rep.Report(d, c.InSim)
		}
	}
	for _, obj := range order {
		d := byObj[obj].d
		d.Message += more(byObj[obj].n, "package")
		rep.Report(d, c.InSim)
	}
}

func (c Check) diagnostic(f *effect.Func, s *effect.Site) analysis.Diagnostic {
	does := c.Does
	if s.Value && c.Holds != "" {
		does = c.Holds
	}
	return analysis.Diagnostic{
		Pos: s.Node.Pos(), End: s.Node.End(),
		Message: fmt.Sprintf("%s: %s", does, effect.Link(f.Name, s.Reach.Path)),
	}
}

func more(n int, of string) string {
	switch n {
	case 0:
		return ""
	case 1:
		return " (and 1 more place in this " + of + ")"
	}
	return fmt.Sprintf(" (and %d more places in this %s)", n, of)
}

// ReportInit tells what runs at the package's initialisation, before any simulation
// begins: its own, and that of the packages of other modules that it imports.
func (c Check) ReportInit(pass *analysis.Pass, rep *report.Reporter, fx *effect.Info) {
	for _, f := range fx.Funcs {
		if !f.Init {
			continue
		}
		for i := range f.Sites {
			s := &f.Sites[i]
			if s.Reach.Kind != c.Kind || !s.Reach.Runs || rep.Ignored(s.Node.Pos()) || c.Skip != nil && c.Skip(*s) {
				continue
			}
			rep.Report(analysis.Diagnostic{
				Pos: s.Node.Pos(), End: nodeEnd(s.Node),
				Message: fmt.Sprintf("%s at package initialisation, before any simulation: %s", c.Does, effect.Link(f.Name, s.Reach.Path)),
			}, true)
			break
		}
	}
	told := make(map[string]bool)
	for _, file := range pass.Files {
		if report.InTest(pass.Fset, file) && !report.Tests {
			continue
		}
		for _, spec := range file.Imports {
			path, err := strconv.Unquote(spec.Path.Value)
			if err != nil || told[path] {
				continue
			}
			told[path] = true
			for _, r := range fx.Imported(imported(pass, spec)) {
				if r.Kind == c.Kind {
					rep.Report(analysis.Diagnostic{
						Pos: spec.Pos(), End: spec.End(), Category: "import",
						Message: fmt.Sprintf("importing %s %s at package initialisation, before any simulation: %s", path, c.Does, r.Path),
					}, true)
				}
			}
		}
	}
}

// nodeEnd bounds a finding to the head of a statement with a body.
func nodeEnd(n ast.Node) token.Pos {
	if g, ok := n.(*ast.GoStmt); ok {
		return g.Call.Fun.Pos()
	}
	return n.End()
}

func imported(pass *analysis.Pass, spec *ast.ImportSpec) *types.Package {
	if obj := pass.TypesInfo.PkgNameOf(spec); obj != nil {
		return obj.Imported()
	}
	return nil
}

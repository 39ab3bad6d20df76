package escape

import (
	_ "embed"
	"go/ast"

	"golang.org/x/tools/go/analysis"

	"github.com/dstkit/dst/passes/internal/doc"
	"github.com/dstkit/dst/passes/internal/effect"
	"github.com/dstkit/dst/passes/internal/order"
	"github.com/dstkit/dst/passes/internal/report"
	"github.com/dstkit/dst/passes/internal/site"
)

//go:embed doc.go
var text string

// Analyzer reports what a simulator cannot hold.
var Analyzer = &analysis.Analyzer{
	Name:     "escape",
	Doc:      doc.Of(text),
	URL:      doc.URL("escape"),
	Run:      run,
	Requires: []*analysis.Analyzer{effect.Analyzer, order.Analyzer, report.Ignores},
}

func run(pass *analysis.Pass) (any, error) {
	fx := pass.ResultOf[effect.Analyzer].(*effect.Info)
	rep := report.New(pass)
	for _, c := range []site.Check{
		{Kind: effect.Exec, Does: "runs another program, which cannot be simulated"},
		{Kind: effect.Plugin, Does: "loads a plugin, which cannot be simulated"},
		{Kind: effect.Cgo, Does: "calls C, which the simulator does not see"},
		{Kind: effect.Syscall, Does: "makes system calls that the simulator does not see"},
	} {
		c.InSim = true
		c.Report(pass, rep, fx)
		c.ReportInit(pass, rep, fx)
	}
	for _, l := range pass.ResultOf[order.Analyzer].([]*order.Loop) {
		if l.PointerKeys {
			seen := l.Seen[0]
			msg := "the order of iteration over map " + l.Name + " depends on addresses, its keys being or holding pointers, and can be seen: " + seen.What
			if seen.Chain != "" {
				msg += " (" + effect.Link(l.Func.Name, seen.Chain) + ")"
			}
			rep.Report(analysis.Diagnostic{Pos: l.Node.Pos(), End: l.HeadEnd, Message: msg}, true)
		}
	}
	for _, f := range fx.Funcs {
		if f.Obj == nil && !f.Init {
			continue
		}
		if _, isVar := f.Node.(*ast.ValueSpec); isVar && !f.Init {
			continue // the same code as its initialisation
		}
		c := &checker{pass: pass, rep: rep, fx: fx, fn: f}
		c.check()
	}
	return nil, nil
}

// A checker looks through one function.
type checker struct {
	pass *analysis.Pass
	rep  *report.Reporter
	fx   *effect.Info
	fn   *effect.Func

	parses bool // the function makes numbers of text
	stacks []ast.Node
}

func (c *checker) found(n ast.Node, inSim bool, msg string) {
	c.rep.Report(analysis.Diagnostic{Pos: n.Pos(), End: n.End(), Message: msg}, inSim)
}

func (c *checker) check() {
	ast.PreorderStack(c.fn.Node, nil, func(n ast.Node, stack []ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			c.call(n, stack)
		case *ast.ForStmt:
			c.busy(n)
		}
		return true
	})
	if c.parses {
		for _, n := range c.stacks {
			c.found(n, true, "parses a stack: goroutine ids and addresses in it differ from run to run")
		}
	}
}

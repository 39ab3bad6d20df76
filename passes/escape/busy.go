package escape

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"golang.org/x/tools/go/types/typeutil"
)

// busy reports a loop that waits for another goroutine without ever giving way:
// nothing in it but loads, and selects that do not wait.
func (c *checker) busy(f *ast.ForStmt) {
	if f.Init != nil || f.Post != nil || c.fx.Std() {
		return
	}
	waits := false
	if f.Cond != nil {
		if !c.onlyLoads(f.Cond) {
			return
		}
		waits = c.loads(f.Cond)
	}
	if len(f.Body.List) == 0 {
		if f.Cond == nil || waits {
			c.found(headOf(f), true, "spins without a scheduling point: no other goroutine of a simulation can run")
		}
		return
	}
	for _, s := range f.Body.List {
		if !c.passive(s, &waits) {
			return
		}
	}
	if waits {
		c.found(headOf(f), true, "spins without a scheduling point: no other goroutine of a simulation can run")
	}
}

// A head is a loop's first line.
type head struct{ pos, end token.Pos }

func (h head) Pos() token.Pos { return h.pos }
func (h head) End() token.Pos { return h.end }

func headOf(f *ast.ForStmt) ast.Node { return head{f.For, f.Body.Lbrace + 1} }

// passive tells whether a statement changes nothing, so that a loop of such waits for somebody.
func (c *checker) passive(s ast.Stmt, waits *bool) bool {
	switch s := s.(type) {
	case *ast.EmptyStmt, *ast.BranchStmt, *ast.ReturnStmt:
		return true
	case *ast.IfStmt:
		if s.Init != nil || !c.onlyLoads(s.Cond) {
			return false
		}
		*waits = *waits || c.loads(s.Cond)
		for _, t := range s.Body.List {
			if !c.passive(t, waits) && !leavesAfter(s.Body) {
				return false
			}
		}
		return s.Else == nil || c.passive(s.Else, waits)
	case *ast.BlockStmt:
		for _, t := range s.List {
			if !c.passive(t, waits) {
				return false
			}
		}
		return true
	case *ast.SelectStmt:
		hasDefault := false
		for _, cl := range s.Body.List {
			cc := cl.(*ast.CommClause)
			if cc.Comm == nil {
				hasDefault = true
				for _, t := range cc.Body {
					if !c.passive(t, waits) {
						return false
					}
				}
			} else if !leavesList(cc.Body) {
				return false
			}
		}
		*waits = *waits || hasDefault
		return hasDefault
	}
	return false
}

func leavesAfter(b *ast.BlockStmt) bool { return leavesList(b.List) }

func leavesList(l []ast.Stmt) bool {
	if len(l) == 0 {
		return false
	}
	switch s := l[len(l)-1].(type) {
	case *ast.ReturnStmt:
		return true
	case *ast.BranchStmt:
		return s.Tok == token.BREAK && s.Label != nil || s.Tok == token.GOTO
	}
	return false
}

// loads tells whether an expression loads an atomic variable.
func (c *checker) loads(x ast.Expr) bool {
	found := false
	ast.Inspect(x, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			found = found || c.isLoad(call)
		}
		return true
	})
	return found
}

// onlyLoads tells whether all calls in an expression are such loads.
func (c *checker) onlyLoads(x ast.Expr) bool {
	ok := true
	ast.Inspect(x, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			if !c.pass.TypesInfo.Types[n.Fun].IsType() && !c.isLoad(n) {
				ok = false
			}
		case *ast.UnaryExpr:
			if n.Op == token.ARROW {
				ok = false
			}
		}
		return ok
	})
	return ok
}

func (c *checker) isLoad(call *ast.CallExpr) bool {
	fn, ok := typeutil.Callee(c.pass.TypesInfo, call).(*types.Func)
	return ok && fn.Pkg() != nil && fn.Pkg().Path() == "sync/atomic" && strings.HasPrefix(fn.Name(), "Load")
}

package order

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"golang.org/x/tools/go/types/typeutil"

	"github.com/dstkit/dst/passes/internal/effect"
)

// unsorted judges what becomes of a slice that the loop has filled: it is fine if it is
// sorted afterwards, or only counted, searched or gone over by loops whose order
// cannot be seen either.
func (b *loopBody) unsorted(x ast.Expr) (what string, bad bool) {
	name := types.ExprString(x)
	info := b.pass.TypesInfo
	root := effect.Root(info, x)
	sorted, used := false, ""
	var stack []ast.Node
	ast.Inspect(b.fn.Node, func(n ast.Node) bool {
		if n == nil {
			stack = stack[:len(stack)-1]
			return true
		}
		stack = append(stack, n)
		if n.End() <= b.after || sorted {
			return true
		}
		switch n := n.(type) {
		case *ast.CallExpr:
			if n.Pos() >= b.after && b.sorts(n, name) {
				sorted = true
			}
		case *ast.Ident:
			if n.Pos() >= b.after && info.Uses[n] == root && root != nil && used == "" && !b.harmless(n, name, stack) {
				used = types.ExprString(x)
			}
		}
		return true
	})
	if sorted {
		return "", false
	}
	if _, plain := ast.Unparen(x).(*ast.Ident); plain && used == "" && root != nil && !b.escapes(root) {
		return "", false
	}
	return "it appends to " + name + ", which is not sorted afterwards", true
}

// escapes tells whether a variable's value is seen without being named after the loop:
// a named result, a package variable, one that a closure or an outer loop holds.
func (b *loopBody) escapes(obj types.Object) bool {
	v, ok := obj.(*types.Var)
	if !ok {
		return true
	}
	if v.Pkg() != nil && v.Parent() == v.Pkg().Scope() || b.isResult(v) {
		return true
	}
	for _, n := range b.stack {
		switch n.(type) {
		case *ast.FuncLit:
			if n.Pos() > v.Pos() {
				return true
			}
		case *ast.ForStmt, *ast.RangeStmt:
			if n.Pos() > v.Pos() {
				return b.usedIn(n, v)
			}
		}
	}
	return false
}

// usedIn tells whether n reads v other than by appending to it.
func (b *loopBody) usedIn(n ast.Node, v types.Object) bool {
	used := false
	ast.Inspect(n, func(n ast.Node) bool {
		if n == b.node {
			return false
		}
		if id, ok := n.(*ast.Ident); ok && b.pass.TypesInfo.Uses[id] == v {
			used = true
		}
		return !used
	})
	return used
}

// sorts tells whether a call sorts the named slice, or one made from it.
func (b *loopBody) sorts(call *ast.CallExpr, name string) bool {
	info := b.pass.TypesInfo
	fn, _ := typeutil.Callee(info, call).(*types.Func)
	var args []ast.Expr
	if sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr); ok {
		if s := info.Selections[sel]; s != nil {
			args = append(args, sel.X)
		}
	}
	args = append(args, call.Args...)
	sorting := false
	if fn != nil {
		if _, ok := effect.Sorts(fn); ok {
			sorting = true
		} else if s := b.fx.Summary(fn); s != nil && s.Sorts != 0 {
			for i, a := range args {
				if i < 32 && s.Sorts&(1<<i) != 0 && containsString(a, name) {
					return true
				}
			}
		}
		if strings.Contains(strings.ToLower(fn.Name()), "sort") {
			sorting = true
		}
	} else if id, ok := call.Fun.(*ast.Ident); ok && strings.Contains(strings.ToLower(id.Name), "sort") {
		sorting = true
	}
	if !sorting {
		return false
	}
	for _, a := range args {
		if containsString(a, name) {
			return true
		}
		// sort of one of many: for _, l := range lists { sort.Strings(l) }
		if base, _, ok := strings.Cut(name, "["); ok && containsString(a, base) {
			return true
		}
		if id, ok := a.(*ast.Ident); ok {
			if r := b.rangeOver(info.Uses[id]); r != "" && strings.HasPrefix(name, r) {
				return true
			}
		}
	}
	return false
}

// rangeOver names what a variable ranges over, "" if it is no range variable.
func (b *loopBody) rangeOver(obj types.Object) string {
	name := ""
	ast.Inspect(b.fn.Node, func(n ast.Node) bool {
		if r, ok := n.(*ast.RangeStmt); ok && name == "" {
			for _, v := range []ast.Expr{r.Key, r.Value} {
				if id, ok := v.(*ast.Ident); ok && obj != nil && b.pass.TypesInfo.Defs[id] == obj {
					name = types.ExprString(r.X)
				}
			}
		}
		return true
	})
	return name
}

// harmless tells whether a use of the slice cannot see its order. stack ends at the use.
func (b *loopBody) harmless(id *ast.Ident, name string, stack []ast.Node) bool {
	info := b.pass.TypesInfo
	i := len(stack) - 2
	var node ast.Node = id
	for i >= 0 && types.ExprString(asExpr(node)) != name { // s.keys for keys
		e, ok := stack[i].(ast.Expr)
		if !ok {
			return true // another part of the root: s.other
		}
		if _, sel := e.(*ast.SelectorExpr); !sel {
			return true
		}
		node = e
		i--
	}
	if i < 0 {
		return true
	}
	switch p := stack[i].(type) {
	case *ast.CallExpr:
		if isLenCall(info, p) || effect.IsBuiltin(info, p, "cap") || effect.IsBuiltin(info, p, "clear") {
			return true
		}
		if effect.IsBuiltin(info, p, "append") && i > 0 {
			// keys = append(keys, …); all = append(all, keys...): judge all instead
			if as, ok := stack[i-1].(*ast.AssignStmt); ok && len(as.Lhs) == 1 {
				if types.ExprString(as.Lhs[0]) == name {
					return true
				}
				if p.Args[0] != node {
					sub := &loopBody{finder: b.finder, node: b.node, after: as.End(), stack: b.stack}
					_, bad := sub.unsorted(as.Lhs[0])
					return !bad
				}
			}
		}
		if fn, ok := typeutil.Callee(info, p).(*types.Func); ok && insensitive(fn) {
			return true
		}
	case *ast.BinaryExpr:
		return p.Op == token.EQL || p.Op == token.NEQ // with nil
	case *ast.AssignStmt:
		for _, l := range p.Lhs {
			if l == node {
				return true // set anew
			}
		}
	case *ast.RangeStmt:
		if p.X != node {
			return false
		}
		if p.Key == nil {
			return true
		}
		if k, ok := p.Key.(*ast.Ident); ok && k.Name != "_" && p.Value != nil {
			return false // the index counts
		}
		sub := &loopBody{finder: b.finder, node: p, body: p.Body, m: asExpr(node), stack: append([]ast.Node(nil), stack[:i]...), after: p.End(), lits: b.lits}
		// Each key once: the elements are as good as keys.
		if v, ok := p.Value.(*ast.Ident); ok {
			sub.key = info.Defs[v]
		}
		if single(info, sub, sub.stack) {
			return true
		}
		sub.run()
		return len(sub.seen) == 0
	}
	return false
}

func asExpr(n ast.Node) ast.Expr {
	if e, ok := n.(ast.Expr); ok {
		return e
	}
	return &ast.BadExpr{}
}

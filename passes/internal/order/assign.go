package order

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/types/typeutil"

	"github.com/dstkit/dst/passes/internal/effect"
)

// count notes n++ and n += e on an outer integer: harmless, unless the loop reads n.
func (b *loopBody) count(x ast.Expr) {
	if id, ok := ast.Unparen(x).(*ast.Ident); ok {
		if obj := b.pass.TypesInfo.Uses[id]; obj != nil && !b.inside(obj) {
			if !slices.Contains(b.counters, obj) {
				b.counters = append(b.counters, obj)
			}
		}
	}
}

// numbering reports counters whose value goes somewhere: the entries are numbered
// in the order in which they come.
func (b *loopBody) numbering() {
	if len(b.counters) == 0 {
		return
	}
	b.numberedIn(b.body)
}

func (b *loopBody) numberedIn(root ast.Node) {
	info := b.pass.TypesInfo
	done := len(b.seen)
	ast.Inspect(root, func(n ast.Node) bool {
		as, ok := n.(*ast.AssignStmt)
		if !ok || len(b.seen) > done {
			return true
		}
		for i, l := range as.Lhs {
			if len(as.Lhs) != len(as.Rhs) {
				break
			}
			for _, obj := range b.counters {
				if as.Tok != token.ASSIGN && as.Tok != token.DEFINE {
					continue
				}
				if ix, ok := l.(*ast.IndexExpr); ok && b.mentions(ix.Index, obj) {
					continue // filling a slice, judged as an append
				}
				if lo := effect.Root(info, l); lo == obj || as.Tok == token.DEFINE {
					continue
				}
				if b.mentions(as.Rhs[i], obj) && (b.dep(l) || b.perEntry(l)) {
					b.see(as.Pos(), "it numbers the entries with "+obj.Name(), "")
					return false
				}
			}
		}
		return true
	})
}

func (b *loopBody) assign(s *ast.AssignStmt, p place) {
	for _, r := range s.Rhs {
		b.expr(r, p)
	}
	if s.Tok == token.DEFINE {
		b.define(s)
		return
	}
	for i, l := range s.Lhs {
		r := s.Rhs[0]
		if len(s.Rhs) == len(s.Lhs) {
			r = s.Rhs[i]
		}
		b.assignOne(s, l, r, p)
	}
}

// define notes loop variables that stand for outer memory: q := s.queue
func (b *loopBody) define(s *ast.AssignStmt) {
	if len(s.Lhs) != len(s.Rhs) {
		return
	}
	for i, l := range s.Lhs {
		id, ok := l.(*ast.Ident)
		if !ok || b.dep(s.Rhs[i]) {
			continue
		}
		switch ast.Unparen(s.Rhs[i]).(type) {
		case *ast.SelectorExpr, *ast.UnaryExpr, *ast.Ident:
			if obj := b.pass.TypesInfo.Defs[id]; obj != nil && b.outer(s.Rhs[i]) && isRef(obj.Type()) {
				b.aliases[obj] = true
			}
		}
	}
}

func isRef(t types.Type) bool {
	switch t.Underlying().(type) {
	case *types.Pointer, *types.Map, *types.Chan, *types.Interface:
		return true
	}
	return false
}

func (b *loopBody) assignOne(s *ast.AssignStmt, l, r ast.Expr, p place) {
	info := b.pass.TypesInfo
	if id, ok := l.(*ast.Ident); ok && id.Name == "_" {
		return
	}
	root := effect.Root(info, l)
	if root == nil || b.inside(root) && !b.aliases[root] {
		return // the entry's own
	}
	name := types.ExprString(l)
	keyed := b.keyed(l)
	if s.Tok != token.ASSIGN { // an operator
		switch {
		case keyed:
		case s.Tok == token.QUO_ASSIGN || s.Tok == token.REM_ASSIGN || s.Tok == token.SHL_ASSIGN || s.Tok == token.SHR_ASSIGN:
			b.seeIf(b.dep(r), l.Pos(), "it divides or shifts "+name)
		case isString(info.TypeOf(l)):
			b.seeIf(b.dep(r), l.Pos(), "it concatenates strings in "+name)
		case !effect.IsIntegral(info.TypeOf(l)):
			b.seeIf(b.dep(r) && isFloat(info.TypeOf(l)), l.Pos(), "it adds up floats in "+name+", whose rounding depends on the order")
		default:
			b.count(l)
			if b.dep(r) {
				b.partial = append(b.partial, write{l.Pos(), p.block})
			}
		}
		return
	}
	if call, ok := ast.Unparen(r).(*ast.CallExpr); ok && effect.IsBuiltin(info, call, "append") {
		if len(call.Args) > 0 && types.ExprString(call.Args[0]) == name {
			dep := false
			for _, a := range call.Args[1:] {
				dep = dep || b.dep(a)
			}
			if dep && !keyed {
				b.appends = append(b.appends, target{l, l.Pos()})
			}
			if dep {
				b.partial = append(b.partial, write{l.Pos(), p.block})
			}
			return
		}
	}
	if ix, ok := ast.Unparen(l).(*ast.IndexExpr); ok {
		if types.ExprString(ix.X) == types.ExprString(b.m) {
			b.mutates = true
		}
		if b.dep(ix.Index) {
			b.partial = append(b.partial, write{l.Pos(), p.block})
			return // a slot of its own, or one that somebody chose to be unique
		}
		if obj := effect.Root(info, ix.Index); obj != nil && b.isCounter(obj) {
			if b.dep(r) {
				b.appends = append(b.appends, target{ix.X, l.Pos()})
			}
			return
		}
	}
	if _, ok := l.(*ast.Ident); ok && b.dep(r) && !containsString(r, name) && !b.guardedByFirst(l, p) && b.scratch(root) {
		b.taken[root] = true
		return
	}
	if b.perEntry(l) || !b.dep(r) {
		if b.dep(r) {
			b.partial = append(b.partial, write{l.Pos(), p.block})
		}
		return
	}
	if b.commutes(l, r) || b.extreme(l, r, p) {
		b.partial = append(b.partial, write{l.Pos(), p.block})
		return
	}
	what := "the last entry decides " + name
	if containsString(r, name) {
		what = "it folds the entries into " + name
	} else if b.guardedByFirst(l, p) || b.exitsIn(p.block) {
		what = "the first entry that comes decides " + name
	}
	b.see(l.Pos(), what, "")
}

func (b *loopBody) seeIf(cond bool, pos token.Pos, what string) {
	if cond {
		b.see(pos, what, "")
	}
}

// isCounter tells whether the body counts with obj, also further down.
func (b *loopBody) isCounter(obj types.Object) bool {
	if b.inside(obj) {
		return false
	}
	found := false
	ast.Inspect(b.body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.IncDecStmt:
			found = found || effect.Root(b.pass.TypesInfo, n.X) == obj
		case *ast.AssignStmt:
			found = found || n.Tok == token.ADD_ASSIGN && effect.Root(b.pass.TypesInfo, n.Lhs[0]) == obj
		}
		return !found
	})
	return found
}

// keyed tells whether l goes through an index with the range key in it, so that
// each entry has a slot of its own.
func (b *loopBody) keyed(l ast.Expr) bool {
	for {
		switch e := l.(type) {
		case *ast.ParenExpr:
			l = e.X
		case *ast.SelectorExpr:
			l = e.X
		case *ast.StarExpr:
			l = e.X
		case *ast.IndexExpr:
			if b.key != nil && b.mentions(e.Index, b.key) {
				return true
			}
			l = e.X
		default:
			return false
		}
	}
}

// commutes tells whether l = r folds in a way that does not depend on the order:
// n = n + v, ok = ok && f(v), t = max(t, v).
func (b *loopBody) commutes(l, r ast.Expr) bool {
	info := b.pass.TypesInfo
	name := types.ExprString(l)
	switch e := ast.Unparen(r).(type) {
	case *ast.BinaryExpr:
		x, y := types.ExprString(e.X) == name, types.ExprString(e.Y) == name
		if x == y {
			// a || b || l and the like
			return (e.Op == token.LOR || e.Op == token.LAND) && containsString(e, name)
		}
		switch e.Op {
		case token.LOR, token.LAND:
			return true
		case token.ADD, token.MUL, token.OR, token.XOR, token.AND:
			return effect.IsIntegral(info.TypeOf(l))
		case token.SUB, token.AND_NOT:
			return x && effect.IsIntegral(info.TypeOf(l))
		}
	case *ast.CallExpr:
		callee := typeutil.Callee(info, e)
		if callee == nil || !containsString(e, name) {
			return false
		}
		n := strings.ToLower(callee.Name())
		for _, w := range []string{"max", "min", "union", "merge", "intersect", "latest", "earliest", "gcd", "lcm"} {
			if strings.Contains(n, w) {
				return true
			}
		}
		// d = d.Add(v) on durations, counts, sets
		return false
	}
	return false
}

// extreme tells whether an assignment keeps the least or greatest: a condition
// compares what is assigned with what is kept, or the key breaks ties.
func (b *loopBody) extreme(l, r ast.Expr, p place) bool {
	ls, rs := types.ExprString(l), types.ExprString(r)
	for _, c := range p.conds {
		found := false
		ast.Inspect(c, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.BinaryExpr:
				switch n.Op {
				case token.LSS, token.GTR, token.LEQ, token.GEQ:
					x, y := types.ExprString(n.X), types.ExprString(n.Y)
					if x == ls && y == rs || x == rs && y == ls {
						found = true
					}
					if b.key != nil && (b.isKeyIdent(n.X) && !b.dep(n.Y) || b.isKeyIdent(n.Y) && !b.dep(n.X)) {
						found = true // ties go to the least key
					}
					// int64(v) > max, len(v) > n: the conversion or call assigned as well
					if x == "len("+rs+")" && y == "len("+ls+")" {
						return true
					}
				}
			case *ast.CallExpr: // v.After(latest), bytes.Compare(v, best) < 0
				if isComparison(b.pass.TypesInfo, n) {
					var args []string
					if sel, ok := n.Fun.(*ast.SelectorExpr); ok {
						args = append(args, types.ExprString(sel.X))
					}
					for _, a := range n.Args {
						args = append(args, strings.TrimPrefix(types.ExprString(a), "&"))
					}
					hasL, hasR := false, false
					for _, a := range args {
						hasL, hasR = hasL || a == ls, hasR || a == rs
					}
					found = found || hasL && hasR
				}
			}
			return !found
		})
		if found {
			return true
		}
	}
	return false
}

func (b *loopBody) isKeyIdent(x ast.Expr) bool {
	id, ok := ast.Unparen(x).(*ast.Ident)
	return ok && b.pass.TypesInfo.Uses[id] == b.key
}

func isComparison(info *types.Info, call *ast.CallExpr) bool {
	callee := typeutil.Callee(info, call)
	if callee == nil {
		return false
	}
	n := strings.ToLower(callee.Name())
	for _, w := range []string{"after", "before", "compare", "cmp", "less", "greater", "newer", "older", "higher", "lower"} {
		if strings.Contains(n, w) {
			return true
		}
	}
	return false
}

// guardedByFirst tells whether the assignment is made once: if err == nil { err = e }
func (b *loopBody) guardedByFirst(l ast.Expr, p place) bool {
	ls := types.ExprString(l)
	for _, c := range p.conds {
		if e, ok := ast.Unparen(c).(*ast.BinaryExpr); ok && e.Op == token.EQL && types.ExprString(e.X) == ls {
			return true
		}
	}
	return false
}

func (b *loopBody) exitsIn(block ast.Node) bool {
	if bs, ok := block.(*ast.BlockStmt); ok {
		return leaves(bs)
	}
	return false
}

// scratch tells whether an outer variable serves one iteration at a time: nothing
// reads what the loop has left in it, because the first mention after the loop, and
// after the start of each loop around it, sets it anew.
func (b *loopBody) scratch(obj types.Object) bool {
	v, ok := obj.(*types.Var)
	if !ok || v.Pkg() == nil || v.Parent() == v.Pkg().Scope() || b.isResult(v) || b.readBefore(b.node, v) {
		return false
	}
	for _, n := range b.stack {
		switch n := n.(type) {
		case *ast.FuncLit:
			if n.Pos() > v.Pos() {
				return false
			}
		case *ast.ForStmt, *ast.RangeStmt:
			if n.Pos() > v.Pos() && b.readBefore(n, v) {
				return false
			}
		}
	}
	first, write := b.firstMention(b.fn.Node, b.after, v)
	return !first.IsValid() || write
}

// readBefore tells whether an iteration of a loop reads v before it sets it.
func (b *loopBody) readBefore(loop ast.Node, v types.Object) bool {
	first, write := b.firstMention(loop, loop.Pos(), v)
	return first.IsValid() && !write
}

// firstMention finds where n first names v, from a position on, and whether that sets v. The
// right side of an assignment comes before its left one.
func (b *loopBody) firstMention(n ast.Node, from token.Pos, v types.Object) (at token.Pos, write bool) {
	info := b.pass.TypesInfo
	ast.Inspect(n, func(n ast.Node) bool {
		if n == nil || at.IsValid() || n.End() <= from {
			return false
		}
		switch n := n.(type) {
		case *ast.AssignStmt:
			if n.Pos() < from || n.Tok != token.ASSIGN && n.Tok != token.DEFINE {
				return true
			}
			for _, r := range n.Rhs {
				if b.mentions(r, v) {
					at = r.Pos()
					return false
				}
			}
			for _, l := range n.Lhs {
				if id, ok := l.(*ast.Ident); ok && info.Uses[id] == v {
					at, write = id.Pos(), true
					return false
				}
			}
		case *ast.Ident:
			if n.Pos() >= from && info.Uses[n] == v {
				at = n.Pos()
			}
		}
		return true
	})
	return at, write
}

func (b *loopBody) isResult(v *types.Var) bool {
	for _, n := range append([]ast.Node{b.fn.Node}, b.stack...) {
		var ft *ast.FuncType
		switch n := n.(type) {
		case *ast.FuncDecl:
			ft = n.Type
		case *ast.FuncLit:
			ft = n.Type
		}
		if ft == nil || ft.Results == nil {
			continue
		}
		for _, f := range ft.Results.List {
			for _, id := range f.Names {
				if b.pass.TypesInfo.Defs[id] == v {
					return true
				}
			}
		}
	}
	return false
}

func isString(t types.Type) bool {
	bt, ok := t.Underlying().(*types.Basic)
	return ok && bt.Info()&types.IsString != 0
}

func isFloat(t types.Type) bool {
	bt, ok := t.Underlying().(*types.Basic)
	return ok && bt.Info()&(types.IsFloat|types.IsComplex) != 0
}

func containsString(x ast.Node, s string) bool {
	found := false
	ast.Inspect(x, func(n ast.Node) bool {
		if e, ok := n.(ast.Expr); ok && types.ExprString(e) == s {
			found = true
		}
		return !found
	})
	return found
}

package order

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/types/typeutil"
)

// holdsPointer tells whether hashing a value of type t hashes an address. Of interfaces,
// those with methods hold pointers as a rule, and the empty one holds values.
func holdsPointer(t types.Type) bool { return holds(t, 0) }

func holds(t types.Type, depth int) bool {
	if t == nil || depth > 8 {
		return false
	}
	switch u := t.Underlying().(type) {
	case *types.Pointer, *types.Chan:
		return true
	case *types.Basic:
		return u.Kind() == types.UnsafePointer
	case *types.Interface:
		if _, ok := types.Unalias(t).(*types.TypeParam); ok {
			return false
		}
		return u.NumMethods() > 0
	case *types.Struct:
		for f := range u.Fields() {
			if holds(f.Type(), depth+1) {
				return true
			}
		}
	case *types.Array:
		return holds(u.Elem(), depth+1)
	}
	return false
}

func isMethod(info *types.Info, call *ast.CallExpr, pkg, typ, name string) bool {
	fn, ok := typeutil.Callee(info, call).(*types.Func)
	if !ok {
		return false
	}
	_, sel := call.Fun.(*ast.SelectorExpr)
	return sel && isMethodOf(fn, pkg, typ, name)
}

func isMethodOf(fn *types.Func, pkg, typ, name string) bool {
	if fn.Name() != name || fn.Pkg() == nil || fn.Pkg().Path() != pkg {
		return false
	}
	recv := fn.Signature().Recv()
	if recv == nil {
		return false
	}
	t := recv.Type()
	if p, ok := t.(*types.Pointer); ok {
		t = p.Elem()
	}
	n, ok := types.Unalias(t).(*types.Named)
	return ok && n.Obj().Name() == typ
}

// isParam tells whether obj is a parameter of a function that encloses the stack's end.
func isParam(stack []ast.Node, info *types.Info, obj types.Object) bool {
	for _, n := range stack {
		var ft *ast.FuncType
		switch n := n.(type) {
		case *ast.FuncDecl:
			ft = n.Type
		case *ast.FuncLit:
			ft = n.Type
		default:
			continue
		}
		for _, f := range ft.Params.List {
			for _, name := range f.Names {
				if info.Defs[name] == obj {
					return true
				}
			}
		}
	}
	return false
}

// localFuncs maps the variables of a function that hold one function literal for good to it.
func localFuncs(info *types.Info, fn ast.Node) map[types.Object]*ast.FuncLit {
	lits := make(map[types.Object]*ast.FuncLit)
	ast.Inspect(fn, func(n ast.Node) bool {
		as, ok := n.(*ast.AssignStmt)
		if !ok || len(as.Lhs) != len(as.Rhs) {
			return true
		}
		for i, l := range as.Lhs {
			id, ok := l.(*ast.Ident)
			if !ok {
				continue
			}
			obj := info.Defs[id]
			if obj == nil {
				obj = info.Uses[id]
			}
			if lit, ok := as.Rhs[i].(*ast.FuncLit); ok && obj != nil {
				if _, twice := lits[obj]; !twice {
					lits[obj] = lit
					continue
				}
			}
			if _, known := lits[obj]; known {
				lits[obj] = nil
			}
		}
		return true
	})
	return lits
}

// single tells whether the map is known to have one entry at most: the loop stands
// under len(m) == 1 or after a return for len(m) != 1.
func single(info *types.Info, b *loopBody, stack []ast.Node) bool {
	m := types.ExprString(b.m)
	isLen := func(x ast.Expr) bool {
		call, ok := ast.Unparen(x).(*ast.CallExpr)
		return ok && isLenCall(info, call) && types.ExprString(call.Args[0]) == m
	}
	one := func(x ast.Expr) bool {
		v := info.Types[x].Value
		return v != nil && v.Kind() == constant.Int && constant.Compare(v, token.EQL, constant.MakeInt64(1))
	}
	for i, n := range stack {
		var child ast.Node = b.node
		if i+1 < len(stack) {
			child = stack[i+1]
		}
		switch n := n.(type) {
		case *ast.IfStmt:
			if child == n.Body && compares(n.Cond, token.EQL, isLen, one) || child == n.Else && compares(n.Cond, token.NEQ, isLen, one) {
				return true
			}
		case *ast.SwitchStmt:
			if n.Tag != nil && isLen(n.Tag) && i+2 < len(stack) {
				if cc, ok := stack[i+2].(*ast.CaseClause); ok && len(cc.List) == 1 && one(cc.List[0]) {
					return true
				}
			}
		case *ast.CaseClause:
			for _, x := range n.List {
				if compares(x, token.EQL, isLen, one) {
					return true
				}
			}
		case *ast.BlockStmt:
			for _, s := range n.List {
				if s == child || s.Pos() >= b.node.Pos() {
					break
				}
				is, ok := s.(*ast.IfStmt)
				if ok && leaves(is.Body) && (disjunct(is.Cond, token.NEQ, isLen, one) || disjunct(is.Cond, token.GTR, isLen, one)) {
					return true
				}
			}
		}
	}
	return false
}

func isLenCall(info *types.Info, call *ast.CallExpr) bool {
	id, ok := call.Fun.(*ast.Ident)
	if !ok || id.Name != "len" || len(call.Args) != 1 {
		return false
	}
	_, ok = info.Uses[id].(*types.Builtin)
	return ok
}

// compares tells whether cond is a op b, or an && of such.
func compares(cond ast.Expr, op token.Token, a, b func(ast.Expr) bool) bool {
	return junction(cond, token.LAND, op, a, b)
}

// disjunct is compares for ||.
func disjunct(cond ast.Expr, op token.Token, a, b func(ast.Expr) bool) bool {
	return junction(cond, token.LOR, op, a, b)
}

func junction(cond ast.Expr, by, op token.Token, a, b func(ast.Expr) bool) bool {
	e, ok := ast.Unparen(cond).(*ast.BinaryExpr)
	if !ok {
		return false
	}
	if e.Op == by {
		return junction(e.X, by, op, a, b) || junction(e.Y, by, op, a, b)
	}
	return e.Op == op && (a(e.X) && b(e.Y) || op != token.GTR && b(e.X) && a(e.Y))
}

// leaves tells whether a block ends by going elsewhere.
func leaves(b *ast.BlockStmt) bool {
	if len(b.List) == 0 {
		return false
	}
	switch s := b.List[len(b.List)-1].(type) {
	case *ast.ReturnStmt, *ast.BranchStmt:
		return true
	case *ast.ExprStmt:
		if call, ok := s.X.(*ast.CallExpr); ok {
			id, ok := call.Fun.(*ast.Ident)
			return ok && id.Name == "panic"
		}
	}
	return false
}

// insensitive tells whether a function of std gives the same for any order of a slice.
func insensitive(fn *types.Func) bool {
	if fn.Pkg() == nil {
		return false
	}
	switch fn.Pkg().Path() {
	case "slices":
		switch fn.Name() {
		case "Contains", "ContainsFunc", "Max", "Min", "Sorted", "SortedFunc", "SortedStableFunc", "Grow", "Clip":
			return true
		}
	}
	return false
}

// Package order finds the loops over maps whose order of iteration can be seen
// outside of them. It reports nothing: mapiter and escape do.
package order

import (
	"go/ast"
	"go/token"
	"go/types"
	"reflect"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/types/typeutil"

	"github.com/dstkit/dst/passes/internal/effect"
)

// A Loop goes over the entries of a map, and its order can be seen.
type Loop struct {
	Node        ast.Node // a *ast.RangeStmt, *ast.ForStmt (reflect), or *ast.CallExpr
	HeadEnd     token.Pos
	Name        string // the map, as written
	Func        *effect.Func
	PointerKeys bool   // keys are pointers or hold some: the order depends on addresses
	Mutates     bool   // the body inserts into the map or deletes from it
	Seen        []Seen // at least one
}

// Seen is one way in which the order comes out.
type Seen struct {
	Pos   token.Pos
	What  string
	Chain string // of the function called, if one is to blame
}

// Analyzer's result is a []*[Loop], in the order of the source.
var Analyzer = &analysis.Analyzer{
	Name:       "dstorder",
	Doc:        "find map iterations whose order can be seen (for the other passes)",
	Run:        run,
	Requires:   []*analysis.Analyzer{effect.Analyzer},
	ResultType: reflect.TypeFor[[]*Loop](),
}

func run(pass *analysis.Pass) (any, error) {
	fx := pass.ResultOf[effect.Analyzer].(*effect.Info)
	var loops []*Loop
	for _, f := range fx.Funcs {
		if f.Obj != nil && !isFunc(f) {
			continue // a variable's value; its initialisation comes by itself
		}
		v := &finder{pass: pass, fx: fx, fn: f}
		ast.PreorderStack(f.Node, nil, func(n ast.Node, stack []ast.Node) bool {
			if l := v.loop(n, stack); l != nil {
				loops = append(loops, l)
			}
			return true
		})
	}
	return loops, nil
}

func isFunc(f *effect.Func) bool {
	_, ok := f.Node.(*ast.FuncDecl)
	return ok
}

type finder struct {
	pass *analysis.Pass
	fx   *effect.Info
	fn   *effect.Func
}

// loop judges n if it goes over a map, and returns nil if its order cannot be seen.
func (v *finder) loop(n ast.Node, stack []ast.Node) *Loop {
	info := v.pass.TypesInfo
	switch n := n.(type) {
	case *ast.RangeStmt:
		x, keys, ok := v.overMap(n.X)
		if !ok || n.Key == nil {
			return nil // without variables each iteration is the same
		}
		l := &Loop{Node: n, HeadEnd: n.X.End(), Name: types.ExprString(x), Func: v.fn, PointerKeys: holdsPointer(keys)}
		return v.judge(l, &loopBody{node: n, body: n.Body, m: x, key: v.keyObj(n)}, stack)
	case *ast.ForStmt:
		// for it.Next() { with it := reflect.Value.MapRange()
		call, ok := n.Cond.(*ast.CallExpr)
		if !ok || n.Init != nil || n.Post != nil || !isMethod(info, call, "reflect", "MapIter", "Next") {
			return nil
		}
		it := call.Fun.(*ast.SelectorExpr).X
		l := &Loop{Node: n, HeadEnd: n.Cond.End(), Name: "iterator " + types.ExprString(it), Func: v.fn}
		return v.judge(l, &loopBody{node: n, body: n.Body, m: it, iter: effect.Root(info, it)}, stack)
	case *ast.CallExpr:
		if isMethod(info, n, "sync", "Map", "Range") && len(n.Args) == 1 {
			x := n.Fun.(*ast.SelectorExpr).X
			l := &Loop{Node: n, HeadEnd: n.Lparen, Name: types.ExprString(x), Func: v.fn}
			switch arg := ast.Unparen(n.Args[0]).(type) {
			case *ast.FuncLit:
				b := &loopBody{node: arg, body: arg.Body, m: x, isFunc: true, after: n.End()}
				if p := arg.Type.Params.List; len(p) > 0 && len(p[0].Names) > 0 {
					b.key = info.Defs[p[0].Names[0]]
				}
				return v.judge(l, b, stack)
			case *ast.Ident:
				if obj, ok := info.Uses[arg].(*types.Var); ok && isParam(stack, info, obj) {
					l.Seen = []Seen{{arg.Pos(), "it hands the entries to " + arg.Name, ""}}
					return l
				}
			}
			return nil
		}
		return v.collected(n, stack)
	}
	return nil
}

// overMap tells whether ranging over x goes over a map, and which keys it has.
func (v *finder) overMap(x ast.Expr) (m ast.Expr, key types.Type, ok bool) {
	info := v.pass.TypesInfo
	t := info.TypeOf(x)
	if t == nil {
		return nil, nil, false
	}
	if mt, ok := t.Underlying().(*types.Map); ok {
		return x, mt.Key(), true
	}
	switch e := ast.Unparen(x).(type) {
	case *ast.CallExpr:
		if fn, ok := typeutil.Callee(info, e).(*types.Func); ok && fn.Pkg() != nil && fn.Pkg().Path() == "maps" && len(e.Args) == 1 {
			switch fn.Name() {
			case "Keys", "Values", "All":
				if mt, ok := info.TypeOf(e.Args[0]).Underlying().(*types.Map); ok {
					return e.Args[0], mt.Key(), true
				}
			}
		}
		if isMethod(info, e, "reflect", "Value", "MapKeys") {
			return e, nil, true
		}
	case *ast.SelectorExpr: // range m.Range, a sync.Map's
		if fn, ok := info.Uses[e.Sel].(*types.Func); ok && isMethodOf(fn, "sync", "Map", "Range") {
			return e.X, nil, true
		}
	}
	return nil, nil, false
}

func (v *finder) keyObj(n *ast.RangeStmt) types.Object {
	id, ok := n.Key.(*ast.Ident)
	if !ok || id.Name == "_" {
		return nil
	}
	if call, ok := ast.Unparen(n.X).(*ast.CallExpr); ok {
		// range maps.Values(m): the variable is no key
		if fn, ok := typeutil.Callee(v.pass.TypesInfo, call).(*types.Func); ok && fn.Name() == "Values" {
			return nil
		}
		if isMethod(v.pass.TypesInfo, call, "reflect", "Value", "MapKeys") {
			id, ok = n.Value.(*ast.Ident)
			if !ok {
				return nil
			}
		}
	}
	if obj := v.pass.TypesInfo.Defs[id]; obj != nil {
		return obj
	}
	return v.pass.TypesInfo.Uses[id]
}

// judge walks the body, then looks at what becomes of the slices that it fills.
func (v *finder) judge(l *Loop, b *loopBody, stack []ast.Node) *Loop {
	if b.after == token.NoPos {
		b.after = b.node.End()
	}
	if single(v.pass.TypesInfo, b, stack) {
		return nil
	}
	b.finder, b.stack = v, stack
	b.lits = localFuncs(v.pass.TypesInfo, v.fn.Node)
	b.run()
	l.Mutates = b.mutates
	l.Seen = b.seen
	if len(l.Seen) == 0 {
		return nil
	}
	return l
}

// collected judges slices.Collect(maps.Keys(m)), slices.AppendSeq and reflect's
// MapKeys: a slice in the map's order.
func (v *finder) collected(call *ast.CallExpr, stack []ast.Node) *Loop {
	info := v.pass.TypesInfo
	var m ast.Expr
	var key types.Type
	fn, ok := typeutil.Callee(info, call).(*types.Func)
	if !ok || fn.Pkg() == nil {
		return nil
	}
	switch {
	case fn.Pkg().Path() == "slices" && (fn.Name() == "Collect" || fn.Name() == "AppendSeq"):
		if m, key, ok = v.overMap(call.Args[len(call.Args)-1]); !ok {
			return nil
		}
	case isMethodOf(fn, "reflect", "Value", "MapKeys"):
		m = call.Fun.(*ast.SelectorExpr).X
	case fn.Pkg().Path() == "golang.org/x/exp/maps" && (fn.Name() == "Keys" || fn.Name() == "Values") && len(call.Args) == 1:
		mt, ok := info.TypeOf(call.Args[0]).Underlying().(*types.Map)
		if _, slice := info.TypeOf(call).(*types.Slice); !ok || !slice {
			return nil
		}
		m, key = call.Args[0], mt.Key()
	default:
		return nil
	}
	if len(stack) == 0 {
		return nil
	}
	l := &Loop{Node: call, HeadEnd: call.End(), Name: types.ExprString(m), Func: v.fn, PointerKeys: holdsPointer(key)}
	var target ast.Expr
	switch p := stack[len(stack)-1].(type) {
	case *ast.AssignStmt:
		for i, r := range p.Rhs {
			if r == call && len(p.Lhs) == len(p.Rhs) {
				target = p.Lhs[i]
			}
		}
	case *ast.ValueSpec:
		if len(p.Names) == 1 && len(stack) > 1 {
			target = p.Names[0]
		}
	case *ast.CallExpr: // sorted at once, or only counted
		if outer, ok := typeutil.Callee(info, p).(*types.Func); ok {
			if _, ok := effect.Sorts(outer); ok || insensitive(outer) {
				return nil
			}
			l.Seen = []Seen{{call.Pos(), "it passes the unsorted slice to " + effect.Name(outer), ""}}
			return l
		}
		if effect.IsBuiltin(info, p, "len") || effect.IsBuiltin(info, p, "append") {
			return nil
		}
	case *ast.ReturnStmt:
		l.Seen = []Seen{{call.Pos(), "it returns the unsorted slice", ""}}
		return l
	case *ast.RangeStmt:
		return nil // judged as a loop
	}
	if target == nil {
		return nil
	}
	if id, ok := target.(*ast.Ident); ok && id.Name == "_" {
		return nil
	}
	b := &loopBody{finder: v, node: call, after: call.End(), stack: stack}
	if what, ok := b.unsorted(target); ok {
		l.Seen = []Seen{{call.Pos(), what, ""}}
		return l
	}
	return nil
}

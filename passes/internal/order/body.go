package order

import (
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/types/typeutil"

	"github.com/dstkit/dst/passes/internal/effect"
)

// A loopBody judges one loop. It walks the body as it runs, once, and asks of
// each statement whether another order of the entries would leave another world.
type loopBody struct {
	*finder
	node   ast.Node       // what declares the loop's variables
	body   *ast.BlockStmt // nil when only unsorted is used
	m      ast.Expr
	key    types.Object // nil when the loop has no variable for the key
	iter   types.Object // reflect's iterator: counts as a loop variable
	isFunc bool         // a callback: return false ends the loop, return true goes on
	after  token.Pos    // the end of the loop in its function
	stack  []ast.Node   // what encloses it
	lits   map[types.Object]*ast.FuncLit

	taken    map[types.Object]bool // outer variables that serve one iteration at a time
	seen     []Seen
	mutates  bool
	appends  []target // outer slices that the loop fills
	partial  []write  // changes that are incomplete when the loop stops early
	exits    []exit
	counters []types.Object        // outer integers that the loop counts with
	aliases  map[types.Object]bool // loop variables that stand for outer memory
	inlined  map[*ast.FuncLit]bool
	called   []*ast.FuncLit // the function's own closures that the loop calls: their variables are the iteration's
}

type target struct {
	expr ast.Expr
	pos  token.Pos
}

type write struct {
	pos   token.Pos
	block ast.Node
}

type exit struct {
	pos   token.Pos
	block ast.Node
}

// A place is where in the loop a statement stands.
type place struct {
	inner bool       // a plain break or continue is of an inner statement
	lit   bool       // in a function literal of the loop: return does not leave the loop
	conds []ast.Expr // that hold here
	block ast.Node
}

func (b *loopBody) run() {
	b.aliases = make(map[types.Object]bool)
	b.inlined = make(map[*ast.FuncLit]bool)
	b.taken = make(map[types.Object]bool)
	b.block(b.body.List, place{block: b.body})
	b.numbering()
	if len(b.exits) > 0 {
		b.early()
	}
	for _, t := range b.appends {
		if what, ok := b.unsorted(t.expr); ok {
			b.see(t.pos, what, "")
		}
	}
}

func (b *loopBody) see(pos token.Pos, what, chain string) {
	b.seen = append(b.seen, Seen{pos, what, chain})
}

// inside tells whether obj is made anew by each iteration.
func (b *loopBody) inside(obj types.Object) bool {
	if obj == nil {
		return false
	}
	if b.taken[obj] {
		return true
	}
	for _, lit := range b.called {
		if lit.Pos() <= obj.Pos() && obj.Pos() < lit.End() {
			return true
		}
	}
	return b.node.Pos() <= obj.Pos() && obj.Pos() < b.node.End() || obj == b.key || obj == b.iter
}

// dep tells whether an expression or statement depends on the iteration.
func (b *loopBody) dep(n ast.Node) bool {
	found := false
	ast.Inspect(n, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && b.inside(b.pass.TypesInfo.Uses[id]) {
			found = true
		}
		return !found
	})
	return found
}

// mentions tells whether n uses obj.
func (b *loopBody) mentions(n ast.Node, obj types.Object) bool {
	found := false
	ast.Inspect(n, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && obj != nil && b.pass.TypesInfo.Uses[id] == obj {
			found = true
		}
		return !found
	})
	return found
}

// outer tells whether x stands for memory that outlives an iteration and is not
// this entry's own.
func (b *loopBody) outer(x ast.Expr) bool {
	if b.perEntry(x) {
		return false
	}
	obj := effect.Root(b.pass.TypesInfo, x)
	if obj == nil {
		return false // begins with a call: unknown
	}
	return !b.inside(obj) || b.aliases[obj]
}

// perEntry tells whether x goes through an index that depends on the entry: m2[k].x
func (b *loopBody) perEntry(x ast.Expr) bool {
	for {
		switch e := x.(type) {
		case *ast.ParenExpr:
			x = e.X
		case *ast.SelectorExpr:
			x = e.X
		case *ast.StarExpr:
			x = e.X
		case *ast.IndexExpr:
			if b.dep(e.Index) {
				return true
			}
			x = e.X
		case *ast.UnaryExpr:
			x = e.X
		case *ast.SliceExpr:
			x = e.X
		case *ast.TypeAssertExpr:
			x = e.X
		default:
			return false
		}
	}
}

func (b *loopBody) block(list []ast.Stmt, p place) {
	for i, s := range list {
		// if k != name { continue }: below it, the entry is a certain one.
		if is, ok := s.(*ast.IfStmt); ok && is.Else == nil && is.Init == nil && leaves(is.Body) && b.picksEntry(is.Cond, token.NEQ, token.LOR) {
			b.stmt(s, p)
			return
		}
		b.stmt(s, p)
		// if v < best { continue }: below it, the opposite holds.
		if is, ok := s.(*ast.IfStmt); ok && leaves(is.Body) && i+1 < len(list) {
			p.conds = append(p.conds[:len(p.conds):len(p.conds)], is.Cond)
		}
	}
}

// picksEntry tells whether cond compares the key with something that stays the same
// in the loop, so that one entry at most is meant.
func (b *loopBody) picksEntry(cond ast.Expr, op, by token.Token) bool {
	isKey := func(x ast.Expr) bool {
		id, ok := ast.Unparen(x).(*ast.Ident)
		return ok && b.key != nil && b.pass.TypesInfo.Uses[id] == b.key
	}
	fixed := func(x ast.Expr) bool { return !b.dep(x) }
	return junction(cond, by, op, isKey, fixed)
}

func (b *loopBody) stmt(s ast.Stmt, p place) {
	switch s := s.(type) {
	case nil:
	case *ast.BlockStmt:
		p.block = s
		b.block(s.List, p)
	case *ast.LabeledStmt:
		b.stmt(s.Stmt, p)
	case *ast.IfStmt:
		b.stmt(s.Init, p)
		b.expr(s.Cond, p)
		then := p
		then.conds = append(p.conds[:len(p.conds):len(p.conds)], s.Cond)
		then.block = s.Body
		if !b.picksEntry(s.Cond, token.EQL, token.LAND) {
			b.block(s.Body.List, then)
		}
		if s.Else != nil {
			if !b.picksEntry(s.Cond, token.NEQ, token.LOR) {
				b.stmt(s.Else, then)
			}
		}
	case *ast.ForStmt:
		p.inner = true
		b.stmt(s.Init, p)
		if s.Cond != nil {
			b.expr(s.Cond, p)
		}
		b.stmt(s.Post, p)
		b.stmt(s.Body, p)
	case *ast.RangeStmt:
		p.inner = true
		b.expr(s.X, p)
		b.stmt(s.Body, p)
	case *ast.SwitchStmt:
		p.inner = true
		b.stmt(s.Init, p)
		if s.Tag != nil {
			b.expr(s.Tag, p)
			if b.key != nil && b.mentions(s.Tag, b.key) && constantCases(b.pass.TypesInfo, s.Body) {
				b.defaultClause(s.Body, p)
				return // each other case is a certain entry, also of strings.ToLower(key)
			}
		}
		b.clauses(s.Body, p)
	case *ast.TypeSwitchStmt:
		p.inner = true
		b.stmt(s.Init, p)
		b.clauses(s.Body, p)
	case *ast.SelectStmt:
		p.inner = true
		for _, c := range s.Body.List {
			cc := c.(*ast.CommClause)
			b.stmt(cc.Comm, p)
			q := p
			q.block = cc
			b.block(cc.Body, q)
		}
	case *ast.SendStmt:
		b.expr(s.Value, p)
		if b.dep(s) && !b.inside(effect.Root(b.pass.TypesInfo, s.Chan)) || b.perEntry(s.Chan) {
			b.see(s.Arrow, "it sends on "+types.ExprString(s.Chan), "")
		} else if obj := effect.Root(b.pass.TypesInfo, s.Chan); b.inside(obj) {
			if _, ok := ast.Unparen(s.Chan).(*ast.SelectorExpr); ok || b.isEntryVar(obj) {
				b.see(s.Arrow, "it sends on "+types.ExprString(s.Chan), "")
			}
		}
	case *ast.GoStmt:
		if b.dep(s) {
			b.see(s.Go, "it starts goroutines", "")
		}
	case *ast.DeferStmt:
		b.expr(s.Call, p)
	case *ast.ExprStmt:
		if call, ok := ast.Unparen(s.X).(*ast.CallExpr); ok {
			b.callback(call, p)
		}
		b.expr(s.X, p)
	case *ast.IncDecStmt:
		b.count(s.X)
	case *ast.AssignStmt:
		b.assign(s, p)
	case *ast.DeclStmt:
		if g, ok := s.Decl.(*ast.GenDecl); ok {
			for _, spec := range g.Specs {
				if vs, ok := spec.(*ast.ValueSpec); ok {
					for _, x := range vs.Values {
						b.expr(x, p)
					}
				}
			}
		}
	case *ast.ReturnStmt:
		b.ret(s, p)
	case *ast.BranchStmt:
		b.branch(s, p)
	}
}

func (b *loopBody) isEntryVar(obj types.Object) bool {
	rng, ok := b.node.(*ast.RangeStmt)
	if !ok {
		return false
	}
	id, ok := rng.Value.(*ast.Ident)
	return ok && b.pass.TypesInfo.Defs[id] == obj
}

func constantCases(info *types.Info, body *ast.BlockStmt) bool {
	for _, c := range body.List {
		for _, x := range c.(*ast.CaseClause).List {
			if info.Types[x].Value == nil {
				return false
			}
		}
	}
	return true
}

func (b *loopBody) defaultClause(body *ast.BlockStmt, p place) {
	for _, c := range body.List {
		if cc := c.(*ast.CaseClause); cc.List == nil {
			p.block = cc
			b.block(cc.Body, p)
		}
	}
}

func (b *loopBody) clauses(body *ast.BlockStmt, p place) {
	for _, c := range body.List {
		cc := c.(*ast.CaseClause)
		q := p
		q.block = cc
		q.conds = append(p.conds[:len(p.conds):len(p.conds)], cc.List...)
		for _, x := range cc.List {
			b.expr(x, p)
		}
		if len(cc.List) == 1 && b.picksEntry(cc.List[0], token.EQL, token.LAND) {
			continue
		}
		b.block(cc.Body, q)
	}
}

func (b *loopBody) branch(s *ast.BranchStmt, p place) {
	switch s.Tok {
	case token.BREAK:
		if p.inner && (s.Label == nil || b.labelInside(s.Label)) || p.lit || b.isFunc && s.Label == nil {
			return
		}
	case token.CONTINUE:
		if s.Label == nil || b.labelInside(s.Label) || b.ownLabel(s.Label) {
			return
		}
	case token.GOTO:
		if b.labelInside(s.Label) {
			return
		}
	default:
		return
	}
	b.exits = append(b.exits, exit{s.Pos(), p.block})
}

// labelInside tells whether a label's statement lies within the loop.
func (b *loopBody) labelInside(l *ast.Ident) bool {
	obj := b.pass.TypesInfo.Uses[l]
	return obj != nil && b.body.Pos() <= obj.Pos() && obj.Pos() < b.body.End()
}

func (b *loopBody) ownLabel(l *ast.Ident) bool {
	if len(b.stack) == 0 {
		return false
	}
	ls, ok := b.stack[len(b.stack)-1].(*ast.LabeledStmt)
	return ok && ls.Label.Name == l.Name
}

func (b *loopBody) ret(s *ast.ReturnStmt, p place) {
	if p.lit {
		for _, x := range s.Results {
			b.expr(x, p)
		}
		return
	}
	if b.isFunc {
		if len(s.Results) == 1 {
			b.expr(s.Results[0], p)
			if tv := b.pass.TypesInfo.Types[s.Results[0]]; tv.Value != nil && tv.Value.String() == "true" {
				return
			}
		}
		b.exits = append(b.exits, exit{s.Pos(), p.block})
		return
	}
	for _, x := range s.Results {
		b.expr(x, p)
	}
	for _, x := range s.Results {
		if b.dep(x) {
			b.see(s.Pos(), "it returns "+short(x)+" of the first entry that comes to it", "")
			return
		}
	}
	// Named results are found where they are assigned.
	b.exits = append(b.exits, exit{s.Pos(), p.block})
}

func short(x ast.Expr) string {
	s := types.ExprString(x)
	if len(s) > 40 {
		s = s[:37] + "…"
	}
	return s
}

// early judges loops that may stop before the last entry.
func (b *loopBody) early() {
	for _, w := range b.partial {
		for _, e := range b.exits {
			if w.block != e.block {
				b.see(e.pos, "it stops early, with the changes of whichever entries came before", "")
				return
			}
		}
	}
}

// callback judges f(k, v) as a statement, f being a parameter: the caller sees
// the entries in their order.
func (b *loopBody) callback(call *ast.CallExpr, p place) {
	id, ok := ast.Unparen(call.Fun).(*ast.Ident)
	if !ok || p.lit || !b.argsDep(call) {
		return
	}
	obj, ok := b.pass.TypesInfo.Uses[id].(*types.Var)
	if ok && isParam(b.stack, b.pass.TypesInfo, obj) {
		b.see(call.Pos(), "it hands the entries to "+id.Name, "")
	}
}

func (b *loopBody) argsDep(call *ast.CallExpr) bool {
	for _, a := range call.Args {
		if b.dep(a) {
			return true
		}
	}
	return false
}

// expr judges the calls in an expression.
func (b *loopBody) expr(x ast.Node, p place) {
	ast.Inspect(x, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			b.literal(n, p)
			return false
		case *ast.CallExpr:
			b.call(n, p)
		case *ast.UnaryExpr:
			// if !yield(k, v) { return }
			if call, ok := ast.Unparen(n.X).(*ast.CallExpr); ok && n.Op == token.NOT {
				if id, ok := call.Fun.(*ast.Ident); ok && isYield(b.pass.TypesInfo, id) {
					b.callback(call, p)
				}
			}
		}
		return true
	})
}

func isYield(info *types.Info, id *ast.Ident) bool {
	return id.Name == "yield" || id.Name == "f" || id.Name == "fn" || id.Name == "cb" || id.Name == "callback" || id.Name == "visit"
}

func (b *loopBody) literal(lit *ast.FuncLit, p place) {
	if b.inlined[lit] {
		return
	}
	b.inlined[lit] = true
	p.lit, p.inner, p.block = true, true, lit
	b.block(lit.Body.List, p)
}

// call judges one call.
func (b *loopBody) call(call *ast.CallExpr, p place) {
	info := b.pass.TypesInfo
	switch callee := typeutil.Callee(info, call).(type) {
	case *types.Builtin:
		switch callee.Name() {
		case "delete", "clear":
			if types.ExprString(call.Args[0]) == types.ExprString(b.m) {
				b.mutates = true
			}
			if b.outer(call.Args[0]) {
				b.partial = append(b.partial, write{call.Pos(), p.block})
			}
		case "print", "println":
			if b.argsDep(call) {
				b.see(call.Pos(), "it prints", "")
			}
		}
	case *types.Var:
		if lit := b.lits[callee]; lit != nil && b.argsDep(call) && !b.inlined[lit] {
			b.called = append(b.called, lit)
			b.literal(lit, p)
		}
	case *types.Func:
		b.static(call, callee, p)
	}
}

func (b *loopBody) static(call *ast.CallExpr, fn *types.Func, p place) {
	if effect.IsTeardown(fn.Name()) {
		return
	}
	if isMethodOf(fn, "sync", "Map", "Delete") || isMethodOf(fn, "sync", "Map", "Store") {
		b.partial = append(b.partial, write{call.Pos(), p.block})
		return
	}
	var args []ast.Expr
	if sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr); ok {
		if s := b.pass.TypesInfo.Selections[sel]; s != nil && s.Kind() == types.MethodVal {
			args = append(args, sel.X)
		}
	}
	args = append(args, call.Args...)
	if e, ok := effect.OrderEffect(fn); ok {
		switch {
		case e.What() == "draws randomness" && (e.Global() || b.outer(args[e.Arg()])):
			b.see(call.Pos(), "it draws randomness", effect.Name(fn))
		case !b.dep(call):
		case e.Global():
			b.see(call.Pos(), "it "+e.What(), effect.Name(fn))
		case e.Arg() < len(args) && b.outer(args[e.Arg()]):
			b.see(call.Pos(), "it "+e.What()+" to "+short(args[e.Arg()]), effect.Name(fn))
		}
		return
	}
	s := b.fx.Summary(fn)
	if s == nil {
		return
	}
	if r, ok := s.To(effect.Visible); ok && r.Runs && b.dep(call) {
		b.see(call.Pos(), "it calls "+effect.Name(fn), effect.Link(effect.Name(fn), r.Path))
		return
	}
	if r, ok := s.To(effect.Rand); ok && r.Runs {
		b.see(call.Pos(), "it draws randomness", effect.Link(effect.Name(fn), r.Path))
		return
	}
	if !b.dep(call) {
		return
	}
	for i, a := range args {
		if i < 32 && s.Writes&(1<<i) != 0 && b.outer(a) {
			b.see(call.Pos(), "it calls "+effect.Name(fn)+" on "+short(a), effect.Link(effect.Name(fn), s.How))
			return
		}
	}
}

package sharedstate

import (
	_ "embed"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/types/typeutil"

	"github.com/dstkit/dst/passes/internal/doc"
	"github.com/dstkit/dst/passes/internal/effect"
	"github.com/dstkit/dst/passes/internal/report"
)

//go:embed doc.go
var text string

// Analyzer reports package variables that are written after initialisation.
var Analyzer = &analysis.Analyzer{
	Name:     "sharedstate",
	Doc:      doc.Of(text),
	URL:      doc.URL("sharedstate"),
	Run:      run,
	Requires: []*analysis.Analyzer{report.Ignores},
}

// A checker looks through one package.
type checker struct {
	pass     *analysis.Pass
	mutators map[*types.Func]bool // methods that change their receiver
	writes   map[*types.Var]write // the first of each
}

type write struct {
	pos token.Pos
	by  string
}

func run(pass *analysis.Pass) (any, error) {
	c := &checker{pass, make(map[*types.Func]bool), make(map[*types.Var]write)}
	decls := c.functions()
	for _, d := range decls {
		c.findMutator(d)
	}
	atInit := c.onlyAtInit(decls)
	for _, d := range decls {
		obj, _ := pass.TypesInfo.Defs[d.Name].(*types.Func)
		if obj == nil || atInit[obj] {
			continue
		}
		c.function(d, effect.Key(obj))
	}
	rep := report.New(pass)
	for _, file := range pass.Files {
		for _, d := range file.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok || g.Tok != token.VAR {
				continue
			}
			for _, spec := range g.Specs {
				for _, name := range spec.(*ast.ValueSpec).Names {
					v, ok := pass.TypesInfo.Defs[name].(*types.Var)
					if w, written := c.writes[v]; ok && written {
						rep.Report(analysis.Diagnostic{
							Pos: name.Pos(), End: name.End(),
							Message: fmt.Sprintf("package variable %s is written by %s, after initialisation: the hosts of a simulation share it", name.Name, w.by),
							Related: []analysis.RelatedInformation{{Pos: w.pos, Message: "written here"}},
						}, true)
					}
				}
			}
		}
	}
	return nil, nil
}

func (c *checker) functions() []*ast.FuncDecl {
	var decls []*ast.FuncDecl
	for _, file := range c.pass.Files {
		if report.InTest(c.pass.Fset, file) {
			continue // a test's own writes are no hosts'
		}
		for _, d := range file.Decls {
			if fd, ok := d.(*ast.FuncDecl); ok && fd.Body != nil {
				decls = append(decls, fd)
			}
		}
	}
	return decls
}

// onlyAtInit finds the functions that run before main, or as main: init, main, and
// unexported functions that are called by such only.
func (c *checker) onlyAtInit(decls []*ast.FuncDecl) map[*types.Func]bool {
	info := c.pass.TypesInfo
	users := make(map[*types.Func]map[*types.Func]bool) // nil key: a package variable's initialisation
	use := func(n ast.Node, by *types.Func) {
		called := make(map[*ast.Ident]bool)
		ast.Inspect(n, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok {
				if id, ok := ast.Unparen(call.Fun).(*ast.Ident); ok {
					called[id] = true
				}
			}
			id, ok := n.(*ast.Ident)
			if !ok {
				return true
			}
			fn, ok := info.Uses[id].(*types.Func)
			if !ok || fn.Pkg() != c.pass.Pkg {
				return true
			}
			if users[fn] == nil {
				users[fn] = make(map[*types.Func]bool)
			}
			if called[id] {
				users[fn][by] = true
			} else {
				users[fn][fn] = true // a value: may be called at any time
			}
			return true
		})
	}
	for _, file := range c.pass.Files {
		for _, d := range file.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Body != nil && !report.InTest(c.pass.Fset, file) {
					by, _ := info.Defs[d.Name].(*types.Func)
					use(d.Body, by)
				}
			case *ast.GenDecl:
				use(d, nil)
			}
		}
	}
	atInit := make(map[*types.Func]bool)
	var unexported []*types.Func
	for _, d := range decls {
		obj, ok := info.Defs[d.Name].(*types.Func)
		switch {
		case !ok || d.Recv != nil:
		case d.Name.Name == "init", d.Name.Name == "main" && c.pass.Pkg.Name() == "main":
			atInit[obj] = true
		case !obj.Exported() && len(users[obj]) > 0:
			unexported = append(unexported, obj)
		}
	}
	for changed := true; changed; {
		changed = false
		for _, fn := range unexported {
			if atInit[fn] {
				continue
			}
			all := true
			for by := range users[fn] {
				all = all && (by == nil || atInit[by])
			}
			if all {
				atInit[fn], changed = true, true
			}
		}
	}
	return atInit
}

// findMutator notes a method that assigns to something in its receiver.
func (c *checker) findMutator(d *ast.FuncDecl) {
	if d.Recv == nil || len(d.Recv.List) == 0 || len(d.Recv.List[0].Names) == 0 {
		return
	}
	info := c.pass.TypesInfo
	recv := info.Defs[d.Recv.List[0].Names[0]]
	obj, _ := info.Defs[d.Name].(*types.Func)
	if recv == nil || obj == nil {
		return
	}
	c.eachWrite(d.Body, func(x ast.Expr) {
		if _, plain := ast.Unparen(x).(*ast.Ident); !plain && root(info, x) == recv && shares(info, x, recv) {
			c.mutators[obj] = true
		}
	})
}

// shares tells whether a write to x, which begins with v, changes what v's copies
// see too: v is a pointer or map, or x goes through one.
func shares(info *types.Info, x ast.Expr, v types.Object) bool {
	switch v.Type().Underlying().(type) {
	case *types.Pointer, *types.Map, *types.Slice:
		return true
	}
	return false
}

func (c *checker) function(d *ast.FuncDecl, by string) {
	info := c.pass.TypesInfo
	c.eachWrite(d.Body, func(x ast.Expr) {
		v, ok := root(info, x).(*types.Var)
		if !ok || v.Pkg() != c.pass.Pkg || v.Parent() != c.pass.Pkg.Scope() || guards(v.Type()) {
			return
		}
		if _, told := c.writes[v]; !told {
			c.writes[v] = write{x.Pos(), by}
		}
	})
}

// eachWrite calls f with what is written in a body.
func (c *checker) eachWrite(body ast.Node, f func(ast.Expr)) {
	info := c.pass.TypesInfo
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			if n.Tok != token.DEFINE {
				for _, l := range n.Lhs {
					f(l)
				}
			}
		case *ast.IncDecStmt:
			f(n.X)
		case *ast.RangeStmt:
			if n.Tok == token.ASSIGN {
				for _, x := range []ast.Expr{n.Key, n.Value} {
					if x != nil {
						f(x)
					}
				}
			}
		case *ast.CallExpr:
			switch callee := typeutil.Callee(info, n).(type) {
			case *types.Builtin:
				switch callee.Name() {
				case "delete", "clear", "copy":
					f(n.Args[0])
				}
			case *types.Func:
				c.call(n, callee, f)
			}
		}
		return true
	})
}

func (c *checker) call(n *ast.CallExpr, fn *types.Func, f func(ast.Expr)) {
	if fn.Pkg() == nil {
		return
	}
	sel, isSel := ast.Unparen(n.Fun).(*ast.SelectorExpr)
	recv := fn.Signature().Recv()
	switch path := fn.Pkg().Path(); {
	case path == "sync/atomic" && recv == nil:
		if len(n.Args) > 0 && len(fn.Name()) > 4 && fn.Name()[:4] != "Load" {
			if u, ok := ast.Unparen(n.Args[0]).(*ast.UnaryExpr); ok && u.Op == token.AND {
				f(u.X)
			}
		}
	case recv == nil || !isSel:
	case path == "sync/atomic" && fn.Name() != "Load":
		f(sel.X)
	case path == "sync":
		switch fn.Name() {
		case "Store", "LoadOrStore", "Delete", "LoadAndDelete", "Swap", "CompareAndSwap", "CompareAndDelete", "Clear":
			f(sel.X)
		}
	case path == "container/list":
		switch fn.Name() {
		case "PushBack", "PushFront", "Remove", "Init", "MoveToFront", "MoveToBack":
			f(sel.X)
		}
	case path == "bytes" || path == "strings":
		if len(fn.Name()) > 4 && fn.Name()[:5] == "Write" || fn.Name() == "Reset" {
			f(sel.X)
		}
	case c.mutators[fn.Origin()]:
		f(sel.X)
	}
}

// guards tells whether variables of a type hold no state of their own.
func guards(t types.Type) bool {
	if p, ok := t.(*types.Pointer); ok {
		t = p.Elem()
	}
	n, ok := types.Unalias(t).(*types.Named)
	if !ok || n.Obj().Pkg() == nil || n.Obj().Pkg().Path() != "sync" {
		return false
	}
	switch n.Obj().Name() {
	case "Mutex", "RWMutex", "Once", "WaitGroup", "Pool", "Cond":
		return true
	}
	return false
}

// root is the variable at the left end of x.
func root(info *types.Info, x ast.Expr) types.Object {
	for {
		switch e := x.(type) {
		case *ast.ParenExpr:
			x = e.X
		case *ast.SelectorExpr:
			if v, ok := info.Uses[e.Sel].(*types.Var); ok && !v.IsField() {
				return v
			}
			x = e.X
		case *ast.IndexExpr:
			x = e.X
		case *ast.SliceExpr:
			x = e.X
		case *ast.StarExpr:
			x = e.X
		case *ast.UnaryExpr:
			x = e.X
		case *ast.Ident:
			return info.Uses[e]
		default:
			return nil
		}
	}
}

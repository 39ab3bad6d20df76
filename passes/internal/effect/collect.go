package effect

import (
	"go/ast"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"golang.org/x/tools/go/types/typeutil"

	"github.com/dstkit/dst/passes/internal/report"
)

// collect makes the package's Funcs with their edges.
func (in *Info) collect() {
	info := in.pass.TypesInfo
	asm := in.syscallInstructions()
	for _, file := range in.files() {
		for _, decl := range file.Decls {
			switch d := decl.(type) {
			case *ast.FuncDecl:
				obj, ok := info.Defs[d.Name].(*types.Func)
				if !ok {
					continue
				}
				f := &Func{Obj: obj, Name: Key(obj), Node: d}
				if d.Recv == nil && d.Name.Name == "init" {
					f.Init, f.Obj = true, nil
				} else {
					in.nodes[obj] = f
				}
				in.Funcs = append(in.Funcs, f)
				if d.Body == nil {
					if file, ok := asm[d.Name.Name]; ok {
						f.edges = append(f.edges, edge{node: d, own: Reach{Syscall, true, "a system call instruction in " + file}, runs: true})
					}
					continue
				}
				c := newCollector(in, f, obj.Signature())
				c.walk(d.Body, true)
			case *ast.GenDecl:
				if d.Tok == token.VAR {
					for _, spec := range d.Specs {
						in.variables(spec.(*ast.ValueSpec))
					}
				}
			}
		}
	}
	// A package variable also holds what is assigned to it later.
	for _, file := range in.files() {
		ast.Inspect(file, func(n ast.Node) bool {
			as, ok := n.(*ast.AssignStmt)
			if !ok || as.Tok != token.ASSIGN || len(as.Lhs) != len(as.Rhs) {
				return true
			}
			for i, l := range as.Lhs {
				if id, ok := l.(*ast.Ident); ok {
					if v, ok := in.nodes[info.Uses[id]]; ok {
						in.hold(v, as.Rhs[i])
					}
				}
			}
			return true
		})
	}
}

// files are those that are looked at: tests, which may be most of a package, only
// when their findings are asked for.
func (in *Info) files() []*ast.File {
	var files []*ast.File
	for _, f := range in.pass.Files {
		if report.Tests || !report.InTest(in.pass.Fset, f) {
			files = append(files, f)
		}
	}
	return files
}

// variables makes two Funcs for each variable: what its initialisation runs, and
// what its value holds on to.
func (in *Info) variables(spec *ast.ValueSpec) {
	for i, name := range spec.Names {
		obj := in.pass.TypesInfo.Defs[name]
		f := &Func{Name: "var " + name.Name, Node: spec, Init: true}
		v := &Func{Obj: obj, Name: "var " + name.Name, Node: spec}
		in.Funcs = append(in.Funcs, f)
		if name.Name != "_" {
			in.nodes[obj] = v
			in.Funcs = append(in.Funcs, v)
		}
		var values []ast.Expr
		switch {
		case len(spec.Values) == len(spec.Names):
			values = spec.Values[i : i+1]
		case i == 0:
			values = spec.Values
		}
		for _, x := range values {
			c := newCollector(in, f, nil)
			c.walk(x, true)
			if len(values) == 1 && len(spec.Values) == len(spec.Names) {
				c.converts(x, obj.Type())
			}
		}
		kept := f.edges[:0]
		calls := false // var key = read(rand.Reader) uses the variable, var r = rand.Reader does not
		for _, x := range values {
			ast.Inspect(x, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				calls = calls || ok && !in.pass.TypesInfo.Types[call.Fun].IsType()
				return true
			})
		}
		for _, e := range f.edges {
			_, isVar := e.obj.(*types.Var)
			if e.runs && (!e.value || isVar && calls) {
				kept = append(kept, e)
			} else {
				v.edges = append(v.edges, e)
			}
		}
		f.edges = kept
	}
}

// hold adds what x refers to without running it to what v holds. Those edges are
// told where they stand, not as sites of v, whose own come from its initialisation.
func (in *Info) hold(v *Func, x ast.Expr) {
	f := new(Func)
	newCollector(in, f, nil).walk(x, true)
	for _, e := range f.edges {
		if e.obj != nil && (!e.runs || e.value) {
			e.elsewhere = true
			v.edges = append(v.edges, e)
		}
	}
}

// A collector walks one function.
type collector struct {
	in     *Info
	f      *Func
	sig    *types.Signature // nil for a variable
	params map[types.Object]root
	called map[*ast.Ident]bool // identifiers that stand for a callee
	set    map[*ast.Ident]bool // identifiers that are assigned to
}

func newCollector(in *Info, f *Func, sig *types.Signature) *collector {
	c := &collector{in: in, f: f, sig: sig, params: make(map[types.Object]root), called: make(map[*ast.Ident]bool), set: make(map[*ast.Ident]bool)}
	if sig == nil {
		return c
	}
	n := root(0)
	if r := sig.Recv(); r != nil {
		c.params[r] = n
		n++
	}
	for v := range sig.Params().Variables() {
		c.params[v] = n
		n++
	}
	return c
}

func (c *collector) walk(n ast.Node, runs bool) {
	info := c.in.pass.TypesInfo
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			sig := c.sig
			c.sig = nil // a return in it is not the function's
			c.walk(n.Body, false)
			c.sig = sig
			return false
		case *ast.ReturnStmt:
			if c.sig != nil && c.sig.Results().Len() == len(n.Results) {
				for i, x := range n.Results {
					c.converts(x, c.sig.Results().At(i).Type())
				}
			}
		case *ast.GoStmt:
			c.own(n, Reach{Go, runs, "a go statement"})
			c.own(n, Reach{Visible, runs, "a go statement"})
			c.callee(n.Call, false)
			c.walkArgs(n.Call, runs)
			if lit, ok := ast.Unparen(n.Call.Fun).(*ast.FuncLit); ok {
				c.walk(lit.Body, false)
			} else {
				c.walk(n.Call.Fun, false)
			}
			return false
		case *ast.CallExpr:
			c.callee(n, runs)
			if lit, ok := ast.Unparen(n.Fun).(*ast.FuncLit); ok {
				c.walk(lit.Body, runs)
				c.walkArgs(n, runs)
				return false
			}
		case *ast.SelectorExpr:
			c.waits(info.TypeOf(n))
		case *ast.Ident:
			c.mention(n, runs)
		case *ast.SendStmt:
			c.change(n, n.Chan, "a send", runs)
		case *ast.AssignStmt:
			c.assign(n, runs)
			for _, l := range n.Lhs {
				if id, ok := l.(*ast.Ident); ok {
					c.set[id] = true // set, not used
				}
			}
		}
		return true
	})
}

// converts notes a value of a type of this package that goes out as an interface: who calls
// the interface's methods calls that type's, which nothing else tells. Only methods
// that deal in times count, as in a clock: those of a server read the clock for
// reasons of their own.
func (c *collector) converts(x ast.Expr, to types.Type) {
	iface, ok := to.Underlying().(*types.Interface)
	from := c.in.pass.TypesInfo.TypeOf(x)
	if !ok || from == nil || types.IsInterface(from) || c.in.Std() {
		return
	}
	for m := range iface.Methods() {
		if !dealsInTime(m.Signature()) {
			continue
		}
		obj, _, _ := types.LookupFieldOrMethod(from, true, m.Pkg(), m.Name())
		if fn, ok := obj.(*types.Func); ok && fn.Pkg() == c.in.pass.Pkg {
			c.f.edges = append(c.f.edges, edge{node: x, obj: fn.Origin(), value: true})
		}
	}
}

func dealsInTime(sig *types.Signature) bool {
	for _, tuple := range []*types.Tuple{sig.Params(), sig.Results()} {
		for v := range tuple.Variables() {
			t := v.Type()
			if ch, ok := t.Underlying().(*types.Chan); ok {
				t = ch.Elem()
			}
			if n, ok := types.Unalias(t).(*types.Named); ok && n.Obj().Pkg() != nil && n.Obj().Pkg().Path() == "time" {
				return true
			}
		}
	}
	return false
}

func (c *collector) walkArgs(call *ast.CallExpr, runs bool) {
	for _, a := range call.Args {
		c.walk(a, runs)
	}
}

func (c *collector) own(n ast.Node, r Reach) {
	c.f.edges = append(c.f.edges, edge{node: n, own: r, runs: r.Runs})
}

func (c *collector) mention(id *ast.Ident, runs bool) {
	obj := c.in.pass.TypesInfo.Uses[id]
	if obj == nil || c.set[id] {
		return
	}
	switch o := obj.(type) {
	case *types.Func:
		c.f.edges = append(c.f.edges, edge{node: id, obj: o.Origin(), runs: runs, value: !c.called[id]})
	case *types.Var:
		if o.IsField() {
			return
		}
		c.waits(o.Type())
		if o.Parent() != nil && o.Pkg() != nil && o.Parent() == o.Pkg().Scope() {
			c.f.edges = append(c.f.edges, edge{node: id, obj: o, runs: runs, value: !c.called[id]})
		}
	}
}

// callee notes what a call calls, and what it does to its arguments.
func (c *collector) callee(call *ast.CallExpr, runs bool) {
	info := c.in.pass.TypesInfo
	switch fun := ast.Unparen(call.Fun).(type) {
	case *ast.Ident:
		c.called[fun] = true
	case *ast.SelectorExpr:
		c.called[fun.Sel] = true
	case *ast.IndexExpr:
		c.markCalled(fun.X)
	case *ast.IndexListExpr:
		c.markCalled(fun.X)
	}
	fn, ok := typeutil.Callee(info, call).(*types.Func)
	if !ok {
		if _, builtin := typeutil.Callee(info, call).(*types.Builtin); !builtin && !info.Types[call.Fun].IsType() {
			c.f.sum.Waits = c.f.sum.Waits || isDynamic(info, call)
		}
		return
	}
	roots := c.roots(call)
	if e, ok := OrderEffect(fn); ok {
		what := Name(fn)
		if e.global {
			c.own(call, Reach{Visible, runs, what})
		} else if e.arg < len(roots) {
			c.changeRoot(call, roots[e.arg], what, runs)
		}
		return
	}
	if i, ok := Sorts(fn); ok && i < len(roots) && roots[i].param() {
		c.f.sum.Sorts |= 1 << roots[i]
	}
	for _, r := range roots {
		if r != local {
			c.f.calls = append(c.f.calls, argCall{fn.Origin(), roots})
			break
		}
	}
}

func (c *collector) markCalled(x ast.Expr) {
	switch x := x.(type) {
	case *ast.Ident:
		c.called[x] = true
	case *ast.SelectorExpr:
		c.called[x.Sel] = true
	}
}

// isDynamic tells whether a call goes through a function value: who wrote it may
// have a way to stop it.
func isDynamic(info *types.Info, call *ast.CallExpr) bool {
	_, lit := ast.Unparen(call.Fun).(*ast.FuncLit)
	return !lit
}

func (c *collector) roots(call *ast.CallExpr) []root {
	var roots []root
	if sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr); ok {
		if s := c.in.pass.TypesInfo.Selections[sel]; s != nil && s.Kind() == types.MethodVal {
			roots = append(roots, c.root(sel.X))
		}
	}
	for _, a := range call.Args {
		roots = append(roots, c.root(a))
	}
	return roots
}

// root finds where an expression's memory comes from.
func (c *collector) root(x ast.Expr) root {
	obj := Root(c.in.pass.TypesInfo, x)
	if r, ok := c.params[obj]; ok {
		return r
	}
	if v, ok := obj.(*types.Var); ok && v.Pkg() != nil && v.Parent() == v.Pkg().Scope() {
		return global
	}
	return local
}

func (c *collector) change(n ast.Node, x ast.Expr, how string, runs bool) {
	c.changeRoot(n, c.root(x), how, runs)
}

func (c *collector) changeRoot(n ast.Node, r root, how string, runs bool) {
	if r == global {
		c.own(n, Reach{Visible, runs, how})
		return
	}
	c.f.change(r, how)
}

func (c *collector) assign(n *ast.AssignStmt, runs bool) {
	info := c.in.pass.TypesInfo
	for i, l := range n.Lhs {
		if n.Tok == token.DEFINE {
			// q := s.queue: what changes q changes s.
			if id, ok := l.(*ast.Ident); ok && len(n.Lhs) == len(n.Rhs) {
				if obj := info.Defs[id]; obj != nil && refers(obj.Type()) {
					if r := c.root(n.Rhs[i]); r.param() {
						c.params[obj] = r
					}
				}
			}
			continue
		}
		if _, ok := l.(*ast.Ident); ok && c.root(l) != global {
			continue // a parameter's own copy
		}
		switch {
		case n.Tok == token.ADD_ASSIGN && !IsIntegral(info.TypeOf(l)):
			c.change(n, l, "+= on "+types.ExprString(l), runs)
		case n.Tok == token.ASSIGN && len(n.Lhs) == len(n.Rhs):
			if call, ok := ast.Unparen(n.Rhs[i]).(*ast.CallExpr); ok && IsBuiltin(info, call, "append") {
				c.change(n, l, "an append to "+types.ExprString(l), runs)
			}
		}
	}
}

// refers tells whether values of a type share memory when copied.
func refers(t types.Type) bool {
	switch t.Underlying().(type) {
	case *types.Pointer, *types.Slice, *types.Map, *types.Chan, *types.Interface:
		return true
	}
	return false
}

// IsIntegral tells whether + of a type gives the same sum in any order.
func IsIntegral(t types.Type) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&types.IsInteger != 0
}

// IsBuiltin tells whether a call is one of the builtin function of that name.
func IsBuiltin(info *types.Info, call *ast.CallExpr, name string) bool {
	id, ok := ast.Unparen(call.Fun).(*ast.Ident)
	if !ok || id.Name != name {
		return false
	}
	_, ok = info.Uses[id].(*types.Builtin)
	return ok
}

// An Order is what a call does that is seen in the order of calls.
type Order = orderEffect

// OrderEffect looks a function up in the table for std, or judges it by its name
// when it is an interface's method.
func OrderEffect(fn *types.Func) (Order, bool) {
	if e, ok := stdOrder(fn); ok {
		return e, true
	}
	if recv := fn.Signature().Recv(); recv != nil && types.IsInterface(recv.Type()) {
		return dynamicOrder(fn)
	}
	return Order{}, false
}

// Sorts tells which argument (a method's receiver is 0) a function sorts.
func Sorts(fn *types.Func) (int, bool) {
	if fn.Pkg() == nil {
		return 0, false
	}
	switch fn.Pkg().Path() {
	case "sort":
		switch fn.Name() {
		case "Ints", "Strings", "Float64s", "Slice", "SliceStable", "Sort", "Stable":
			return 0, true
		}
	case "slices":
		if strings.HasPrefix(fn.Name(), "Sort") && !strings.HasPrefix(fn.Name(), "Sorted") {
			return 0, true
		}
	}
	return 0, false
}

// waits notes a type by whose values a goroutine can be waited for or stopped.
func (c *collector) waits(t types.Type) {
	if c.f.sum.Waits || t == nil {
		return
	}
	c.in.mu.Lock()
	defer c.in.mu.Unlock()
	w, ok := c.in.waits[t]
	if !ok {
		w = canWait(t)
		c.in.waits[t] = w
	}
	c.f.sum.Waits = w
}

func canWait(t types.Type) bool {
	if _, ok := t.Underlying().(*types.Chan); ok {
		return true
	}
	ms := types.NewMethodSet(t)
	if _, ok := t.Underlying().(*types.Pointer); !ok && !types.IsInterface(t) {
		ms = types.NewMethodSet(types.NewPointer(t))
	}
	for sel := range ms.Methods() {
		switch sel.Obj().Name() {
		case "Close", "Stop", "Shutdown", "Cancel", "Wait", "Done", "close", "stop", "shutdown", "cancel", "Kill":
			return true
		}
	}
	return false
}

var (
	asmText    = regexp.MustCompile(`^TEXT\s+[^(]*·(\w+)`)
	asmSyscall = regexp.MustCompile(`^\s*(SYSCALL|SVC\b|INT\s+\$0x80|SVC)`)
)

// syscallInstructions finds the functions in the package's assembly that enter
// the kernel by themselves, with the file of each.
func (in *Info) syscallInstructions() map[string]string {
	found := make(map[string]string)
	if in.Std() {
		return found // the simulation build takes care of these
	}
	for _, name := range in.pass.OtherFiles {
		if !strings.HasSuffix(name, ".s") {
			continue
		}
		data, err := in.pass.ReadFile(name)
		if err != nil {
			if data, err = os.ReadFile(name); err != nil {
				continue // the compiler will complain
			}
		}
		fn := ""
		for line := range strings.Lines(string(data)) {
			if m := asmText.FindStringSubmatch(line); m != nil {
				fn = m[1]
			} else if fn != "" && asmSyscall.MatchString(line) {
				found[fn] = filepath.Base(name)
			}
		}
	}
	return found
}

// CanWait tells whether code mentions something by which it can be waited for or
// stopped: a channel, a context, a WaitGroup, something that can be closed. Code that
// is not known (function values, other modules) gets the benefit of the doubt.
func (in *Info) CanWait(n ast.Node) bool {
	f := new(Func)
	newCollector(in, f, nil).walk(n, true)
	if f.sum.Waits {
		return true
	}
	for _, e := range f.edges {
		fn, ok := e.obj.(*types.Func)
		if !ok {
			continue
		}
		if s := in.Summary(fn); s != nil && s.Waits {
			return true
		}
		if in.foreign(fn) && !IsStd(fn.Pkg().Path()) || !in.foreign(fn) && fn.Pkg() != in.pass.Pkg {
			return true
		}
		if recv := fn.Signature().Recv(); recv != nil && types.IsInterface(recv.Type()) && fn.Pkg() == in.pass.Pkg {
			return true
		}
	}
	return false
}

// ClockSeeds lists the calls that seed a generator from the clock: they are one
// finding, of globalrand, and not two.
func (in *Info) ClockSeeds() []*ast.CallExpr {
	var calls []*ast.CallExpr
	info := in.pass.TypesInfo
	for _, file := range in.pass.Files {
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			fn, ok := typeutil.Callee(info, call).(*types.Func)
			if !ok || fn.Pkg() == nil || fn.Pkg().Path() != "math/rand" && fn.Pkg().Path() != "math/rand/v2" {
				return true
			}
			switch fn.Name() {
			case "NewSource", "NewPCG", "NewChaCha8", "Seed":
				clock := false
				for _, a := range call.Args {
					ast.Inspect(a, func(n ast.Node) bool {
						if id, ok := n.(*ast.Ident); ok && info.Uses[id] != nil {
							k, ok := Source(info.Uses[id])
							clock = clock || ok && k == Clock
						}
						return true
					})
				}
				if clock {
					calls = append(calls, call)
					return false
				}
			}
			return true
		})
	}
	return calls
}

package escape

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"strings"

	"golang.org/x/tools/go/types/typeutil"

	"github.com/dstkit/dst/passes/internal/effect"
)

func (c *checker) call(call *ast.CallExpr, stack []ast.Node) {
	info := c.pass.TypesInfo
	if tv := info.Types[call.Fun]; tv.IsType() {
		c.conversion(call, tv.Type, stack)
		return
	}
	fn, ok := typeutil.Callee(info, call).(*types.Func)
	if !ok {
		return
	}
	c.format(call, fn)
	if fn.Pkg() == nil || fn.Signature().Recv() != nil {
		return
	}
	switch fn.Pkg().Path() {
	case "runtime":
		c.runtime(call, fn.Name(), stack)
	case "runtime/debug":
		if fn.Name() == "Stack" {
			c.stacks = append(c.stacks, call)
		}
	case "strconv":
		if strings.HasPrefix(fn.Name(), "Parse") || fn.Name() == "Atoi" {
			c.parses = true
		}
	}
}

func (c *checker) runtime(call *ast.CallExpr, name string, stack []ast.Node) {
	if c.fx.Std() {
		return // std's own use of the runtime is part of what is simulated
	}
	switch name {
	case "LockOSThread":
		c.found(call, true, "locks the goroutine to its thread: in the simulator this does nothing")
	case "SetFinalizer", "AddCleanup":
		if len(call.Args) > 1 {
			if what := c.finalizerEffect(call.Args[1]); what != "" {
				c.found(call, true, "a finalizer runs when the garbage collector comes to it, and this one "+what)
			}
		}
	case "NumCPU", "NumGoroutine", "GOMAXPROCS":
		if name == "GOMAXPROCS" && !isZero(c.pass.TypesInfo, call.Args[0]) {
			c.found(call, false, "sets GOMAXPROCS: how goroutines interleave depends on it")
			return
		}
		if decides(stack, call) {
			c.found(call, c.fn.Init, "the machine decides what is done here: runtime."+name)
		}
	case "ReadMemStats":
		if c.statsDecide(call) {
			c.found(call, true, "the state of the heap decides what is done here: runtime.ReadMemStats")
		}
	case "Stack":
		c.stacks = append(c.stacks, call)
	}
}

func isZero(info *types.Info, x ast.Expr) bool {
	v := info.Types[x].Value
	return v != nil && v.Kind() == constant.Int && constant.Sign(v) <= 0
}

// decides tells whether a value is used to decide something, or to compute a
// number from it, rather than shown.
func decides(stack []ast.Node, n ast.Node) bool {
	for i := len(stack) - 1; i >= 0; i-- {
		switch p := stack[i].(type) {
		case *ast.BinaryExpr, *ast.IfStmt, *ast.ForStmt, *ast.SwitchStmt, *ast.RangeStmt:
			return true
		case *ast.CallExpr:
			if id, ok := ast.Unparen(p.Fun).(*ast.Ident); ok {
				switch id.Name {
				case "make", "min", "max":
					return true
				case "int", "int64", "int32", "uint", "uint64", "uint32", "float64":
					continue
				}
			}
			return false
		case *ast.AssignStmt:
			return p.Tok != token.ASSIGN || !shown(p)
		case *ast.ReturnStmt, *ast.ValueSpec:
			return true
		case *ast.ParenExpr:
		case *ast.KeyValueExpr:
			return true
		case ast.Stmt:
			return false
		}
	}
	return false
}

// shown tells whether an assignment fills a field or map entry: a report's, as a rule.
func shown(as *ast.AssignStmt) bool {
	for _, l := range as.Lhs {
		switch l.(type) {
		case *ast.SelectorExpr, *ast.IndexExpr:
		default:
			return false
		}
	}
	return true
}

// statsDecide tells whether a field of the MemStats is compared in the function.
func (c *checker) statsDecide(call *ast.CallExpr) bool {
	if len(call.Args) != 1 {
		return false
	}
	u, ok := ast.Unparen(call.Args[0]).(*ast.UnaryExpr)
	if !ok {
		return false
	}
	name := types.ExprString(u.X) + "."
	found := false
	ast.Inspect(c.fn.Node, func(n ast.Node) bool {
		e, ok := n.(*ast.BinaryExpr)
		if !ok {
			return true
		}
		switch e.Op {
		case token.LSS, token.GTR, token.LEQ, token.GEQ, token.EQL, token.NEQ:
			found = found || strings.HasPrefix(types.ExprString(e.X), name) || strings.HasPrefix(types.ExprString(e.Y), name)
		}
		return true
	})
	return found
}

// finalizerEffect says what a finalizer does that can be noticed, "" for one that
// only releases something.
func (c *checker) finalizerEffect(x ast.Expr) string {
	info := c.pass.TypesInfo
	switch f := ast.Unparen(x).(type) {
	case *ast.FuncLit:
		what := ""
		ast.Inspect(f.Body, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.SendStmt:
				what = "sends on " + types.ExprString(n.Chan)
			case *ast.GoStmt:
				what = "starts a goroutine"
				return false
			case *ast.CallExpr:
				if id, ok := ast.Unparen(n.Fun).(*ast.Ident); ok && id.Name == "close" {
					if _, builtin := info.Uses[id].(*types.Builtin); builtin {
						what = "closes channel " + types.ExprString(n.Args[0])
					}
				}
				if fn, ok := typeutil.Callee(info, n).(*types.Func); ok && what == "" {
					what = c.callEffect(fn)
				}
			}
			return what == ""
		})
		return what
	case *ast.Ident:
		if fn, ok := info.Uses[f].(*types.Func); ok {
			return c.callEffect(fn)
		}
	case *ast.SelectorExpr:
		if fn, ok := info.Uses[f.Sel].(*types.Func); ok {
			return c.callEffect(fn)
		}
	}
	return ""
}

func (c *checker) callEffect(fn *types.Func) string {
	if effect.IsTeardown(fn.Name()) {
		return ""
	}
	if e, ok := effect.OrderEffect(fn); ok && e.Global() {
		return e.What() + " (" + effect.Name(fn) + ")"
	}
	if r, ok := c.fx.Summary(fn).To(effect.Visible); ok && r.Runs {
		return "comes to " + effect.Link(effect.Name(fn), r.Path)
	}
	return ""
}

// conversion judges uintptr(unsafe.Pointer(p)): an address as a number.
func (c *checker) conversion(call *ast.CallExpr, to types.Type, stack []ast.Node) {
	info := c.pass.TypesInfo
	if b, ok := to.Underlying().(*types.Basic); !ok || b.Kind() != types.Uintptr || len(call.Args) != 1 || c.fx.Std() {
		return
	}
	if b, ok := info.TypeOf(call.Args[0]).Underlying().(*types.Basic); !ok || b.Kind() != types.UnsafePointer {
		return
	}
	var child ast.Node = call
	for i := len(stack) - 1; i >= 0; i-- {
		switch p := stack[i].(type) {
		case *ast.ParenExpr:
		case *ast.BinaryExpr:
			switch p.Op {
			case token.REM:
				if v := info.Types[p.Y].Value; v == nil {
					c.found(call, true, "takes an address as a number: addresses differ from run to run")
					return
				}
				return // alignment
			case token.AND, token.SUB, token.LSS, token.GTR, token.LEQ, token.GEQ, token.EQL, token.NEQ:
				return // alignment, distance within one object
			}
		case *ast.CallExpr:
			tv := info.Types[p.Fun]
			if tv.IsType() {
				if b, ok := tv.Type.Underlying().(*types.Basic); ok && b.Kind() == types.UnsafePointer {
					return // arithmetic on pointers
				}
				break // another integer: go on outwards
			}
			fn, ok := typeutil.Callee(info, p).(*types.Func)
			if ok && hashes(fn.Name()) {
				c.found(call, true, "hashes an address: addresses differ from run to run")
			}
			return // system calls, and functions that take one
		case *ast.IndexExpr:
			if p.Index == child {
				if _, ok := info.TypeOf(p.X).Underlying().(*types.Map); !ok {
					c.found(call, true, "an address decides an index: addresses differ from run to run")
				}
			}
			return
		default:
			return
		}
		child = stack[i]
	}
}

func hashes(name string) bool {
	n := strings.ToLower(name)
	return strings.Contains(n, "hash") || strings.Contains(n, "mix") || strings.Contains(n, "seed") || strings.Contains(n, "newsource")
}

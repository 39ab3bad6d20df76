package escape

import (
	"go/ast"
	"go/constant"
	"go/types"
	"strings"
)

// format judges calls that print: %p, and values that print as an address.
func (c *checker) format(call *ast.CallExpr, fn *types.Func) {
	sig := fn.Signature()
	if !sig.Variadic() || call.Ellipsis.IsValid() {
		return
	}
	n := sig.Params().Len()
	last, ok := sig.Params().At(n - 1).Type().(*types.Slice)
	if !ok {
		return
	}
	if i, ok := last.Elem().Underlying().(*types.Interface); !ok || !i.Empty() {
		return
	}
	if n >= 2 && n-2 < len(call.Args) {
		if v := c.pass.TypesInfo.Types[call.Args[n-2]].Value; v != nil && v.Kind() == constant.String && formats(fn.Name()) {
			c.verbs(call, constant.StringVal(v), call.Args[n-1:])
			return
		}
	}
	if fn.Pkg() == nil || fn.Pkg().Path() != "fmt" && fn.Pkg().Path() != "log" || formats(fn.Name()) || strings.HasPrefix(fn.Name(), "Scan") ||
		strings.HasPrefix(fn.Name(), "Sscan") || strings.HasPrefix(fn.Name(), "Fscan") {
		return
	}
	for _, a := range call.Args[n-1:] {
		if what := c.address(a); what != "" {
			c.found(a, true, "prints "+what+": addresses differ from run to run")
		}
	}
}

func formats(name string) bool {
	return strings.HasSuffix(name, "f") && !strings.Contains(name, "canf") || name == "Format"
}

// verbs goes through a format and the arguments of its verbs.
func (c *checker) verbs(call *ast.CallExpr, format string, args []ast.Expr) {
	arg := 0
	for i := 0; i < len(format); i++ {
		if format[i] != '%' {
			continue
		}
		i++
		for i < len(format) && strings.IndexByte("+-# 0123456789.*[]", format[i]) >= 0 {
			if format[i] == '*' {
				arg++
			}
			if format[i] == '[' {
				return // explicit indexes: too rare to follow
			}
			i++
		}
		if i >= len(format) || format[i] == '%' {
			continue
		}
		if arg >= len(args) {
			return
		}
		switch format[i] {
		case 'p':
			c.found(args[arg], true, "prints an address (%p): addresses differ from run to run")
		case 'v', 'd', 'x', 'X':
			if what := c.address(args[arg]); what != "" {
				c.found(args[arg], true, "prints "+what+": addresses differ from run to run")
			}
		}
		arg++
	}
}

// address says what fmt would print as an address, "" if nothing.
func (c *checker) address(x ast.Expr) string {
	t := c.pass.TypesInfo.TypeOf(x)
	if t == nil || c.pass.TypesInfo.Types[x].IsNil() || speaks(t) {
		return ""
	}
	switch u := t.Underlying().(type) {
	case *types.Chan:
		return "a channel"
	case *types.Signature:
		return "a function"
	case *types.Basic:
		if u.Kind() == types.UnsafePointer {
			return "an unsafe.Pointer"
		}
	case *types.Pointer:
		switch e := u.Elem().Underlying().(type) {
		case *types.Struct, *types.Array, *types.Slice, *types.Map:
			if what := pointerField(e); what != "" {
				return what
			}
		default:
			return "a pointer"
		}
	case *types.Struct:
		return pointerField(u)
	}
	return ""
}

// pointerField names a field that fmt prints as an address: below the top level, it
// does not follow pointers. It calls methods of exported fields only.
func pointerField(t types.Type) string {
	s, ok := t.(*types.Struct)
	if !ok {
		return ""
	}
	for f := range s.Fields() {
		switch f.Type().Underlying().(type) {
		case *types.Pointer, *types.Chan, *types.Signature:
			if !f.Exported() || !speaks(f.Type()) {
				return "a struct whose field " + f.Name() + " prints as an address"
			}
		}
	}
	return ""
}

// speaks tells whether fmt asks a value of type t for its text.
func speaks(t types.Type) bool {
	ms := types.NewMethodSet(t)
	for _, name := range []string{"String", "Error", "Format", "GoString"} {
		if ms.Lookup(nil, name) != nil {
			return true
		}
	}
	return types.IsInterface(t)
}

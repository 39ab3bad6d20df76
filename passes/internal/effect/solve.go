package effect

import (
	"go/ast"
	"go/types"
	"strings"
)

// An edge is a mention of a function or package variable, or a statement with an
// effect of its own.
type edge struct {
	node  ast.Node
	obj   types.Object // nil: a statement
	own   Reach        // of a statement
	runs  bool         // whoever runs the function comes here (not only a closure that it makes)
	value bool         // obj is not called

	elsewhere bool // the mention is another function's, where it is told
}

// An argCall is a static call some of whose arguments may be changed by the callee.
type argCall struct {
	fn    *types.Func
	roots []root // of the arguments, a method's receiver first
}

// through returns the effects reached by an edge, with chains that begin at its object.
func (in *Info) through(e edge) []Reach {
	if e.obj == nil {
		return []Reach{e.own}
	}
	name := Name(e.obj)
	_, isVar := e.obj.(*types.Var)
	if k, ok := Source(e.obj); ok {
		// To mention rand.Reader is to use it, to mention time.Now is not.
		return []Reach{{k, e.runs && (isVar || !e.value), name}}
	}
	if c, ok := strings.CutPrefix(e.obj.Name(), "_Cfunc_"); ok {
		return []Reach{{Cgo, e.runs, "C." + c}}
	}
	s := in.Summary(e.obj)
	if s == nil {
		return nil
	}
	var rs []Reach
	for _, r := range s.Reach {
		if r.Kind == Visible && (IsTeardown(e.obj.Name()) || e.value) {
			continue
		}
		runs := r.Runs && !e.value
		if isVar {
			runs = !e.value || r.Kind == Rand
		}
		rs = append(rs, Reach{r.Kind, e.runs && runs, link(name, r.Path)})
	}
	return rs
}

// solve spreads effects from callee to caller until nothing changes. Each summary
// has at most two states a kind and only grows, so this ends.
func (in *Info) solve() {
	for changed := true; changed; {
		changed = false
		for _, f := range in.Funcs {
			for _, e := range f.edges {
				if f.Init && f.Obj == nil {
					continue // nobody calls it
				}
				for _, r := range in.through(e) {
					if f.sum.add(r) {
						changed = true
					}
				}
				if e.obj != nil && !e.value && !f.sum.Waits {
					if s := in.Summary(e.obj); s != nil && s.Waits {
						f.sum.Waits, changed = true, true
					}
				}
			}
			for _, c := range f.calls {
				s := in.Summary(c.fn)
				if s == nil || s.Writes|s.Sorts == 0 || IsTeardown(c.fn.Name()) {
					continue
				}
				for i, r := range c.roots {
					if i < 32 && s.Writes&(1<<i) != 0 && f.change(r, link(Name(c.fn), s.How)) {
						changed = true
					}
					if i < 32 && s.Sorts&(1<<i) != 0 && r.param() && f.sum.Sorts&(1<<r) == 0 {
						f.sum.Sorts |= 1 << r
						changed = true
					}
				}
			}
		}
	}
}

// A root is where the memory that an expression stands for comes from.
type root int

const (
	local  root = -1 // made in the function, or unknown
	global root = -2 // a package variable
	// 0 and up: the argument with that index, a method's receiver being 0
)

func (r root) param() bool { return r >= 0 && r < 32 }

// change records a change, in the order of calls, of what r stands for.
func (f *Func) change(r root, how string) bool {
	switch {
	case r == global:
		return f.sum.add(Reach{Visible, true, how})
	case r.param() && f.sum.Writes&(1<<r) == 0:
		if f.sum.How == "" {
			f.sum.How = how
		}
		f.sum.Writes |= 1 << r
		return true
	}
	return false
}

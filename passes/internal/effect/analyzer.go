package effect

import (
	"go/ast"
	"go/types"
	"reflect"
	"slices"
	"strings"
	"sync"

	"golang.org/x/tools/go/analysis"
)

// Analyzer computes the effects of a package. Its result is an *[Info].
var Analyzer = &analysis.Analyzer{
	Name:       "dsteffects",
	Doc:        "chains of calls to what differs from run to run (for the other passes)",
	Run:        run,
	FactTypes:  []analysis.Fact{(*Fact)(nil)},
	ResultType: reflect.TypeFor[*Info](),
}

// An Info holds the effects of the package under analysis.
type Info struct {
	Funcs []*Func // in the order of the source
	pass  *analysis.Pass
	mod   string
	nodes map[types.Object]*Func
	facts map[*types.Package]*Fact // of direct imports

	mu    sync.Mutex          // the passes that use the result run at the same time
	waits map[types.Type]bool // of canWait
}

// A Func is a top-level function or method, or one side of a package variable: what
// its initialisation does, or what its value holds.
type Func struct {
	Obj   types.Object
	Name  string // for messages: dial, T.read, init, var start
	Node  ast.Node
	Init  bool // runs at the package's initialisation
	Sites []Site

	edges []edge
	calls []argCall
	sum   Summary
}

// A Site is one place where a function reaches an effect by something of
// another module, or of std. What it reaches by its own module is told there, but
// for what runs at initialisation, which is told again.
type Site struct {
	Node  ast.Node
	Obj   types.Object // nil for a statement: go
	Reach Reach        // Path begins with Obj
	Value bool         // Obj is not called here, but used as a value
	Far   bool         // Obj is no source itself: what it calls is
}

func run(pass *analysis.Pass) (any, error) {
	in := &Info{
		pass:  pass,
		mod:   moduleOf(pass.Pkg.Path(), pass.Module),
		nodes: make(map[types.Object]*Func),
		facts: make(map[*types.Package]*Fact),
		waits: make(map[types.Type]bool),
	}
	for _, imp := range pass.Pkg.Imports() {
		f := new(Fact)
		if pass.ImportPackageFact(imp, f) {
			in.facts[imp] = f
		}
	}
	in.collect()
	in.solve()
	for _, f := range in.Funcs {
		in.sites(f)
	}
	fact := &Fact{Module: in.mod}
	if !in.Std() || hasFacts(pass.Pkg.Path()) {
		for _, f := range in.Funcs {
			if f.Obj == nil || !f.Obj.Exported() {
				continue
			}
			if s := f.sum.exported(in.Std()); !s.empty() {
				fact.Funcs = append(fact.Funcs, Named{Key(f.Obj), s})
			}
		}
		slices.SortStableFunc(fact.Funcs, func(a, b Named) int { return strings.Compare(a.Key, b.Key) })
	}
	if !in.Std() {
		fact.Init = in.initReach()
	}
	pass.ExportPackageFact(fact)
	return in, nil
}

// moduleOf names the module of a package. Without a module, the first element of
// the path stands for it.
func moduleOf(path string, m *analysis.Module) string {
	path = strings.TrimSuffix(path, "_test")
	switch {
	case m != nil && m.Path != "":
		return m.Path
	case IsStd(path):
		return "std"
	}
	top, _, _ := strings.Cut(path, "/")
	return top
}

// Std tells whether the package under analysis belongs to the standard library.
func (in *Info) Std() bool { return in.mod == "std" }

// fact returns what a directly imported package exports, or nil. What other
// packages export depends on the driver, and is not asked for.
func (in *Info) fact(pkg *types.Package) *Fact { return in.facts[pkg] }

// Imported returns what the initialisation of an imported package of another
// module reaches, outside of std.
func (in *Info) Imported(pkg *types.Package) []Reach {
	if f := in.fact(pkg); f != nil && f.Module != in.mod {
		return f.Init
	}
	return nil
}

// Summary returns what a function or package variable does, or nil when nothing
// is known of it.
func (in *Info) Summary(obj types.Object) *Summary {
	if fn, ok := obj.(*types.Func); ok {
		obj = fn.Origin()
	}
	if obj == nil || obj.Pkg() == nil {
		return nil
	}
	if f, ok := in.nodes[obj]; ok {
		return &f.sum
	}
	if obj.Pkg() == in.pass.Pkg {
		return nil
	}
	if f := in.fact(obj.Pkg()); f != nil {
		return f.summary(Key(obj))
	}
	return nil
}

// foreign tells whether obj belongs to another module.
func (in *Info) foreign(obj types.Object) bool {
	if obj.Pkg() == nil || obj.Pkg() == in.pass.Pkg {
		return false
	}
	if f := in.fact(obj.Pkg()); f != nil {
		return f.Module != in.mod
	}
	return moduleOf(obj.Pkg().Path(), nil) != moduleOf(in.pass.Pkg.Path(), nil)
}

// sites lists where f reaches something outside of its module.
func (in *Info) sites(f *Func) {
	for _, e := range f.edges {
		if e.elsewhere {
			continue
		}
		for _, r := range in.through(e) {
			source := e.obj == nil
			if !source {
				_, source = Source(e.obj)
			}
			if !source && !in.foreign(e.obj) && !(f.Init && r.Runs) {
				continue
			}
			f.Sites = append(f.Sites, Site{Node: e.node, Obj: e.obj, Reach: r, Value: e.value, Far: !source})
		}
	}
}

// initReach tells what the package's initialisation reaches, with that of its imports.
func (in *Info) initReach() []Reach {
	var s Summary
	name := in.pass.Pkg.Name()
	for _, f := range in.Funcs {
		if !f.Init {
			continue
		}
		for _, site := range f.Sites {
			r := site.Reach
			if strings.HasSuffix(r.Path, "maphash.MakeSeed") {
				continue // hash tables that do not show their order: no news for who imports them
			}
			if r.Runs && (r.Kind == Clock || r.Kind == Rand || r.Kind == Go) {
				s.add(Reach{r.Kind, true, link(name+"."+f.Name, r.Path)})
			}
		}
	}
	for _, imp := range in.pass.Pkg.Imports() {
		if f := in.fact(imp); f != nil {
			for _, r := range f.Init {
				s.add(Reach{r.Kind, true, link(name, r.Path)})
			}
		}
	}
	return s.Reach
}

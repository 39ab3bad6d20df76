package report

import (
	"go/ast"
	"go/token"
	"reflect"
	"slices"
	"strings"
	"sync"

	"golang.org/x/tools/go/analysis"
)

const prefix = "//dst:ignore"

// A Directive is one //dst:ignore comment.
type Directive struct {
	ast.Node
	Names    []string // of analyzers
	Reason   string
	from, to token.Pos // what it covers
	used     []bool    // a name
}

// An Index holds the directives of a package. Passes run at the same time, so
// it locks.
type Index struct {
	mu         sync.Mutex
	directives []*Directive
	generated  map[*token.File]bool
}

// Ignores finds the directives of a package; its result is an *[Index].
var Ignores = &analysis.Analyzer{
	Name:             "dstignores",
	Doc:              "find //dst:ignore directives (for the other passes)",
	Run:              index,
	RunDespiteErrors: true,
	ResultType:       reflect.TypeFor[*Index](),
}

func index(pass *analysis.Pass) (any, error) {
	idx := &Index{generated: make(map[*token.File]bool)}
	for _, file := range pass.Files {
		if ast.IsGenerated(file) {
			idx.generated[pass.Fset.File(file.FileStart)] = true
		}
		for _, group := range file.Comments {
			for _, c := range group.List {
				if d := parse(c); d != nil {
					d.from, d.to = scope(pass.Fset, file, c)
					idx.directives = append(idx.directives, d)
				}
			}
		}
	}
	return idx, nil
}

// parse reads //dst:ignore name[,name] reason.
func parse(c *ast.Comment) *Directive {
	rest, ok := strings.CutPrefix(c.Text, prefix)
	if !ok || rest != "" && rest[0] != ' ' && rest[0] != '\t' {
		return nil
	}
	rest, _, _ = strings.Cut(rest, "// want ") // the passes' own tests
	names, reason, _ := strings.Cut(strings.TrimSpace(rest), " ")
	d := &Directive{Node: c, Reason: strings.TrimSpace(reason)}
	if names != "" {
		d.Names = strings.Split(names, ",")
	}
	d.used = make([]bool, len(d.Names))
	return d
}

// scope is what a directive covers. At the end of a line: that line. On a line of its
// own: the declaration, statement, field or expression that begins on the next line.
func scope(fset *token.FileSet, file *ast.File, c *ast.Comment) (from, to token.Pos) {
	tf := fset.File(c.Pos())
	line := tf.Line(c.Pos())
	lineEnd := func(n int) token.Pos {
		if n >= tf.LineCount() {
			return file.FileEnd
		}
		return tf.LineStart(n+1) - 1
	}
	// The comment group goes on below: its end decides.
	next := line + 1
	for _, g := range file.Comments {
		if g.Pos() <= c.Pos() && c.Pos() < g.End() {
			next = tf.Line(g.End()-1) + 1
		}
	}
	alone := true
	var widest ast.Node
	ast.Inspect(file, func(n ast.Node) bool {
		switch n.(type) {
		case nil:
			return false
		case *ast.File:
			return true
		case *ast.CommentGroup, *ast.Comment:
			return false
		}
		start := n.Pos()
		if fd, ok := n.(*ast.FuncDecl); ok {
			start = fd.Type.Pos() // not the doc comment's
		}
		if gd, ok := n.(*ast.GenDecl); ok {
			start = gd.TokPos
		}
		if start < c.Pos() && tf.Line(start) == line || n.End() <= c.Pos() && tf.Line(n.End()) == line {
			alone = false
		}
		if widest == nil && tf.Line(start) == next && start > c.Pos() {
			widest = n
		}
		return true
	})
	if !alone {
		return tf.LineStart(line), lineEnd(line)
	}
	if widest != nil {
		return c.Pos(), max(widest.End(), lineEnd(next))
	}
	return c.Pos(), lineEnd(next)
}

// match tells whether a directive for the analyzer covers pos, and marks all that do.
func (idx *Index) match(name string, pos token.Pos) bool {
	idx.mu.Lock()
	defer idx.mu.Unlock()
	found := false
	for _, d := range idx.directives {
		if pos < d.from || d.to < pos || d.Reason == "" {
			continue
		}
		if i := slices.Index(d.Names, name); i >= 0 {
			d.used[i] = true
			found = true
		}
	}
	return found
}

// All returns the directives, in the order of the source.
func (idx *Index) All() []*Directive { return idx.directives }

// Unused returns the names by which a directive ignored nothing.
func (idx *Index) Unused(d *Directive) []string {
	idx.mu.Lock()
	defer idx.mu.Unlock()
	var names []string
	for i, n := range d.Names {
		if !d.used[i] {
			names = append(names, n)
		}
	}
	return names
}

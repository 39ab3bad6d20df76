package mapiter

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"go/version"
	"strconv"

	"golang.org/x/tools/go/analysis"

	"github.com/dstkit/dst/passes/internal/order"
)

// sortedFix iterates in the order of the keys, where that is a plain change: a range
// statement over a map that the loop does not change, with keys that have an
// order and are equal to themselves (floats may be NaN).
func sortedFix(pass *analysis.Pass, l *order.Loop) (analysis.SuggestedFix, bool) {
	var none analysis.SuggestedFix
	rng, ok := l.Node.(*ast.RangeStmt)
	if !ok || rng.Tok == token.ASSIGN {
		return none, false
	}
	m, ok := pass.TypesInfo.TypeOf(rng.X).Underlying().(*types.Map)
	if !ok || !plain(rng.X) || !ordered(m.Key()) || l.Mutates {
		return none, false
	}
	file := enclosing(pass, rng.Pos())
	if v := pass.TypesInfo.FileVersions[file]; v != "" && version.Compare(v, "go1.23") < 0 {
		return none, false
	}
	key, ok := name(rng.Key)
	if !ok {
		// for _, v := range m: the key needs a name that nothing in the loop uses.
		if key = freeName(pass, rng); key == "" {
			return none, false
		}
	}
	for _, id := range []string{"slices", "maps"} {
		if !importable(pass, file, rng, id) {
			return none, false
		}
	}
	x := types.ExprString(rng.X)
	head := fmt.Sprintf("_, %s := range slices.Sorted(maps.Keys(%s))", key, x)
	edits := []analysis.TextEdit{{Pos: rng.Key.Pos(), End: rng.X.End(), NewText: []byte(head)}}
	if v, ok := name(rng.Value); ok {
		at := bodyStart(pass, file, rng.Body)
		indent := "\n"
		for range pass.Fset.Position(rng.Pos()).Column {
			indent += "\t"
		}
		edits = append(edits, analysis.TextEdit{Pos: at, End: at, NewText: fmt.Appendf(nil, "%s := %s[%s]%s", v, x, key, indent)})
	}
	edits = append(edits, imports(file, "maps", "slices")...)
	return analysis.SuggestedFix{Message: "Iterate in the order of the keys", TextEdits: edits}, true
}

// bodyStart is where the body's first line of its own begins, be it a statement or a
// comment. An empty body shows nothing of its order and has no fix.
func bodyStart(pass *analysis.Pass, file *ast.File, body *ast.BlockStmt) token.Pos {
	at := body.List[0].Pos()
	line := func(p token.Pos) int { return pass.Fset.Position(p).Line }
	for _, g := range file.Comments {
		if body.Lbrace < g.Pos() && g.Pos() < at && line(g.Pos()) > line(body.Lbrace) {
			return g.Pos()
		}
	}
	return at
}

func name(x ast.Expr) (string, bool) {
	id, ok := x.(*ast.Ident)
	if !ok || id.Name == "_" {
		return "", false
	}
	return id.Name, true
}

// plain tells whether evaluating x again gives the same and does nothing.
func plain(x ast.Expr) bool {
	switch x := x.(type) {
	case *ast.Ident:
		return true
	case *ast.SelectorExpr:
		return plain(x.X)
	}
	return false
}

func ordered(t types.Type) bool {
	b, ok := t.Underlying().(*types.Basic)
	if _, param := types.Unalias(t).(*types.TypeParam); param {
		return false
	}
	return ok && b.Info()&(types.IsInteger|types.IsString) != 0
}

func enclosing(pass *analysis.Pass, pos token.Pos) *ast.File {
	for _, f := range pass.Files {
		if f.FileStart <= pos && pos < f.FileEnd {
			return f
		}
	}
	return nil
}

func freeName(pass *analysis.Pass, rng *ast.RangeStmt) string {
	used := make(map[string]bool)
	ast.Inspect(rng, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			used[id.Name] = true
		}
		return true
	})
	for _, n := range []string{"k", "key"} {
		if !used[n] {
			return n
		}
	}
	return ""
}

// importable tells whether name means the package of that path at n, or is free.
func importable(pass *analysis.Pass, file *ast.File, n ast.Node, path string) bool {
	for _, s := range file.Imports {
		if p, _ := strconv.Unquote(s.Path.Value); p == path {
			return s.Name == nil && !shadowed(pass, n.Pos(), path, true)
		}
	}
	return !shadowed(pass, n.Pos(), path, false)
}

func shadowed(pass *analysis.Pass, pos token.Pos, id string, imported bool) bool {
	scope := pass.Pkg.Scope().Innermost(pos)
	if scope == nil {
		return true
	}
	_, obj := scope.LookupParent(id, pos)
	if obj == nil {
		return false
	}
	pkg, ok := obj.(*types.PkgName)
	return !ok || !imported || pkg.Imported().Path() != id
}

// imports adds what is missing, to the first import declaration in its order if there is one.
func imports(file *ast.File, paths ...string) []analysis.TextEdit {
	have := make(map[string]bool)
	for _, s := range file.Imports {
		p, _ := strconv.Unquote(s.Path.Value)
		have[p] = true
	}
	var missing []string
	for _, p := range paths {
		if !have[p] {
			missing = append(missing, p)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	var decl *ast.GenDecl
	for _, d := range file.Decls {
		if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.IMPORT && !isC(g) {
			decl = g
			break
		}
	}
	if decl == nil {
		text := "\n\nimport ("
		for _, p := range missing {
			text += "\n\t" + strconv.Quote(p)
		}
		at := file.Name.End()
		return []analysis.TextEdit{{Pos: at, End: at, NewText: []byte(text + "\n)")}}
	}
	if !decl.Lparen.IsValid() {
		// import "fmt" becomes a group.
		only := decl.Specs[0].(*ast.ImportSpec)
		path, _ := strconv.Unquote(only.Path.Value)
		before, after := "(\n\t", ""
		for _, p := range missing {
			if p < path {
				before += strconv.Quote(p) + "\n\t"
			} else {
				after += "\n\t" + strconv.Quote(p)
			}
		}
		return []analysis.TextEdit{
			{Pos: only.Pos(), End: only.Pos(), NewText: []byte(before)},
			{Pos: only.End(), End: only.End(), NewText: []byte(after + "\n)")},
		}
	}
	var edits []analysis.TextEdit
	for _, p := range missing {
		at, text := decl.Rparen, "\t"+strconv.Quote(p)+"\n"
		for _, s := range decl.Specs {
			sp, _ := strconv.Unquote(s.(*ast.ImportSpec).Path.Value)
			if sp > p && s.(*ast.ImportSpec).Doc == nil {
				at, text = s.Pos(), strconv.Quote(p)+"\n\t"
				break
			}
			if s == decl.Specs[len(decl.Specs)-1] || isThirdParty(decl.Specs, s) {
				at, text = s.End(), "\n\t"+strconv.Quote(p)
				break
			}
		}
		edits = append(edits, analysis.TextEdit{Pos: at, End: at, NewText: []byte(text)})
	}
	return merge(edits)
}

// merge joins edits at one place: the order of two insertions there is not defined.
func merge(edits []analysis.TextEdit) []analysis.TextEdit {
	var out []analysis.TextEdit
	for _, e := range edits {
		if n := len(out); n > 0 && out[n-1].Pos == e.Pos {
			out[n-1].NewText = append(out[n-1].NewText, e.NewText...)
			continue
		}
		out = append(out, e)
	}
	return out
}

// isThirdParty tells whether the spec after s is of no std package: std's group ends at s.
func isThirdParty(specs []ast.Spec, s ast.Spec) bool {
	for i, sp := range specs[:len(specs)-1] {
		if sp == s {
			next, _ := strconv.Unquote(specs[i+1].(*ast.ImportSpec).Path.Value)
			for _, r := range next {
				if r == '/' {
					return false
				}
				if r == '.' {
					return true
				}
			}
		}
	}
	return false
}

func isC(g *ast.GenDecl) bool {
	for _, s := range g.Specs {
		if s.(*ast.ImportSpec).Path.Value == `"C"` {
			return true
		}
	}
	return false
}

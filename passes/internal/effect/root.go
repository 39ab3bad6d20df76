package effect

import (
	"go/ast"
	"go/token"
	"go/types"
)

// Root is the variable at the left end of an expression; nil where it begins with a
// call, or with what a channel or another operator gives.
func Root(info *types.Info, x ast.Expr) types.Object {
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
		case *ast.TypeAssertExpr:
			x = e.X
		case *ast.UnaryExpr:
			if e.Op != token.AND {
				return nil
			}
			x = e.X
		case *ast.Ident:
			if obj := info.Uses[e]; obj != nil {
				return obj
			}
			return info.Defs[e]
		default:
			return nil
		}
	}
}

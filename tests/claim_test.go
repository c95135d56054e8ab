package tests

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A test that fails says which of its claims does not hold: each stands in an assertion of its own. The SDK depends on no other module, so its
// tests have no assertions for all that they claim.
func TestTests_AssertOneClaimAtATime(t *testing.T) {
	t.Parallel()
	files := token.NewFileSet()
	var looked int
	require.NoError(t, filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && path != ".." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "bin" || d.Name() == "sdk") {
			return fs.SkipDir
		}
		if !strings.HasSuffix(path, "_test.go") {
			return nil
		}
		looked++
		parsed, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		ast.Inspect(parsed, func(n ast.Node) bool {
			if claimsMuch(n) {
				assert.Fail(t, "several claims in one", "%s: write an assertion for each, with require for what the next needs", files.Position(n.Pos()))
			}
			return true
		})
		return nil
	}))
	assert.Greater(t, looked, 400, "test files that were found")
}

// claimsMuch reports whether a part of a test is red without a word on which of several claims is wrong.
func claimsMuch(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.IfStmt: // if a || b { t.Error(...) }
		if len(n.Body.List) != 1 || !joins(n.Cond, token.LOR) {
			return false
		}
		fails, isCall := n.Body.List[0].(*ast.ExprStmt)
		return isCall && (calls(fails.X, "t", "Error") || calls(fails.X, "t", "Errorf") || calls(fails.X, "t", "Fatal") || calls(fails.X, "t", "Fatalf"))
	case *ast.CallExpr: // assert.True(t, a && b)
		if len(n.Args) < 2 {
			return false
		}
		return isAssertion(n, "True") && joins(n.Args[1], token.LAND) || isAssertion(n, "False") && joins(n.Args[1], token.LOR)
	}
	return false
}

func isAssertion(call *ast.CallExpr, name string) bool {
	return calls(call, "assert", name) || calls(call, "require", name)
}

// calls reports whether an expression is a call of from.name.
func calls(e ast.Expr, from, name string) bool {
	call, isCall := e.(*ast.CallExpr)
	if !isCall {
		return false
	}
	called, isSelector := call.Fun.(*ast.SelectorExpr)
	if !isSelector || called.Sel.Name != name {
		return false
	}
	of, isName := called.X.(*ast.Ident)
	return isName && of.Name == from
}

func joins(e ast.Expr, by token.Token) bool {
	joined, isBinary := e.(*ast.BinaryExpr)
	return isBinary && joined.Op == by
}

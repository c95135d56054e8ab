package tests

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// writtenVariables are the exceptions. Ids of a process ascend, whoever makes them, and its databases are copies of one.
var writtenVariables = []string{"store/core.idSource", "tests/harness/database.templates"}

// A package variable is written where it is declared, and nowhere else: neither the variable, nor a field or an element of it.
func TestPackageVariables_AreNotWritten(t *testing.T) {
	t.Parallel()
	all, err := packages()
	require.NoError(t, err)
	declared, excepted := 0, []string{}
	for _, p := range all {
		var files []*ast.File
		names, fset := map[string]bool{}, token.NewFileSet()
		for _, name := range p.GoFiles {
			file, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, 0)
			require.NoError(t, err)
			files = append(files, file)
			for name, object := range file.Scope.Objects {
				if object.Kind == ast.Var {
					names[name] = true
				}
			}
		}
		declared += len(names)
		for _, file := range files {
			for _, written := range writtenIn(file) {
				if isLocal := written.Obj != nil && file.Scope.Objects[written.Name] != written.Obj; isLocal || !names[written.Name] {
					continue
				}
				name := strings.TrimPrefix(p.ImportPath, module) + "." + written.Name
				assert.Contains(t, writtenVariables, name, "%s writes to a package variable", fset.Position(written.Pos()))
				excepted = append(excepted, name)
			}
		}
	}
	assert.Greater(t, declared, 100, "package variables")
	slices.Sort(excepted)
	assert.Equal(t, writtenVariables, slices.Compact(excepted), "an exception that is none any more goes")
}

func TestPackageVariables_AreFoundWhereTheyAreWritten(t *testing.T) {
	t.Parallel()
	file, err := parser.ParseFile(token.NewFileSet(), "", `package p
		func f() { a = 1; b.x = 2; c["k"]++; *d = 3; delete(e, "k"); clear(f.m); g, h := 1, 2; use(g, h, i); j[0].x, (k) = 1, 2 }`, 0)
	require.NoError(t, err)
	var names []string
	for _, written := range writtenIn(file) {
		names = append(names, written.Name)
	}
	assert.Equal(t, "a b c d e f j k", strings.Join(names, " "))
}

// writtenIn returns the variables of a file's functions that are written, or of which a part is.
func writtenIn(file *ast.File) (written []*ast.Ident) {
	add := func(e ast.Expr) {
		if name := rootOf(e); name != nil {
			written = append(written, name)
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			if n.Tok != token.DEFINE {
				for _, left := range n.Lhs {
					add(left)
				}
			}
		case *ast.IncDecStmt:
			add(n.X)
		case *ast.CallExpr:
			if called, ok := n.Fun.(*ast.Ident); ok && (called.Name == "delete" || called.Name == "clear") {
				add(n.Args[0])
			}
		}
		return true
	})
	return written
}

// rootOf returns the variable of which an expression is a part, nil if it is part of none.
func rootOf(e ast.Expr) *ast.Ident {
	for {
		switch part := e.(type) {
		case *ast.Ident:
			return part
		case *ast.SelectorExpr:
			e = part.X
		case *ast.IndexExpr:
			e = part.X
		case *ast.StarExpr:
			e = part.X
		case *ast.ParenExpr:
			e = part.X
		default:
			return nil
		}
	}
}

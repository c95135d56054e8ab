package tests

import (
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A use case has a transaction, a *db.Unit, or was told by a db.Reader where to read. Whatever it reads, it passes that on: what it called without would
// look for the transaction in the context.
func TestUseCases_ReadInTheTransactionThatTheyHave(t *testing.T) {
	t.Parallel()
	c := newChecker()
	for _, dir := range goFolders(t, "../store") {
		_, err := c.Import(module + strings.TrimPrefix(filepath.ToSlash(dir), "../"))
		require.NoError(t, err)
	}
	for _, f := range c.besides() {
		t.Errorf("%s: %s reads by the context alone. Pass it the transaction that is in scope here.", f.at, f.callee)
	}
}

func TestUseCases_AreFoundToReadBesideTheirTransaction(t *testing.T) {
	t.Parallel()
	c := newChecker()
	require.NoError(t, c.parse("store/sample", "sample.go", `package sample

import (
	"context"

	"github.com/tillwright/tillwright/store/internal/db"
)

type Store struct{ db *db.DB }

func (s *Store) get(ctx context.Context) (*int, error) { return db.Get[int](ctx, s.db, "SELECT 1") }

func (s *Store) twice(ctx context.Context) (*int, error) { return s.get(ctx) }

func find(ctx context.Context, r db.Reader) (*int, error) { return db.Get[int](ctx, r, "SELECT 1") }

func (s *Store) Good(ctx context.Context) (*int, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*int, error) { return find(ctx, u) })
}

func (s *Store) Direct(ctx context.Context) (*int, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*int, error) { return find(ctx, s.db) })
}

func (s *Store) Called(ctx context.Context, u *db.Unit) (*int, error) { return s.twice(ctx) }

func (s *Store) Told(ctx context.Context, r db.Reader) (*int, error) { return s.get(ctx) }
`))
	c.check("store/sample")
	var callees []string
	for _, f := range c.besides() {
		callees = append(callees, f.callee)
	}
	require.Equal(t, []string{"find", "twice", "get"}, callees)
}

// goFolders returns the folders below one that have Go files.
func goFolders(t *testing.T, below string) (dirs []string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(below, func(p string, d os.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(p, ".go") && !slices.Contains(dirs, filepath.Dir(p)) {
			dirs = append(dirs, filepath.Dir(p))
		}
		return err
	}))
	return dirs
}

// checker type-checks packages of store from their source. What they import of others it leaves empty, which costs less and leaves the types unknown that
// come from there.
type checker struct {
	fset  *token.FileSet
	known map[string]*types.Package
	info  *types.Info
	files map[string][]*ast.File // by room
	rooms []string
}

func newChecker() *checker {
	return &checker{
		fset: token.NewFileSet(), known: map[string]*types.Package{}, files: map[string][]*ast.File{},
		info: &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{}},
	}
}

func (c *checker) Import(name string) (*types.Package, error) {
	if p := c.known[name]; p != nil {
		return p, nil
	}
	room, ours := strings.CutPrefix(name, module)
	if !ours || !within(room, "store") {
		p := types.NewPackage(name, path.Base(name))
		p.MarkComplete()
		c.known[name] = p
		return p, nil
	}
	dir := filepath.Join("..", room)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if is, _ := build.Default.MatchFile(dir, e.Name()); is && !strings.HasSuffix(e.Name(), "_test.go") {
			if err := c.parse(room, filepath.Join(dir, e.Name()), nil); err != nil {
				return nil, err
			}
		}
	}
	return c.check(room), nil
}

// parse reads a file of a room, from its name or from a source.
func (c *checker) parse(room, name string, source any) error {
	file, err := parser.ParseFile(c.fset, name, source, parser.SkipObjectResolution)
	c.files[room] = append(c.files[room], file)
	return err
}

// check type-checks the files of a room.
func (c *checker) check(room string) *types.Package {
	conf := types.Config{Importer: c, Error: func(error) {}}
	p, _ := conf.Check(module+room, c.fset, c.files[room], c.info) // that others' types are missing is an error to it
	c.known[module+room] = p
	c.rooms = append(c.rooms, room)
	return p
}

// reading is a call, with what is known where it stands.
type reading struct {
	room, at, callee string
	from, to         *types.Func
	told             bool // a transaction, or where to read, is in scope
	direct           bool // it is given a *db.DB to read from
}

// besides returns the calls that read by the context alone although a transaction is in scope.
func (c *checker) besides() (found []reading) {
	var calls []reading
	for _, room := range c.rooms {
		for _, file := range c.files[room] {
			for _, d := range file.Decls {
				if f, is := d.(*ast.FuncDecl); is && f.Body != nil {
					from, _ := c.info.Defs[f.Name].(*types.Func)
					calls = c.callsIn(calls, reading{room: room, from: from, told: c.tells(f.Type.Params) || c.holds(f.Recv)}, f.Body)
				}
			}
		}
	}
	byContext := map[*types.Func]bool{}
	for more := true; more; {
		more = false
		for _, call := range calls {
			if !call.told && !byContext[call.from] && (call.direct || byContext[call.to]) {
				byContext[call.from], more = true, true
			}
		}
	}
	for _, call := range calls {
		if call.told && (call.direct || byContext[call.to]) {
			found = append(found, call)
		}
	}
	return found
}

// callsIn adds the calls below a node, with those of function literals.
func (c *checker) callsIn(calls []reading, here reading, below ast.Node) []reading {
	ast.Inspect(below, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			inside := here
			inside.told = here.told || c.tells(n.Type.Params)
			calls = c.callsIn(calls, inside, n.Body)
			return false
		case *ast.CallExpr:
			if to := c.callee(n.Fun); to != nil {
				call := here
				call.to, call.callee, call.at, call.direct = to, to.Name(), c.fset.Position(n.Pos()).String(), c.isDirect(to, n.Args)
				calls = append(calls, call)
			}
		}
		return true
	})
	return calls
}

// callee returns what an expression calls, nil if that is not one function.
func (c *checker) callee(e ast.Expr) *types.Func {
	switch e := ast.Unparen(e).(type) {
	case *ast.IndexExpr:
		return c.callee(e.X)
	case *ast.SelectorExpr:
		return c.callee(e.Sel)
	case *ast.Ident:
		if f, is := c.info.Uses[e].(*types.Func); is {
			return f.Origin()
		}
	}
	return nil
}

// isDirect reports whether a call is given a *db.DB as a db.Reader.
func (c *checker) isDirect(to *types.Func, args []ast.Expr) bool {
	params := to.Signature().Params()
	for i, arg := range args {
		if i < params.Len() && isOfDB(params.At(i).Type(), "Reader") && isOfDB(c.info.TypeOf(arg), "*DB") {
			return true
		}
	}
	return false
}

// tells reports whether parameters have a transaction, or where to read.
func (c *checker) tells(params *ast.FieldList) bool {
	return slices.ContainsFunc(params.List, func(f *ast.Field) bool {
		t := c.info.TypeOf(f.Type)
		return isOfDB(t, "*Unit") || isOfDB(t, "Reader")
	})
}

// holds reports whether a receiver has a transaction in a field.
func (c *checker) holds(receiver *ast.FieldList) bool {
	if receiver == nil {
		return false
	}
	t := c.info.TypeOf(receiver.List[0].Type)
	if p, is := t.(*types.Pointer); is {
		t = p.Elem()
	}
	s, is := t.Underlying().(*types.Struct)
	for i := 0; is && i < s.NumFields(); i++ {
		if isOfDB(s.Field(i).Type(), "*Unit") {
			return true
		}
	}
	return isOfDB(t, "Unit") || isOfDB(t, "locked")
}

// isOfDB reports whether a type is the one of store/internal/db that has a name.
func isOfDB(t types.Type, name string) bool {
	pointed, isPointer := strings.CutPrefix(name, "*")
	if p, is := t.(*types.Pointer); is && isPointer {
		t = p.Elem()
	} else if isPointer {
		return false
	}
	named, is := t.(*types.Named)
	return is && named.Obj().Pkg() != nil && named.Obj().Pkg().Path() == module+"store/internal/db" && named.Obj().Name() == pointed
}

// Package tests holds the rules of the tree itself. What the program does is tested in the folders below.
package tests

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
)

const module = "github.com/tillwright/tillwright/"

// mayImport is the import rule: a package reaches these packages of ours, directly or through others, and no more.
// A name that ends in /... stands for the folder and everything below it.
var mayImport = map[string][]string{
	"openapi/answer":    {},
	"openapi/bundle":    {},
	"gen/spec":          {},
	"gen/api":           {"openapi/answer", "sdk/wire"},
	"sdk/moment":        {},
	"sdk/wire":          {},
	"sdk/signature":     {},
	"sdk/internal":      {},
	"sdk/sdktest":       {"sdk", "sdk/wire", "sdk/signature"},
	"server/caller":     {},
	"store/pricing":     {},
	"store/migrations":  {},
	"store/core":        {},
	"store/internal/db": {"store/core", "store/migrations"},
	"store/outbox":      {"store/core", "store/internal/db", "store/migrations"},
	"store/advert":      {"store/core", "store/internal/db", "store/migrations"},
	"store/grant":       {"store/core", "store/internal/db", "store/migrations"},
	"store/throttle":    {"store/core", "store/internal/db", "store/migrations"},
	"store/person":      {"store/core", "store/internal/db", "store/migrations", "store/tenant", "store/throttle"},
	"store/report":      {"store/core", "store/internal/db", "store/migrations", "store/tenant"},
	"store/activity":    {"store/core", "store/internal/db", "store/migrations"},
	"store/request":     {"store/core", "store/internal/db", "store/migrations"},
	"store/team":        {"store/activity", "store/core", "store/internal/db", "store/migrations", "store/person", "store/tenant", "store/throttle"},
	"store/audit":       {"store/advert", "store/core", "store/grant", "store/internal/db", "store/migrations", "store/outbox", "store/picture", "store/tenant", "store/throttle"},
	"store/signed":      {"store/core", "store/internal/db", "store/migrations"},
	"store/portal":      {"store/core", "store/internal/db", "store/migrations"},
	"store/picture":     {"store/core", "store/internal/db", "store/migrations"},
	"store/seal":        {"store/core", "store/internal/db", "store/migrations"},
	"store/content":     {"store/content/markdown", "store/core", "store/internal/db", "store/migrations", "store/throttle"},
	"store/tenant":      {"store/core", "store/internal/db", "store/migrations"},
	"store/catalog":     {"store/core", "store/internal/db", "store/migrations", "store/outbox", "store/tenant"},
	"store/lineitem":    {"store/core", "store/grant", "store/internal/db", "store/migrations", "store/pricing"},
	"store/customer":    {"store/core", "store/internal/db", "store/migrations"},
	"store/discount":    {"store/catalog", "store/core", "store/customer", "store/grant", "store/internal/db", "store/lineitem", "store/migrations", "store/outbox", "store/pricing", "store/tenant"},
	"store/lead":        {"store/activity", "store/advert", "store/catalog", "store/content", "store/content/markdown", "store/core", "store/customer", "store/internal/db", "store/mailbox", "store/migrations", "store/outbox", "store/signed", "store/tenant", "store/throttle"},
	"store/payment":     {"store/core", "store/customer", "store/grant", "store/internal/db", "store/lineitem", "store/migrations", "store/pricing", "store/tenant", "store/throttle"},
	"store/mailbox":     {"store/core", "store/internal/db", "store/migrations", "store/tenant", "store/throttle"},
	"store/offer":       {"store/catalog", "store/core", "store/grant", "store/internal/db", "store/lineitem", "store/migrations", "store/outbox", "store/pricing", "store/tenant"},
	"store/checkout":    {"store/activity", "store/advert", "store/catalog", "store/content", "store/content/markdown", "store/core", "store/customer", "store/discount", "store/grant", "store/internal/db", "store/lead", "store/lineitem", "store/mailbox", "store/migrations", "store/offer", "store/outbox", "store/payment", "store/pricing", "store/report", "store/signed", "store/subscription", "store/tenant", "store/throttle"},
	"store/order":       {"store/activity", "store/advert", "store/catalog", "store/checkout", "store/content", "store/content/markdown", "store/core", "store/customer", "store/discount", "store/grant", "store/internal/db", "store/lead", "store/lineitem", "store/mailbox", "store/migrations", "store/offer", "store/outbox", "store/payment", "store/pricing", "store/report", "store/signed", "store/subscription", "store/tenant", "store/throttle"},
	"store/invoice":     {"store/activity", "store/advert", "store/catalog", "store/checkout", "store/content", "store/content/markdown", "store/core", "store/customer", "store/discount", "store/grant", "store/internal/db", "store/lead", "store/lineitem", "store/mailbox", "store/migrations", "store/offer", "store/order", "store/outbox", "store/payment", "store/pricing", "store/report", "store/signed", "store/subscription", "store/tenant", "store/throttle"},
	"store/testbank":    {"store/core", "store/internal/db", "store/migrations"},
	"store":             {"store/..."},
	"webhooks/chat":     {"store/core", "store/internal/db", "store/migrations", "store/outbox"},
	"webhooks":          {"webhooks/...", "sdk/signature", "store/core", "store/internal/db", "store/migrations", "store/outbox"},
	"ads":               {"store/core", "store/internal/db", "store/migrations", "store/advert"},
	"ads/sandbox":       {"ads", "store/core", "store/internal/db", "store/migrations", "store/advert"},
	"ads/meta":          {"ads", "store/core", "store/internal/db", "store/migrations", "store/advert"},
	"ads/tiktok":        {"ads", "store/core", "store/internal/db", "store/migrations", "store/advert"},
	"ads/pinterest":     {"ads", "store/core", "store/internal/db", "store/migrations", "store/advert"},
	"ads/zernio":        {"ads", "store/core", "store/internal/db", "store/migrations", "store/advert"},
	"server/payments":   {"server/payments/...", "store/..."},
	"server/billing":    {"server/payments/...", "store/..."},
	"server/blob":       {},
	"server/blob/disk":  {"server/blob"},
	"server/blob/s3":    {"server/blob", "server/caller"},
	"server/transfer":   {"server/blob", "server/caller", "store/core", "store/grant", "store/internal/db", "store/migrations"},
	"server/view":       {"ads", "store/...", "gen/api", "openapi/answer", "sdk/wire"},
	"server/invoicepdf": {"server/locale", "store/..."},
	"server/locale":     {"store/core"},
	"server/picture":    {"store/core", "store/internal/db", "store/migrations", "store/picture"},
	"server/ui":         {"server/locale", "store/core"},
	"server/mail":       {"server/locale", "server/ui", "store/..."},
	"server/devmail":    {"server/locale", "server/mail", "server/ui", "store/..."},
	"server/dashboard":  {"sdk", "server/blob", "server/transfer", "server/caller", "server/locale", "server/ui", "store/...", "sdk/wire", "sdk/signature"},
	"server/reference":  {"ads", "sdk", "server/locale", "server/ui", "server/view", "store/...", "gen/...", "openapi/answer", "sdk/wire", "sdk/signature"},
	"server/domains":    {"store/..."},
	"server/composer":   {"server/caller", "server/locale", "store/..."},
	"server/export":     {"ads", "server/view", "store/...", "gen/api", "openapi/answer", "sdk/wire"},
	"server/handlers":   {"ads", "server/locale", "server/ui", "server/export", "server/blob", "server/transfer", "server/domains", "server/composer", "server/mail", "server/handlers/...", "server/view", "server/billing", "server/payments/...", "server/caller", "webhooks/...", "sdk/signature", "store/...", "gen/...", "openapi/answer", "sdk/wire"},
	"server/pages":      {"ads", "server/locale", "server/ui", "server/export", "server/blob", "server/transfer", "server/domains", "server/mail", "server/invoicepdf", "server/view", "server/billing", "server/payments/...", "server/caller", "webhooks/...", "sdk/signature", "store/...", "gen/...", "openapi/answer", "sdk/wire"},
	"server":            {"ads", "server/locale", "server/ui", "server/export", "server/blob/...", "server/transfer", "server/domains", "server/composer", "server/mail", "server/invoicepdf", "server/handlers/...", "server/pages", "server/view", "server/billing", "server/payments/...", "server/caller", "webhooks/...", "sdk/signature", "store/...", "gen/...", "openapi/answer", "sdk/wire"},
	"sdk":               {"sdk/wire", "sdk/signature"},

	"server/payments/stripe": {"server/payments", "store/..."},
	"server/domains/acme":    {"server/domains", "store/..."},
	"store/content/markdown": {},
	"store/subscription":     {"store/catalog", "store/core", "store/customer", "store/discount", "store/grant", "store/internal/db", "store/lineitem", "store/migrations", "store/outbox", "store/payment", "store/pricing", "store/report", "store/tenant", "store/throttle"},
	"store/internal/dbtest":  {"store/core", "store/internal/db", "store/migrations", "tests/harness/..."},
}

// leaves are packages that know nothing, of ours or of others, and that everybody may import.
var leaves = []string{"sdk/moment"}

// wires names the folders that put the program together and may import everything.
var wires = []string{"server/cmd", "tests"}

// foreign lists what a package's import graph may hold of other modules, where that is restricted.
var foreign = map[string][]string{
	"sdk/moment":    {},
	"sdk/wire":      {},
	"sdk/signature": {},
	"server/caller": {},
	"store/pricing": {},
	"sdk":           {"github.com/oapi-codegen/nullable"},
	"sdk/sdktest":   {"github.com/oapi-codegen/nullable"},
}

// neverIn lists what must not be in a package's import graph.
var neverIn = map[string][]string{
	"server":     {"github.com/caddyserver/certmagic"},
	"store/core": {"github.com/jmoiron/sqlx", "github.com/lib/pq", "modernc.org/sqlite"},

	"store":    {"github.com/labstack/echo", "github.com/getkin/kin-openapi", "net/http/httptest"},
	"webhooks": {"github.com/labstack/echo", "github.com/getkin/kin-openapi"},
	"sdk":      {"github.com/labstack/echo", "github.com/getkin/kin-openapi", "github.com/jmoiron/sqlx", "database/sql"},

	// The program has it, and it knows a server by HTTP alone.
	"tests/conformance": {module + "server", module + "store", module + "tests/harness", "testing"},
}

type goPackage struct {
	ImportPath string
	Dir        string
	Standard   bool
	Imports    []string
	Deps       []string
	GoFiles    []string

	TestImports, XTestImports []string
}

// packages lists every package of the modules. Imports and Deps are without its tests.
var packages = sync.OnceValues(func() ([]goPackage, error) {
	cmd := exec.Command("go", "list", "-json=ImportPath,Dir,Standard,Imports,Deps,GoFiles,TestImports,XTestImports", "work")
	cmd.Dir = ".."
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, err
	}
	var all []goPackage
	for d := json.NewDecoder(strings.NewReader(string(out))); d.More(); {
		var p goPackage
		if err := d.Decode(&p); err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return all, nil
})

// each calls check for every package of the modules that is not wiring.
func each(t *testing.T, check func(t *testing.T, name string, p goPackage)) {
	t.Helper()
	all, err := packages()
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 10 {
		t.Fatalf("go list found only %d packages", len(all))
	}
	for _, p := range all {
		name := strings.TrimPrefix(p.ImportPath, module)
		if !slices.ContainsFunc(wires, func(w string) bool { return name == w || strings.HasPrefix(name, w+"/") }) {
			check(t, name, p)
		}
	}
}

func TestImports_OfOurOwnPackagesFollowTheRule(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, name string, p goPackage) {
		rule := ruleOf(name)
		if rule == "" {
			t.Errorf("%s has no rule in mayImport: decide what it may know", name)
			return
		}
		for _, dep := range p.Deps {
			dep, ours := strings.CutPrefix(dep, module)
			if ours && dep != rule && !slices.Contains(leaves, dep) && !covers(mayImport[rule], dep) {
				t.Errorf("%s reaches %s, which its rule does not list", name, dep)
			}
		}
		if strings.HasPrefix(name, "store/") && slices.Contains(slices.Concat(p.TestImports, p.XTestImports), module+"store") {
			t.Errorf("a test of %s imports store: what needs all of commerce is tested there", name)
		}
	})
}

func TestImports_OfOtherModulesAreRestricted(t *testing.T) {
	t.Parallel()
	all, err := packages()
	if err != nil {
		t.Fatal(err)
	}
	standard := standardLibrary(t)
	for _, p := range all {
		name := strings.TrimPrefix(p.ImportPath, module)
		allowed, restricted := foreign[name]
		for _, dep := range p.Deps {
			if slices.ContainsFunc(neverIn[name], func(bad string) bool { return within(dep, bad) }) {
				t.Errorf("%s reaches %s", name, dep)
			}
			if restricted && !standard[dep] && !strings.HasPrefix(dep, module) &&
				!slices.ContainsFunc(allowed, func(good string) bool { return within(dep, good) }) {
				t.Errorf("%s reaches %s of another module", name, dep)
			}
		}
	}
}

func TestSQL_IsOnlyInStore(t *testing.T) {
	t.Parallel()
	statement := regexp.MustCompile(`(?s)^\s*(WITH\s.*)?(SELECT\s.+\sFROM|INSERT\s+INTO|UPDATE\s.+\sSET|DELETE\s+FROM|CREATE\s+TABLE|ALTER\s+TABLE)\s`)
	each(t, func(t *testing.T, name string, p goPackage) {
		if within(name, "store") && name != "store/core" { // which has values without a database
			return
		}
		for _, driver := range []string{"database/sql", "github.com/jmoiron/sqlx", "github.com/lib/pq", "modernc.org/sqlite"} {
			if slices.Contains(p.Imports, driver) {
				t.Errorf("%s imports %s: only store speaks to a database, and not its core", name, driver)
			}
		}
		for _, file := range p.GoFiles {
			for _, text := range literals(t, filepath.Join(p.Dir, file)) {
				if statement.MatchString(text) {
					t.Errorf("%s/%s holds SQL: %.60q", name, file, text)
				}
			}
		}
	})
}

func TestTree_HasItsFixedTopLevel(t *testing.T) {
	t.Parallel()
	allowed := []string{"openapi", "gen", "server", "store", "webhooks", "ads", "sdk", "tests", "go.mod", "go.sum", "go.work", "Makefile", "README.md", "LICENSE"}
	ignored := []string{"bin", "data", "go.work.sum"} // what make build, make run and go list -m all write, listed in .gitignore
	entries, err := os.ReadDir("..")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if name := e.Name(); !strings.HasPrefix(name, ".") && !slices.Contains(allowed, name) && !slices.Contains(ignored, name) {
			t.Errorf("%s is not part of the tree: nothing is added to the top level", name)
		}
	}
}

func TestTree_HasNoCatchAllNames(t *testing.T) {
	t.Parallel()
	catchAll := regexp.MustCompile(`^(util|utils|common|helper|helpers|misc|types|models)(_test)?(\.go)?$`)
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "node_modules" || d.Name() == ".git") {
			return filepath.SkipDir
		}
		if catchAll.MatchString(d.Name()) {
			t.Errorf("%s: name it after what it does", path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// ruleOf returns the entry of mayImport that governs a package: its own, or the nearest one above it.
func ruleOf(name string) string {
	for name != "." {
		if _, ok := mayImport[name]; ok {
			return name
		}
		name = filepath.Dir(name)
	}
	return ""
}

func covers(list []string, name string) bool {
	return slices.ContainsFunc(list, func(entry string) bool {
		folder, all := strings.CutSuffix(entry, "/...")
		return entry == name || all && within(name, folder)
	})
}

func within(name, folder string) bool { return name == folder || strings.HasPrefix(name, folder+"/") }

func standardLibrary(t *testing.T) map[string]bool {
	t.Helper()
	out, err := exec.Command("go", "list", "std").Output()
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{"unsafe": true, "C": true}
	for name := range strings.FieldsSeq(string(out)) {
		names[name] = true
	}
	return names
}

// literals returns the string constants of a Go file.
func literals(t *testing.T, path string) []string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	ast.Inspect(file, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			found = append(found, strings.Trim(lit.Value, "`\""))
		}
		return true
	})
	return found
}

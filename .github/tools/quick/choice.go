package main

import (
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// choice is what is done about a change. Packages are paths as go test takes them, such as ./store/content.
type choice struct {
	changed  []string
	affected []string // vetted: what changed, and all that imports it
	built    []string // of these, what is more than tests
	tests    []string // packages whose tests run, all of them
	suites   []suite
	tools    []string // folders of modules of their own
}

const rules = "./tests" // of the tree, which every change may break

// choose finds out what the files at these paths below the root touch.
func choose(files []string, packages []pkg, root string) (*choice, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	dirs := map[string]string{} // by import path
	for _, p := range packages {
		dir, err := filepath.Rel(root, p.Dir)
		if err != nil {
			return nil, err
		}
		dirs[p.ImportPath] = "./" + filepath.ToSlash(dir)
	}
	known := map[string]bool{}
	for _, dir := range dirs {
		known[dir] = true
	}
	changed, tested, tools := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, file := range files {
		switch dir, of := home(file, known, root); of {
		case inPackage:
			tested[dir] = true
			if !strings.HasSuffix(file, "_test.go") && !strings.Contains(file, "/testdata/") {
				changed[dir] = true
			}
		case inTool:
			tools[dir] = true
		}
	}
	touches := func(imports []string, of map[string]bool) bool {
		return slices.ContainsFunc(imports, func(name string) bool { return of[dirs[name]] })
	}
	// The packages themselves first, as far as it goes. Nothing imports a test.
	reached := maps.Clone(changed)
	for grown := true; grown; {
		grown = false
		for _, p := range packages {
			if dir := dirs[p.ImportPath]; !reached[dir] && touches(p.Imports, reached) {
				reached[dir], grown = true, true
			}
		}
	}
	affected := maps.Clone(tested)
	maps.Copy(affected, reached)
	if slices.ContainsFunc(files, names) {
		affected = known
	}
	tests := maps.Clone(tested)
	for _, p := range packages {
		imports := slices.Concat(p.Imports, p.TestImports, p.XTestImports)
		if touches(imports, reached) {
			affected[dirs[p.ImportPath]] = true
		}
		if touches(imports, changed) {
			tests[dirs[p.ImportPath]] = true
		}
	}
	built := map[string]bool{}
	for _, p := range packages {
		if dir := dirs[p.ImportPath]; affected[dir] && len(p.GoFiles) > 0 {
			built[dir] = true
		}
	}
	c := &choice{built: sorted(built), changed: sorted(tested), affected: sorted(affected), tools: sorted(tools)}
	tests[rules] = true
	for _, name := range long {
		delete(tests, name)
	}
	c.tests = sorted(tests)
	c.suites, err = suites(files, root)
	return c, err
}

// names reports whether a file says which modules there are, of which nothing tells what they touch.
func names(file string) bool {
	return slices.Contains([]string{"go.work", "go.mod", "go.sum", "sdk/go.mod", "sdk/go.sum"}, file)
}

const inPackage, inTool = 1, 2

// home is the package or the module of its own to which a file belongs, by the nearest folder that is one, or nothing.
func home(file string, packages map[string]bool, root string) (dir string, of int) {
	for at := path.Dir(file); at != "."; at = path.Dir(at) {
		dir := "./" + at
		if packages[dir] {
			return dir, inPackage
		}
		if _, err := os.Stat(filepath.Join(root, dir, "go.mod")); err == nil {
			return dir, inTool
		}
	}
	return "", 0
}

func sorted(set map[string]bool) []string { return slices.Sorted(maps.Keys(set)) }

package tests

import (
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestMakeTest_RunsEveryTest checks that the steps of make test leave no test out. The last step leaves out by name what the step alone runs. So a
// test of another package with such a name would be run nowhere. A package of SPLIT is run on one engine in each of two steps. So a test which opens
// both would be skipped in each.
func TestMakeTest_RunsEveryTest(t *testing.T) {
	t.Parallel()
	makefile, err := os.ReadFile("../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	value := func(pattern string) string {
		found := regexp.MustCompile(pattern).FindSubmatch(makefile)
		if found == nil {
			t.Fatalf("the Makefile has nothing like %s", pattern)
		}
		return string(found[1])
	}
	alone := value(`(?m)^ALONE = (.*)$`)
	whole := strings.Fields(value(`(?m)^PLAIN += (.*)\$\(SHOWN\)$`) + value(`(?m)^SHOWN += (.*)$`)) // all of their tests are run
	of := strings.Fields(value(`(?:step|with):alone .* -- (.*) \\`))
	elsewhere := regexp.MustCompile(value(`grep -vE '(.*)\$\$'\)`) + `$`)
	for _, folder := range whole {
		if !elsewhere.MatchString(folder) {
			t.Errorf("%s is run by the last step as well", folder)
		}
	}
	split := strings.Fields(value(`(?m)^SPLIT += (.*)$`)) // on one engine in the step sqlite, on the other in the step postgres
	for _, step := range []string{"sqlite", "postgres"} {
		value(`(?:step|with):` + step + ` .*TILLWRIGHT_TEST_ENGINES=` + step + ` .* -- (\$\(SPLIT\)) `)
	}
	for _, folder := range split {
		if !elsewhere.MatchString(folder) {
			t.Errorf("%s is run by the last step as well", folder)
		}
	}
	seen := map[string]bool{}
	for file, names := range testsByFile(t) {
		folder := "./" + path.Dir(file)
		if elsewhere.MatchString(folder) && !strings.Contains(folder, "/testdata/") && !slices.Contains(split, folder) && !slices.Contains(whole, folder) {
			t.Errorf("%s is run by no step", folder)
		}
		for name, body := range names {
			isAlone := regexp.MustCompile(alone).MatchString(name)
			if slices.Contains(split, folder) && !isAlone && strings.Contains(body, `(t, "sqlite")`) && strings.Contains(body, `(t, "postgres")`) {
				t.Errorf("%s has %s, which opens both databases: each step of SPLIT skips it", file, name)
			}
			if !isAlone || slices.Contains(whole, folder) {
				continue
			}
			seen[folder] = true
			if !slices.Contains(of, folder) {
				t.Errorf("%s has %s, which has a name of ALONE: it is run nowhere", file, name)
			}
		}
	}
	for _, folder := range of {
		if !seen[folder] {
			t.Errorf("the step alone runs nothing in %s", folder)
		}
	}
}

// testsByFile returns the bodies of all tests of the module by their names.
func testsByFile(t *testing.T) map[string]map[string]string {
	t.Helper()
	all := map[string]map[string]string{}
	test := regexp.MustCompile(`^Test\w+\(`)
	err := fs.WalkDir(os.DirFS(".."), ".", func(file string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (file == "bin" || file != "." && strings.HasPrefix(file, ".")):
			return fs.SkipDir
		case !strings.HasSuffix(file, "_test.go"):
			return nil
		}
		text, err := os.ReadFile(path.Join("..", file))
		for _, function := range strings.Split(string(text), "\nfunc ") {
			if name, body, ok := strings.Cut(function, "("); ok && test.MatchString(function) {
				if all[file] == nil {
					all[file] = map[string]string{}
				}
				all[file][name] = body
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 100 {
		t.Fatalf("only %d files have tests", len(all))
	}
	return all
}

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func write(t *testing.T, root string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// tree is a module in which low is imported by mid, and that by top; side tests with low alone.
func tree(t *testing.T) (root string, packages []pkg) {
	t.Helper()
	root = t.TempDir()
	write(t, root, map[string]string{
		".github/tools/run/go.mod":             "module run\n",
		"openapi/resources/blog_post.yaml":     "",
		"openapi/resources/blog.yaml":          "",
		"tests/contract/blog_test.go":          "func TestBlog(t *testing.T) {}\n",
		"tests/contract/blog_post_test.go":     "func TestMain(m *testing.M) {}\nfunc TestA(t *testing.T) {}\nfunc FuzzB(f *testing.F) {}\nfunc helper() {}\n",
		"tests/contract/blog_post_due_test.go": "func TestC(t *testing.T) {}\n",
		"tests/contract/world_test.go":         "func newWorld() {}\n",
		"tests/e2e/hang_test.go":               "func TestHang(t *testing.T) {}\n",
	})
	add := func(dir string, imports, inTests, outside string) {
		var files []string
		if !strings.HasPrefix(dir, "tests") {
			files = []string{"some.go"}
		}
		packages = append(packages, pkg{"m/" + dir, filepath.Join(root, dir), files, strings.Fields(imports), strings.Fields(inTests), strings.Fields(outside)})
	}
	add("low", "fmt", "testing", "")
	add("mid", "m/low", "", "")
	add("top", "m/mid", "", "")
	add("side", "", "m/low", "")
	add("other", "", "", "m/side")
	add("far", "", "", "m/top")
	add("sdk", "", "", "")
	add("tests", "", "", "")
	add("tests/contract", "", "m/low", "")
	add("tests/e2e", "", "", "")
	return root, packages
}

func TestChoose_TakesWhatAChangeTouches(t *testing.T) {
	t.Parallel()
	root, packages := tree(t)
	for files, want := range map[string]struct{ changed, affected, tests, suites, tools string }{
		"README.md":                    {tests: "./tests"},
		"low/blog_post.go":             {"./low", "./far ./low ./mid ./side ./tests/contract ./top", "./low ./mid ./side ./tests", "./tests/contract TestC TestA FuzzB", ""},
		"low/deep/page.html":           {"./low", "./far ./low ./mid ./side ./tests/contract ./top", "./low ./mid ./side ./tests", "", ""},
		"low/low_test.go":              {"./low", "./low", "./low ./tests", "", ""},
		"low/testdata/blog.txt":        {"./low", "./low", "./low ./tests", "", ""},
		"side/side.go top/blogger.go":  {"./side ./top", "./far ./other ./side ./top", "./far ./other ./side ./tests ./top", "", ""},
		"openapi/resources/blog.yaml":  {"", "", "./tests", "./tests/contract TestBlog", ""},
		"tests/contract/world_test.go": {"./tests/contract", "./tests/contract", "./tests", "", ""},
		"tests/e2e/hang_test.go":       {"./tests/e2e", "./tests/e2e", "./tests", "./tests/e2e TestHang", ""},
		"tests/e2e/gone_test.go":       {"./tests/e2e", "./tests/e2e", "./tests", "", ""},
		"sdk/go.mod":                   {"./sdk", "./far ./low ./mid ./other ./sdk ./side ./tests ./tests/contract ./tests/e2e ./top", "./sdk ./tests", "", ""},
		"go.sum":                       {"", "./far ./low ./mid ./other ./sdk ./side ./tests ./tests/contract ./tests/e2e ./top", "./tests", "", ""},
		".github/tools/run/main.go":    {"", "", "./tests", "", "./.github/tools/run"},
	} {
		c, err := choose(strings.Fields(files), packages, root)
		if err != nil {
			t.Fatal(err)
		}
		var suites []string
		for _, s := range c.suites {
			suites = append(suites, s.pkg+" "+strings.Join(s.tests, " "))
		}
		built := slices.DeleteFunc(slices.Clone(c.affected), func(dir string) bool { return strings.HasPrefix(dir, "./tests") }) // which hold no more than tests
		if !slices.Equal(c.built, built) {
			t.Errorf("%s: built are %q, not %q", files, c.built, built)
		}
		for what, pair := range map[string][2]string{
			"changed": {strings.Join(c.changed, " "), want.changed}, "affected": {strings.Join(c.affected, " "), want.affected},
			"tests": {strings.Join(c.tests, " "), want.tests}, "suites": {strings.Join(suites, ";"), want.suites}, "tools": {strings.Join(c.tools, " "), want.tools},
		} {
			if pair[0] != pair[1] {
				t.Errorf("%s: %s is %q, not %q", files, what, pair[0], pair[1])
			}
		}
	}
}

func TestChanges_AreAllThatTheBaseHasNot(t *testing.T) {
	root := t.TempDir()
	t.Chdir(root)
	git := func(words ...string) {
		t.Helper()
		if out, err := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@example.org"}, words...)...).CombinedOutput(); err != nil {
			t.Fatalf("git %s: %v\n%s", words, err, out)
		}
	}
	git("init", "--quiet", "--initial-branch=main")
	write(t, root, map[string]string{"old.go": "1", "moved.go": "2", "gone.go": "3", ".gitignore": "/bin/\n"})
	git("add", ".")
	git("commit", "--quiet", "-m", "first")
	git("checkout", "--quiet", "-b", "branch")
	write(t, root, map[string]string{"committed.go": "4"})
	git("add", ".")
	git("commit", "--quiet", "-m", "second")
	git("checkout", "--quiet", "main")
	write(t, root, map[string]string{"theirs.go": "5"}) // main went on
	git("add", ".")
	git("commit", "--quiet", "-m", "third")
	git("checkout", "--quiet", "branch")
	git("mv", "moved.go", "there.go")
	write(t, root, map[string]string{"old.go": "6", "new with space.go": "7", "bin/built": "8"})
	if err := os.Remove("gone.go"); err != nil {
		t.Fatal(err)
	}
	for base, want := range map[string][]string{
		"":     {"committed.go", "gone.go", "moved.go", "new with space.go", "old.go", "there.go"},
		"HEAD": {"gone.go", "moved.go", "new with space.go", "old.go", "there.go"},
	} {
		if got, err := changes(base); err != nil || !slices.Equal(got, want) {
			t.Errorf("from %q: %q (%v), not %q", base, got, err, want)
		}
	}
	if _, err := changes("nowhere"); err == nil {
		t.Error("it takes a base that is none")
	}
}

func TestList_HasEveryModuleOfTheWorkspace(t *testing.T) {
	root := t.TempDir()
	t.Chdir(root)
	t.Setenv("GOWORK", "")
	write(t, root, map[string]string{
		"go.work": "go 1.26.0\n\nuse (\n\t.\n\t./sdk\n)\n", "go.mod": "module m\n\ngo 1.26.0\n", "sdk/go.mod": "module m/sdk\n\ngo 1.26.0\n",
		"a/a.go": "package a\n", "sdk/b.go": "package sdk\n", "other/go.mod": "module m/other\n", "other/c.go": "package other\n",
	})
	all, err := list()
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, p := range all {
		found = append(found, p.ImportPath)
	}
	if !slices.Equal(found, []string{"m/a", "m/sdk"}) {
		t.Errorf("the packages are %q", found)
	}
}

func TestRun_WhatFailsIsRed(t *testing.T) {
	t.Setenv("GOWORK", "")
	c := &choice{affected: []string{"./a", "./tests"}, built: []string{"./a"}, tests: []string{"./tests"}, suites: []suite{{"./e2e", []string{"a_test.go"}, []string{"TestA", "TestB"}}}, tools: []string{"./t"}}
	const all = "build ./a|vet ./a ./tests|test -v ./tests|test -v -run ^(TestA|TestB)$ ./e2e|test -C ./t ./... off|"
	for fails, ran := range map[string]string{
		"nothing": all, "build": "build ./a|", "vet": "build ./a|vet ./a ./tests|",
		"-v ./tests": all, "./e2e": all, "./t ": all, // whichever fails, the others run
	} {
		dir := t.TempDir()
		program := filepath.Join(dir, "go")
		text := "#!/bin/sh\nprintf '%s|' \"$*${GOWORK:+ $GOWORK}\" >>" + dir + "/ran\ncase \"$*\" in *'" + fails + "'*) exit 1 ;; esac\n"
		if err := os.WriteFile(program, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
		err := c.run([]string{program, "test", "-v"})
		if (err == nil) != (fails == "nothing") {
			t.Errorf("%s failed: %v", fails, err)
		}
		if got, _ := os.ReadFile(filepath.Join(dir, "ran")); string(got) != ran {
			t.Errorf("%s failed: it ran %s", fails, got)
		}
	}
}

// Package newcomer does what CONTRIBUTING.md tells whoever adds a resource: the list there is complete if the resource works.
package newcomer

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/tests/harness/database"
)

const (
	root = "../.."
	memo = "testdata/memo" // the new files, where they stand in the tree
)

// insertions are the lines that the resource adds to files that exist, by file: behind which text stands what.
var insertions = map[string][][2]string{
	"openapi/openapi.yaml": {{"\ntags:\n", "  - name: Memos\n    description: What to remember.\n    x-sdk-doc: manages what to remember.\n"}},
	"store/core/id.go":     {{"\nconst (\n", "\tKindMemo Kind = \"memo\"\n"}, {"switch k {\n", "\tcase KindMemo:\n\t\treturn \"memo_\"\n"}},
}

// conventions are some of the tests that walk all operations: that memos are in them shows that a resource is without a line there.
var conventions = []string{"TestEveryOperation_NeedsItsScope", "TestEveryOperation_HidesOtherAccounts"}

func TestContributing_NamesEveryFileOfANewResource(t *testing.T) {
	t.Parallel()
	assert.ElementsMatch(t, touched(t), listed(t))
}

// touched returns the files that the resource adds or changes.
func touched(t *testing.T) []string {
	t.Helper()
	var files []string
	for file := range insertions {
		files = append(files, file)
	}
	require.NoError(t, eachFile(memo, func(file string, _ []byte) error {
		files = append(files, file)
		return nil
	}))
	return files
}

var (
	steps = regexp.MustCompile(`(?m)^\d+\. (.*?):`)
	names = regexp.MustCompile("`([^`]+)`")
)

// listed returns the files that the steps of CONTRIBUTING.md name for a resource called memo.
func listed(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, ".github/CONTRIBUTING.md"))
	require.NoError(t, err)
	_, list, found := strings.Cut(string(text), "\n**To add a resource**")
	require.True(t, found)
	list, _, found = strings.Cut(list, "\n**")
	require.True(t, found)
	var files []string
	for _, step := range steps.FindAllStringSubmatch(list, -1) {
		for _, name := range names.FindAllStringSubmatch(step[1], -1) {
			files = append(files, strings.NewReplacer("<resource>", "memo", "<number>", "99999").Replace(name[1]))
		}
	}
	return files
}

// TestNewResource_WorksAfterTheStepsOfContributing adds memos to a copy of the tree, and has its own tests and some of those of
// all resources call them.
func TestNewResource_WorksAfterTheStepsOfContributing(t *testing.T) {
	t.Parallel()
	tree := t.TempDir()
	require.NoError(t, eachFile(root, func(file string, text []byte) error { return write(tree, file, text) }))
	require.NoError(t, eachFile(memo, func(file string, text []byte) error { return write(tree, file, text) }))
	for file, all := range insertions {
		text, err := os.ReadFile(filepath.Join(tree, file))
		require.NoError(t, err)
		for _, in := range all {
			before, after, found := strings.Cut(string(text), in[0])
			require.True(t, found, "%s has no %q", file, in[0])
			text = []byte(before + in[0] + in[1] + after)
		}
		require.NoError(t, write(tree, file, text))
	}
	run(t, tree, "make", "-s", "gen")
	// Nearly all of the tree hangs on what memos are added to. To compile it without making it fast takes two thirds of the time.
	plain := "-gcflags=github.com/tillwright/tillwright/...=-dwarf=false -N -l"
	output := run(t, tree, "go", "test", "-vet=off", "-count=1", "-v", plain, "./tests/contract", "-run", "Memo|^("+strings.Join(conventions, "|")+")$/.*/Memo")
	for _, test := range conventions {
		for _, operation := range []string{"listMemos", "createMemo", "getMemo", "updateMemo", "deleteMemo"} {
			for _, engine := range []string{"sqlite", "postgres"} {
				assert.Contains(t, output, "--- PASS: "+test+"/"+engine+"/"+operation)
			}
		}
	}
	assert.Contains(t, output, "--- PASS: TestMemo_IsKeptChangedAndDeleted/sqlite")
}

// eachFile calls f with every file below a folder that belongs to the tree, by its path there. It leaves out what is gone before it
// is read: other tests keep files beside them for a moment.
func eachFile(folder string, f func(file string, text []byte) error) error {
	return fs.WalkDir(os.DirFS(folder), ".", func(file string, entry fs.DirEntry, err error) error {
		if file != "." && errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if slices.Contains([]string{".git", "bin", "data", "tests/newcomer"}, file) || entry.Name() == "node_modules" {
				return fs.SkipDir
			}
			return nil
		}
		if !entry.Type().IsRegular() {
			return nil
		}
		text, err := os.ReadFile(filepath.Join(folder, file))
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		return f(file, text)
	})
}

func write(tree, file string, text []byte) error {
	to := filepath.Join(tree, file)
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	return os.WriteFile(to, text, 0o600)
}

// run runs a command in the tree as the Makefile does, so that what did not change need not be compiled again.
func run(t *testing.T, tree string, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = tree
	flags := os.Getenv("GOFLAGS")
	if !slices.Contains(strings.Fields(flags), "-trimpath") {
		flags += " -trimpath"
	}
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS="+flags, "MAKEFLAGS=", database.PreparedEnv+"=", "CONTRACT_COVERAGE=") // the schema is another one
	output, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s %s:\n%s", name, strings.Join(args, " "), output)
	return string(output)
}

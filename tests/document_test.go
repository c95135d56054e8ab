package tests

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var faultTest = regexp.MustCompile(`(?m)^func (Test\w+)`)

// A path is what stands alone in backquotes with a slash in it. Patterns (`sdk/*.gen.go`, `store/<resource>.go`), commands and the
// API's own paths are none.
var namedPath = regexp.MustCompile("`([\\w.-]+/[\\w./-]+)`")

func TestDocuments_NameFilesThatExist(t *testing.T) {
	t.Parallel()
	for _, document := range []string{".github/ARCHITECTURE.md", ".github/CONTRIBUTING.md"} {
		text, err := os.ReadFile(filepath.Join("..", document))
		if err != nil {
			t.Fatal(err)
		}
		found := namedPath.FindAllStringSubmatch(string(text), -1)
		if len(found) < 10 {
			t.Errorf("%s names only %d paths: does the pattern still fit?", document, len(found))
		}
		for _, match := range found {
			path := match[1]
			if strings.HasPrefix(path, "./") || strings.HasPrefix(path, "bin/") { // written by make
				continue
			}
			if _, err := os.Stat(filepath.Join("..", path)); err != nil {
				t.Errorf("%s names %s, which is not there", document, path)
			}
		}
	}
}

var (
	linkedTo = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading  = regexp.MustCompile(`(?m)^#+ (.+)$`)
	unspoken = regexp.MustCompile(`[^\pL\pN _-]`)
)

// anchors returns the addresses of a document's headings, as GitHub makes them.
func anchors(text string) map[string]bool {
	all := map[string]bool{}
	for _, match := range heading.FindAllStringSubmatch(fencedBlock.ReplaceAllString(text, ""), -1) {
		title := linkTo.ReplaceAllString(match[1], "$1")
		all[strings.ReplaceAll(unspoken.ReplaceAllString(strings.ToLower(title), ""), " ", "-")] = true
	}
	return all
}

// Whoever follows a link from one document to another arrives, at the heading that the link names too.
func TestDocuments_LinkToWhatIsThere(t *testing.T) {
	t.Parallel()
	documents, err := filepath.Glob("../.github/*.md")
	if err != nil {
		t.Fatal(err)
	}
	links := 0
	for _, document := range append(append(documents, "../README.md"), guideFiles(t)...) {
		text, err := os.ReadFile(document)
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range linkedTo.FindAllStringSubmatch(inCode.ReplaceAllString(fencedBlock.ReplaceAllString(string(text), ""), ""), -1) {
			path, anchor, _ := strings.Cut(match[1], "#")
			if strings.Contains(path, "://") || strings.HasPrefix(path, "mailto:") {
				continue
			}
			links++
			target := document
			if path != "" {
				target = filepath.Join(filepath.Dir(document), path)
			}
			found, err := os.ReadFile(target)
			if info, statErr := os.Stat(target); statErr == nil && info.IsDir() && anchor == "" {
				continue
			}
			if err != nil {
				t.Errorf("%s links to %s, which is not there", document, match[1])
			} else if anchor != "" && !anchors(string(found))[anchor] {
				t.Errorf("%s links to %s, which has no such heading", document, match[1])
			}
		}
	}
	if links < 50 {
		t.Errorf("only %d links are found: does the pattern still fit?", links)
	}
}

// The table of rooms says of every package what it owns. Those below tests and gen are described there.
func TestArchitecture_NamesEveryPackage(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../.github/ARCHITECTURE.md")
	require.NoError(t, err)
	all, err := packages()
	require.NoError(t, err)
	var rooms strings.Builder // the first column
	for row := range strings.Lines(string(text)) {
		if strings.HasPrefix(row, "| `") {
			room, _, _ := strings.Cut(row[2:], "|")
			rooms.WriteString(room)
		}
	}
	for _, p := range all {
		name := strings.TrimPrefix(p.ImportPath, module)
		if len(p.GoFiles) > 0 && !within(name, "tests") && !within(name, "gen") {
			assert.Contains(t, rooms.String(), "`"+name+"/`", "the rooms of ARCHITECTURE")
		}
	}
}

func TestFaults_AreListed(t *testing.T) {
	t.Parallel()
	list, err := os.ReadFile("fault/README.md")
	require.NoError(t, err)
	files, err := filepath.Glob("fault/*_test.go")
	require.NoError(t, err)
	count := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, match := range faultTest.FindAllStringSubmatch(string(text), -1) {
			if match[1] == "TestMain" {
				continue
			}
			count++
			assert.Contains(t, string(list), "| `"+match[1]+"` |", "tests/fault/README.md says what each test of faults does")
		}
	}
	assert.Greater(t, count, 25, "tests of faults")
}

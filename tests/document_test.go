package tests

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

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

package tests

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// mostLines is how many lines a Go file has at most that people write.
const mostLines = 400

// generated is a line of a file that a program writes.
var generated = regexp.MustCompile(`(?m)^// Code generated .* DO NOT EDIT\.$`)

func TestFiles_AreShort(t *testing.T) {
	t.Parallel()
	all, err := packages()
	require.NoError(t, err)
	root, err := filepath.Abs("..")
	require.NoError(t, err)
	for _, p := range all {
		files, err := filepath.Glob(filepath.Join(p.Dir, "*.go"))
		require.NoError(t, err)
		for _, path := range files {
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			name, err := filepath.Rel(root, path)
			require.NoError(t, err)
			if !generated.Match(text) {
				assert.LessOrEqual(t, bytes.Count(text, []byte("\n")), mostLines, "%s is too long: move functions into a file of their own", name)
			}
		}
	}
}

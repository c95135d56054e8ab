package tests

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// mostLines is how many lines a Go file has at most that people write.
const mostLines = 400

// longer are the files that have more. None is added: move functions into a file of their own.
var longer = []string{}

// generated is a line of a file that a program writes.
var generated = regexp.MustCompile(`(?m)^// Code generated .* DO NOT EDIT\.$`)

func TestFiles_AreShort(t *testing.T) {
	t.Parallel()
	all, err := packages()
	require.NoError(t, err)
	root, err := filepath.Abs("..")
	require.NoError(t, err)
	found := []string{}
	for _, p := range all {
		files, err := filepath.Glob(filepath.Join(p.Dir, "*.go"))
		require.NoError(t, err)
		for _, path := range files {
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			name, err := filepath.Rel(root, path)
			require.NoError(t, err)
			if lines := bytes.Count(text, []byte("\n")); lines > mostLines && !generated.Match(text) {
				found = append(found, name)
				assert.Contains(t, longer, name, "it has %d lines, more than %d", lines, mostLines)
			}
		}
	}
	for _, name := range longer {
		assert.Contains(t, found, name, "it is no longer too long: take it off the list")
	}
	assert.True(t, slices.IsSorted(longer), "the list is in order")
}

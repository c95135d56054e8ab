package contract

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/tests/harness"
	"github.com/tillwright/tillwright/tests/harness/database"
)

// A test that passes only when it runs again, in a process of its own, closes the gaps that it left, and no others.
func TestJudge_CountsWhatRunsAgain(t *testing.T) {
	t.Parallel()
	url, file := database.URL(t, database.Engines()[0]), filepath.Join(t.TempDir(), "coverage")
	has := func(gaps []string, gap string) bool {
		return strings.Contains("\n"+strings.Join(gaps, "\n")+"\n", "\n"+gap+"\n")
	}
	const product, order = "getProduct was never answered 404", "getOrder was never answered 404"

	var first, again, last harness.Coverage
	gaps, err := judge(&first, "", file, false)
	require.NoError(t, err)
	assert.LessOrEqual(t, len(gaps), 0)
	gaps, err = judge(&first, "", file, true)
	require.NoError(t, err)
	assert.True(t, has(gaps, product))
	assert.True(t, has(gaps, order))
	s := harness.Boot(t, url, harness.Checked(&again))
	if _, err := s.SDK(t).Products.Get(t.Context(), "none"); err == nil {
		t.Fatal("there is a product")
	}
	gaps, err = judge(&again, "^TestGetProduct$", file, true)
	require.NoError(t, err)
	assert.LessOrEqual(t, len(gaps), 0)
	gaps, err = judge(&last, "^$", file, true)
	require.NoError(t, err)
	assert.False(t, has(gaps, product))
	assert.True(t, has(gaps, order))
	gaps, err = judge(&last, "^$", "", true)
	require.NoError(t, err)
	assert.LessOrEqual(t, len(gaps), 0)
	if _, err := judge(&last, "^$", file+"none", true); err == nil {
		t.Error("it goes on without the run before")
	}
}

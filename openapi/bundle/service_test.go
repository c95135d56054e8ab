package main

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const tags = `tags: [{name: Tills, description: Tills., x-sdk-doc: opens tills.}, {name: APIKeys, description: Keys., x-sdk-doc: "manages\nkeys."}, {name: Apples, description: A., x-sdk-doc: picks.}]`

func TestServices_AreTheTagsByName(t *testing.T) {
	t.Parallel()
	assert.Equal(t, []service{
		{"APIKeys", []string{"APIKeysService manages", "keys."}},
		{"Apples", []string{"ApplesService picks."}},
		{"Tills", []string{"TillsService opens tills."}},
	}, services(parse(tags)))
}

func TestWriteServices_MakesATypeAndAFieldOfEveryTag(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "service.gen.go")
	require.NoError(t, writeServices(file, "../sdk.service.tmpl", parse(tags)))
	code, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Contains(t, string(code), "\tAPIKeys *APIKeysService\n\tApples  *ApplesService\n\tTills   *TillsService\n\n\tclientSettings\n")
	assert.Contains(t, string(code), "\tc.Tills = (*TillsService)(s)\n")
	assert.Contains(t, string(code), "\n// APIKeysService manages\n// keys.\ntype APIKeysService service\n")
}

func TestLint_RefusesATagThatDoesNotSayWhatItIs(t *testing.T) {
	t.Parallel()
	for _, key := range []string{"description", "x-sdk-doc"} {
		doc, err := bundled(t, "x-expand: [owner]", "x-expand: [owner]")
		require.NoError(t, err)
		drop(get(doc, "tags").Content[1], key)
		assert.EqualError(t, errors.Join(lint(doc)...), "tag APIKeys: needs "+key)
	}
}

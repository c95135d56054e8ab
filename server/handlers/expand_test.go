package handlers

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/openapi/wire"
	"github.com/tillwright/tillwright/store"
)

// TestKinds_AreWhateverTheSpecificationPointsAt: a reference that nothing loads would be found out by the first request.
func TestKinds_AreWhateverTheSpecificationPointsAt(t *testing.T) {
	t.Parallel()
	loaded := map[string]bool{}
	for prefix, k := range kindsOf(&store.Store{}) {
		require.Equal(t, k.name.Prefix(), prefix)
		loaded[k.schema] = true
	}
	files, err := filepath.Glob("../../openapi/resources/*.yaml")
	require.NoError(t, err)
	named := map[string]bool{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, found := range regexp.MustCompile(`x-expandable: *(\w+)`).FindAllStringSubmatch(string(text), -1) {
			named[found[1]] = true
		}
	}
	require.Greater(t, len(named), 10)
	require.Equal(t, named, loaded)
}

func TestExpand_OfAKindThatNobodyLoadsIsAnError(t *testing.T) {
	t.Parallel()
	h := &Handlers{kinds: kindsOf(&store.Store{})}
	for _, id := range []string{"exp_01k0000000000000000000000a", "nothing"} {
		reference := wire.Reference(id)
		one := func(_ any, _ string, yield func(*wire.Reference)) { yield(&reference) }
		require.ErrorContains(t, h.expand(context.Background(), []string{"owner"}, []any{nil}, one), "nothing loads what begins with")
	}
}

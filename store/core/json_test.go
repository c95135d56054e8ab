package core

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestJSONScan_ReadsListsAsTheDecoderDoes(t *testing.T) {
	t.Parallel()
	item := rapid.OneOf(rapid.StringMatching(`[a-z0-9_,\[\]"\\ ]{0,6}`), rapid.String())
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.SliceOf(item).Draw(t, "list")
		text, err := json.Marshal(want)
		require.NoError(t, err)
		var got JSON[[]string]
		require.NoError(t, got.Scan(string(text)))
		require.Len(t, got.V, len(want))
		for i := range want {
			var decoded []string
			require.NoError(t, json.Unmarshal(text, &decoded))
			require.Equal(t, decoded[i], got.V[i])
		}
	})
}

package db

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/core"
)

// What a row is asked costs the same statement for any number of words, which makes the row's text once and splits it never.
func TestFilter_MakesARowsTextOnce(t *testing.T) {
	once := map[string]string{core.SQLite: "filter_has(", core.PostgreSQL: "lower("}
	for engine, piece := range once {
		texts := map[string]bool{}
		for _, q := range []string{"ann bert", "ann bert " + strings.Repeat("ann ", 40), "ann-ann bert-carl", "ann@shop.example b.e.r.t.h.a"} {
			var f Filter
			f.search(&DB{Engine: engine}, "customers", core.KindCustomer, q, []string{"email", "name"})
			require.NoError(t, f.refused)
			asked := f.conditions[len(f.conditions)-1]
			require.Equal(t, 1, strings.Count(asked.text, piece), "%s: %s", engine, q)
			require.Equal(t, strings.Count(asked.text, "?"), len(asked.args), "%s: %s", engine, q)
			require.NotContains(t, asked.text, "filter_words(", engine)
			texts[asked.text] = true
		}
		require.Len(t, texts, 1, engine)
	}
}

func TestFilter_RefusesMoreWords(t *testing.T) {
	for q, refused := range map[string]bool{
		"a b c d e f g h": false, "a-b-c-d-e-f-g-h": false, strings.Repeat("a ", 100): false, "a b c d e f g h ada@x.example": true, "a-b-c-d-e-f-g-h-i": true,
	} {
		var f Filter
		f.search(&DB{Engine: core.SQLite}, "customers", core.KindCustomer, q, []string{"name"})
		if !refused {
			require.NoError(t, f.refused, q)
			continue
		}
		require.ErrorContains(t, f.refused, "q has 9 words, and may have 8", q)
	}
}

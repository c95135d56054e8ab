package store

import (
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

func TestSlugify(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"Crème brûlée, vol. 2": "creme-brulee-vol-2",
		"Der große Führer":     "der-grosse-fuhrer",
		"Smørrebrød & Łódź":    "smorrebrod-lodz",
		"  --  ":               "product",
		"東京":                   "product",
		"１２３ ﬁne":              "123-fine",
	} {
		require.Equal(t, want, db.Slugify(name, core.KindProduct), name)
	}
}

package store

import (
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/core"
)

func TestPage_NamesTheFirstPositionThatIsWrong(t *testing.T) {
	t.Parallel()
	for range 50 {
		var e *core.Error
		require.ErrorAs(t, (&core.Page{StartingAfter: "x", EndingBefore: "y"}).Resolve(core.KindProduct), &e)
		require.Equal(t, "starting_after", e.Param)
		require.Equal(t, core.CodeBadRequest, e.Code)
	}
	var e *core.Error
	require.ErrorAs(t, (&core.Page{StartingAfter: core.NewID(core.KindProduct), EndingBefore: "y"}).Resolve(core.KindProduct), &e)
	require.Equal(t, "ending_before", e.Param)
}

func TestQ_FindsAnIDOnlyWhole(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		p, err := s.Catalog.CreateProduct(t.Context(), s.account, catalog.NewProduct{Product: catalog.Product{Name: "Book"}})
		require.NoError(t, err)
		for q, want := range map[string]int{"prod": 0, p.ID[:20]: 0, p.ID: 1, "boo": 1} {
			found, _, err := s.Catalog.ListProducts(t.Context(), s.account, catalog.ListProducts{Page: core.Page{Limit: 10}, ListFilter: core.ListFilter{Q: q}})
			require.NoError(t, err)
			require.Len(t, found, want, q)
		}
	})
}

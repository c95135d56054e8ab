package store

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPage_NamesTheFirstPositionThatIsWrong(t *testing.T) {
	t.Parallel()
	for range 50 {
		var e *Error
		require.ErrorAs(t, (&Page{StartingAfter: "x", EndingBefore: "y"}).resolve(KindProduct), &e)
		require.Equal(t, "starting_after", e.Param)
		require.Equal(t, CodeBadRequest, e.Code)
	}
	var e *Error
	require.ErrorAs(t, (&Page{StartingAfter: NewID(KindProduct), EndingBefore: "y"}).resolve(KindProduct), &e)
	require.Equal(t, "ending_before", e.Param)
}

func TestQ_FindsAnIDOnlyWhole(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		p := s.product(t, ProductStatusDraft)
		for q, want := range map[string]int{"prod": 0, p.ID[:20]: 0, p.ID: 1, "boo": 1} {
			found, _, err := s.ListProducts(t.Context(), s.account, ListProducts{Page: Page{Limit: 10}, ListFilter: ListFilter{Q: q}})
			require.NoError(t, err)
			require.Len(t, found, want, q)
		}
	})
}

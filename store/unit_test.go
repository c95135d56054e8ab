package store

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/dbtest"
)

// The product is made as the transaction ends: its event is one more thing to be stored then.
func TestBeforeCommit_RunsUseCasesInTheTransaction(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		var made *catalog.Product
		endWith := func(fail error) error {
			_, err := tx(t.Context(), s.Store, func(_ context.Context, u *unit) (any, error) {
				u.BeforeCommit(func(ctx context.Context) (err error) {
					if made, err = s.Catalog.CreateProduct(ctx, s.account, catalog.NewProduct{Product: catalog.Product{Name: "Book"}}); err != nil {
						return err
					}
					return fail
				})
				return nil, nil
			})
			return err
		}
		require.NoError(t, endWith(nil))
		require.Equal(t, []string{"product.created"}, s.eventTypes(t, made.ID))
		require.Equal(t, 1, s.products(t))

		dbtest.RequireInvalid(t, endWith(core.Invalid("name", "No.")), "name")
		require.Equal(t, 1, s.products(t))
	})
}

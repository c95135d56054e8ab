package store

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/core"
)

// What waits for PostgreSQL, or for the disk, says so. The embedded database computes in this process.
func TestStatements_SayThatTheyWait(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		begun, over, held := 0, 0, 0
		s.db.Options.Waits = func(context.Context) func(holds bool) {
			begun++
			return func(holds bool) {
				over++
				if holds {
					held++
				}
			}
		}
		v := s.onSale(t, catalog.PriceVariant{Amount: 1900})
		assert.Equal(t, begun, over)
		if s.Engine() == core.SQLite {
			assert.Equal(t, 2, begun, "it is begun and written to disk")
			assert.Equal(t, 1, held, "the file from then on")
		} else {
			assert.Zero(t, held)
			assert.Greater(t, begun, 3)
		}
		begun = 0
		_, err := s.Catalog.GetPriceVariant(t.Context(), s.account, v.ID)
		require.NoError(t, err)
		assert.Equal(t, s.Engine() == core.PostgreSQL, begun == 1)
	})
}

package store

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tillwright/tillwright/store/catalog"
)

// What a seller took off the list of deliverables stays in the table, and no sale reads it.
func TestOfferedVariants_CountOnlyTheKeysOnTheList(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		guide := s.onSale(t, catalog.PriceVariant{Amount: 1900})
		_, err := s.db.Write.DB.ExecContext(t.Context(), s.db.Rebind(`
			INSERT INTO product_deliverables (account_id, id, product_id, position, type, removed) VALUES (?, 'old', ?, 0, 'license_key', 1)`), s.account, guide.ProductID)
		require.NoError(t, err)
		s.copies(t, "product_deliverables", `SELECT account_id, id, product_id, position, type, removed FROM`, 20_000, map[string]string{"id": `'old_' || n`})
		for range 2 { // what is said twice is prepared, and seen here
			found, err := s.Catalog.OfferedVariantsByID(t.Context(), s.db, s.account, []string{guide.ID})
			require.NoError(t, err)
			assert.Zero(t, found[guide.ID].LicenseKeys)
		}
		seen := 0
		for _, text := range s.said("product_deliverables") {
			if strings.Contains(text, "imported_keys") {
				seen++
				plan := s.planOf(t, text)
				assert.Equal(t, 2, strings.Count(plan, "product_deliverables_key"), "%s\n%s", text, plan)
			}
		}
		assert.Equal(t, 1, seen)
	})
}

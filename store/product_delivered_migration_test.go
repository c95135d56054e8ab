package store

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/core"
)

// TestMigrate_CountsWhatProductsDeliver runs the step that counts once more. PostgreSQL keeps what it made, and later steps too, as when they were cut short.
func TestMigrate_CountsWhatProductsDeliver(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		must := func(query string, args ...any) {
			_, err := s.db.Write.DB.Exec(s.db.Rebind(query), args...)
			require.NoError(t, err)
		}
		var products []string
		for range 2 {
			v := s.onSale(t, fixedPrice(1900))
			for i, kind := range []string{"file", "file", "license_key", "link", "experience", "file"} {
				must(`INSERT INTO product_deliverables (account_id, id, product_id, position, removed, type) VALUES (?, ?, ?, ?, NULL, ?)`, s.account, v.ProductID+kind+string(rune('a'+i)), v.ProductID, i, kind)
			}
			must(`UPDATE product_deliverables SET removed = 'x' WHERE product_id = ? AND position = 5`, v.ProductID)
			must(`UPDATE products SET delivers = TRUE WHERE id = ?`, v.ProductID)
			products = append(products, v.ProductID)
		}
		must(`UPDATE products SET images = '["https://shop.example/a.png", "https://shop.example/b.png"]' WHERE id = ?`, products[0])
		must(`DELETE FROM pictures`) // as before there were any
		isCounted := func() {
			t.Helper()
			for _, id := range products {
				p, err := s.Catalog.GetProduct(t.Context(), s.account, id)
				require.NoError(t, err)
				require.Equal(t, []int64{2, 1, 2}, []int64{p.DeliveredFiles, p.DeliveredKeys, p.DeliveredAccess})
			}
		}
		if s.Engine() == core.SQLite {
			for _, column := range []string{"files", "keys", "access"} {
				must(`ALTER TABLE products DROP COLUMN delivered_` + column)
			}
			step, err := os.ReadFile("migrations/sqlite/00183_product_delivered.sql")
			require.NoError(t, err)
			must(string(step))
		} else {
			must(`DELETE FROM schema_migrations WHERE version_id >= 183`)
			require.NoError(t, s.db.Migrate(t.Context()))
		}
		isCounted()
		found, err := s.Pictures.Of(t.Context(), s.account, products[0])
		require.NoError(t, err)
		require.NotNil(t, found, "what sellers named before is fetched too")
		require.Equal(t, "https://shop.example/a.png", found.Address)

		must(`UPDATE products SET delivers = FALSE, delivered_files = 0, delivered_keys = 7 WHERE id = ?`, products[0])
		done, err := s.Repair(t.Context())
		require.NoError(t, err)
		require.Equal(t, core.Repaired{Products: 1}, done, "what an old server wrote beside")
		isCounted()
		done, err = s.Repair(t.Context())
		require.NoError(t, err)
		require.Zero(t, done, "it may be repeated")
	})
}

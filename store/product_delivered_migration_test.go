package store

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/core"
)

// TestMigrate_CountsWhatProductsDeliver runs the last steps once more. PostgreSQL keeps what they made, as when they were cut short.
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
		isCounted := func() {
			t.Helper()
			for _, id := range products {
				p, err := s.Catalog.GetProduct(t.Context(), s.account, id)
				require.NoError(t, err)
				require.Equal(t, []int64{2, 1, 2}, []int64{p.DeliveredFiles, p.DeliveredKeys, p.DeliveredAccess})
			}
		}
		if s.Engine() == core.SQLite {
			for _, gone := range []string{"INDEX webhook_endpoints_untold", "TABLE file_notices", "TABLE people_letters"} {
				must(`DROP ` + gone)
			}
			for _, column := range []string{"products delivered_files", "products delivered_keys", "products delivered_access", "products thank_you",
				"checkouts allow_quantity_change", "checkout_links allow_quantity_change", "checkouts withdrawal_waived_at", "orders withdrawal_waived_at",
				"orders event_key", "file_versions tell_buyers", "webhook_endpoints told_since", "people email_confirmed_at", "accounts new_letters_off"} {
				table, name, _ := strings.Cut(column, " ")
				must(`ALTER TABLE ` + table + ` DROP COLUMN ` + name)
			}
		}
		must(`DELETE FROM schema_migrations WHERE version_id >= 183`)
		require.NoError(t, s.db.Migrate(t.Context()))
		isCounted()

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

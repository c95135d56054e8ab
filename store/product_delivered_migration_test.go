package store

import (
	"os"
	"testing"
	"time"

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
		file := `INSERT INTO picture_files (account_id, name, size, content) VALUES (?, ?, '96.jpg', ?)`
		for owner, name := range map[string]string{products[0]: "former", products[1]: "none", "prod_gone": "gone"} { // and a step that was cut short
			must(`INSERT INTO pictures (account_id, owner_id, address, name, bytes) VALUES (?, ?, 'https://shop.example/old.png', ?, 5)`, s.account, owner, name)
			must(file, s.account, name, []byte("12345"))
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
			for _, column := range []string{"files", "keys", "access"} {
				must(`ALTER TABLE products DROP COLUMN delivered_` + column)
			}
			step, err := os.ReadFile("migrations/sqlite/00183_product_delivered.sql")
			require.NoError(t, err)
			must(string(step))
			_, err = s.Repair(t.Context()) // what the step of pictures calls
			require.NoError(t, err)
		} else {
			must(`DELETE FROM schema_migrations WHERE version_id >= 183`)
			require.NoError(t, s.db.Migrate(t.Context()))
		}
		isCounted()
		found, err := s.Pictures.Of(t.Context(), s.account, products[0])
		require.NoError(t, err)
		require.NotNil(t, found, "what sellers named before is fetched too")
		require.Equal(t, "https://shop.example/a.png", found.Address)
		require.Equal(t, "former", *found.Name)
		require.Zero(t, *found.DueAt)
		var kept string
		require.NoError(t, s.db.Write.DB.Get(&kept, `
			SELECT p.owner_id || ' ' || f.name || ' ' || (u.pictures - r.pictures) || ' ' || (u.bytes - r.bytes)
			FROM pictures p, picture_files f, picture_usage u, (SELECT count(*) AS pictures, SUM(bytes) AS bytes FROM picture_removed) AS r`), "a single row of each")
		require.Equal(t, products[0]+" former 1 5", kept)

		must(file, s.account, "stray", []byte("1"))
		must(`UPDATE picture_usage SET bytes = 4`)
		must(`UPDATE products SET delivers = FALSE, delivered_files = 0, delivered_keys = 7 WHERE id = ?`, products[0])
		done, err := s.Repair(t.Context())
		require.NoError(t, err)
		require.Equal(t, core.Repaired{Products: 1, Pictures: 2}, done, "what an old server wrote beside")
		isCounted()
		done, err = s.Repair(t.Context())
		require.NoError(t, err)
		require.Zero(t, done, "it may be repeated")
		if s.Engine() == core.PostgreSQL {
			isRepairedBeside(t, s, products[0])
		}
	})
}

// isRepairedBeside claims that Repair waits for whoever changes an address, and does not bring the former one back. It goes on when it lost against
// another transaction.
func isRepairedBeside(t *testing.T, s *shop, product string) {
	t.Helper()
	_, err := s.db.Write.DB.ExecContext(t.Context(), `
		CREATE SEQUENCE lost;
		CREATE FUNCTION lose() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
			IF nextval('lost') = 1 THEN RAISE 'lost' USING ERRCODE = 'deadlock_detected'; END IF;
			RETURN NULL;
		END $$;
		CREATE TRIGGER lose BEFORE DELETE ON pictures FOR EACH STATEMENT EXECUTE FUNCTION lose()`)
	require.NoError(t, err)
	tx, err := s.db.Write.DB.BeginTx(t.Context(), nil)
	require.NoError(t, err)
	defer tx.Rollback()
	_, err = tx.ExecContext(t.Context(), `UPDATE products SET images = '["https://shop.example/c.png"]' WHERE id = $1`, product)
	require.NoError(t, err)
	repaired := make(chan error, 1)
	go func() {
		_, err := s.Repair(t.Context())
		repaired <- err
	}()
	require.Eventually(t, func() bool {
		var waiting int
		err := s.db.Read.DB.Get(&waiting, `SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%INSERT INTO pictures%'`)
		return err == nil && waiting > 0
	}, time.Minute, 5*time.Millisecond)
	require.NoError(t, tx.Commit())
	require.NoError(t, <-repaired)
	found, err := s.Pictures.Of(t.Context(), s.account, product)
	require.NoError(t, err)
	require.Equal(t, "https://shop.example/c.png", found.Address)
}

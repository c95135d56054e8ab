package store

import (
	"io/fs"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/migrations"
)

// TestMigrate_GivesOpeningBalancesIDsLikeAllOthers begins with what the step before has written down.
func TestMigrate_GivesOpeningBalancesIDsLikeAllOthers(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		must := func(query string, args ...any) {
			_, err := s.db.Write.DB.Exec(s.db.Rebind(query), args...)
			require.NoError(t, err)
		}
		c, err := s.CreateCustomer(t.Context(), s.account, Customer{Email: ref("ada@example.com")})
		require.NoError(t, err)
		must(`UPDATE customers SET balance = '{"eur":7,"usd":5}' WHERE id = ?`, c.ID)
		for _, index := range []string{"listed", "reason", "currency", "described"} {
			must(`DROP INDEX balance_transactions_` + index)
		}
		must(`ALTER TABLE balance_transactions RENAME TO balance_entries`)
		must(`CREATE INDEX balance_entries_customer ON balance_entries (account_id, customer_id)`)
		must(`ALTER TABLE balance_entries DROP COLUMN description`)
		for currency, amount := range map[string]int64{"usd": 5, "eur": 7} {
			must(`INSERT INTO balance_entries (account_id, id, customer_id, currency, amount, reason, source_id, created_at, updated_at) VALUES (?, ?, ?, ?, ?, 'opening', ?, 1, 1)`,
				s.account, "bal_"+c.ID+"_"+currency, c.ID, currency, amount, c.ID)
		}
		files, err := migrations.FS(s.Engine())
		require.NoError(t, err)
		for _, file := range []string{"00161_balance_transaction.sql", "00167_balance_transaction.sql"} {
			step, err := fs.ReadFile(files, file)
			require.NoError(t, err)
			must(string(step))
		}

		changed, err := s.CreateBalanceTransaction(t.Context(), s.account, c.ID, NewBalanceTransaction{Currency: "usd", Amount: 10, Description: "Sorry"})
		require.NoError(t, err)
		var seen []string
		for page := (core.Page{Limit: 1}); ; page.StartingAfter = seen[len(seen)-1] {
			found, more, err := s.ListBalanceTransactions(t.Context(), s.account, c.ID, ListBalanceTransactions{Page: page})
			require.NoError(t, err)
			seen = append(seen, found[0].ID)
			if !more {
				break
			}
		}
		require.Len(t, seen, 3)
		require.Equal(t, changed.ID, seen[0], "what was there before is older")
		for _, id := range seen {
			parsed, ok := core.ParseID(core.KindBalanceTransaction, id)
			require.True(t, ok, id)
			require.Equal(t, id, parsed)
		}
	})
}

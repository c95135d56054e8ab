package store

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/customer"
	"github.com/tillwright/tillwright/store/internal/dbtest"
)

// subscribers stores many subscriptions of one customer, of which every second one is due.
func (s *shop) subscribers(t *testing.T, many int) {
	t.Helper()
	customer, err := s.Customer.Create(t.Context(), s.account, customer.Customer{Email: ref("grace@example.com")})
	require.NoError(t, err)
	for from := 0; from < many; from += 10_000 { // a statement has its time
		_, err = s.db.Write.DB.ExecContext(t.Context(), s.db.Rebind(`
		INSERT INTO subscriptions (account_id, id, status, customer_id, product_id, price_variant_id, product_name, quantity, unit_amount, currency, interval,
			interval_count, anchor_day, current_period_start, current_period_end, period_amount, started_at, cancel_at_period_end, pause_at_period_end, attempt_count,
			extra_attempt, cycles_billed, prorations, custom_field_data, metadata, due_at, created_at, updated_at)
		WITH RECURSIVE many (n) AS (SELECT CAST(? AS BIGINT) UNION ALL SELECT n + 1 FROM many WHERE n < ?)
		SELECT '`+s.account+`', 'sub_' || n, 'active', '`+customer.ID+`', 'prod_1', 'price_1', 'Club', 1, 900, 'usd', 'month', 1, 1, 0,
			CASE WHEN n % 2 = 0 THEN n ELSE 9000000000000000 + n END, 900, 0, FALSE, FALSE, 0, FALSE, 1, '[]', '{}', '{}',
			CASE WHEN n % 2 = 0 THEN n ELSE 9000000000000000 + n END, 0, 0 FROM many`), from+1, min(from+10_000, many))
		require.NoError(t, err)
	}
	_, err = s.db.Write.DB.ExecContext(t.Context(), `ANALYZE subscriptions`)
	require.NoError(t, err)
}

// plan is how the database reads what the query asks for, in a session without our settings.
func (s *shop) plan(t *testing.T, query string, args ...any) string {
	t.Helper()
	explain, before := `EXPLAIN QUERY PLAN `, `SELECT 1`
	if s.db.Engine == core.PostgreSQL {
		explain, before = `EXPLAIN `, `SET LOCAL enable_seqscan = on`
	}
	tx, err := s.db.Write.DB.BeginTxx(t.Context(), nil)
	require.NoError(t, err)
	defer tx.Rollback()
	_, err = tx.ExecContext(t.Context(), before)
	require.NoError(t, err)
	rows, err := tx.QueryxContext(t.Context(), explain+query, args...)
	require.NoError(t, err)
	defer rows.Close()
	var plan strings.Builder
	for rows.Next() {
		fields, err := rows.SliceScan()
		require.NoError(t, err)
		if text, ok := fields[len(fields)-1].([]byte); ok {
			plan.Write(text)
		} else {
			plan.WriteString(fields[len(fields)-1].(string))
		}
		plan.WriteString("\n")
	}
	require.NoError(t, rows.Err())
	return plan.String()
}

func TestDueSubscriptions_AreFoundByTheirIndex(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		s.subscribers(t, 10_000)
		for _, look := range []struct {
			account, index string
			args           []any
		}{
			{"", "subscriptions_due", []any{1_000_000, 100}},
			{s.account, "subscriptions_account_due", []any{1_000_000, s.account, 100}},
		} {
			for range 3 { // what is said more than once is seen here
				due, err := s.Subscription.Due(t.Context(), look.account, 100)
				require.NoError(t, err)
				require.Len(t, due, 100)
				assert.Equal(t, "sub_2", due[0].ID, "the longest due comes first")
			}
			asked := slices.DeleteFunc(s.said("id FROM subscriptions WHERE due_at <= ?"), func(text string) bool { return strings.Count(text, "?") != len(look.args) })
			require.Len(t, asked, 1)
			plan := s.plan(t, s.db.Rebind(asked[0]), look.args...)
			assert.Contains(t, plan, look.index, plan)
			assert.NotContains(t, plan, "Seq Scan", plan)
			if look.account == "" { // of an account, those that are due at the same time are sorted
				assert.NotContains(t, plan, "Sort", plan)
				assert.NotContains(t, plan, "TEMP B-TREE", plan)
			}
		}
		for range 3 {
			accounts, err := s.Subscription.DueAccounts(t.Context())
			require.NoError(t, err)
			assert.Equal(t, []string{s.account}, accounts)
		}
		asked := s.said("MIN(due_at)")
		require.Len(t, asked, 1)
		plan := s.plan(t, strings.Replace(asked[0], "?", "100", 1)) // a few are due, as in every round but the first after a standstill
		assert.Regexp(t, `subscriptions_(account_)?due\b`, plan)
		assert.NotRegexp(t, `Seq Scan on subscriptions|SCAN subscriptions`, plan)
	})
}

func TestDeleteCustomer_KeepsASubscriber(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		s.subscribers(t, 1)
		list, _, err := s.Customer.List(t.Context(), s.account, customer.List{Page: core.Page{Limit: 1}})
		require.NoError(t, err)
		_, err = s.DeleteCustomer(t.Context(), s.account, list[0].ID, false)
		dbtest.RequireInvalid(t, err, "base")
	})
}

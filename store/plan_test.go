package store

import (
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/checkout"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/payment"
	"github.com/tillwright/tillwright/store/tenant"
)

// copies stores a row of a table many times, with other values in some columns, of which n is the number of the copy.
func (s *shop) copies(t *testing.T, table, selectSQL string, many int, other map[string]string) {
	t.Helper()
	names, _, _ := strings.Cut(strings.TrimPrefix(selectSQL, "SELECT "), " FROM")
	values := strings.Split(names, ", ")
	for i, name := range values {
		if value, ok := other[name]; ok {
			values[i] = value
		}
	}
	for from := 0; from < many; from += 10_000 { // a statement has its time
		_, err := s.db.Write.DB.ExecContext(t.Context(), s.db.Rebind(`
			INSERT INTO `+table+` (`+names+`)
			WITH RECURSIVE many (n) AS (SELECT CAST(? AS BIGINT) UNION ALL SELECT n + 1 FROM many WHERE n < ?)
			SELECT `+strings.Join(values, ", ")+` FROM many, (SELECT * FROM `+table+` WHERE account_id = '`+s.account+`' LIMIT 1) AS original`),
			from+1, min(from+10_000, many))
		require.NoError(t, err)
	}
	_, err := s.db.Write.DB.ExecContext(t.Context(), `ANALYZE `+table)
	require.NoError(t, err)
}

// said are the statements that the store has run more than once, which name one of the tables.
func (s *shop) said(tables ...string) []string {
	found := map[string]bool{}
	for _, p := range []*db.Pool{s.db.Read, s.db.Write} {
		for _, text := range p.Texts() {
			if slices.ContainsFunc(tables, func(table string) bool { return strings.Contains(text, table) }) {
				found[text] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// planOf is how the database runs a statement whatever its arguments are.
func (s *shop) planOf(t *testing.T, text string) string {
	t.Helper()
	text = strings.ReplaceAll(text, "LIMIT ?", "LIMIT 100") // of one that it does not know PostgreSQL thinks as a tenth of all
	args := make([]any, strings.Count(text, "?"))
	if s.db.Engine == core.SQLite {
		return s.plan(t, text, args...)
	}
	tx, err := s.db.Write.DB.BeginTxx(t.Context(), nil)
	require.NoError(t, err)
	defer tx.Rollback()
	for _, statement := range []string{`SET LOCAL plan_cache_mode = force_generic_plan`, `PREPARE look AS ` + s.db.Rebind(text)} {
		_, err = tx.ExecContext(t.Context(), statement)
		require.NoError(t, err, statement)
	}
	defer tx.ExecContext(t.Context(), `DEALLOCATE look`)
	call := `EXPLAIN EXECUTE look`
	if len(args) > 0 {
		call += `(` + strings.Repeat(", NULL", len(args))[2:] + `)`
	}
	var lines []string
	require.NoError(t, tx.SelectContext(t.Context(), &lines, call))
	return strings.Join(lines, "\n")
}

// wholeTable is what SQLite says of a table, or an index, that is read from end to end. It says nothing of the kind of a list of arguments, of a
// recursion or of one row.
var wholeTable = regexp.MustCompile(`SCAN (payment_guards|throttles|api_keys|payments|checkouts|checkout_links|orders|customers|g|t|k|p)\b`)

// wholeAccount is a plan that looks for nothing but the account: all rows here are of one.
var wholeAccount = regexp.MustCompile(`(?m)Index Cond: \(account_id = [^()]*\)$|\(account_id=\?\)`)

// readsWhole reports whether a plan reads a table, or all that an account has in it, from end to end.
func readsWhole(plan string) bool {
	lines := strings.Split(plan, "\n")
	for i, line := range lines {
		byIndex := strings.Contains(line, "Index Scan") || strings.Contains(line, "Index Only Scan")
		if strings.Contains(line, "Seq Scan on") || byIndex && !strings.Contains(strings.Join(lines[i+1:min(i+2, len(lines))], ""), "Cond:") {
			return true
		}
	}
	return wholeTable.MatchString(plan) || wholeAccount.MatchString(plan)
}

// TestGuardsLettersAndKeys_ReadFewRows has as many of each as a busy server has in years, all of one account.
func TestGuardsLettersAndKeys_ReadFewRows(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		many := 20_000
		if os.Getenv("TILLWRIGHT_SOAK") != "" {
			many = 1_000_000
		}
		customer, guide := s.customer(t, "grace@example.com", nil), s.onSale(t, catalog.PriceVariant{Amount: 1900, Stock: ref(int64(1000))})
		link, err := s.Checkout.CreateLink(t.Context(), s.account, checkout.Link{Active: true, PriceVariantIDs: core.JSONOf([]string{guide.ID}), MaxUses: ref(int64(1000))})
		require.NoError(t, err)
		visits := 0
		try := func() {
			t.Helper()
			visits++
			from := payment.Buyer{Address: fmt.Sprintf("203.0.%d.7", visits)}
			c, err := s.Checkout.FollowLink(t.Context(), link.ID, checkout.FollowLink{From: from})
			require.NoError(t, err)
			s.change(t, c, func(d *checkout.Draft) { d.CustomerEmail = ref("ada@example.com") })
			begun, err := s.BeginConfirm(t.Context(), s.account, c.ID, checkout.Confirm{Provider: "test", MethodRef: "pm_card_visa", From: from})
			require.NoError(t, err)
			_, err = s.SettlePayment(t.Context(), begun.Payment, payment.ChargeResult{Status: payment.StatusFailed, Failure: &payment.Failure{Code: "card_declined"}})
			require.NoError(t, err)
		}
		try()
		require.NoError(t, s.Mailbox.CountLetter(t.Context(), s.account, "order_1"))
		maker := s.keyOf(t, nil)
		s.keyOf(t, maker)

		old, now := s.Now().Add(-5*core.Day), s.Now()
		s.copies(t, "payment_guards", `SELECT account_id, subject, declines, under_way, since, retry_at, touched_at FROM`, many, map[string]string{
			"subject": `'address:' || n`, "under_way": "0", "touched_at": fmt.Sprintf("CASE WHEN n %% 2 = 0 THEN %d ELSE %d END", old, now),
		})
		s.copies(t, "throttles", `SELECT account_id, subject, counted, ends_at FROM`, many, map[string]string{
			"subject": `'order_' || n || 'x'`, "ends_at": fmt.Sprintf("CASE WHEN n %% 2 = 0 THEN %d ELSE %d END", old, now.Add(core.Day)),
		})
		s.copies(t, "payments", payment.Columns.SelectSQL, many, map[string]string{"id": `'pay_' || n`, "status": `'succeeded'`, "guards": `'[]'`})
		s.copies(t, "price_variants", db.ColumnsOf[catalog.PriceVariant]("price_variants").SelectSQL, many, map[string]string{"id": `'price_' || n`})
		bytes := "BLOB"
		if s.db.Engine == core.PostgreSQL {
			bytes = "BYTEA"
		}
		other, err := s.Tenant.CreateAccount(t.Context(), tenant.NewAccount{Name: "Other", Email: "other@example.com"}) // one has 1,000 keys at most
		require.NoError(t, err)
		s.copies(t, "api_keys", `SELECT account_id, id, name, token_hash, token_last4, scopes, created_by, created_at, updated_at FROM`, many, map[string]string{
			"account_id": `'` + other.ID + `'`, "id": `'key_' || n`, "token_hash": `CAST('token' || n AS ` + bytes + `)`, "created_by": `CASE WHEN n % 3 = 0 THEN NULL ELSE 'key_' || (n - n % 3) END`,
		})

		for range 3 { // what is said twice is prepared, and seen here
			try()
			_, err := s.db.Write.DB.ExecContext(t.Context(), s.db.Rebind(`UPDATE payment_guards SET declines = 200 WHERE account_id = ? AND subject = ?`), s.account, "sales")
			require.NoError(t, err)
			try() // counts what was sold, and pauses
			_, err = s.db.Write.DB.ExecContext(t.Context(), s.db.Rebind(`UPDATE payment_guards SET retry_at = 0 WHERE account_id = ? AND subject = ?`), s.account, "sales")
			require.NoError(t, err)
			_, _, err = s.Payment.BeginSaveMethod(t.Context(), s.account, customer.ID, payment.Buyer{Address: "198.51.100.7", OnBehalf: true})
			require.NoError(t, err)
			require.NoError(t, s.Payment.ForgiveTry(t.Context(), s.account, customer.ID, payment.Buyer{Address: "198.51.100.7", OnBehalf: true}))
			require.NoError(t, s.Mailbox.CountLetter(t.Context(), s.account, "order_2"))
			require.NoError(t, s.Mailbox.CountPageLetter(t.Context(), s.account, "order_2", "203.0.113.7"))
			for _, clean := range []func(n int) (int64, error){
				func(n int) (int64, error) { return s.Payment.DeleteOldGuards(t.Context(), n) },
				func(n int) (int64, error) { return s.Throttle.DeleteOver(t.Context(), n) },
			} {
				gone, err := clean(100)
				require.NoError(t, err)
				assert.EqualValues(t, 100, gone)
			}
			weak := s.keyOf(t, maker)
			s.keyOf(t, s.keyOf(t, weak))
			_, err = s.Tenant.UpdateAPIKey(t.Context(), s.account, tenant.Granted{KeyID: &maker.ID}, weak.ID, func(k *tenant.APIKey) { k.Scopes.V = []string{"orders:read"} })
			require.NoError(t, err)
			for _, adopt := range []bool{true, false} {
				gone := s.keyOf(t, maker)
				s.keyOf(t, gone)
				_, err = s.Tenant.DeleteAPIKey(t.Context(), s.account, tenant.Granted{KeyID: &maker.ID}, gone.ID, adopt)
				require.NoError(t, err)
			}
		}

		statements := s.said("payment_guards", "throttles", "api_keys", "FROM payments", "checkout_links")
		assert.Greater(t, len(statements), 20)
		for _, text := range statements {
			if strings.Contains(text, "SELECT 1 AS one FROM api_keys") { // counts the keys of an account, 1,000 at most
				continue
			}
			plan := s.planOf(t, text)
			assert.False(t, readsWhole(plan), "%s\n%s", text, plan)
		}
	})
}

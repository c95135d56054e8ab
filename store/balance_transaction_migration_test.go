package store

import (
	"fmt"
	"io/fs"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/audit"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/customer"
	"github.com/tillwright/tillwright/store/migrations"
	"github.com/tillwright/tillwright/store/order"
)

// TestMigrate_GivesOpeningBalancesIDsLikeAllOthers begins with what the step before has written down.
func TestMigrate_GivesOpeningBalancesIDsLikeAllOthers(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		must := func(query string, args ...any) {
			_, err := s.db.Write.DB.Exec(s.db.Rebind(query), args...)
			require.NoError(t, err)
		}
		c, err := s.Customer.Create(t.Context(), s.account, customer.Customer{Email: ref("ada@example.com")})
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

		changed, err := s.Customer.CreateTransaction(t.Context(), s.account, c.ID, customer.NewBalanceTransaction{Currency: "usd", Amount: 10, Description: "Sorry"})
		require.NoError(t, err)
		var seen []string
		for page := (core.Page{Limit: 1}); ; page.StartingAfter = seen[len(seen)-1] {
			found, more, err := s.Customer.ListTransactions(t.Context(), s.account, c.ID, customer.ListBalanceTransactions{Page: page})
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

// brokenBalances are the promises of balances that do not hold.
func (s *shop) brokenBalances(t *testing.T) map[string]bool {
	t.Helper()
	found, err := s.Audit.Check(t.Context(), aDay)
	require.NoError(t, err)
	broken := map[string]bool{}
	for _, v := range found {
		if v.Promise == audit.PromiseBalance || v.Promise == audit.PromiseTaken {
			broken[v.Promise] = true
		}
	}
	return broken
}

// A server of a version before changes were written down goes on changing balances beside this one, or a migration was cut off.
func TestRepair_WritesDownWhatAnOldServerChanged(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		must := func(query string, args ...any) {
			_, err := s.db.Write.DB.Exec(s.db.Rebind(query), args...)
			require.NoError(t, err)
		}
		repaired := func() core.Repaired {
			done, err := s.Repair(t.Context())
			require.NoError(t, err)
			return done
		}
		c := s.customer(t, "ada@example.com", nil)
		_, err := s.Customer.CreateTransaction(t.Context(), s.account, c.ID, customer.NewBalanceTransaction{Currency: "usd", Amount: 500, Description: "Sorry"})
		require.NoError(t, err)
		require.Zero(t, repaired(), "nothing is wrong")
		must(`UPDATE customers SET balance = '{"usd":300,"eur":7}' WHERE id = ?`, c.ID)
		require.Equal(t, map[string]bool{audit.PromiseBalance: true}, s.brokenBalances(t))
		require.Equal(t, core.Repaired{Balances: 2}, repaired())
		require.Empty(t, s.brokenBalances(t))
		require.Zero(t, repaired(), "it may be repeated")
		changes, _, err := s.Customer.ListTransactions(t.Context(), s.account, c.ID, customer.ListBalanceTransactions{Page: core.Page{Limit: 10}})
		require.NoError(t, err)
		require.Len(t, changes, 3)
		for _, change := range changes {
			if change.Reason == customer.BalanceReasonManual {
				continue
			}
			require.Equal(t, customer.BalanceReasonOpening, change.Reason)
			require.Nil(t, change.SourceID)
			parsed, ok := core.ParseID(core.KindBalanceTransaction, change.ID)
			require.True(t, ok)
			require.Equal(t, change.ID, parsed)
		}
	})
}

// A server of a version before orders knew who can give back what was paid for them goes on selling beside this one.
func TestRepair_SaysWhoCanGiveBackWhatWasPaid(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		must := func(query string, args ...any) {
			_, err := s.db.Write.DB.Exec(s.db.Rebind(query), args...)
			require.NoError(t, err)
		}
		isBroken := func() bool {
			found, err := s.Audit.Check(t.Context(), aDay)
			require.NoError(t, err)
			return slices.ContainsFunc(found, func(v core.Violation) bool { return v.Promise == audit.PromiseGivers })
		}
		placed := func() *order.Order {
			o, err := s.Order.Get(t.Context(), s.account, *s.confirm(t, s.checkout(t, s.onSale(t, fixedPrice(1900)))).Checkout.OrderID)
			require.NoError(t, err)
			return o
		}
		sold, gone, right := placed(), placed(), placed()
		must(`UPDATE orders SET refund_provider = NULL WHERE id = ?`, sold.ID)
		must(`UPDATE orders SET balance_applied = 500, balance_taken = 500 WHERE id = ?`, gone.ID)
		must(`INSERT INTO balance_transactions (account_id, id, customer_id, currency, amount, reason, source_id, created_at, updated_at) VALUES (?, ?, ?, 'usd', 500, 'opening', NULL, 1, 1), (?, ?, ?, 'usd', -500, 'applied', ?, 1, 1)`,
			s.account, core.NewID(core.KindBalanceTransaction), gone.CustomerID, s.account, core.NewID(core.KindBalanceTransaction), gone.CustomerID, gone.ID)
		must(`UPDATE customers SET deleted_at = 1 WHERE id = ?`, gone.CustomerID)
		require.True(t, isBroken())
		done, err := s.Repair(t.Context())
		require.NoError(t, err)
		require.Equal(t, core.Repaired{Orders: 2}, done)
		require.False(t, isBroken())
		for _, o := range []*order.Order{sold, gone, right} {
			now, err := s.Order.Get(t.Context(), s.account, o.ID)
			require.NoError(t, err)
			require.Equal(t, right.RefundProvider, now.RefundProvider)
			require.Equal(t, o == gone, now.BalanceGone)
		}
		done, err = s.Repair(t.Context())
		require.NoError(t, err)
		require.Zero(t, done, "it may be repeated")
	})
}

// What orders took off a balance before it was written down is known, but of a total that was too little to be charged.
func TestRepair_SaysWhatOrdersTook(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		must := func(query string, args ...any) {
			_, err := s.db.Write.DB.Exec(s.db.Rebind(query), args...)
			require.NoError(t, err)
		}
		guide := s.onSale(t, fixedPrice(1900))
		for name, old := range map[string]struct {
			total, applied, refunded, credited int64
			status                             string
			typed                              bool
			reason                             customer.BalanceReason // what is written down of all that it took
			want                               int64
			becomes                            string
		}{
			"a part of it":                           {total: 1900, applied: 500, status: "paid", want: 500},
			"all of it":                              {total: 1900, applied: 1900, status: "paid", want: 1900},
			"a small bill, that nobody paid perhaps": {total: 30, applied: 30, status: "paid", want: 0},
			"a small bill that is written down":      {total: 30, applied: 30, status: "paid", reason: customer.BalanceReasonApplied, want: 30},
			"a small bill, refunded":                 {total: 30, applied: 30, refunded: 30, status: "refunded", want: 30},
			"a small bill, refunded in part":         {total: 30, applied: 30, refunded: 10, status: "partially_refunded", want: 10, becomes: "refunded"},
			"a small bill, credited":                 {total: 30, applied: 30, credited: 12, status: "paid", want: 12},
			"a small bill of a typed address":        {total: 30, applied: 30, status: "paid", typed: true, want: 0},
			"a bill that is void":                    {total: 1900, applied: 500, status: "void", want: 0},
			"one that is void since":                 {total: 1900, applied: 500, status: "void", reason: customer.BalanceReasonReturned, want: 500},
		} {
			o, err := s.Order.Get(t.Context(), s.account, *s.confirm(t, s.checkout(t, guide)).Checkout.OrderID)
			require.NoError(t, err)
			set := fmt.Sprintf(`total_amount = %[1]d, net_amount = %[1]d, subtotal_amount = %[1]d, tax_amount = 0, balance_applied = %[2]d, paid_amount = %[3]d, refunded_balance = %[4]d, credited_amount = %[5]d, status = '%[6]s', customer_verified = %[7]t`,
				old.total, old.applied, old.total-old.applied, old.refunded, old.credited, old.status, !old.typed)
			if old.status == "void" {
				set = fmt.Sprintf(`total_amount = %[1]d, net_amount = %[1]d, subtotal_amount = %[1]d, tax_amount = 0, balance_applied = %[2]d, paid_amount = 0, paid_at = NULL, voided_at = 1, status = 'void'`, old.total, old.applied)
			}
			must(`UPDATE orders SET `+set+` WHERE id = ?`, o.ID)
			if old.reason != "" {
				amount := old.applied
				if old.reason == customer.BalanceReasonApplied {
					amount = -amount
				}
				must(`INSERT INTO balance_transactions (account_id, id, customer_id, currency, amount, reason, source_id, created_at, updated_at) VALUES (?, ?, ?, 'usd', ?, ?, ?, 1, 1)`,
					s.account, core.NewID(core.KindBalanceTransaction), o.CustomerID, amount, old.reason, o.ID)
			}
			_, err = s.Repair(t.Context())
			require.NoError(t, err)
			o, err = s.Order.Get(t.Context(), s.account, o.ID)
			require.NoError(t, err)
			require.Equal(t, old.want, o.BalanceTaken, name)
			if old.becomes == "" {
				old.becomes = old.status
			}
			require.EqualValues(t, old.becomes, o.Status, name)
			require.Empty(t, s.brokenBalances(t), name)
			again, err := s.Repair(t.Context())
			require.NoError(t, err)
			require.Zero(t, again, name)
		}
	})
}

package store

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/customer"
	"github.com/tillwright/tillwright/store/internal/dbtest"
	"github.com/tillwright/tillwright/tests/harness/database"
)

// A balance that came from nothing is named, whether it is written down with the order that it is said to be of or not.
func TestCheck_NamesABalanceThatCameFromNothing(t *testing.T) {
	t.Parallel()
	const gaveBack, has, sum = "what an order gave back, to a card or a balance, was paid for it",
		"a customer has no more to their credit than they paid or were given, and did not get back", "a balance is the sum of what changed it"
	order := func(paid, refunded, credited int64, status string) string {
		at := map[bool]string{true: "NULL", false: "1"}
		return fmt.Sprintf(`UPDATE orders SET subtotal_amount = 20000, discount_amount = 0, net_amount = 20000, tax_amount = 0, refunded_tax_amount = 0, total_amount = 20000, paid_amount = %d, refunded_amount = %d, credited_amount = %d, status = '%s', paid_at = %s, voided_at = %s`,
			paid, refunded, credited, status, at[status == "void"], at[status != "void"])
	}
	balance := func(amount int64) string { return fmt.Sprintf(`UPDATE customers SET balance = '{"usd":%d}'`, amount) }
	database.Each(t, func(t *testing.T, url string) {
		o := newSender(t, url)
		purchases(t, o.Store, o.account)
		check := func(ctx context.Context) ([]core.Violation, error) { return o.Audit.Check(ctx, aDay) }
		for name, rows := range map[string]struct{ order, customer string }{
			"a debit that nobody paid, credited": {order(1000, 0, 49_000, "paid"), balance(49_000)},
			"a refund, credited again":           {order(10_000, 10_000, 9000, "refunded"), balance(9000)},
			"a void order, credited":             {order(0, 0, 9000, "void"), balance(9000)},
			"more tax than was paid, credited":   {order(10_000, 0, 12_375, "paid"), balance(12_375)},
		} {
			assert.Contains(t, dbtest.BrokenBy(t, o.db, rows.order, check), gaveBack, name)
			broken := dbtest.BrokenBy(t, o.db, rows.customer, check)
			assert.Contains(t, broken, has, name)
			assert.Contains(t, broken, sum, name)
		}
	})
}

// What two have together is no more than one may have.
func TestMergeCustomer_KeepsTheMostOfABalance(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		ada, bob := s.customer(t, "ada@example.com", nil), s.customer(t, "bob@example.com", nil)
		give := func(c *customer.Customer, amount int64) {
			_, err := s.Customer.CreateTransaction(t.Context(), s.account, c.ID, customer.NewBalanceTransaction{Currency: "usd", Amount: amount, Description: "Sorry"})
			require.NoError(t, err)
		}
		give(ada, core.MaxAmount)
		give(bob, 1)
		_, err := s.MergeCustomer(t.Context(), s.account, ada.ID, bob.ID)
		var refused *core.Error
		require.ErrorAs(t, err, &refused)
		require.Equal(t, core.CodeInvalid, refused.Code)
		require.Equal(t, "from", refused.Param)
		require.ErrorContains(t, err, "a balance can be 1000000000000 at most")
		give(ada, -1)
		merged, err := s.MergeCustomer(t.Context(), s.account, ada.ID, bob.ID)
		require.NoError(t, err)
		require.EqualValues(t, core.MaxAmount, merged.Balance.V["usd"])
	})
}

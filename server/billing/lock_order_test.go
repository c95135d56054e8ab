package billing_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/subscription"
	"github.com/tillwright/tillwright/store/tenant"
	"github.com/tillwright/tillwright/tests/harness"
)

// holdsNot runs a use case while somebody else has locked the first row. It makes sure that the use case does not hold the second row while
// it waits. Rows are given as a table and a condition. SQLite has no rows that wait.
func (w *world) holdsNot(first, second string, call func(ctx context.Context) error) {
	t := w.t
	t.Helper()
	if w.Engine() == core.SQLite {
		require.NoError(t, call(t.Context()))
		return
	}
	other, err := harness.OpenDatabase(t, w.url).BeginTx(t.Context(), nil)
	require.NoError(t, err)
	lock := func(row, how string) error {
		locked, err := other.Exec(`SELECT 1 FROM ` + row + ` FOR UPDATE` + how)
		if err == nil {
			rows, _ := locked.RowsAffected()
			assert.EqualValues(t, 1, rows, row)
		}
		return err
	}
	require.NoError(t, lock(first, ""))
	done := make(chan error, 1)
	go func() { done <- call(context.WithoutCancel(t.Context())) }()
	watch := harness.OpenDatabase(t, w.url)
	require.Eventually(t, func() bool {
		return watch.Count(t, `pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`) > 0
	}, time.Minute, time.Millisecond, "it needs "+first)
	assert.NoError(t, lock(second, " NOWAIT"), "it waits for %s and holds %s", first, second)
	require.NoError(t, other.Rollback())
	require.NoError(t, <-done)
}

// A deletion locks the customer before what their subscriptions hold, as a purchase of theirs does.
func TestDeleteCustomer_LocksTheCustomerBeforeWhatIsHeld(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		sub, v := w.subscribe(w.variant(recurring(900, "month")), "pm_card_visa"), w.limitedTo(3, 2000)
		_, err := w.plan(sub, v, 2, tenant.ProrationBehaviorNextPeriod)
		require.NoError(t, err)
		w.holdsNot(fmt.Sprintf("customers WHERE id = '%s'", sub.CustomerID), fmt.Sprintf("price_variants WHERE id = '%s'", v.ID), func(ctx context.Context) error {
			_, err := w.DeleteCustomer(ctx, w.account, sub.CustomerID, true)
			return err
		})
		assert.Equal(t, [2]int64{0, 0}, w.taken(v))
	})
}

// A last bill is numbered after the discount is free again: the numbers of an account are what others wait for longest.
func TestSubscription_FreesItsDiscountBeforeItsLastBillIsNumbered(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.monthOf30()
		d := w.usable(1)
		sub := w.subscribe(w.variant(recurring(1000, "month")), "pm_card_visa")
		w.rewound(sub, 15*day)
		sub = w.change(sub, w.variant(recurring(3000, "month")), tenant.ProrationBehaviorNextInvoice)
		_, err := w.discounted(sub, d.ID)
		require.NoError(t, err)
		_, err = w.Billing.CancelSubscription(t.Context(), w.account, sub.ID, store.CancelSubscription{})
		require.NoError(t, err)
		w.rewound(sub, 31*day)
		w.holdsNot(fmt.Sprintf("discounts WHERE id = '%s'", d.ID), fmt.Sprintf("counters WHERE account_id = '%s' AND name = 'order_number'", w.account), w.Work)
		assert.Equal(t, subscription.StatusCanceled, w.now(sub).Status)
		assert.Zero(t, w.redemptions(d))
		assert.EqualValues(t, 1000, w.ordersOf(sub)[1].PaidAmount)
	})
}

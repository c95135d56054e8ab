package billing_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/subscription"
	"github.com/tillwright/tillwright/store/tenant"
)

// A tax that comes later makes a bill larger than anybody may ask for. It is billed all the same, so that the subscription goes on.
func TestSubscription_RenewsForMoreThanCanBeAskedFor(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.monthOf30()
		sub := w.subscribe(w.variant(recurring(core.MaxAmount, "month")), "pm_card_visa")
		w.taxed()
		foreseen, err := w.Subscription.PreviewRenewal(t.Context(), w.account, sub.ID)
		require.NoError(t, err)
		w.wait(30*day + time.Second)
		require.Len(t, w.ordersOf(sub), 2)
		order := w.ordersOf(sub)[1]
		assert.EqualValues(t, core.MaxAmount/4*5, order.PaidAmount)
		assert.Equal(t, foreseen.Amounts.Total, order.TotalAmount)
		assert.Equal(t, subscription.StatusActive, w.now(sub).Status)
		_, err = w.plan(sub, w.variant(recurring(core.MaxAmount, "month")), 1, tenant.ProrationBehaviorInvoiceImmediately)
		refused(t, err, "quantity")
		refund, err := w.refund(order.ID, 0)
		require.NoError(t, err)
		assert.Equal(t, order.TotalAmount, refund.Amount)
	})
}

// So are debits that wait.
func TestSubscription_BillsDebitsThatComeToMoreThanCanBeAskedFor(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.monthOf30()
		sub := w.subscribe(w.variant(recurring(core.MaxAmount/10, "month")), "pm_card_visa")
		w.rewound(sub, time.Minute)
		w.change(sub, w.variant(recurring(core.MaxAmount, "month")), tenant.ProrationBehaviorNextInvoice)
		debit := w.now(sub).Prorations.V[0].Amount
		w.wait(30*day + time.Second)
		require.Len(t, w.ordersOf(sub), 2)
		assert.EqualValues(t, core.MaxAmount+debit, w.ordersOf(sub)[1].PaidAmount)
		assert.Empty(t, w.now(sub).Prorations.V)
		assert.Equal(t, subscription.StatusActive, w.now(sub).Status)
	})
}

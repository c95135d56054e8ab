package billing_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/order"
	"github.com/tillwright/tillwright/store/subscription"
	"github.com/tillwright/tillwright/store/tenant"
	"github.com/tillwright/tillwright/tests/harness"
)

// balanceOf is what the customer of a subscription has to their credit.
func (w *world) balanceOf(sub *subscription.Subscription) int64 {
	w.t.Helper()
	c, err := w.Customer.Get(w.t.Context(), w.account, sub.CustomerID)
	require.NoError(w.t, err)
	return c.Balance.V["usd"]
}

// taxed makes the account's prices have 25 % tax on top.
func (w *world) taxed() {
	w.t.Helper()
	_, err := w.Tenant.UpdateAccount(w.t.Context(), w.account, func(a *tenant.AccountChange) {
		a.Tax = core.JSONOf(tenant.TaxSettings{Mode: tenant.TaxModeFlatTable, Behavior: tenant.TaxBehaviorExclusive, Rates: []tenant.TaxRate{{RateBps: 2500, Name: "VAT"}}})
	})
	require.NoError(w.t, err)
}

// pieces makes a subscription be for so many.
func (w *world) pieces(sub *subscription.Subscription, n int64) *subscription.Subscription {
	w.t.Helper()
	changed, err := w.UpdateSubscription(w.t.Context(), w.account, sub.ID, store.SubscriptionPatch{Change: func(*subscription.Subscription) {}, Quantity: &n})
	require.NoError(w.t, err)
	return changed
}

// foreseen previews a change of plan.
func (w *world) foreseen(sub *subscription.Subscription, to *catalog.PriceVariant) *store.SubscriptionChange {
	w.t.Helper()
	preview, err := w.PreviewSubscriptionChange(w.t.Context(), w.account, sub.ID, store.ChangeSubscription{PriceVariant: to.ID})
	require.NoError(w.t, err)
	return preview
}

// A debit that waits is not paid: a credit takes it back before anything of it is a balance.
func TestChangeSubscription_TakesACreditOffTheDebitThatMadeIt(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.monthOf30()
		a, b := w.variant(recurring(1000, "month")), w.variant(recurring(50_000, "month"))
		sub := w.subscribe(a, "pm_card_visa")
		sub = w.change(sub, b, tenant.ProrationBehaviorNextInvoice)
		preview := w.foreseen(sub, a)
		assert.Zero(t, preview.Credit)
		assert.Zero(t, preview.Amounts.Total)
		sub = w.change(sub, a, "")
		assert.Zero(t, w.balanceOf(sub))
		assert.Empty(t, sub.Prorations.V)
		w.dropped(sub)
		next := w.subscribe(b, "pm_card_visa")
		assert.EqualValues(t, 50_000, w.ordersOf(next)[0].PaidAmount)

		// The part of it that was used is billed.
		half := w.subscribe(a, "pm_card_visa")
		half = w.change(half, w.variant(recurring(3000, "month")), tenant.ProrationBehaviorNextInvoice)
		w.rewound(half, 15*day)
		half = w.change(half, a, "")
		assert.Zero(t, w.balanceOf(half))
		w.rewound(half, 30*day+time.Second)
		require.NoError(t, w.Work(t.Context()))
		assert.EqualValues(t, 1000+1000, w.ordersOf(half)[1].TotalAmount)

		// So it is when another interval begins: what is left of the debit pays for it, and is still billed.
		longer := w.subscribe(a, "pm_card_visa")
		longer = w.change(longer, w.variant(recurring(3000, "month")), tenant.ProrationBehaviorNextInvoice)
		longer = w.change(longer, w.variant(recurring(2500, "week")), "")
		assert.Zero(t, w.balanceOf(longer))
		w.rewound(longer, 7*day+time.Second)
		require.NoError(t, w.Work(t.Context()))
		assert.EqualValues(t, 2500+1500, w.ordersOf(longer)[1].TotalAmount)
	})
}

// Credits are the part of a period that is paid: what went back to the card is not.
func TestChangeSubscription_CreditsNothingThatWasRefunded(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		monthly := w.variant(recurring(1000, "month"))
		sub := w.subscribe(w.variant(recurring(10_000, "year")), "pm_card_visa")
		_, err := w.refund(w.ordersOf(sub)[0].ID, 0)
		require.NoError(t, err)
		sub = w.change(sub, monthly, "")
		assert.Zero(t, w.balanceOf(sub))
		assert.EqualValues(t, 1000, w.ordersOf(sub)[1].PaidAmount)

		part := w.subscribe(w.variant(recurring(10_000, "year")), "pm_card_visa")
		_, err = w.refund(w.ordersOf(part)[0].ID, 4000)
		require.NoError(t, err)
		part = w.change(part, monthly, "")
		assert.EqualValues(t, 5000, w.balanceOf(part))

		// The other way round: what was credited is not refunded.
		order := w.ordersOf(part)[0]
		assert.EqualValues(t, 5000, order.CreditedAmount)
		assert.EqualValues(t, 1000, order.RefundableAmount())
		_, err = w.refund(order.ID, 1001)
		refused(t, err, "amount")
		_, err = w.refund(order.ID, 0)
		require.NoError(t, err)
		assert.Zero(t, w.foreseen(part, w.variant(recurring(100, "month"))).Unused, "all of it is given back")
	})
}

func TestChangeSubscription_CreditsNothingThatWasForgiven(t *testing.T) {
	for name, forgive := range map[string]func(*world, string) error{
		"void": func(w *world, id string) error {
			_, err := w.VoidInvoice(w.t.Context(), w.account, id)
			return err
		},
		"written off": func(w *world, id string) error {
			_, err := w.MarkInvoiceUncollectible(w.t.Context(), w.account, id)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, w *world) {
				sub := w.subscribe(w.variant(recurring(10_000, "month")), "tok_fail_on_renewal")
				w.wait(sub.CurrentPeriodEnd.Time().Sub(w.Now().Time()) + time.Second)
				sub = w.now(sub)
				require.Equal(t, subscription.StatusPastDue, sub.Status)
				require.NoError(t, forgive(w, *sub.LatestInvoiceID))
				preview := w.foreseen(sub, w.variant(recurring(1000, "month")))
				assert.Zero(t, preview.Unused)
				assert.Zero(t, preview.Credit)
				sub = w.change(sub, w.variant(recurring(1000, "month")), tenant.ProrationBehaviorNextInvoice)
				assert.Zero(t, w.balanceOf(sub))
			})
		})
	}
}

// A credit has the taxes with which was paid, not those of today.
func TestChangeSubscription_CreditsWhatWasPaidWithItsOwnTaxes(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		sub := w.subscribe(w.variant(recurring(10_000, "year")), "pm_card_visa")
		w.taxed()
		sub = w.change(sub, w.variant(recurring(100, "year")), "")
		assert.EqualValues(t, 10_000-125, w.balanceOf(sub))
	})
}

// What is compared is what the buyer pays, whichever way a price shows its tax.
func TestChangeSubscription_ComparesWhatTheBuyerPays(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.taxed()
		inclusive := recurring(12_500, "year")
		inclusive.TaxBehavior = new(tenant.TaxBehaviorInclusive)
		sub := w.subscribe(w.variant(recurring(10_000, "year")), "pm_card_visa")
		require.EqualValues(t, 12_500, w.ordersOf(sub)[0].PaidAmount)
		to := w.variant(inclusive)
		preview := w.foreseen(sub, to)
		assert.Zero(t, preview.Amounts.Total)
		assert.Zero(t, preview.Credit)
		sub = w.change(sub, to, "")
		assert.Len(t, w.ordersOf(sub), 1)
		assert.Zero(t, w.balanceOf(sub))

		// 12503 come to no price with 25 % on top: the line has its tax inside.
		odd := w.subscribe(w.variant(recurring(10_000, "year")), "pm_card_visa")
		inclusive.Amount = 12_500 + 12_503
		odd = w.change(odd, w.variant(inclusive), "")
		odd = w.change(odd, w.variant(recurring(30_000, "year")), "")
		orders := w.ordersOf(odd)
		assert.EqualValues(t, 12_503, orders[1].PaidAmount)
		assert.EqualValues(t, 37_500-25_003, orders[2].PaidAmount)
	})
}

// What the balance paid is paid too, and goes back to the balance alone.
func TestChangeSubscription_CreditsWhatTheBalancePaid(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.monthOf30()
		first := w.subscribe(w.variant(recurring(5000, "month")), "pm_card_visa")
		first = w.change(first, w.variant(recurring(1000, "month")), "")
		require.EqualValues(t, 4000, w.balanceOf(first))
		w.rewound(first, 30*day+time.Second)
		require.NoError(t, w.Work(t.Context()))
		first = w.now(first)
		require.EqualValues(t, 3000, w.balanceOf(first))
		first = w.change(first, w.variant(recurring(400, "month")), "")
		assert.EqualValues(t, 3600, w.balanceOf(first), "600 of the month that the balance has paid")
		assert.Equal(t, map[string]int64{w.ordersOf(first)[1].ID: 400}, w.dropped(first), "nothing of this month was charged")
		assert.EqualValues(t, 4000, w.balanceOf(first), "what the balance has paid of it is there again")
	})
}

// The balance pays bills after the first one. What it paid of a bill that becomes void goes back to it.
func TestSubscription_ABalancePaysTheBillsAfterTheFirst(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.monthOf30()
		first := w.subscribe(w.variant(recurring(5000, "month")), "pm_card_visa")
		first = w.change(first, w.variant(recurring(1000, "month")), "")
		require.EqualValues(t, 4000, w.balanceOf(first))
		_, err := w.Billing.CancelSubscription(t.Context(), w.account, first.ID, store.CancelSubscription{Now: true})
		require.NoError(t, err)

		second := w.subscribe(w.variant(recurring(5000, "month")), "tok_fail_on_renewal")
		assert.EqualValues(t, 5000, w.ordersOf(second)[0].PaidAmount)
		assert.EqualValues(t, 4000, w.balanceOf(second))
		w.rewound(second, 30*day+time.Second)
		require.NoError(t, w.Work(t.Context()))
		assert.Equal(t, subscription.StatusPastDue, w.now(second).Status)
		assert.EqualValues(t, 4000, w.ordersOf(second)[1].BalanceApplied)
		assert.Zero(t, w.balanceOf(second))
		_, err = w.Billing.CancelSubscription(t.Context(), w.account, second.ID, store.CancelSubscription{Now: true})
		require.NoError(t, err)
		assert.Equal(t, order.StatusVoid, w.ordersOf(second)[1].Status)
		assert.EqualValues(t, 4000, w.balanceOf(second))
	})
}

// However many changes waited for a bill, it is one bill.
func TestSubscription_BillsAnyNumberOfDebits(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		sub := w.subscribe(w.variant(recurring(900, "month")), "pm_card_visa")
		waiting := make([]subscription.Proration, 2100)
		for i := range waiting {
			waiting[i] = subscription.Proration{Description: "One more", Amount: 1, TaxIncluded: true, Start: sub.CurrentPeriodStart, Left: 1}
		}
		db := harness.OpenDatabase(t, w.url)
		db.Must(t, fmt.Sprintf(`UPDATE subscriptions SET prorations = '%s' WHERE id = '%s'`, core.JSONText(waiting), sub.ID))
		w.wait(32 * day)
		require.Len(t, w.ordersOf(sub), 2)
		assert.EqualValues(t, 900+2100, w.ordersOf(sub)[1].PaidAmount)
	})
}

// A renewal bills what was agreed, also if a tax on top has made it more than anybody may ask for at once.
func TestSubscription_BillsWhatWasAgreedHoweverMuchItIs(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		sub, most := w.subscribe(w.variant(recurring(900, "month")), "pm_card_visa"), w.variant(recurring(999_999_999, "month"))
		_, err := w.plan(sub, most, 999, tenant.ProrationBehaviorNextPeriod)
		require.NoError(t, err)
		w.taxed()
		preview, err := w.Subscription.PreviewRenewal(t.Context(), w.account, sub.ID)
		require.NoError(t, err)
		w.wait(32 * day)
		orders := w.ordersOf(sub)
		require.Len(t, orders, 2)
		assert.EqualValues(t, 1_248_749_998_751, orders[1].TotalAmount)
		assert.Equal(t, orders[1].TotalAmount, preview.Amounts.Total)

		_, err = w.plan(w.subscribe(w.variant(recurring(900, "month")), "pm_card_visa"), most, 999, tenant.ProrationBehaviorInvoiceImmediately)
		refused(t, err, "quantity")
	})
}

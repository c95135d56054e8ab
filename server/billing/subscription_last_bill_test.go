package billing_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/server/billing"
	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/checkout"
	"github.com/tillwright/tillwright/store/grant"
	"github.com/tillwright/tillwright/store/invoice"
	"github.com/tillwright/tillwright/store/offer"
	"github.com/tillwright/tillwright/store/order"
	"github.com/tillwright/tillwright/store/subscription"
	"github.com/tillwright/tillwright/store/tenant"
)

// What waits for the next bill is billed when there is no next one.
func TestSubscription_BillsWhatWaitsWhenItEnds(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.monthOf30()
		ends := func(sub *subscription.Subscription, status subscription.Status) *order.Order {
			t.Helper()
			w.rewound(sub, 30*day+time.Second)
			require.NoError(t, w.Work(t.Context()))
			sub = w.now(sub)
			require.Equal(t, status, sub.Status)
			orders := w.ordersOf(sub)
			require.Len(t, orders, 2)
			assert.Equal(t, order.BillingReasonSubscriptionUpdate, orders[1].BillingReason)
			assert.EqualValues(t, 99_000, orders[1].TotalAmount)
			return &orders[1]
		}
		canceled := w.pieces(w.subscribe(w.variant(recurring(1000, "month")), "pm_card_visa"), 100)
		_, err := w.Billing.CancelSubscription(t.Context(), w.account, canceled.ID, store.CancelSubscription{})
		require.NoError(t, err)
		assert.EqualValues(t, 99_000, ends(canceled, subscription.StatusCanceled).PaidAmount)

		w.monthOf30()
		cycle := recurring(1000, "month")
		cycle.BillingCycles = new(int64(1))
		completed := w.pieces(w.subscribe(w.variant(cycle), "pm_card_visa"), 100)
		assert.EqualValues(t, 99_000, ends(completed, subscription.StatusCompleted).PaidAmount)

		// What cannot be charged is past due, and is paid by hand.
		w.monthOf30()
		failing := w.pieces(w.subscribe(w.variant(cycle), "tok_fail_on_renewal"), 100)
		due := ends(failing, subscription.StatusCompleted)
		assert.Equal(t, order.StatusPending, due.Status)
		i, err := w.Invoice.Get(t.Context(), w.account, *due.InvoiceID)
		require.NoError(t, err)
		assert.Equal(t, invoice.StatusPastDue, i.Status)
		assert.Equal(t, []grant.Status{grant.StatusActive}, w.accessOf(failing), "late payments take nothing in this account")

		// At once it is dropped.
		w.monthOf30()
		dropped := w.pieces(w.subscribe(w.variant(recurring(1000, "month")), "pm_card_visa"), 100)
		w.dropped(dropped)
		w.rewound(dropped, 60*day)
		require.NoError(t, w.Work(t.Context()))
		assert.Len(t, w.ordersOf(dropped), 1)
	})
}

// A subscription that is cancelled to end with a period that is over bills what waited for it. A customer who pauses first pays as any other.
func TestCancelSubscription_BillsWhatWaitsThoughThePeriodIsOver(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.monthOf30()
		sub := w.subscribe(w.variant(recurring(1000, "month")), "pm_card_visa")
		w.rewound(sub, 15*day)
		sub = w.change(sub, w.variant(recurring(3000, "month")), tenant.ProrationBehaviorNextInvoice)
		_, err := w.PauseSubscription(t.Context(), w.account, sub.ID, store.PauseSubscription{})
		require.NoError(t, err)
		w.rewound(sub, 31*day)
		require.NoError(t, w.Work(t.Context()))
		require.Equal(t, subscription.StatusPaused, w.now(sub).Status)
		_, err = w.Billing.CancelSubscription(t.Context(), w.account, sub.ID, store.CancelSubscription{Customer: sub.CustomerID})
		require.NoError(t, err)
		require.NoError(t, w.Work(t.Context()))
		assert.Equal(t, subscription.StatusCanceled, w.now(sub).Status)
		assert.Equal(t, sub.CurrentPeriodEnd, *w.now(sub).EndedAt)
		require.Len(t, w.ordersOf(sub), 2)
		assert.EqualValues(t, 1000, w.ordersOf(sub)[1].PaidAmount)

		plain := w.subscribe(w.variant(recurring(1000, "month")), "pm_card_visa")
		_, err = w.PauseSubscription(t.Context(), w.account, plain.ID, store.PauseSubscription{})
		require.NoError(t, err)
		w.rewound(plain, 31*day)
		require.NoError(t, w.Work(t.Context()))
		plain, err = w.Billing.CancelSubscription(t.Context(), w.account, plain.ID, store.CancelSubscription{Customer: plain.CustomerID})
		require.NoError(t, err)
		assert.Equal(t, subscription.StatusCanceled, plain.Status, "nothing waits: it ends at once")
	})
}

// A card that a last bill is to be charged to is not taken away by the customer who is to pay it.
func TestRemovePaymentMethod_KeepsWhatALastBillIsChargedTo(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.monthOf30()
		customer := w.customer("grace@example.com", nil)
		card := w.saved(customer.ID, "pm_card_visa")
		w.makeDefault(customer.ID, card)
		sub, err := w.CreateSubscription(t.Context(), w.account, billing.CreateSubscription{
			Draft: checkout.Draft{Checkout: &checkout.Checkout{CustomerID: &customer.ID}, Lines: []offer.NewLine{one(w.variant(recurring(1000, "month")))}},
		})
		require.NoError(t, err)
		w.rewound(sub, 15*day)
		sub = w.change(sub, w.variant(recurring(3000, "month")), tenant.ProrationBehaviorNextInvoice)
		_, err = w.Billing.CancelSubscription(t.Context(), w.account, sub.ID, store.CancelSubscription{Customer: customer.ID})
		require.NoError(t, err)
		_, err = w.RemovePaymentMethod(t.Context(), w.account, customer.ID, card)
		refused(t, err, "payment_method")
		w.rewound(sub, 31*day)
		require.NoError(t, w.Work(t.Context()))
		assert.EqualValues(t, 1000, w.ordersOf(sub)[1].PaidAmount)
		_, err = w.RemovePaymentMethod(t.Context(), w.account, customer.ID, card)
		require.NoError(t, err)
	})
}

// What a payment plan gave is suspended while its last bill is not paid, if the account says so of late payments.
func TestSubscription_SuspendsWhatALastBillIsOwedFor(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		_, err := w.Tenant.UpdateAccount(t.Context(), w.account, func(a *tenant.AccountChange) { a.PastDueAccess = tenant.PastDueAccessSuspend })
		require.NoError(t, err)
		cycle := recurring(1000, "month")
		cycle.BillingCycles = new(int64(1))
		for _, settle := range []func(invoice string) error{
			func(invoice string) error {
				_, err := w.PayInvoice(t.Context(), w.account, invoice, payInvoice("pm_card_visa"))
				return err
			},
			func(invoice string) error {
				_, err := w.PayInvoice(t.Context(), w.account, invoice, billing.PayInvoice{OutOfBand: true})
				return err
			},
			func(invoice string) error {
				_, err := w.VoidInvoice(t.Context(), w.account, invoice)
				return err
			},
			func(invoice string) error {
				_, err := w.MarkInvoiceUncollectible(t.Context(), w.account, invoice)
				return err
			},
		} {
			w.monthOf30()
			sub := w.pieces(w.subscribe(w.variant(cycle), "tok_fail_on_renewal"), 100)
			w.rewound(sub, 30*day+time.Second)
			require.NoError(t, w.Work(t.Context()))
			require.Equal(t, subscription.StatusCompleted, w.now(sub).Status)
			assert.Equal(t, []grant.Status{grant.StatusSuspended}, w.accessOf(sub))
			require.NoError(t, settle(*w.ordersOf(sub)[1].InvoiceID))
			assert.Equal(t, []grant.Status{grant.StatusActive}, w.accessOf(sub))
			assert.Equal(t, subscription.StatusCompleted, w.now(sub).Status)
		}
	})
}

// What ends the suspension for a last bill is that one, and no bill that was given up before.
func TestSubscription_SuspendsWhileAnyLastBillIsOwed(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		_, err := w.Tenant.UpdateAccount(t.Context(), w.account, func(a *tenant.AccountChange) { a.PastDueAccess = tenant.PastDueAccessSuspend })
		require.NoError(t, err)
		cycle := recurring(1000, "month")
		cycle.BillingCycles = new(int64(2))
		w.monthOf30()
		sub := w.subscribe(w.variant(cycle), "tok_fail_on_renewal")
		w.rewound(sub, 30*day+time.Second)
		require.NoError(t, w.Work(t.Context()))
		require.Equal(t, subscription.StatusPastDue, w.now(sub).Status)
		second := *w.ordersOf(sub)[1].InvoiceID
		_, err = w.MarkInvoiceUncollectible(t.Context(), w.account, second)
		require.NoError(t, err)
		sub = w.pieces(sub, 100)
		w.rewound(sub, 31*day+time.Second)
		require.NoError(t, w.Work(t.Context()))
		require.Equal(t, subscription.StatusCompleted, w.now(sub).Status)
		require.Len(t, w.ordersOf(sub), 3)
		assert.Equal(t, []grant.Status{grant.StatusSuspended}, w.accessOf(sub))
		_, err = w.VoidInvoice(t.Context(), w.account, second)
		require.NoError(t, err)
		assert.Equal(t, []grant.Status{grant.StatusSuspended}, w.accessOf(sub), "the last bill is not paid")
		_, err = w.PayInvoice(t.Context(), w.account, *w.ordersOf(sub)[2].InvoiceID, payInvoice("pm_card_visa"))
		require.NoError(t, err)
		assert.Equal(t, []grant.Status{grant.StatusActive}, w.accessOf(sub))
	})
}

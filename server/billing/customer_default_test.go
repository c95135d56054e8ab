package billing_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/server/billing"
	"github.com/tillwright/tillwright/server/payments"
	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/checkout"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/customer"
	"github.com/tillwright/tillwright/store/subscription"
	"github.com/tillwright/tillwright/tests/harness"
)

// saved buys a handbook with a card that is kept, and returns its id.
func (w *world) saved(customer, method string) string {
	w.t.Helper()
	c := w.checkoutFor(checkout.Checkout{CustomerID: &customer}, w.handbook())
	_, err := w.ConfirmCheckout(w.t.Context(), w.account, c.ID, billing.CheckoutConfirm{Method: &payments.MethodInput{Ref: method}, Save: true})
	require.NoError(w.t, err)
	methods, _, err := w.Payment.ListMethods(w.t.Context(), w.account, customer, core.Page{Limit: 1})
	require.NoError(w.t, err)
	return methods[0].ID
}

func (w *world) makeDefault(customerID, method string) {
	w.t.Helper()
	_, err := w.UpdateCustomer(w.t.Context(), w.account, customerID, func(c *customer.Customer) { c.DefaultPaymentMethodID = &method })
	require.NoError(w.t, err)
}

// A planned attempt is under way with the old card when the customer gives a new one, which is tried with its outcome.
func TestUpdateCustomer_ANewDefaultWaitsForTheAttemptUnderWay(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		sub := w.subscribe(w.variant(recurring(900, "month")), "tok_fail_on_renewal")
		w.wait(32 * day)
		require.Equal(t, subscription.StatusPastDue, w.now(sub).Status)
		w.provider.lost.Store(true)
		w.advance.Add(int64(2*day + time.Hour))
		require.Error(t, w.Work(t.Context()))
		w.provider.lost.Store(false)
		db := harness.OpenDatabase(t, w.url)
		const ofInvoice = "payments WHERE purpose = 'invoice'"
		require.Equal(t, 2, db.Count(t, ofInvoice))

		w.makeDefault(sub.CustomerID, w.saved(sub.CustomerID, "pm_card_visa"))
		require.NoError(t, w.Work(t.Context()))
		require.Equal(t, 2, db.Count(t, ofInvoice), "nobody knows yet whether the old card has paid")
		db.Must(t, `UPDATE payments SET lease_until = 0`)
		require.NoError(t, w.Reconcile(t.Context()))
		require.NoError(t, w.Work(t.Context()))
		assert.Equal(t, subscription.StatusActive, w.now(sub).Status)
		assert.Equal(t, 3, db.Count(t, ofInvoice))
	})
}

// The seller changes the default while the renewals of the customer are charged: everybody gets through, and each period
// is paid once.
func TestUpdateCustomer_ANewDefaultWhileTheyAreBilled(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		var subs []*subscription.Subscription
		monthly := w.variant(recurring(900, "month"))
		for range 4 {
			subs = append(subs, w.subscribe(monthly, "tok_fail_on_renewal"))
		}
		customerID := subs[0].CustomerID
		cards := []string{w.saved(customerID, "pm_card_visa"), w.saved(customerID, "pm_card_mastercard")}
		w.wait(32 * day)
		errs := parallel(8, func(i int) error {
			if i%2 == 0 {
				return w.Work(t.Context())
			}
			_, err := w.UpdateCustomer(t.Context(), w.account, customerID, func(c *customer.Customer) { c.DefaultPaymentMethodID = &cards[i/2%2] })
			return err
		})
		for _, err := range errs {
			assert.NoError(t, err)
		}
		require.NoError(t, w.Work(t.Context()))
		for _, sub := range subs {
			assert.Equal(t, subscription.StatusActive, w.now(sub).Status)
			assert.Len(t, w.ordersOf(sub), 2)
		}
	})
}

// Whoever has many cards does not find out here which of them are good. A card is tried once beside the schedule, and all of
// them together five times a day.
func TestUpdateSubscription_TriesCardsSparingly(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		sub := w.subscribe(w.variant(recurring(900, "month")), "tok_fail_on_renewal")
		w.wait(32 * day)
		attempts := func() int64 {
			i, err := w.Invoice.Get(t.Context(), w.account, *w.now(sub).LatestInvoiceID)
			require.NoError(t, err)
			return i.AttemptCount
		}
		require.EqualValues(t, 1, attempts())
		charge := func(card string) {
			_, err := w.UpdateSubscription(t.Context(), w.account, sub.ID, store.SubscriptionPatch{Change: func(*subscription.Subscription) {}, PaymentMethod: &card})
			require.NoError(t, err)
			require.NoError(t, w.Work(t.Context()))
		}
		cards := make([]string, 7)
		for i := range cards {
			cards[i] = w.saved(sub.CustomerID, "tok_fail_on_renewal")
		}
		for range 3 {
			charge(cards[0])
			charge(cards[1])
			w.makeDefault(sub.CustomerID, cards[0])
			w.makeDefault(sub.CustomerID, cards[1])
			require.NoError(t, w.Work(t.Context()))
		}
		assert.EqualValues(t, 3, attempts(), "each of the two once")
		for _, card := range cards {
			charge(card)
		}
		assert.EqualValues(t, 5, attempts())
		assert.EqualValues(t, 1, w.now(sub).AttemptCount, "the schedule is as it was")

		good := w.saved(sub.CustomerID, "pm_card_visa")
		charge(good)
		assert.Equal(t, subscription.StatusPastDue, w.now(sub).Status, "five are enough for a day")
		w.wait(2 * day)
		assert.Equal(t, subscription.StatusActive, w.now(sub).Status, "the schedule tries it")
		assert.EqualValues(t, 6, attempts())
	})
}

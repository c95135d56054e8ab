package billing_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/server/billing"
	"github.com/tillwright/tillwright/server/payments"
	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/checkout"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/customer"
	"github.com/tillwright/tillwright/store/discount"
	"github.com/tillwright/tillwright/store/invoice"
	"github.com/tillwright/tillwright/store/offer"
	"github.com/tillwright/tillwright/store/payment"
	"github.com/tillwright/tillwright/store/subscription"
	"github.com/tillwright/tillwright/store/tenant"
	"github.com/tillwright/tillwright/tests/harness"
	"github.com/tillwright/tillwright/tests/harness/stripefake"
)

// victim is a customer with a card of their own, an address, a credit and an exemption from tax.
func (w *world) victim() *customer.Customer {
	w.t.Helper()
	c, err := w.Customer.Create(w.t.Context(), w.account, customer.Customer{
		Email: new("Grace@example.com"), TaxExempt: true,
	})
	require.NoError(w.t, err)
	_, err = w.SaveMethod(w.t.Context(), w.account, c.ID, billing.SaveMethod{Method: payments.MethodInput{Ref: "pm_card_visa"}, IsDefault: true, Once: "a"})
	require.NoError(w.t, err)
	w.credited(c)
	return w.customerNow(c)
}

// credited gives a customer a credit of 5 dollars, of an invoice that they paid out of band.
func (w *world) credited(c *customer.Customer) {
	w.t.Helper()
	invoice, err := w.Invoice.Create(w.t.Context(), w.account, invoice.Draft{
		Invoice: &invoice.Invoice{CollectionMethod: invoice.CollectionMethodSendInvoice, DueAt: new(w.Now().Add(day))}, Customer: c.ID,
		Lines: []invoice.NewLine{{Description: new("Advice"), UnitAmount: new(int64(500)), Quantity: 1}},
	})
	require.NoError(w.t, err)
	_, err = w.FinalizeInvoice(w.t.Context(), w.account, invoice.ID)
	require.NoError(w.t, err)
	invoice, err = w.PayInvoice(w.t.Context(), w.account, invoice.ID, billing.PayInvoice{OutOfBand: true})
	require.NoError(w.t, err)
	db := harness.OpenDatabase(w.t, w.url)
	db.Must(w.t, fmt.Sprintf(`UPDATE orders SET credited_amount = 500 WHERE id = '%s'`, *invoice.OrderID))
	db.Must(w.t, fmt.Sprintf(`UPDATE customers SET balance = '{"usd":500}' WHERE id = '%s'`, c.ID))
	db.Must(w.t, fmt.Sprintf(`INSERT INTO balance_transactions (account_id, id, customer_id, currency, amount, reason, source_id, created_at, updated_at)
		VALUES ('%s', 'bal_%s', '%s', 'usd', 500, 'credit', '%s', 1, 1)`, w.account, c.ID, c.ID, *invoice.OrderID))
}

func (w *world) customerNow(c *customer.Customer) *customer.Customer {
	w.t.Helper()
	now, err := w.Customer.Get(w.t.Context(), w.account, c.ID)
	require.NoError(w.t, err)
	return now
}

func (w *world) methodsOf(c *customer.Customer) []payment.SavedMethod {
	w.t.Helper()
	methods, _, err := w.Payment.ListMethods(w.t.Context(), w.account, c.ID, core.Page{Limit: 10})
	require.NoError(w.t, err)
	return methods
}

// typed is a checkout in which a stranger typed the victim's address.
func (w *world) typed(v *catalog.PriceVariant) *checkout.Checkout {
	return w.checkoutFor(checkout.Checkout{CustomerEmail: new("grace@example.com"), CustomerName: new("Mallory")}, v)
}

// typedSubscription is one that a stranger bought under the victim's address.
func (w *world) typedSubscription(v *catalog.PriceVariant, method string) *subscription.Subscription {
	w.t.Helper()
	c := w.typed(v)
	assert.True(w.t, c.PaymentMethodRequired)
	_, err := w.ConfirmCheckout(w.t.Context(), w.account, c.ID, billing.CheckoutConfirm{})
	refused(w.t, err, "payment_method")
	_, err = w.pay(c.ID, method)
	require.NoError(w.t, err)
	sub, err := w.Subscription.OfCheckout(w.t.Context(), w.account, c.ID)
	require.NoError(w.t, err)
	return sub
}

// spared makes sure that nothing of the victim's was charged, and that they have and are what they were.
func (w *world) spared(victim *customer.Customer) {
	w.t.Helper()
	now := w.customerNow(victim)
	assert.Len(w.t, w.methodsOf(victim), 1)
	assert.Equal(w.t, victim.DefaultPaymentMethodID, now.DefaultPaymentMethodID)
	assert.Equal(w.t, victim.Balance, now.Balance)
	assert.Equal(w.t, victim.Name, now.Name)
	assert.Equal(w.t, victim.BillingAddress, now.BillingAddress)
	db := harness.OpenDatabase(w.t, w.url)
	assert.Zero(w.t, db.Count(w.t, "payments WHERE payment_method_id IS NOT NULL"))
}

// A difference that is too little to be charged waits for the next bill. What the owner of the address has does not pay it, nor does nobody.
func TestTypedBuyer_ASmallDifferenceWaits(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.monthOf30()
		victim := w.victim()
		sub := w.typedSubscription(w.variant(recurring(1000, "month")), "pm_card_visa")
		w.rewound(sub, 15*day)
		sub = w.change(sub, w.variant(recurring(1060, "month")), tenant.ProrationBehaviorInvoiceImmediately)
		assert.Len(t, w.ordersOf(sub), 1)
		assert.Len(t, sub.Prorations.V, 1)
		w.spared(victim)

		_, err := w.Checkout.Verify(t.Context(), w.account, *sub.CheckoutID)
		require.NoError(t, err)
		sub = w.change(sub, w.variant(free("month")), "")
		assert.EqualValues(t, 500+500, w.balanceOf(sub), "half of what was charged")
	})
}

func TestTypedBuyer_ATrialIsChargedToItsOwnCard(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		victim := w.victim()
		sub := w.typedSubscription(w.tried(), "pm_card_visa")
		assert.Equal(t, victim.ID, sub.CustomerID)
		assert.False(t, sub.CustomerVerified)
		w.wait(15 * day)
		assert.Equal(t, subscription.StatusActive, w.now(sub).Status)
		last := w.ordersOf(sub)[1]
		assert.EqualValues(t, 900, last.PaidAmount, "the victim's credit is not the stranger's")
		assert.False(t, last.CustomerVerified)
		w.spared(victim)
	})
}

func TestTypedBuyer_NothingElseIsEverCharged(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		victim := w.victim()
		all, err := w.Discount.Create(t.Context(), w.account, discount.Discount{
			Name: "All", Type: discount.TypePercent, PercentBps: new(int64(10_000)), Duration: discount.DurationOnce, Code: new("ALL"),
		})
		require.NoError(t, err)
		monthly, yearly := w.variant(recurring(900, "month")), w.variant(recurring(9900, "year"))
		free := w.checkoutFor(checkout.Checkout{CustomerEmail: new("grace@example.com"), DiscountID: &all.ID}, monthly)
		assert.Zero(t, free.AmountDueNow)
		assert.True(t, free.PaymentMethodRequired)
		_, err = w.ConfirmCheckout(t.Context(), w.account, free.ID, billing.CheckoutConfirm{})
		refused(t, err, "payment_method")
		_, err = w.pay(free.ID, "pm_card_chargeCustomerFail")
		require.NoError(t, err)
		subs := []*subscription.Subscription{w.typedSubscription(w.tried(), "pm_card_chargeCustomerFail")}
		sub, err := w.Subscription.OfCheckout(t.Context(), w.account, free.ID)
		require.NoError(t, err)
		subs = append(subs, sub)

		// The seller makes it dearer, or names what the victim has saved.
		for _, sub := range subs {
			_, err = w.UpdateSubscription(t.Context(), w.account, sub.ID, store.SubscriptionPatch{
				Change: func(*subscription.Subscription) {}, PaymentMethod: victim.DefaultPaymentMethodID,
			})
			refused(t, err, "payment_method")
		}
		_, err = w.Billing.ChangeSubscription(t.Context(), w.account, sub.ID, store.ChangeSubscription{PriceVariant: yearly.ID, Behavior: tenant.ProrationBehaviorInvoiceImmediately})
		require.Error(t, err, "the stranger's own card declines")
		_, _ = w.UpdateSubscription(t.Context(), w.account, sub.ID, store.SubscriptionPatch{Change: func(*subscription.Subscription) {}, Quantity: new(int64(3))})

		w.wait(32 * day)
		for _, sub := range subs {
			require.Equal(t, subscription.StatusPastDue, w.now(sub).Status)
		}
		// A new default is no extra attempt, and an unpaid invoice is not paid from it.
		before := harness.OpenDatabase(t, w.url).Count(t, "payments")
		again, err := w.SaveMethod(t.Context(), w.account, victim.ID, billing.SaveMethod{Method: payments.MethodInput{Ref: "pm_card_visa"}, IsDefault: true, Once: "b"})
		require.NoError(t, err)
		w.makeDefault(victim.ID, *victim.DefaultPaymentMethodID)
		require.NoError(t, w.Work(t.Context()))
		assert.Equal(t, before, harness.OpenDatabase(t, w.url).Count(t, "payments"))
		for _, ref := range []string{again.ID, *victim.DefaultPaymentMethodID} {
			_, err = w.PayInvoice(t.Context(), w.account, *w.now(sub).LatestInvoiceID, billing.PayInvoice{Method: &payments.MethodInput{Ref: ref}})
			refused(t, err, "payment_method")
		}
		_, err = w.PayInvoice(t.Context(), w.account, *w.now(sub).LatestInvoiceID, billing.PayInvoice{})
		require.Error(t, err)
		_, err = w.DeletePaymentMethod(t.Context(), w.account, victim.ID, again.ID)
		require.NoError(t, err)

		// Nor after a merge.
		other := w.customer("hopper@example.com", nil)
		merged, err := w.MergeCustomer(t.Context(), w.account, other.ID, victim.ID)
		require.NoError(t, err)
		for range 4 {
			w.wait(8 * day)
		}
		for _, sub := range subs {
			assert.Equal(t, subscription.StatusCanceled, w.now(sub).Status)
			assert.Equal(t, merged.ID, w.now(sub).CustomerID)
		}
		assert.Len(t, w.methodsOf(merged), 1)
		assert.Zero(t, harness.OpenDatabase(t, w.url).Count(t, "payments WHERE payment_method_id IS NOT NULL"))
	})
}

func TestTypedBuyer_LeavesNothingWithTheCustomer(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		victim := w.victim()
		in := with("pm_card_visa")
		in.Save = true
		c := w.checkoutFor(checkout.Checkout{
			CustomerEmail: new("grace@example.com"), CustomerName: new("Mallory"), BillingAddress: core.JSONOf(&core.Address{Country: new("US")}),
		}, w.handbook())
		_, err := w.ConfirmCheckout(t.Context(), w.account, c.ID, in)
		require.NoError(t, err)
		order := w.orders()[0]
		assert.Equal(t, victim.ID, order.CustomerID)
		assert.False(t, order.CustomerVerified)
		w.spared(victim)

		// One whom the seller names by an id of theirs does not become whoever has the address.
		c = w.checkoutFor(checkout.Checkout{CustomerEmail: new("grace@example.com"), ExternalCustomerID: new("mallory")}, w.handbook())
		_, err = w.ConfirmCheckout(t.Context(), w.account, c.ID, in)
		require.NoError(t, err)
		assert.Nil(t, w.customerNow(victim).ExternalID)
		assert.Len(t, w.methodsOf(victim), 1)

		// Nobody had the address before: the card is nobody's either.
		c = w.checkoutFor(checkout.Checkout{CustomerEmail: new("new@example.com"), CustomerName: new("Nobody")}, w.variant(recurring(900, "month")))
		done, err := w.ConfirmCheckout(t.Context(), w.account, c.ID, in)
		require.NoError(t, err)
		stranger, err := w.Customer.Get(t.Context(), w.account, *done.CustomerID)
		require.NoError(t, err)
		assert.Empty(t, w.methodsOf(stranger))
		assert.Nil(t, stranger.DefaultPaymentMethodID)
	})
}

func TestTypedBuyer_LearnsNothing(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		_, err := w.Tenant.UpdateAccount(t.Context(), w.account, func(a *tenant.AccountChange) {
			a.Tax = core.JSONOf(tenant.TaxSettings{Mode: tenant.TaxModeFlatTable, Behavior: tenant.TaxBehaviorExclusive, Rates: []tenant.TaxRate{{RateBps: 2000, Name: "VAT"}}})
		})
		require.NoError(t, err)
		w.victim()
		v := w.handbook()
		first, err := w.Discount.Create(t.Context(), w.account, discount.Discount{
			Name: "First", Type: discount.TypePercent, PercentBps: new(int64(1000)), Duration: discount.DurationOnce, FirstPurchaseOnly: true,
		})
		require.NoError(t, err)
		once, err := w.Discount.Create(t.Context(), w.account, discount.Discount{
			Name: "Once", Type: discount.TypePercent, PercentBps: new(int64(1000)), Duration: discount.DurationOnce, MaxRedemptionsPerCustomer: new(int64(1)),
		})
		require.NoError(t, err)
		home := core.JSONOf(&core.Address{Country: new("DE")})
		for _, d := range []*discount.Discount{once, first} {
			c := w.checkoutFor(checkout.Checkout{CustomerEmail: new("grace@example.com"), EmailVerified: true, BillingAddress: home, DiscountID: &d.ID}, v)
			assert.Zero(t, *c.TaxAmount)
			if d == once {
				_, err = w.pay(c.ID, "pm_card_visa")
				require.NoError(t, err)
				_, err = w.Checkout.Create(t.Context(), w.account, checkout.Draft{
					Checkout: &checkout.Checkout{CustomerEmail: new("grace@example.com"), EmailVerified: true, BillingAddress: home, DiscountID: &first.ID},
					Lines:    []offer.NewLine{one(v)},
				})
				refused(t, err, "discount")
				break
			}
		}
		for _, d := range []*discount.Discount{first, once} {
			var answers []string
			for _, email := range []string{"grace@example.com", "nobody@example.com"} {
				c := w.checkoutFor(checkout.Checkout{CustomerEmail: &email, BillingAddress: home, DiscountID: &d.ID}, v)
				assert.EqualValues(t, 342, *c.TaxAmount, email)
				_, err := w.pay(c.ID, "pm_card_visa")
				refused(t, err, "discount")
				answers = append(answers, err.Error())
			}
			assert.Equal(t, answers[0], answers[1])
		}
	})
}

func TestTypedBuyer_ASavedMethodIsNotTakenInPublic(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		victim := w.victim()
		in := with(*victim.DefaultPaymentMethodID)
		in.IsPublic = true
		named := w.checkoutFor(checkout.Checkout{CustomerID: &victim.ID}, w.handbook())
		_, err := w.ConfirmCheckout(t.Context(), w.account, named.ID, in)
		refused(t, err, "payment_method")
		in.IsPublic, in.OnPage = false, true
		_, err = w.ConfirmCheckout(t.Context(), w.account, named.ID, in)
		refused(t, err, "payment_method")
		w.spared(victim)
		_, err = w.pay(named.ID, *victim.DefaultPaymentMethodID) // with the seller's key
		require.NoError(t, err)
	})
}

// Whoever has the client secret may be anybody. A seller who names the customer does not have the customer's card charged by that. Nor does
// a customer who takes a letter for theirs.
func TestPublicConfirm_NeverRenewsFromWhatIsSaved(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		victim := w.victim()
		_, err := w.UpdateCustomer(t.Context(), w.account, victim.ID, func(c *customer.Customer) { c.ExternalID = new("grace") })
		require.NoError(t, err)
		victim = w.customerNow(victim)
		letter := w.typed(w.tried())
		_, err = w.Checkout.Verify(t.Context(), w.account, letter.ID)
		require.NoError(t, err)
		checkouts := []*checkout.Checkout{
			letter,
			w.checkoutFor(checkout.Checkout{CustomerID: &victim.ID}, w.tried()),
			w.checkoutFor(checkout.Checkout{CustomerEmail: victim.Email, ExternalCustomerID: victim.ExternalID}, w.tried()),
		}
		for _, c := range checkouts {
			c, err := w.Checkout.Get(t.Context(), w.account, c.ID)
			require.NoError(t, err)
			assert.True(t, c.PaymentMethodRequired)
			for _, in := range []billing.CheckoutConfirm{{IsPublic: true}, {OnPage: true}} {
				_, err = w.ConfirmCheckout(t.Context(), w.account, c.ID, in)
				refused(t, err, "payment_method")
			}
			in := with("pm_card_visa")
			in.IsPublic = true
			_, err = w.ConfirmCheckout(t.Context(), w.account, c.ID, in)
			require.NoError(t, err)
			sub, err := w.Subscription.OfCheckout(t.Context(), w.account, c.ID)
			require.NoError(t, err)
			require.NotNil(t, sub.Method.V, "its own")
		}

		// The seller's program knows who is there.
		named := w.checkoutFor(checkout.Checkout{CustomerID: &victim.ID}, w.tried())
		_, err = w.ConfirmCheckout(t.Context(), w.account, named.ID, billing.CheckoutConfirm{})
		require.NoError(t, err)
		sub, err := w.Subscription.OfCheckout(t.Context(), w.account, named.ID)
		require.NoError(t, err)
		w.wait(15 * day)
		assert.Equal(t, subscription.StatusActive, w.now(sub).Status)
	})
}

// Stripe knows the stranger and the victim under names of their own.
func TestStripe_ATypedBuyerIsAnotherCustomer(t *testing.T) {
	eachStripe(t, func(t *testing.T, w *world, fake *stripefake.Fake) {
		victim := w.victim()
		sub := w.typedSubscription(w.tried(), "pm_card_visa")
		own := w.methodsOf(victim)[0]
		require.NotNil(t, sub.Method.V.CustomerRef)
		assert.NotEqual(t, own.CustomerRef, *sub.Method.V.CustomerRef)
		w.wait(14*day + time.Minute)
		assert.EqualValues(t, 900, fake.Taken())
		w.spared(victim)

		// What the victim saves later goes to theirs.
		again, err := w.SaveMethod(t.Context(), w.account, victim.ID, billing.SaveMethod{Method: payments.MethodInput{Ref: "pm_card_visa"}, Once: "b"})
		require.NoError(t, err)
		assert.Equal(t, own.CustomerRef, again.CustomerRef)
	})
}

package billing_test

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/checkout"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/subscription"
	"github.com/tillwright/tillwright/store/tenant"
)

// triesOnce switches on or off that a customer has one trial of a product.
func (w *world) triesOnce(on bool) {
	w.t.Helper()
	_, err := w.Tenant.UpdateAccount(w.t.Context(), w.account, func(a *tenant.AccountChange) { a.TrialOncePerCustomer = on })
	require.NoError(w.t, err)
}

// beside returns another price variant of the product of one, with a trial.
func (w *world) beside(v *catalog.PriceVariant) *catalog.PriceVariant {
	w.t.Helper()
	other := recurring(500, "month")
	other.TrialDays = 7
	made, err := w.Catalog.CreatePriceVariant(w.t.Context(), w.account, v.ProductID, other)
	require.NoError(w.t, err)
	return made
}

// grace returns the checkout of a customer whose address is confirmed, in one way to write it.
func (w *world) grace(address string, v *catalog.PriceVariant) *checkout.Checkout {
	w.t.Helper()
	return w.checkoutFor(checkout.Checkout{CustomerEmail: &address, EmailVerified: true}, v)
}

// begun pays for a checkout and returns its subscription.
func (w *world) begun(c *checkout.Checkout) *subscription.Subscription {
	w.t.Helper()
	_, err := w.pay(c.ID, "pm_card_visa")
	require.NoError(w.t, err)
	sub, err := w.Subscription.OfCheckout(w.t.Context(), w.account, c.ID)
	require.NoError(w.t, err)
	return sub
}

func TestTrial_IsOncePerCustomer(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		v := w.tried()
		for range 2 { // nobody asks
			assert.Equal(t, subscription.StatusTrialing, w.begun(w.grace("Grace@example.com", v)).Status)
		}
		w.triesOnce(true)
		c := w.grace("gRACE@EXAMPLE.com", w.beside(v))
		assert.EqualValues(t, 500, c.AmountDueNow)
		sub := w.begun(c)
		assert.Equal(t, subscription.StatusActive, sub.Status)
		assert.Nil(t, sub.TrialEnd)
		assert.EqualValues(t, 500, w.ordersOf(sub)[0].PaidAmount)

		// Another product, and another customer, whose address is the same as one in another writing.
		assert.Equal(t, subscription.StatusTrialing, w.begun(w.grace("grace@example.com", w.tried())).Status)
		assert.Equal(t, subscription.StatusTrialing, w.begun(w.grace("zoë@bücher.example", v)).Status)
		assert.EqualValues(t, 900, w.grace("Zoe\u0308@xn--bcher-kva.example", v).AmountDueNow)

		// A checkout is priced anew when its buyer is another one.
		open := w.grace("new@example.com", v)
		assert.Zero(t, open.AmountDueNow)
		for address, due := range map[string]int64{"grace@example.com": 900, "newer@example.com": 0} {
			open, err := w.Checkout.Update(t.Context(), w.account, open.ID, func(d *checkout.Draft) { d.CustomerEmail, d.EmailVerified = &address, true })
			require.NoError(t, err)
			assert.Equal(t, due, open.AmountDueNow)
		}
		w.triesOnce(false)
		assert.Equal(t, subscription.StatusTrialing, w.begun(w.grace("grace@example.com", v)).Status)
	})
}

// The owner of an address that was only typed is not given away, and neither is their trial.
func TestTrial_WhoTypedAnAddressConfirmsItFirst(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		v := w.tried()
		typed := func(address string) *checkout.Checkout {
			return w.checkoutFor(checkout.Checkout{CustomerEmail: &address}, v)
		}
		stranger := w.begun(typed("eve@example.com"))
		w.begun(w.grace("grace@example.com", v))
		w.triesOnce(true)
		var said []string
		for _, address := range []string{"grace@example.com", "nobody@example.com"} {
			c := typed(address)
			assert.Zero(t, c.AmountDueNow, address)
			personal, err := w.Checkout.HasPersonalTrial(t.Context(), c)
			require.NoError(t, err)
			assert.True(t, personal, address)
			_, err = w.pay(c.ID, "pm_card_visa")
			refused(t, err, "customer_email")
			said = append(said, err.Error())
		}
		assert.Equal(t, said[0], said[1])

		c := typed("grace@example.com")
		c, err := w.Checkout.Verify(t.Context(), w.account, c.ID)
		require.NoError(t, err)
		assert.EqualValues(t, 900, c.AmountDueNow)
		assert.Equal(t, subscription.StatusActive, w.begun(c).Status)

		// What a stranger tried under an address is not its owner's, before they say so.
		assert.Zero(t, w.grace("eve@example.com", v).AmountDueNow)
		_, err = w.Checkout.Verify(t.Context(), w.account, *stranger.CheckoutID)
		require.NoError(t, err)
		assert.EqualValues(t, 900, w.grace("eve@example.com", v).AmountDueNow)
	})
}

// Of two checkouts of a customer that are paid at the same moment one has the trial. The other one says what it costs without.
func TestTrial_OfTwoCheckoutsAtOnceOneHasIt(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.triesOnce(true)
		v := w.tried()
		both := []*checkout.Checkout{w.grace("grace@example.com", v), w.grace("Grace@Example.com", w.beside(v))}
		var errs [2]error
		var wait sync.WaitGroup
		for i, c := range both {
			wait.Go(func() { _, errs[i] = w.pay(c.ID, "pm_card_visa") })
		}
		wait.Wait()
		lost := 0
		if errs[0] == nil {
			lost = 1
		}
		require.NoError(t, errs[1-lost])
		refused(t, errs[lost], "line_items")
		assert.Equal(t, core.Recorded, core.OutcomeOf(errs[lost]))
		assert.Contains(t, errs[lost].Error(), "What is due now has changed from")
		assert.NotZero(t, w.get(both[lost].ID).AmountDueNow)

		in := with("pm_card_visa")
		in.Shown = new("0 0 900")
		_, err := w.ConfirmCheckout(t.Context(), w.account, both[lost].ID, in)
		refused(t, err, "line_items")
		assert.Equal(t, core.Recorded, core.OutcomeOf(err))
		assert.Equal(t, checkout.StatusOpen, w.get(both[lost].ID).Status, "nobody is charged what they were not shown")
		assert.Equal(t, subscription.StatusActive, w.begun(both[lost]).Status)
	})
}

// A trial that is about to begin is held, and is free again if it does not.
func TestTrial_IsHeldWhileItIsBeingPaid(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.triesOnce(true)
		v := w.tried()
		waiting, second := w.grace("grace@example.com", v), w.grace("grace@example.com", v)
		_, err := w.pay(waiting.ID, "pm_card_authenticationRequired")
		require.NoError(t, err)
		assert.EqualValues(t, 900, w.grace("grace@example.com", v).AmountDueNow)
		_, err = w.pay(second.ID, "pm_card_visa")
		refused(t, err, "line_items")
		w.advance.Add(int64(time.Hour)) // nobody approves it
		w.due(waiting.ID)
		require.NoError(t, w.Reconcile(t.Context()))
		require.Equal(t, checkout.StatusOpen, w.get(waiting.ID).Status)
		assert.Zero(t, w.grace("grace@example.com", v).AmountDueNow)
		assert.Equal(t, subscription.StatusTrialing, w.begun(waiting).Status)
	})
}

// A trial follows its customer: into another plan, into another customer, and beyond the end of their details.
func TestTrial_IsTheCustomers(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.triesOnce(true)
		v, other := w.tried(), w.tried()
		sub := w.begun(w.grace("grace@example.com", v))
		w.change(sub, other, "")
		assert.EqualValues(t, 900, w.grace("grace@example.com", other).AmountDueNow)

		ada := w.begun(w.grace("ada@example.com", w.tried()))
		_, err := w.MergeCustomer(t.Context(), w.account, ada.CustomerID, sub.CustomerID)
		require.NoError(t, err)
		assert.EqualValues(t, 900, w.grace("ada@example.com", v).AmountDueNow)

		_, err = w.DeleteCustomer(t.Context(), w.account, ada.CustomerID, true)
		require.NoError(t, err)
		assert.EqualValues(t, 900, w.grace("grace@example.com", v).AmountDueNow)
	})
}

// A trial cannot be taken to a product that its customer has tried already, and neither can one that was only typed.
func TestTrial_IsOncePerCustomerAcrossChangesOfPlan(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		had, fresh := w.tried(), w.tried()
		before := w.begun(w.grace("grace@example.com", had))
		typed := w.begun(w.checkoutFor(checkout.Checkout{CustomerEmail: new("eve@example.com")}, w.tried()))
		w.triesOnce(true)
		ask := func(sub *subscription.Subscription, v *catalog.PriceVariant) error {
			in := store.ChangeSubscription{PriceVariant: v.ID}
			_, foreseen := w.PreviewSubscriptionChange(t.Context(), w.account, sub.ID, in)
			_, err := w.Billing.ChangeSubscription(t.Context(), w.account, sub.ID, in)
			if err != nil {
				require.Error(t, foreseen)
				assert.Equal(t, err.Error(), foreseen.Error())
			}
			return err
		}
		first := w.tried()
		sub := w.begun(w.grace("Grace@Example.com", first))
		for _, plan := range []*catalog.PriceVariant{had, w.beside(had)} {
			err := ask(sub, plan)
			refused(t, err, "price_variant")
			assert.ErrorContains(t, err, "has had a trial of product "+had.ProductID)
		}
		require.NoError(t, ask(sub, w.beside(first)), "of the same product")
		require.NoError(t, ask(sub, fresh))
		require.NoError(t, ask(sub, first), "it is the trial that it began with")
		require.NoError(t, ask(sub, fresh))
		refused(t, ask(before, fresh), "price_variant")
		refused(t, ask(typed, fresh), "price_variant")

		// Two subscriptions of one purchase do not try each other's product.
		both := w.checkout(one(w.tried()), one(w.tried()))
		_, err := w.pay(both.ID, "pm_card_visa")
		require.NoError(t, err)
		of, _, err := w.Subscription.List(t.Context(), w.account, subscription.List{Page: core.Page{Limit: 2}})
		require.NoError(t, err)
		require.Equal(t, both.ID, *of[1].CheckoutID)
		refused(t, ask(&of[0], &catalog.PriceVariant{ID: of[1].PriceVariantID}), "price_variant")
		never := w.tried()
		require.NoError(t, ask(&of[0], never), "nobody has tried it")
		refused(t, ask(&of[1], never), "price_variant")

		w.wait(14*day + time.Minute)
		require.NoError(t, ask(sub, had), "after the trial it is paid")
		w.triesOnce(false)
		again := w.begun(w.grace("grace@example.com", w.tried()))
		require.NoError(t, ask(again, had), "nobody asks")
	})
}

// Of a change of plan and a checkout of a customer at the same moment one has the trial.
func TestTrial_OfAChangeAndACheckoutAtOnceOneHasIt(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.triesOnce(true)
		for range 4 {
			v := w.tried()
			sub, c := w.begun(w.grace("grace@example.com", w.tried())), w.grace("grace@example.com", v)
			errs := parallel(2, func(i int) error {
				if i == 0 {
					_, err := w.pay(c.ID, "pm_card_visa")
					return err
				}
				_, err := w.Billing.ChangeSubscription(t.Context(), w.account, sub.ID, store.ChangeSubscription{PriceVariant: v.ID})
				return err
			})
			if errs[0] == nil {
				refused(t, errs[1], "price_variant")
				continue
			}
			refused(t, errs[0], "line_items")
			require.NoError(t, errs[1])
		}
	})
}

package billing_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/server/billing"
	"github.com/tillwright/tillwright/store/checkout"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/customer"
	"github.com/tillwright/tillwright/store/discount"
	"github.com/tillwright/tillwright/store/offer"
	"github.com/tillwright/tillwright/store/order"
	"github.com/tillwright/tillwright/store/payment"
	"github.com/tillwright/tillwright/store/subscription"
	"github.com/tillwright/tillwright/tests/harness"
)

// buys pays a checkout and returns its order and customer.
func (w *world) buys(c checkout.Checkout) (*order.Order, *customer.Customer) {
	w.t.Helper()
	paid, err := w.pay(w.checkoutFor(c, w.handbook()).ID, "pm_card_visa")
	require.NoError(w.t, err)
	order, err := w.Order.Get(w.t.Context(), w.account, *paid.OrderID)
	require.NoError(w.t, err)
	return order, w.customerNow(&customer.Customer{ID: order.CustomerID})
}

// mallory has an account at the seller's, and types an address that is not theirs.
func (w *world) mallory() *customer.Customer {
	w.t.Helper()
	order, mallory := w.buys(checkout.Checkout{CustomerEmail: new("grace@example.com"), ExternalCustomerID: new("mallory")})
	assert.True(w.t, order.CustomerVerified)
	assert.Equal(w.t, "grace@example.com", *mallory.Email)
	return mallory
}

// owners are the ids of the customers who are found by an address.
func (w *world) owners(email string) []string {
	w.t.Helper()
	found, _, err := w.Customer.List(w.t.Context(), w.account, customer.List{Page: core.Page{Limit: 10}, Email: email})
	require.NoError(w.t, err)
	var ids []string
	for _, c := range found {
		ids = append(ids, c.ID)
	}
	return ids
}

func TestTypedEmail_LeadsNobodyToWhoTypedItFirst(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		mallory := w.mallory()
		assert.Empty(t, w.owners("grace@example.com"))
		order, grace := w.buys(checkout.Checkout{CustomerEmail: new("Grace@example.com"), CustomerName: new("Grace")})
		assert.NotEqual(t, mallory.ID, grace.ID)
		theirs, err := w.Checkout.UnverifiedPurchases(t.Context(), w.account, mallory.ID, 10)
		require.NoError(t, err)
		assert.Empty(t, theirs)
		_, err = w.Checkout.AcceptPurchase(t.Context(), w.account, mallory.ID, *order.CheckoutID)
		var missing *core.Error
		require.ErrorAs(t, err, &missing)
		assert.Equal(t, core.CodeMissing, missing.Code)

		// Grace reads the letter.
		_, err = w.Checkout.Verify(t.Context(), w.account, *order.CheckoutID)
		require.NoError(t, err)
		assert.EqualValues(t, 1, w.customerNow(mallory).OrdersCount)
		vouched, same := w.buys(checkout.Checkout{CustomerEmail: new("grace@example.com"), EmailVerified: true})
		assert.True(t, vouched.CustomerVerified)
		assert.Equal(t, grace.ID, same.ID)

		// Mallory comes back, and is who they were.
		_, again := w.buys(checkout.Checkout{CustomerEmail: new("grace@example.com"), ExternalCustomerID: new("mallory")})
		assert.Equal(t, mallory.ID, again.ID)
		assert.Equal(t, []string{grace.ID}, w.owners("GRACE@example.com"))
	})
}

// What was there before is not Mallory's either, nor does it tell them anything.
func TestTypedEmail_OfACustomerIsNotAnothers(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		victim := w.victim()
		_, _ = w.buys(checkout.Checkout{CustomerID: &victim.ID})
		mallory := w.mallory()
		assert.NotEqual(t, victim.ID, mallory.ID)
		first, err := w.Discount.Create(t.Context(), w.account, discount.Discount{
			Name: "First", Type: discount.TypePercent, PercentBps: new(int64(1000)), Duration: discount.DurationOnce, FirstPurchaseOnly: true,
		})
		require.NoError(t, err)
		_, eve := w.buys(checkout.Checkout{CustomerEmail: new("grace@example.com"), ExternalCustomerID: new("eve"), DiscountID: &first.ID})
		require.NotEqual(t, victim.ID, eve.ID)
		once, err := w.Discount.Create(t.Context(), w.account, discount.Discount{
			Name: "Once", Type: discount.TypePercent, PercentBps: new(int64(1000)), Duration: discount.DurationOnce, MaxRedemptionsPerCustomer: new(int64(1)),
		})
		require.NoError(t, err)
		for _, buyer := range []*customer.Customer{eve, mallory, victim} { // each has one use of their own
			_, _ = w.buys(checkout.Checkout{CustomerID: &buyer.ID, DiscountID: &once.ID})
		}
		_, err = w.Checkout.Create(t.Context(), w.account, checkout.Draft{
			Checkout: &checkout.Checkout{CustomerID: &eve.ID, DiscountID: &once.ID}, Lines: []offer.NewLine{one(w.handbook())},
		})
		refused(t, err, "discount")
	})
}

func TestTypedEmail_IsTheirsOnceSomebodyVouches(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		taken := func(email string) {
			_, err := w.Customer.Create(t.Context(), w.account, customer.Customer{Email: &email})
			refused(t, err, "email")
		}
		// Nobody else had it: a verified checkout makes it theirs.
		mallory := w.mallory()
		_, err := w.UpdateCustomer(t.Context(), w.account, mallory.ID, func(c *customer.Customer) { c.Name = new("Mallory") })
		require.NoError(t, err)
		assert.Nil(t, w.customerNow(mallory).EmailKey, "another change says nothing about it")
		_, again := w.buys(checkout.Checkout{CustomerEmail: new("Grace@example.com"), ExternalCustomerID: new("mallory"), EmailVerified: true})
		assert.Equal(t, mallory.ID, again.ID)
		taken("grace@EXAMPLE.com")

		// Somebody else has it: they keep it.
		_, eve := w.buys(checkout.Checkout{CustomerEmail: new("grace@example.com"), ExternalCustomerID: new("eve")})
		_, same := w.buys(checkout.Checkout{CustomerEmail: new("grace@example.com"), ExternalCustomerID: new("eve"), EmailVerified: true})
		assert.Equal(t, eve.ID, same.ID)
		assert.Nil(t, same.EmailKey)
		_, err = w.UpdateCustomer(t.Context(), w.account, eve.ID, func(c *customer.Customer) { c.SetEmail("grace@example.com") })
		refused(t, err, "email")

		// The seller sets it, or makes one of two.
		_, err = w.UpdateCustomer(t.Context(), w.account, eve.ID, func(c *customer.Customer) { c.SetEmail("eve@example.com") })
		require.NoError(t, err)
		taken("eve@example.com")
		_, bob := w.buys(checkout.Checkout{CustomerEmail: new("bob@example.com"), ExternalCustomerID: new("bob")})
		other := w.customer("Bob@example.com", nil)
		merged, err := w.MergeCustomer(t.Context(), w.account, bob.ID, other.ID)
		require.NoError(t, err)
		assert.NotNil(t, merged.EmailKey)
		taken("bob@example.com")
		_, anybody := w.buys(checkout.Checkout{CustomerEmail: new("bob@example.com")})
		assert.Equal(t, bob.ID, anybody.ID)
	})
}

func TestTypedEmail_OneOfManyAtOnceOwnsIt(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		replicas := w.replicas()
		var verified []*checkout.Checkout
		for _, id := range []string{"a", "b", "c", "d"} {
			typed := checkout.Checkout{CustomerEmail: new("grace@example.com"), ExternalCustomerID: &id}
			_, _ = w.buys(typed)
			typed.EmailVerified = true
			verified = append(verified, w.checkoutFor(typed, w.handbook()))
		}
		var group sync.WaitGroup
		for i, c := range verified {
			group.Go(func() {
				_, err := replicas[i%len(replicas)].pay(c.ID, "pm_card_visa")
				assert.NoError(t, err)
			})
		}
		group.Wait()
		assert.Len(t, w.owners("grace@example.com"), 1)
	})
}

// The owner takes for theirs what a stranger then pays: the card stays the purchase's, whatever becomes of the owner's own.
func TestPublicConfirm_KeepsAStrangersCardOutOfAVerifiedPurchase(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		victim := w.victim()
		letter := w.typed(w.tried())
		_, err := w.Checkout.Verify(t.Context(), w.account, letter.ID)
		require.NoError(t, err)
		in := with("pm_card_chargeCustomerFail")
		in.IsPublic, in.Save, in.From = true, true, payment.Buyer{Address: "203.0.113.7"}
		_, err = w.ConfirmCheckout(t.Context(), w.account, letter.ID, in)
		require.NoError(t, err)
		sub, err := w.Subscription.OfCheckout(t.Context(), w.account, letter.ID)
		require.NoError(t, err)
		assert.True(t, sub.CustomerVerified)
		assert.Nil(t, sub.Method.V.ID)
		assert.Len(t, w.methodsOf(victim), 1)

		w.wait(15 * day)
		require.Equal(t, subscription.StatusPastDue, w.now(sub).Status, "the owner's card is not charged instead")
		_, err = w.PayInvoice(t.Context(), w.account, *w.now(sub).LatestInvoiceID, billing.PayInvoice{})
		refused(t, err, "payment_method")
		assert.Zero(t, harness.OpenDatabase(t, w.url).Count(t, "payments WHERE payment_method_id IS NOT NULL"))

		once := w.checkoutFor(checkout.Checkout{CustomerEmail: victim.Email, EmailVerified: true}, w.handbook())
		in = with("pm_card_visa")
		in.OnPage, in.Save = true, true
		_, err = w.ConfirmCheckout(t.Context(), w.account, once.ID, in)
		require.NoError(t, err)
		assert.Len(t, w.methodsOf(victim), 1)

		// Whom the seller named, and what the seller's program says, is the customer's.
		in.OnPage, in.IsPublic = false, true
		named := w.checkoutFor(checkout.Checkout{CustomerID: &victim.ID}, w.handbook())
		_, err = w.ConfirmCheckout(t.Context(), w.account, named.ID, in)
		require.NoError(t, err)
		assert.Len(t, w.methodsOf(victim), 2)
	})
}

// Whoever was first to type an address does not name its owner.
func TestTypedEmail_ItsOwnerHasTheirOwnName(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		for i, owner := range []checkout.Checkout{{EmailVerified: true}, {}} {
			email := fmt.Sprintf("grace%d@example.com", i)
			typed, customer := w.buys(checkout.Checkout{CustomerEmail: &email, CustomerName: new("Mallory")})
			assert.Equal(t, "Mallory", *customer.Name, "there is no other")
			owner.CustomerEmail, owner.CustomerName = &email, new("Grace")
			order, same := w.buys(owner)
			assert.Equal(t, customer.ID, same.ID)
			if !owner.EmailVerified {
				assert.Equal(t, "Mallory", *same.Name)
				_, err := w.Checkout.Verify(t.Context(), w.account, *order.CheckoutID)
				require.NoError(t, err)
			}
			assert.Equal(t, "Grace", *w.customerNow(customer).Name)
			_, err := w.Checkout.AcceptPurchase(t.Context(), w.account, customer.ID, *typed.CheckoutID)
			require.NoError(t, err)
			assert.Equal(t, "Grace", *w.customerNow(customer).Name)
		}

		named := w.customer("ada@example.com", nil)
		_, err := w.UpdateCustomer(t.Context(), w.account, named.ID, func(c *customer.Customer) { c.Name = new("Ada") })
		require.NoError(t, err)
		_, _ = w.buys(checkout.Checkout{CustomerEmail: new("ada@example.com"), CustomerName: new("Mallory")})
		_, _ = w.buys(checkout.Checkout{CustomerEmail: new("ada@example.com"), CustomerName: new("A."), EmailVerified: true})
		assert.Equal(t, "Ada", *w.customerNow(named).Name)

		made, err := w.Customer.Create(t.Context(), w.account, customer.Customer{Email: new("lin@example.com"), Name: new("Lin")})
		require.NoError(t, err)
		_, _ = w.buys(checkout.Checkout{CustomerEmail: new("lin@example.com"), CustomerName: new("Lin")})
		_, _ = w.buys(checkout.Checkout{CustomerEmail: new("lin@example.com"), EmailVerified: true})
		assert.Equal(t, "Lin", *w.customerNow(made).Name, "the seller's, whoever typed it too")
	})
}

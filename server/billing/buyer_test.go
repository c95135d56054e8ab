package billing_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/checkout"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/customer"
	"github.com/tillwright/tillwright/store/offer"
	"github.com/tillwright/tillwright/store/order"
)

func (w *world) customer(email string, externalID *string) *customer.Customer {
	w.t.Helper()
	c, err := w.Customer.Create(w.t.Context(), w.account, customer.Customer{Email: &email, ExternalID: externalID})
	require.NoError(w.t, err)
	return c
}

func (w *world) checkoutFor(c checkout.Checkout, v *catalog.PriceVariant) *checkout.Checkout {
	w.t.Helper()
	made, err := w.Checkout.Create(w.t.Context(), w.account, checkout.Draft{Checkout: &c, Lines: []offer.NewLine{one(v)}})
	require.NoError(w.t, err)
	return made
}

// charged takes the money for a checkout and loses the answer. What meanwhile does then must not cost the order: it is
// made when the reconciler comes by, and returned.
func (w *world) charged(bought *checkout.Checkout, meanwhile func()) *order.Order {
	w.t.Helper()
	w.provider.lost.Store(true)
	_, err := w.pay(bought.ID, "pm_card_visa")
	require.Equal(w.t, core.Unknown, core.OutcomeOf(err))
	w.provider.lost.Store(false)
	meanwhile()
	w.due(bought.ID)
	require.NoError(w.t, w.Reconcile(w.t.Context()))
	c := w.get(bought.ID)
	require.Equal(w.t, checkout.StatusCompleted, c.Status)
	order, err := w.Order.Get(w.t.Context(), w.account, *c.OrderID)
	require.NoError(w.t, err)
	return order
}

func TestSettle_TheExternalIDWasGivenToAnother(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		ada, v := w.customer("ada@example.com", nil), w.handbook()
		order := w.charged(w.checkoutFor(checkout.Checkout{CustomerID: &ada.ID, ExternalCustomerID: new("e1")}, v), func() {
			w.customer("grace@example.com", new("e1"))
		})
		assert.Equal(t, ada.ID, order.CustomerID)
		ada, err := w.Customer.Get(t.Context(), w.account, ada.ID)
		require.NoError(t, err)
		assert.Nil(t, ada.ExternalID)

		// Nobody else has it: the buyer gets it.
		order = w.charged(w.checkoutFor(checkout.Checkout{CustomerID: &ada.ID, ExternalCustomerID: new("e2")}, v), func() {})
		ada, err = w.Customer.Get(t.Context(), w.account, order.CustomerID)
		require.NoError(t, err)
		assert.Equal(t, "e2", *ada.ExternalID)
	})
}

func TestSettle_TheAddressWasGivenToAnother(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		ada := w.customer("ada@example.com", nil)
		order := w.charged(w.checkoutFor(checkout.Checkout{CustomerID: &ada.ID}, w.handbook()), func() {
			_, err := w.UpdateCustomer(t.Context(), w.account, ada.ID, func(c *customer.Customer) { c.SetEmail("ada@example.org") })
			require.NoError(t, err)
			w.customer("ada@example.com", nil)
		})
		assert.Equal(t, ada.ID, order.CustomerID)
		assert.Equal(t, "ada@example.com", *order.CustomerEmail, "as it was then")
	})
}

// A customer may be deleted at any time: whoever pays afterwards is a new one.
func TestSettle_TheCustomerWasDeleted(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		v := w.handbook()
		remove := func(c *customer.Customer) {
			_, err := w.DeleteCustomer(t.Context(), w.account, c.ID, false)
			require.NoError(t, err)
		}
		ada := w.customer("ada@example.com", new("a1"))
		first := w.charged(w.checkoutFor(checkout.Checkout{CustomerID: &ada.ID, ExternalCustomerID: new("a1")}, v), func() { remove(ada) })
		again, err := w.Customer.Get(t.Context(), w.account, first.CustomerID)
		require.NoError(t, err)
		assert.NotEqual(t, ada.ID, again.ID)
		assert.Equal(t, "a1", *again.ExternalID)

		// This one has an order, and is kept for it without a name.
		second := w.charged(w.checkoutFor(checkout.Checkout{CustomerID: &again.ID}, v), func() { remove(again) })
		assert.NotEqual(t, again.ID, second.CustomerID)

		buyer, err := w.Customer.Get(t.Context(), w.account, second.CustomerID)
		require.NoError(t, err)
		before := w.checkoutFor(checkout.Checkout{CustomerID: &buyer.ID}, v)
		remove(buyer)
		paid, err := w.pay(before.ID, "pm_card_visa")
		require.NoError(t, err, "deleted before it is paid")
		assert.NotEqual(t, buyer.ID, *paid.CustomerID)
	})
}

func TestSettle_WhateverBecomesOfTheProduct(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		v := w.variant(catalog.PriceVariant{Amount: 1900, Stock: new(int64(3))})
		order := w.charged(w.checkout(one(v)), func() {
			_, err := w.Catalog.DeleteProduct(t.Context(), w.account, v.ProductID)
			refused(t, err, "base")
			_, err = w.Catalog.DeletePriceVariant(t.Context(), w.account, v.ID)
			refused(t, err, "base")
			_, err = w.Catalog.UpdatePriceVariant(t.Context(), w.account, v.ID, func(v *catalog.PriceVariant) { v.Amount = 100 })
			refused(t, err, "amount")
			stock := func(n int64) error {
				_, err := w.Catalog.UpdatePriceVariant(t.Context(), w.account, v.ID, func(v *catalog.PriceVariant) { v.Stock = &n })
				return err
			}
			refused(t, stock(0), "stock")
			require.NoError(t, stock(1))
			_, err = w.Catalog.ArchiveProduct(t.Context(), w.account, v.ProductID)
			require.NoError(t, err)
			_, err = w.Catalog.UpdatePriceVariant(t.Context(), w.account, v.ID, func(v *catalog.PriceVariant) { v.Status = catalog.PriceVariantStatusArchived })
			require.NoError(t, err)
		})
		assert.EqualValues(t, 1900, order.PaidAmount)
		assert.EqualValues(t, 1, order.Number)
	})
}

// Two who are new under one address pay at once: one customer, two orders.
func TestConfirmCheckout_OneNewAddressTwiceAtOnce(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		paid, free := w.handbook(), w.variant(catalog.PriceVariant{AmountType: catalog.PriceVariantAmountTypeFree})
		for i := range 10 {
			email := fmt.Sprintf("new%d@example.com", i)
			var checkouts []*checkout.Checkout
			for _, v := range []*catalog.PriceVariant{paid, paid, free, free} {
				checkouts = append(checkouts, w.checkoutFor(checkout.Checkout{CustomerEmail: &email, ExternalCustomerID: &email}, v))
			}
			for _, err := range parallel(len(checkouts), func(i int) error {
				_, err := w.pay(checkouts[i].ID, "pm_card_visa")
				return err
			}) {
				require.NoError(t, err)
			}
			customers, _, err := w.Customer.List(t.Context(), w.account, customer.List{Page: core.Page{Limit: 10}, ExternalID: email})
			require.NoError(t, err)
			require.Len(t, customers, 1)
			assert.EqualValues(t, 4, customers[0].OrdersCount)
		}
	})
}

// A decline is the answer of its key for good; the buyer's other card comes with another key.
func TestConfirmCheckout_AnotherCardNeedsAnotherKey(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		checkout := w.checkout(one(w.handbook()))
		confirm := func(key, method string) (*core.Answer, error) {
			sent := &core.Key{Account: w.account, Key: key, External: true}
			copy(sent.Fingerprint[:], method)
			answer, _, err := w.request(w, sent, checkout.ID, method)
			return answer, err
		}
		answer, err := confirm("k1", "pm_card_chargeDeclined")
		require.NoError(t, err)
		assert.Equal(t, 422, answer.Status)
		_, err = confirm("k1", "pm_card_visa")
		var reused *core.Error
		require.ErrorAs(t, err, &reused)
		assert.Equal(t, core.CodeKeyReused, reused.Code)
		assert.Empty(t, w.orders())
		answer, err = confirm("k2", "pm_card_visa")
		require.NoError(t, err)
		assert.Equal(t, 200, answer.Status)
		assert.Len(t, w.orders(), 1)
	})
}

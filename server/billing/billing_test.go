package billing_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/server/payments"
	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/checkout"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/customer"
	"github.com/tillwright/tillwright/store/offer"
	"github.com/tillwright/tillwright/store/order"
	"github.com/tillwright/tillwright/store/tenant"
)

func TestConfirmCheckout_MakesAPaidOrder(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		v := w.handbook()
		c, err := w.pay(w.checkout(offer.NewLine{PriceVariant: v.ID, Quantity: 3}).ID, "pm_card_visa")
		require.NoError(t, err)
		assert.Equal(t, checkout.StatusCompleted, c.Status)
		assert.Equal(t, checkout.PaymentStatusPaid, c.PaymentStatus)
		require.NotNil(t, c.OrderID)

		o, err := w.Order.Get(t.Context(), w.account, *c.OrderID)
		require.NoError(t, err)
		assert.EqualValues(t, 1, o.Number)
		assert.Equal(t, order.StatusPaid, o.Status)
		assert.EqualValues(t, 5700, o.TotalAmount)
		assert.EqualValues(t, 5700, o.PaidAmount)
		assert.EqualValues(t, 5700, o.RefundableAmount())
		assert.Zero(t, o.DueAmount())
		assert.NotNil(t, o.PaidAt)
		assert.Len(t, o.LineItemIDs.V, 1, "a copy of the line of the checkout")
		assert.NotEqual(t, c.LineItemIDs, o.LineItemIDs)

		payment, err := w.Payment.ByID(t.Context(), w.account, o.PaymentIDs.V)
		require.NoError(t, err)
		require.Len(t, payment, 1)
		assert.Equal(t, "4242", payment[o.PaymentIDs.V[0]].PaymentMethod.V.Last4)

		buyer, err := w.Customer.Get(t.Context(), w.account, o.CustomerID)
		require.NoError(t, err)
		assert.Equal(t, "grace@example.com", *buyer.Email)
		assert.Equal(t, customer.TypeCustomer, buyer.Type)
		assert.EqualValues(t, 1, buyer.OrdersCount)
		assert.Equal(t, map[string]int64{"usd": 5700}, buyer.TotalSpent.V)
		assert.NotNil(t, buyer.FirstPaidAt)

		v, err = w.Catalog.GetPriceVariant(t.Context(), w.account, v.ID)
		require.NoError(t, err)
		assert.EqualValues(t, 3, v.SoldCount)
		product, err := w.Catalog.GetProduct(t.Context(), w.account, v.ProductID)
		require.NoError(t, err)
		assert.EqualValues(t, 3, product.SalesCount)
	})
}

func TestConfirmCheckout_NothingToPay(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		v := w.variant(catalog.PriceVariant{AmountType: catalog.PriceVariantAmountTypeFree})
		bought := w.checkout(one(v))
		assert.False(t, bought.PaymentMethodRequired)
		c, err := w.ConfirmCheckout(t.Context(), w.account, bought.ID, billingWithout)
		require.NoError(t, err)
		assert.Equal(t, checkout.StatusCompleted, c.Status)
		assert.Equal(t, checkout.PaymentStatusNoPaymentRequired, c.PaymentStatus)
		orders := w.orders()
		require.Len(t, orders, 1)
		assert.Equal(t, order.StatusPaid, orders[0].Status)
		assert.Empty(t, orders[0].PaymentIDs.V)
		assert.Zero(t, w.provider.confirms.Load())
	})
}

func TestConfirmCheckout_DeclineThenPay(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		v := w.variant(catalog.PriceVariant{Amount: 1900, Stock: new(int64(1))})
		bought := w.checkout(one(v))
		_, err := w.pay(bought.ID, "pm_card_chargeDeclinedInsufficientFunds")
		refused(t, err, "payment_method")
		assert.Equal(t, core.Recorded, core.OutcomeOf(err))

		c := w.get(bought.ID)
		assert.Equal(t, checkout.StatusOpen, c.Status)
		require.NotNil(t, c.LastPaymentError.V)
		assert.Equal(t, "insufficient_funds", *c.LastPaymentError.V.DeclineCode)
		assert.Empty(t, w.orders())
		v, err = w.Catalog.GetPriceVariant(t.Context(), w.account, v.ID)
		require.NoError(t, err)
		assert.Zero(t, v.ReservedCount)

		c, err = w.pay(bought.ID, "pm_card_visa")
		require.NoError(t, err)
		assert.Equal(t, checkout.StatusCompleted, c.Status)
		assert.Nil(t, c.LastPaymentError.V)
	})
}

func TestConfirmCheckout_AgainReturnsTheSameOrder(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		checkout := w.checkout(one(w.handbook()))
		first, err := w.pay(checkout.ID, "pm_card_visa")
		require.NoError(t, err)
		second, err := w.pay(checkout.ID, "pm_card_mastercard")
		require.NoError(t, err)
		assert.Equal(t, first.OrderID, second.OrderID)
		assert.Len(t, w.orders(), 1)
		assert.EqualValues(t, 1, w.provider.confirms.Load())
	})
}

func TestConfirmCheckout_BuyerAuthenticates(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		bought := w.checkout(one(w.handbook()))
		c, err := w.pay(bought.ID, "pm_card_authenticationRequired")
		require.NoError(t, err)
		assert.Equal(t, checkout.StatusProcessing, c.Status)
		require.NotNil(t, c.NextAction.V)
		assert.Equal(t, c.URL, c.NextAction.V.URL)

		_, err = w.pay(bought.ID, "pm_card_visa")
		refused(t, err, "status")
		_, err = w.Store.Checkout.Expire(t.Context(), w.account, bought.ID)
		refused(t, err, "status")

		payment, err := w.Payment.OfCheckout(t.Context(), w.account, bought.ID)
		require.NoError(t, err)
		_, err = w.provider.authenticate(t.Context(), payment)
		require.NoError(t, err)
		settled, err := w.ResumePayment(t.Context(), w.account, payment.ID)
		require.NoError(t, err)
		assert.Equal(t, checkout.StatusCompleted, settled.Checkout.Status)
		assert.Nil(t, settled.Checkout.NextAction.V)
	})
}

func TestConfirmCheckout_CardsAreCheckedBeforeAnythingHappens(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		checkout := w.checkout(one(w.handbook()))
		before := w.get(checkout.ID)
		in := with("")
		in.Method = &payments.MethodInput{Card: &payments.Card{Number: "4242424242424241", ExpMonth: 12, ExpYear: 2099}}
		_, err := w.ConfirmCheckout(t.Context(), w.account, checkout.ID, in)
		refused(t, err, "payment_method")
		assert.Equal(t, core.Refused, core.OutcomeOf(err))
		_, err = w.ConfirmCheckout(t.Context(), w.account, checkout.ID, billingWithout)
		refused(t, err, "payment_method")
		after := w.get(checkout.ID)
		assert.Equal(t, before, after)
	})
}

func TestConfirmCheckout_WhatHasToBeTrueIsCheckedAgain(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		v := w.variant(catalog.PriceVariant{Amount: 1900, Stock: new(int64(1))})
		soldOut, inactive, expired := w.checkout(one(v)), w.checkout(one(w.handbook())), w.checkout(one(w.handbook()))
		_, err := w.pay(w.checkout(one(v)).ID, "pm_card_visa")
		require.NoError(t, err)
		_, err = w.pay(soldOut.ID, "pm_card_visa")
		refused(t, err, "line_items")

		items, err := w.Lines.OfCheckout(t.Context(), w.account, inactive.ID)
		require.NoError(t, err)
		_, err = w.Catalog.ArchiveProduct(t.Context(), w.account, *items[0].ProductID)
		require.NoError(t, err)
		_, err = w.pay(inactive.ID, "pm_card_visa")
		refused(t, err, "line_items")
		_, err = w.Catalog.DeleteProduct(t.Context(), w.account, *items[0].ProductID)
		require.NoError(t, err)
		_, err = w.pay(inactive.ID, "pm_card_visa")
		refused(t, err, "line_items")

		_, err = w.Store.Checkout.Expire(t.Context(), w.account, expired.ID)
		require.NoError(t, err)
		_, err = w.pay(expired.ID, "pm_card_visa")
		refused(t, err, "status")
	})
}

func TestConfirmCheckout_TermsAndAnswers(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		_, err := w.Tenant.UpdateAccount(t.Context(), w.account, func(a *tenant.AccountChange) { a.CheckoutRequiresTerms = true })
		require.NoError(t, err)
		v := w.handbook()
		_, err = w.Catalog.UpdateProduct(t.Context(), w.account, v.ProductID, func(p *catalog.Product) {
			p.CustomFields = core.JSONOf([]catalog.CustomField{
				{Key: "size", Label: "Size", Type: "select", Required: true, Options: []string{"s", "m"}},
			})
		})
		require.NoError(t, err)
		bought := w.checkout(one(v))
		in := with("pm_card_visa")
		_, err = w.ConfirmCheckout(t.Context(), w.account, bought.ID, in)
		refused(t, err, "terms_accepted")
		in.TermsAccepted = true
		_, err = w.ConfirmCheckout(t.Context(), w.account, bought.ID, in)
		refused(t, err, "custom_field_data.size")

		answer := func(size string) error {
			_, err := w.Checkout.Update(t.Context(), w.account, bought.ID, func(d *checkout.Draft) {
				d.CustomFieldData = core.JSONOf(map[string]string{"size": size})
			})
			return err
		}
		refused(t, answer("xl"), "custom_field_data.size")
		require.NoError(t, answer("m"))
		c, err := w.ConfirmCheckout(t.Context(), w.account, bought.ID, in)
		require.NoError(t, err)
		assert.NotNil(t, c.TermsAcceptedAt)
		assert.Equal(t, "m", w.orders()[0].CustomFieldData.V["size"])
	})
}

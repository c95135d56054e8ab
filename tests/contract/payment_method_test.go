package contract

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/tests/harness"
)

// cart is an open checkout of one guide for a customer.
func cart(t *testing.T, c *sdk.Client, customer *sdk.Customer) *sdk.Checkout {
	t.Helper()
	return ok[*sdk.Checkout](t)(c.Checkouts.Create(background, &sdk.CheckoutCreate{
		Customer: &customer.ID, LineItems: []sdk.CheckoutLine{{PriceVariant: onSale(t, c, 1900).ID}},
	}))
}

// payAndSave buys a guide and keeps the card.
func payAndSave(t *testing.T, c *sdk.Client, customer *sdk.Customer, token string) {
	t.Helper()
	done := ok[*sdk.Checkout](t)(c.Checkouts.Confirm(background, cart(t, c, customer).ID, &sdk.CheckoutConfirm{
		PaymentMethod: &sdk.PaymentMethod{Token: token}, SavePaymentMethod: new(true),
	}))
	if done.Status != "completed" {
		t.Fatalf("the checkout is %s", done.Status)
	}
}

func TestPaymentMethod_IsSavedAndPaysAgain(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		ada := ok[*sdk.Customer](t)(c.Customers.Create(background, &sdk.CustomerCreate{Email: "ada@example.com"}))
		if ada.DefaultPaymentMethod.ID != "" {
			t.Errorf("the customer begins with %+v", ada.DefaultPaymentMethod)
		}
		payAndSave(t, c, ada, "pm_card_mastercard")
		payAndSave(t, c, ada, "pm_card_visa")
		methods := ok[*sdk.SavedPaymentMethodList](t)(c.Customers.ListPaymentMethods(background, ada.ID, nil)).Data
		require.Len(t, methods, 2, "the payment methods")
		require.Equal(t, "visa", methods[0].Brand, "the payment methods")
		require.Equal(t, "mastercard", methods[1].Brand, "the payment methods")
		require.Equal(t, ada.ID, methods[0].Customer, "the payment methods")
		require.Equal(t, "4242", methods[0].Last4, "the payment methods")
		ada = ok[*sdk.Customer](t)(c.Customers.Get(background, ada.ID, sdk.Expand("default_payment_method")))
		if ada.DefaultPaymentMethod.Object.ID != methods[1].ID {
			t.Errorf("the default is %+v, not the first one", ada.DefaultPaymentMethod.Object)
		}
		done := ok[*sdk.Checkout](t)(c.Checkouts.Confirm(background, cart(t, c, ada).ID, &sdk.CheckoutConfirm{PaymentMethod: &sdk.PaymentMethod{Token: methods[0].ID}}))
		order := ok[*sdk.Order](t)(c.Orders.Get(background, done.Order.ID, sdk.Expand("payments")))
		if order.Payments[0].Object.PaymentMethod.Brand != "visa" {
			t.Errorf("the payment is %+v", order.Payments[0].Object)
		}
		if again := ok[*sdk.SavedPaymentMethodList](t)(c.Customers.ListPaymentMethods(background, ada.ID, nil)).Data; len(again) != 2 {
			t.Errorf("%d payment methods are saved", len(again))
		}
	})
}

func TestCreateCustomerPaymentMethod(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		ada := ok[*sdk.Customer](t)(c.Customers.Create(background, &sdk.CustomerCreate{Email: "ada@example.com"}))
		save := func(token string, isDefault bool, opts ...sdk.Option) *sdk.SavedPaymentMethod {
			t.Helper()
			return ok[*sdk.SavedPaymentMethod](t)(c.Customers.CreatePaymentMethod(background, ada.ID, &sdk.SavedPaymentMethodCreate{
				PaymentMethod: sdk.PaymentMethod{Token: token}, Default: &isDefault,
			}, opts...))
		}
		chosen := func() string {
			t.Helper()
			return ok[*sdk.Customer](t)(c.Customers.Get(background, ada.ID)).DefaultPaymentMethod.ID
		}
		visa := save("pm_card_visa", false, sdk.WithIdempotencyKey("visa"))
		assert.Equal(t, "visa", visa.Brand)
		assert.Equal(t, ada.ID, visa.Customer)
		assert.Equal(t, visa.ID, chosen())
		if again := save("pm_card_visa", false, sdk.WithIdempotencyKey("visa")); again.ID != visa.ID {
			t.Errorf("the request sent again saved %s beside %s", again.ID, visa.ID)
		}
		second := save("pm_card_mastercard", false)
		assert.Equal(t, visa.ID, chosen())
		assert.NotEqual(t, visa.ID, second.ID)
		if third := save("pm_card_mastercard", true); chosen() != third.ID {
			t.Errorf("the default is %s, not %s", chosen(), third.ID)
		}
		for _, method := range []sdk.PaymentMethod{{Token: "pm_unknown"}, {Token: visa.ID}, {Card: &sdk.Card{Number: "4242424242424241", ExpMonth: 1, ExpYear: 2099, CVC: "123"}}} {
			_, err := c.Customers.CreatePaymentMethod(background, ada.ID, &sdk.SavedPaymentMethodCreate{PaymentMethod: method})
			refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "payment_method")
		}
		_, err := c.Customers.CreatePaymentMethod(background, "cus_00000000000000000000000000", &sdk.SavedPaymentMethodCreate{PaymentMethod: sdk.PaymentMethod{Token: "pm_card_visa"}})
		refused(t, err, http.StatusNotFound, sdk.CodeResourceMissing, "")
	})
}

func TestPaymentMethod_IsNotSavedUnasked(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		order := paidWith(t, c, "pm_card_visa")
		if methods := ok[*sdk.SavedPaymentMethodList](t)(c.Customers.ListPaymentMethods(background, order.Customer.ID, nil)).Data; len(methods) != 0 {
			t.Errorf("the payment methods are %+v", methods)
		}
	})
}

// A saved method is its customer's alone.
func TestPaymentMethod_PaysForNobodyElse(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		ada := ok[*sdk.Customer](t)(c.Customers.Create(background, &sdk.CustomerCreate{Email: "ada@example.com"}))
		grace := ok[*sdk.Customer](t)(c.Customers.Create(background, &sdk.CustomerCreate{Email: "grace@example.com"}))
		payAndSave(t, c, ada, "pm_card_visa")
		saved := ok[*sdk.SavedPaymentMethodList](t)(c.Customers.ListPaymentMethods(background, ada.ID, nil)).Data[0]
		_, err := c.Checkouts.Confirm(background, cart(t, c, grace).ID, &sdk.CheckoutConfirm{PaymentMethod: &sdk.PaymentMethod{Token: saved.ID}})
		refused(t, err, http.StatusNotFound, sdk.CodeResourceMissing, "payment_method")
		_, err = c.Customers.Update(background, grace.ID, &sdk.CustomerUpdate{DefaultPaymentMethod: sdk.Set(saved.ID)})
		refused(t, err, http.StatusNotFound, sdk.CodeResourceMissing, "default_payment_method")
		_, err = c.Customers.DeletePaymentMethod(background, grace.ID, saved.ID)
		refused(t, err, http.StatusNotFound, sdk.CodeResourceMissing, "")
	})
}

func TestDeleteCustomerPaymentMethod_TakesTheDefaultAway(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		ada := ok[*sdk.Customer](t)(c.Customers.Create(background, &sdk.CustomerCreate{Email: "ada@example.com"}))
		payAndSave(t, c, ada, "pm_card_visa")
		payAndSave(t, c, ada, "pm_card_amex")
		methods := ok[*sdk.SavedPaymentMethodList](t)(c.Customers.ListPaymentMethods(background, ada.ID, nil)).Data
		ada = ok[*sdk.Customer](t)(c.Customers.Update(background, ada.ID, &sdk.CustomerUpdate{DefaultPaymentMethod: sdk.Set(methods[0].ID)}))
		if ada.DefaultPaymentMethod.ID != methods[0].ID {
			t.Errorf("the default is %+v", ada.DefaultPaymentMethod)
		}
		ok[*sdk.Deleted](t)(c.Customers.DeletePaymentMethod(background, ada.ID, methods[0].ID))
		_, err := c.Customers.DeletePaymentMethod(background, ada.ID, methods[0].ID)
		refused(t, err, http.StatusNotFound, sdk.CodeResourceMissing, "")
		_, err = c.Checkouts.Confirm(background, cart(t, c, ada).ID, &sdk.CheckoutConfirm{PaymentMethod: &sdk.PaymentMethod{Token: methods[0].ID}})
		refused(t, err, http.StatusNotFound, sdk.CodeResourceMissing, "payment_method")
		ada = ok[*sdk.Customer](t)(c.Customers.Get(background, ada.ID))
		left := ok[*sdk.SavedPaymentMethodList](t)(c.Customers.ListPaymentMethods(background, ada.ID, nil)).Data
		assert.Empty(t, ada.DefaultPaymentMethod.ID)
		assert.Len(t, left, 1)
	})
}

// What is free takes a method all the same, if it is to be kept.
func TestPaymentMethod_IsSavedWithoutACharge(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, s *harness.Server) {
		ada := ok[*sdk.Customer](t)(c.Customers.Create(background, &sdk.CustomerCreate{Email: "ada@example.com"}))
		free := ok[*sdk.Product](t)(c.Products.Create(background, &sdk.ProductCreate{
			Name: "Free", Status: new(sdk.ProductStatusActive), PriceVariants: []sdk.ProductPriceVariant{{AmountType: new(sdk.PriceVariantAmountTypeFree)}},
		}))
		checkout := ok[*sdk.Checkout](t)(c.Checkouts.Create(background, &sdk.CheckoutCreate{Customer: &ada.ID, LineItems: []sdk.CheckoutLine{{PriceVariant: free.PriceVariants[0].ID}}}))
		done := ok[*sdk.Checkout](t)(c.Checkouts.Confirm(background, checkout.ID, &sdk.CheckoutConfirm{
			PaymentMethod: &sdk.PaymentMethod{Token: "pm_card_chargeCustomerFail"}, SavePaymentMethod: new(true),
		}, sdk.Expand("order")))
		assert.EqualValues(t, "no_payment_required", done.PaymentStatus, "the checkout")
		assert.EqualValues(t, "paid", done.Order.Object.Status, "the checkout")
		assert.Empty(t, done.Order.Object.Payments, "the checkout")
		saved := ok[*sdk.SavedPaymentMethodList](t)(c.Customers.ListPaymentMethods(background, ada.ID, nil)).Data
		charges := s.Count(t, "test_charges WHERE amount > 0 AND account_id = '"+accountOf(t, c)+"'")
		require.Len(t, saved, 1)
		require.Zero(t, charges)
		_, err := c.Checkouts.Confirm(background, cart(t, c, ada).ID, &sdk.CheckoutConfirm{PaymentMethod: &sdk.PaymentMethod{Token: saved[0].ID}})
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "payment_method")
	})
}

// pastDue makes a subscription whose first renewal has just failed.
func pastDue(t *testing.T, c *sdk.Client) *sdk.Subscription {
	t.Helper()
	sub := ok[*sdk.Subscription](t)(c.Subscriptions.Create(background, &sdk.SubscriptionCreate{
		Customer: member(t, c).ID, PriceVariant: monthly(t, c, 900).ID, PaymentMethod: new("tok_fail_on_renewal"),
	}))
	endPeriod(t, c, sub)
	sub = ok[*sdk.Subscription](t)(c.Subscriptions.Get(background, sub.ID))
	if sub.Status != sdk.SubscriptionStatusPastDue {
		t.Fatalf("it is %s", sub.Status)
	}
	return sub
}

// methodOf saves a card of the subscription's customer and returns its id.
func methodOf(t *testing.T, c *sdk.Client, sub *sdk.Subscription, token string) string {
	t.Helper()
	payAndSave(t, c, ok[*sdk.Customer](t)(c.Customers.Get(background, sub.Customer.ID)), token)
	return ok[*sdk.SavedPaymentMethodList](t)(c.Customers.ListPaymentMethods(background, sub.Customer.ID, nil)).Data[0].ID
}

func TestUpdateCustomer_TriesANewDefaultOnWhatIsPastDue(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		sub := pastDue(t, c)
		method := methodOf(t, c, sub, "pm_card_visa")
		advance(t, c, 0)
		if still := ok[*sdk.Subscription](t)(c.Subscriptions.Get(background, sub.ID)); still.Status != sdk.SubscriptionStatusPastDue {
			t.Errorf("a card that is not the default made it %s", still.Status)
		}
		ok[*sdk.Customer](t)(c.Customers.Update(background, sub.Customer.ID, &sdk.CustomerUpdate{DefaultPaymentMethod: sdk.Set(method)}))
		advance(t, c, 0)
		paid := ok[*sdk.Subscription](t)(c.Subscriptions.Get(background, sub.ID, sdk.Expand("latest_invoice")))
		assert.Equal(t, sdk.SubscriptionStatusActive, paid.Status)
		assert.Equal(t, method, paid.PaymentMethod.ID)
		assert.Equal(t, sdk.InvoiceStatusPaid, paid.LatestInvoice.Object.Status)
		advance(t, c, 31*24*time.Hour)
		next := ok[*sdk.Subscription](t)(c.Subscriptions.Get(background, sub.ID))
		assert.Equal(t, sdk.SubscriptionStatusActive, next.Status, "a month later")
		assert.EqualValues(t, 3, next.CyclesBilled, "a month later")
	})
}

// An attempt with a new default is one more: those that are planned stay as many and where they are.
func TestUpdateCustomer_LeavesThePlannedAttemptsToADefaultThatFails(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, s *harness.Server) {
		sub := pastDue(t, c)
		attempts := func() int {
			return s.Count(t, "payments WHERE purpose = 'invoice' AND account_id = '"+accountOf(t, c)+"'")
		}
		before := attempts()
		method := methodOf(t, c, sub, "tok_fail_on_renewal")
		for range 2 { // the second time it is no new one
			ok[*sdk.Customer](t)(c.Customers.Update(background, sub.Customer.ID, &sdk.CustomerUpdate{DefaultPaymentMethod: sdk.Set(method), Name: sdk.Set(unique())}))
			advance(t, c, 0)
		}
		got := ok[*sdk.Subscription](t)(c.Subscriptions.Get(background, sub.ID))
		assert.Equal(t, sdk.SubscriptionStatusPastDue, got.Status)
		assert.Equal(t, *sub.NextPaymentAttemptAt, *got.NextPaymentAttemptAt)
		assert.Equal(t, before+1, attempts())
		for range 5 { // as many are planned, the first of which was before
			advance(t, c, 8*24*time.Hour)
		}
		ended := ok[*sdk.Subscription](t)(c.Subscriptions.Get(background, sub.ID))
		assert.Equal(t, sdk.SubscriptionStatusCanceled, ended.Status)
		assert.Equal(t, before+5, attempts())
	})
}

// A card that is saved while the customer has no default becomes it, and is tried as one that the seller chooses.
func TestConfirmCheckout_TriesASavedCardOnWhatIsPastDue(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		sub := pastDue(t, c)
		ok[*sdk.Deleted](t)(c.Customers.DeletePaymentMethod(background, sub.Customer.ID, sub.PaymentMethod.ID))
		method := methodOf(t, c, sub, "pm_card_visa")
		advance(t, c, 0)
		paid := ok[*sdk.Subscription](t)(c.Subscriptions.Get(background, sub.ID))
		assert.Equal(t, sdk.SubscriptionStatusActive, paid.Status)
		assert.Equal(t, method, paid.PaymentMethod.ID)
	})
}

// A subscription names what it is charged to as everything else that it points at: by id, or whole.
func TestSubscription_ExpandsItsPaymentMethod(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		sub := subscription(t, c, monthly(t, c, 900))
		saved := ok[*sdk.SavedPaymentMethodList](t)(c.Customers.ListPaymentMethods(background, sub.Customer.ID, nil)).Data[0]
		assert.Equal(t, saved.ID, sub.PaymentMethod.ID, "without expand")
		assert.Nil(t, sub.PaymentMethod.Object, "without expand")
		get := func() sdk.Expandable[sdk.SavedPaymentMethod] {
			return ok[*sdk.Subscription](t)(c.Subscriptions.Get(background, sub.ID, sdk.Expand("payment_method"))).PaymentMethod
		}
		got := get()
		require.NotNil(t, got.Object)
		assert.False(t, *got.Object != saved)
		assert.Equal(t, "payment_method", got.Object.Object)
		listed := ok[*sdk.SubscriptionList](t)(c.Subscriptions.List(background, nil, sdk.Expand("payment_method"))).Data
		require.Len(t, listed, 1, "in a list")
		require.NotNil(t, listed[0].PaymentMethod.Object, "in a list")
		assert.False(t, *listed[0].PaymentMethod.Object != saved, "in a list")
		ok[*sdk.Deleted](t)(c.Customers.DeletePaymentMethod(background, sub.Customer.ID, saved.ID))
		got = get()
		assert.Equal(t, saved.ID, got.ID, "deleted")
		require.NotNil(t, got.Deleted, "deleted")
		assert.Equal(t, "payment_method", got.Deleted.Object, "deleted")
	})
}

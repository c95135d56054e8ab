package contract

import (
	"net/http"
	"testing"
	"time"

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
		if len(methods) != 2 || methods[0].Brand != "visa" || methods[1].Brand != "mastercard" || methods[0].Customer != ada.ID || methods[0].Last4 != "4242" {
			t.Fatalf("the payment methods are %+v", methods)
		}
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
		if visa.Brand != "visa" || visa.Customer != ada.ID || chosen() != visa.ID {
			t.Errorf("the first method is %+v, and %s the default", visa, chosen())
		}
		if again := save("pm_card_visa", false, sdk.WithIdempotencyKey("visa")); again.ID != visa.ID {
			t.Errorf("the request sent again saved %s beside %s", again.ID, visa.ID)
		}
		if second := save("pm_card_mastercard", false); chosen() != visa.ID || second.ID == visa.ID {
			t.Errorf("the default is %s unasked, after %s", chosen(), second.ID)
		}
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
		if left := ok[*sdk.SavedPaymentMethodList](t)(c.Customers.ListPaymentMethods(background, ada.ID, nil)).Data; ada.DefaultPaymentMethod.ID != "" || len(left) != 1 {
			t.Errorf("the default is %+v of %+v", ada.DefaultPaymentMethod, left)
		}
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
		if done.PaymentStatus != "no_payment_required" || done.Order.Object.Status != "paid" || len(done.Order.Object.Payments) != 0 {
			t.Errorf("the checkout is %+v", done)
		}
		saved := ok[*sdk.SavedPaymentMethodList](t)(c.Customers.ListPaymentMethods(background, ada.ID, nil)).Data
		if charges := s.Count(t, "test_charges WHERE amount > 0 AND account_id = '"+accountOf(t, c)+"'"); len(saved) != 1 || charges != 0 {
			t.Fatalf("%d payment methods are saved with %d charges", len(saved), charges)
		}
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
	advance(t, c, time.Until(sub.CurrentPeriodEnd.Time())+time.Hour)
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
		if paid.Status != sdk.SubscriptionStatusActive || paid.PaymentMethod.ID != method || paid.LatestInvoice.Object.Status != sdk.InvoiceStatusPaid {
			t.Errorf("it is %+v", paid)
		}
		advance(t, c, 31*24*time.Hour)
		if next := ok[*sdk.Subscription](t)(c.Subscriptions.Get(background, sub.ID)); next.Status != sdk.SubscriptionStatusActive || next.CyclesBilled != 3 {
			t.Errorf("a month later it is %+v", next)
		}
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
		if got.Status != sdk.SubscriptionStatusPastDue || *got.NextPaymentAttemptAt != *sub.NextPaymentAttemptAt || attempts() != before+1 {
			t.Errorf("after %d attempts it is %+v", attempts()-before, got)
		}
		for range 5 { // as many are planned, the first of which was before
			advance(t, c, 8*24*time.Hour)
		}
		if ended := ok[*sdk.Subscription](t)(c.Subscriptions.Get(background, sub.ID)); ended.Status != sdk.SubscriptionStatusCanceled || attempts() != before+5 {
			t.Errorf("after %d attempts it is %s", attempts()-before, ended.Status)
		}
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
		if paid.Status != sdk.SubscriptionStatusActive || paid.PaymentMethod.ID != method {
			t.Errorf("it is %+v", paid)
		}
	})
}

// A subscription names what it is charged to as everything else that it points at: by id, or whole.
func TestSubscription_ExpandsItsPaymentMethod(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		sub := subscription(t, c, monthly(t, c, 900))
		saved := ok[*sdk.SavedPaymentMethodList](t)(c.Customers.ListPaymentMethods(background, sub.Customer.ID, nil)).Data[0]
		if sub.PaymentMethod.ID != saved.ID || sub.PaymentMethod.Object != nil {
			t.Errorf("without expand it is %+v", sub.PaymentMethod)
		}
		get := func() sdk.Expandable[sdk.SavedPaymentMethod] {
			return ok[*sdk.Subscription](t)(c.Subscriptions.Get(background, sub.ID, sdk.Expand("payment_method"))).PaymentMethod
		}
		if got := get(); got.Object == nil || *got.Object != saved || got.Object.Object != "payment_method" {
			t.Errorf("expanded it is %+v, and %+v is saved", got.Object, saved)
		}
		listed := ok[*sdk.SubscriptionList](t)(c.Subscriptions.List(background, nil, sdk.Expand("payment_method"))).Data
		if len(listed) != 1 || listed[0].PaymentMethod.Object == nil || *listed[0].PaymentMethod.Object != saved {
			t.Errorf("in a list it is %+v", listed)
		}
		ok[*sdk.Deleted](t)(c.Customers.DeletePaymentMethod(background, sub.Customer.ID, saved.ID))
		if got := get(); got.ID != saved.ID || got.Deleted == nil || got.Deleted.Object != "payment_method" {
			t.Errorf("deleted it is %+v", got)
		}
	})
}

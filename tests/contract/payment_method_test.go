package contract

import (
	"net/http"
	"testing"

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
		if len(saved) != 1 || s.Count(t, "test_charges") != 0 {
			t.Fatalf("%d payment methods are saved with %d charges", len(saved), s.Count(t, "test_charges"))
		}
		_, err := c.Checkouts.Confirm(background, cart(t, c, ada).ID, &sdk.CheckoutConfirm{PaymentMethod: &sdk.PaymentMethod{Token: saved[0].ID}})
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "payment_method")
	})
}

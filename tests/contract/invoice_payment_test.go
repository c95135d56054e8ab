package contract

import (
	"net/http"
	"testing"
	"time"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/tests/harness"
)

func payWith(method string) *sdk.InvoicePay {
	return &sdk.InvoicePay{PaymentMethod: &sdk.PaymentMethod{Token: method}}
}

func TestPayInvoice_ADeclineLeavesItAsItIs(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		open := issue(t, c, billed(t, c), workshop(120000))
		_, err := c.Invoices.Pay(background, open.ID, payWith("pm_card_chargeDeclined"))
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "payment_method")
		after := ok[*sdk.Invoice](t)(c.Invoices.Get(background, open.ID))
		if after.Status != "open" || after.AmountDue != 120000 || after.NextPaymentAttemptAt != nil {
			t.Errorf("after a decline the invoice is %+v", after)
		}

		paid := ok[*sdk.Invoice](t)(c.Invoices.Pay(background, open.ID, payWith("pm_card_visa"), sdk.Expand("order")))
		if paid.Status != "paid" || paid.AmountPaid != 120000 || paid.AmountDue != 0 || paid.PaidOutOfBand || paid.Order.Object.Status != "paid" {
			t.Errorf("the paid invoice is %+v", paid)
		}
		for _, again := range []*sdk.InvoicePay{payWith("pm_card_visa"), {OutOfBand: new(true)}} {
			_, err = c.Invoices.Pay(background, open.ID, again)
			refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "status")
		}
		_, err = c.Invoices.Void(background, open.ID)
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "status")
	})
}

func TestPayInvoice_OutOfBand(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		open := issue(t, c, billed(t, c), workshop(5000))
		_, err := c.Invoices.Pay(background, open.ID, &sdk.InvoicePay{OutOfBand: new(true), PaymentMethod: &sdk.PaymentMethod{Token: "pm_card_visa"}})
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "payment_method")
		paid := ok[*sdk.Invoice](t)(c.Invoices.Pay(background, open.ID, &sdk.InvoicePay{OutOfBand: new(true)}, sdk.Expand("order")))
		if paid.Status != "paid" || !paid.PaidOutOfBand || paid.AmountPaid != 5000 {
			t.Errorf("the paid invoice is %+v", paid)
		}
		order := ok[*sdk.Order](t)(c.Orders.Get(background, paid.Order.ID, sdk.Expand("payments")))
		if len(order.Payments) != 1 || order.Payments[0].Object.Provider != "out_of_band" || order.Payments[0].Object.PaymentMethod != nil {
			t.Errorf("the payments are %+v", order.Payments)
		}
	})
}

// An invoice of a subscription is charged to what the subscription is charged to, and to the customer's default card only once that
// is gone: so it is when it is renewed, tried again by schedule, or paid by the seller.
func TestPayInvoice_ChargesWhatItsSubscriptionIsChargedTo(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		who := member(t, c)
		ok[*sdk.SavedPaymentMethod](t)(c.Customers.CreatePaymentMethod(background, who.ID, &sdk.SavedPaymentMethodCreate{PaymentMethod: sdk.PaymentMethod{Token: "pm_card_mastercard"}}))
		sub := ok[*sdk.Subscription](t)(c.Subscriptions.Create(background, &sdk.SubscriptionCreate{Customer: who.ID, PriceVariant: monthly(t, c, 900).ID, PaymentMethod: new("tok_fail_on_renewal")}))
		advance(t, c, 32*24*time.Hour)
		invoice := ok[*sdk.Subscription](t)(c.Subscriptions.Get(background, sub.ID)).LatestInvoice.ID
		_, err := c.Invoices.Pay(background, invoice, &sdk.InvoicePay{})
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "payment_method")
		advance(t, c, 3*24*time.Hour)
		if tried := ok[*sdk.Invoice](t)(c.Invoices.Get(background, invoice)); tried.Status != sdk.InvoiceStatusPastDue || tried.AttemptCount != 3 {
			t.Errorf("the renewal, the seller and the schedule tried a card that fails, and it is %+v", tried)
		}
		ok[*sdk.Deleted](t)(c.Customers.DeletePaymentMethod(background, who.ID, sub.PaymentMethod.ID))
		paid := ok[*sdk.Invoice](t)(c.Invoices.Pay(background, invoice, &sdk.InvoicePay{}, sdk.Expand("payments")))
		if len(paid.Payments) != 1 || paid.Payments[0].Object.PaymentMethod.Brand != "mastercard" {
			t.Errorf("its card is removed, and it is paid with %+v", paid.Payments)
		}
	})
}

func TestPayInvoice_NeedsAWayAndAnIssuedInvoice(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		written := draft(t, c, billed(t, c), workshop(5000))
		_, err := c.Invoices.Pay(background, written.ID, payWith("pm_card_visa"))
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "status")
		open := issue(t, c, billed(t, c), workshop(5000))
		for _, how := range []*sdk.InvoicePay{{}, payWith("pm_nobody")} {
			_, err = c.Invoices.Pay(background, open.ID, how)
			refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "payment_method")
		}
	})
}

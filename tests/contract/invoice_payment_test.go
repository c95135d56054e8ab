package contract

import (
	"net/http"
	"testing"

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

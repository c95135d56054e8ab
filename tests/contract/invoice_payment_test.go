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

func payWith(method string) *sdk.InvoicePay {
	return &sdk.InvoicePay{PaymentMethod: &sdk.PaymentMethod{Token: method}}
}

func TestPayInvoice_ADeclineLeavesItAsItIs(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		open := issue(t, c, billed(t, c), workshop(120000))
		_, err := c.Invoices.Pay(background, open.ID, payWith("pm_card_chargeDeclined"))
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "payment_method")
		after := ok[*sdk.Invoice](t)(c.Invoices.Get(background, open.ID))
		assert.EqualValues(t, "open", after.Status, "after a decline the invoice")
		assert.EqualValues(t, 120000, after.AmountDue, "after a decline the invoice")
		assert.Nil(t, after.NextPaymentAttemptAt, "after a decline the invoice")

		paid := ok[*sdk.Invoice](t)(c.Invoices.Pay(background, open.ID, payWith("pm_card_visa"), sdk.Expand("order")))
		assert.EqualValues(t, "paid", paid.Status, "the paid invoice")
		assert.EqualValues(t, 120000, paid.AmountPaid, "the paid invoice")
		assert.Zero(t, paid.AmountDue, "the paid invoice")
		assert.False(t, paid.PaidOutOfBand, "the paid invoice")
		assert.EqualValues(t, "paid", paid.Order.Object.Status, "the paid invoice")
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
		assert.EqualValues(t, "paid", paid.Status, "the paid invoice")
		assert.True(t, paid.PaidOutOfBand, "the paid invoice")
		assert.EqualValues(t, 5000, paid.AmountPaid, "the paid invoice")
		order := ok[*sdk.Order](t)(c.Orders.Get(background, paid.Order.ID, sdk.Expand("payments")))
		require.Len(t, order.Payments, 1, "the payments")
		assert.Equal(t, "out_of_band", order.Payments[0].Object.Provider, "the payments")
		assert.Nil(t, order.Payments[0].Object.PaymentMethod, "the payments")
	})
}

// An invoice of a subscription is charged to what the subscription is charged to. It is charged to the customer's default card only once that is
// gone. This holds when it is renewed, tried again by schedule, or paid by the seller.
func TestPayInvoice_ChargesWhatItsSubscriptionIsChargedTo(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		who := member(t, c)
		ok[*sdk.SavedPaymentMethod](t)(c.Customers.CreatePaymentMethod(background, who.ID, &sdk.SavedPaymentMethodCreate{PaymentMethod: sdk.PaymentMethod{Token: "pm_card_mastercard"}}))
		sub := ok[*sdk.Subscription](t)(c.Subscriptions.Create(background, &sdk.SubscriptionCreate{Customer: who.ID, PriceVariant: monthly(t, c, 900).ID, PaymentMethod: new("tok_fail_on_renewal")}))
		endPeriod(t, c, sub)
		invoice := ok[*sdk.Subscription](t)(c.Subscriptions.Get(background, sub.ID)).LatestInvoice.ID
		_, err := c.Invoices.Pay(background, invoice, &sdk.InvoicePay{})
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "payment_method")
		advance(t, c, 3*24*time.Hour)
		tried := ok[*sdk.Invoice](t)(c.Invoices.Get(background, invoice))
		assert.Equal(t, sdk.InvoiceStatusPastDue, tried.Status, "the renewal, the seller and the schedule tried a card that fails")
		assert.EqualValues(t, 3, tried.AttemptCount, "the renewal, the seller and the schedule tried a card that fails")
		ok[*sdk.Deleted](t)(c.Customers.DeletePaymentMethod(background, who.ID, sub.PaymentMethod.ID))
		paid := ok[*sdk.Invoice](t)(c.Invoices.Pay(background, invoice, &sdk.InvoicePay{}, sdk.Expand("payments")))
		require.Len(t, paid.Payments, 1, "its card is removed, and it is paid")
		assert.Equal(t, "mastercard", paid.Payments[0].Object.PaymentMethod.Brand, "its card is removed, and it is paid")
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

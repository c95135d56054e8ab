package contract

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/tests/harness"
)

// paidWith is a paid order of one guide for 1900, charged to a test card.
func paidWith(t *testing.T, c *sdk.Client, token string) *sdk.Order {
	t.Helper()
	guide := onSale(t, c, 1900)
	checkout := ok[*sdk.Checkout](t)(c.Checkouts.Create(background, &sdk.CheckoutCreate{
		CustomerEmail: new("ada@example.com"), CustomerEmailVerified: new(true), LineItems: []sdk.CheckoutLine{{PriceVariant: guide.ID}},
	}))
	done := ok[*sdk.Checkout](t)(c.Checkouts.Confirm(background, checkout.ID, &sdk.CheckoutConfirm{PaymentMethod: &sdk.PaymentMethod{Token: token}}))
	return ok[*sdk.Order](t)(c.Orders.Get(background, done.Order.ID))
}

func TestCreateRefund_CountsInItsOrder(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		order := paidWith(t, c, "pm_card_visa")
		part := ok[*sdk.Refund](t)(c.Refunds.Create(background, &sdk.RefundCreate{
			Order: order.ID, Amount: new(int64(500)), Reason: new(sdk.RefundReason("duplicate")), Comment: new("twice"),
			Metadata: &sdk.Metadata{"ticket": "7"},
		}, sdk.Expand("order", "payment", "customer")))
		switch {
		case part.Status != "succeeded", part.SucceededAt == nil, part.Amount != 500, part.Currency != "usd", part.FailureReason != nil:
			t.Errorf("the refund is %+v", part)
		case part.Reason != "duplicate", *part.Comment != "twice", part.Metadata["ticket"] != "7", part.RevokeAccess, part.ProviderRefundID == nil:
			t.Errorf("the refund is %+v", part)
		case part.Order.Object.Status != "partially_refunded", part.Order.Object.RefundedAmount != 500, part.Order.Object.RefundableAmount != 1400:
			t.Errorf("its order is %+v", part.Order.Object)
		case part.Customer.Object.TotalSpent["usd"] != 1400, part.Payment.Object.Amount != 1900:
			t.Errorf("customer and payment are %+v and %+v", part.Customer.Object, part.Payment.Object)
		}
		rest := ok[*sdk.Refund](t)(c.Refunds.Create(background, &sdk.RefundCreate{Order: order.ID}))
		assert.EqualValues(t, 1400, rest.Amount, "the rest")
		assert.EqualValues(t, "customer_request", rest.Reason, "the rest")
		assert.True(t, rest.RevokeAccess, "the rest")
		order = ok[*sdk.Order](t)(c.Orders.Get(background, order.ID, sdk.Expand("refunds")))
		assert.EqualValues(t, "refunded", order.Status, "the order")
		require.Len(t, order.Refunds, 2, "the order")
		assert.Equal(t, rest.ID, order.Refunds[1].Object.ID, "the order")
		assert.Zero(t, order.RefundableAmount, "the order")
		_, err := c.Refunds.Create(background, &sdk.RefundCreate{Order: order.ID})
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "amount")
	})
}

func TestCreateRefund_Refuses(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		order := paidWith(t, c, "pm_card_visa")
		for field, in := range map[string]sdk.RefundCreate{
			"amount": {Order: order.ID, Amount: new(int64(1901))}, "reason": {Order: order.ID, Reason: new(sdk.RefundReason("whim"))},
		} {
			_, err := c.Refunds.Create(background, &in)
			refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, field)
		}
		_, err := c.Refunds.Create(background, &sdk.RefundCreate{Order: order.ID, Amount: new(int64(0))})
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "amount")
		_, err = c.Refunds.Create(background, &sdk.RefundCreate{Order: randomID("order")})
		refused(t, err, http.StatusNotFound, sdk.CodeResourceMissing, "order")
	})
}

// Money that no provider took cannot be sent back by one.
func TestCreateRefund_OfWhatWasPaidOutOfBand(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		ada := ok[*sdk.Customer](t)(c.Customers.Create(background, &sdk.CustomerCreate{Email: "ada@example.com"}))
		invoice := issue(t, c, ada, workshop(5000))
		_, err := c.Refunds.Create(background, &sdk.RefundCreate{Order: invoice.Order.ID})
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "order")
		ok[*sdk.Invoice](t)(c.Invoices.Pay(background, invoice.ID, &sdk.InvoicePay{OutOfBand: new(true)}))
		_, err = c.Refunds.Create(background, &sdk.RefundCreate{Order: invoice.Order.ID})
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "order")
	})
}

// A customer's saved method pays their invoices, too.
func TestPayInvoice_WithASavedMethod(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		ada := ok[*sdk.Customer](t)(c.Customers.Create(background, &sdk.CustomerCreate{Email: "ada@example.com"}))
		payAndSave(t, c, ada, "pm_card_visa")
		saved := ok[*sdk.SavedPaymentMethodList](t)(c.Customers.ListPaymentMethods(background, ada.ID, nil)).Data[0]
		invoice := issue(t, c, ada, workshop(5000))
		_, err := c.Invoices.Pay(background, invoice.ID, &sdk.InvoicePay{PaymentMethod: &sdk.PaymentMethod{Token: randomID("pm")}})
		refused(t, err, http.StatusNotFound, sdk.CodeResourceMissing, "payment_method")
		paid := ok[*sdk.Invoice](t)(c.Invoices.Pay(background, invoice.ID, &sdk.InvoicePay{PaymentMethod: &sdk.PaymentMethod{Token: saved.ID}}))
		refund := ok[*sdk.Refund](t)(c.Refunds.Create(background, &sdk.RefundCreate{Order: paid.Order.ID}))
		assert.EqualValues(t, "paid", paid.Status)
		assert.EqualValues(t, "succeeded", refund.Status)
		assert.Equal(t, paid.TotalAmount, refund.Amount)
		assert.Equal(t, paid.TaxAmount, refund.TaxAmount)
	})
}

// Fifty at once want a hundred each of nineteen hundred.
func TestCreateRefund_ParallelOnesNeverGiveBackTooMuch(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		order := paidWith(t, c, "pm_card_visa")
		within, cancel := context.WithTimeout(background, 3*time.Minute)
		defer cancel()
		var made atomic.Int64
		var group sync.WaitGroup
		for range 50 {
			group.Go(func() {
				key, status := randomID("key"), http.StatusServiceUnavailable
				var err error
				for status == http.StatusServiceUnavailable { // the last of fifty may wait for longer than the server lets them: they ask again
					var answer sdk.Response
					_, err = c.Refunds.Create(within, &sdk.RefundCreate{Order: order.ID, Amount: new(int64(100))}, sdk.WithIdempotencyKey(key), sdk.WithResponse(&answer))
					status = answer.Status
				}
				if err == nil {
					made.Add(1)
					return
				}
				refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "amount")
			})
		}
		group.Wait()
		order = ok[*sdk.Order](t)(c.Orders.Get(background, order.ID))
		assert.EqualValues(t, 19, made.Load())
		assert.Zero(t, order.RefundableAmount)
		assert.EqualValues(t, "refunded", order.Status)
	})
}

func TestRefund_PendingOnesAreSettledOrCanceled(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		pending := func(order *sdk.Order, amount int64) *sdk.Refund {
			t.Helper()
			r := ok[*sdk.Refund](t)(c.Refunds.Create(background, &sdk.RefundCreate{Order: order.ID, Amount: &amount}))
			require.EqualValues(t, "pending", r.Status, "the refund")
			require.Nil(t, r.SucceededAt, "the refund")
			return r
		}
		order := paidWith(t, c, "pm_card_pendingRefund")
		settled := ok[*sdk.Refund](t)(c.TestHelpers.SettleRefund(background, pending(order, 300).ID, &sdk.RefundSettlement{Status: "succeeded"}))
		failed := ok[*sdk.Refund](t)(c.TestHelpers.SettleRefund(background, pending(order, 500).ID, &sdk.RefundSettlement{Status: "failed"}))
		canceled := ok[*sdk.Refund](t)(c.Refunds.Cancel(background, pending(order, 700).ID))
		again := ok[*sdk.Refund](t)(c.Refunds.Cancel(background, canceled.ID))
		assert.EqualValues(t, "succeeded", settled.Status)
		assert.EqualValues(t, "failed", failed.Status)
		assert.Equal(t, "expired_or_canceled_card", *failed.FailureReason)
		assert.EqualValues(t, "canceled", canceled.Status)
		assert.Equal(t, canceled.UpdatedAt, again.UpdatedAt)
		order = ok[*sdk.Order](t)(c.Orders.Get(background, order.ID, sdk.Expand("customer")))
		assert.EqualValues(t, "partially_refunded", order.Status, "the order")
		assert.EqualValues(t, 300, order.RefundedAmount, "the order")
		assert.EqualValues(t, 1600, order.Customer.Object.TotalSpent["usd"], "the order")
		_, err := c.Refunds.Cancel(background, settled.ID)
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "status")
		_, err = c.TestHelpers.SettleRefund(background, settled.ID, &sdk.RefundSettlement{Status: "failed"})
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "status")
	})
}

// The invoice says at every moment what its order does.
func TestRefund_IsNotedOnTheInvoice(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		order := paidWith(t, c, "pm_card_pendingRefund")
		noted := func(want int64, refunds ...sdk.RefundStatus) {
			t.Helper()
			invoice := ok[*sdk.Invoice](t)(c.Invoices.Get(background, order.Invoice.ID, sdk.Expand("payments", "refunds")))
			require.Equal(t, want, invoice.CreditNotes, "the invoice")
			require.EqualValues(t, 1900, invoice.AmountPaid, "the invoice")
			require.EqualValues(t, "paid", invoice.Status, "the invoice")
			require.Len(t, invoice.Refunds, len(refunds), "the invoice")
			for i, status := range refunds {
				if invoice.Refunds[i].Object.Status != status {
					t.Errorf("refund %d is %s", i, invoice.Refunds[i].Object.Status)
				}
			}
			require.Len(t, invoice.Payments, 1, "the payments")
			assert.EqualValues(t, 1900, invoice.Payments[0].Object.Amount, "the payments")
		}
		give := func(amount int64) string {
			t.Helper()
			return ok[*sdk.Refund](t)(c.Refunds.Create(background, &sdk.RefundCreate{Order: order.ID, Amount: &amount})).ID
		}
		noted(0)
		first := give(300)
		noted(300, "pending")
		ok[*sdk.Refund](t)(c.TestHelpers.SettleRefund(background, first, &sdk.RefundSettlement{Status: "succeeded"}))
		second := give(1600)
		noted(1900, "succeeded", "pending")
		ok[*sdk.Refund](t)(c.Refunds.Cancel(background, second))
		noted(300, "succeeded", "canceled")
		ok[*sdk.Refund](t)(c.TestHelpers.SettleRefund(background, give(200), &sdk.RefundSettlement{Status: "failed"}))
		noted(300, "succeeded", "canceled", "failed")
	})
}

// Neither writes over what the other has written, and neither waits for ever.
func TestRefund_BesideChangesOfTheInvoice(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		order := paidWith(t, c, "pm_card_visa")
		var group sync.WaitGroup
		for n := range 10 {
			group.Go(func() {
				ok[*sdk.Refund](t)(c.Refunds.Create(background, &sdk.RefundCreate{Order: order.ID, Amount: new(int64(100))}))
			})
			group.Go(func() {
				ok[*sdk.Invoice](t)(c.Invoices.Update(background, order.Invoice.ID, &sdk.InvoiceUpdate{Metadata: sdk.Set(sdk.MetadataUpdate{fmt.Sprint("key", n): new("x")})}))
			})
		}
		group.Wait()
		invoice := ok[*sdk.Invoice](t)(c.Invoices.Get(background, order.Invoice.ID))
		assert.EqualValues(t, 1000, invoice.CreditNotes, "the invoice")
		require.Len(t, invoice.Refunds, 10, "the invoice")
		assert.Len(t, invoice.Metadata, 10, "the invoice")
	})
}

func TestAuthenticateTestPayment_LetsAPaymentThrough(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, s *harness.Server) {
		account := accountOf(t, c)
		paymentIs := func(status string) string {
			return s.Strings(t, `SELECT id FROM payments WHERE account_id = '`+account+`' AND status = '`+status+`'`)[0]
		}
		guide := onSale(t, c, 1900)
		checkout := ok[*sdk.Checkout](t)(c.Checkouts.Create(background, &sdk.CheckoutCreate{
			CustomerEmail: new("ada@example.com"), CustomerEmailVerified: new(true), LineItems: []sdk.CheckoutLine{{PriceVariant: guide.ID}},
		}))
		_, err := c.Checkouts.Confirm(background, checkout.ID, &sdk.CheckoutConfirm{PaymentMethod: &sdk.PaymentMethod{Token: "pm_card_chargeDeclined"}})
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "payment_method")
		declined := paymentIs("failed")
		_, err = c.TestHelpers.AuthenticatePayment(background, declined)
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "status")

		ok[*sdk.Checkout](t)(c.Checkouts.Confirm(background, checkout.ID, &sdk.CheckoutConfirm{PaymentMethod: &sdk.PaymentMethod{Token: "pm_card_authenticationRequired"}}))
		waiting := paymentIs("requires_action")
		payment := ok[*sdk.Payment](t)(c.TestHelpers.AuthenticatePayment(background, waiting))
		again := ok[*sdk.Payment](t)(c.TestHelpers.AuthenticatePayment(background, waiting))
		assert.EqualValues(t, "succeeded", payment.Status, "the payment")
		require.NotNil(t, payment.Order, "the payment")
		assert.Equal(t, payment.UpdatedAt, again.UpdatedAt, "the payment")
	})
}

func TestListRefunds_Filters(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		ada, slow := paidWith(t, c, "pm_card_visa"), paidWith(t, c, "pm_card_pendingRefund")
		first := ok[*sdk.Refund](t)(c.Refunds.Create(background, &sdk.RefundCreate{Order: ada.ID, Comment: new("Wrong book"), Metadata: &sdk.Metadata{"k": "v"}}))
		second := ok[*sdk.Refund](t)(c.Refunds.Create(background, &sdk.RefundCreate{Order: slow.ID, Reason: new(sdk.RefundReason("fraudulent"))}))
		for _, filter := range []struct {
			params sdk.ListRefundsParams
			want   []string
		}{
			{sdk.ListRefundsParams{}, []string{second.ID, first.ID}},
			{sdk.ListRefundsParams{Order: &ada.ID}, []string{first.ID}},
			{sdk.ListRefundsParams{Customer: &ada.Customer.ID}, []string{second.ID, first.ID}},
			{sdk.ListRefundsParams{Status: new(sdk.RefundStatus("pending"))}, []string{second.ID}},
			{sdk.ListRefundsParams{Reason: new(sdk.RefundReason("fraudulent"))}, []string{second.ID}},
			{sdk.ListRefundsParams{Reason: new(sdk.RefundReason("other"))}, nil},
			{sdk.ListRefundsParams{Q: new("wrong")}, []string{first.ID}},
			{sdk.ListRefundsParams{Metadata: map[string]string{"k": "v"}}, []string{first.ID}},
		} {
			list := ok[*sdk.RefundList](t)(c.Refunds.List(background, &filter.params))
			found := make([]string, len(list.Data))
			for i, refund := range list.Data {
				found[i] = refund.ID
			}
			require.Len(t, found, len(filter.want))
			assert.False(t, len(found) > 0 && (found[0] != filter.want[0] || found[len(found)-1] != filter.want[len(found)-1]))
		}
		_, err := c.Refunds.List(background, &sdk.ListRefundsParams{Order: new(randomID("order"))})
		refused(t, err, http.StatusNotFound, sdk.CodeResourceMissing, "order")
		_, err = c.Refunds.List(background, &sdk.ListRefundsParams{Subscription: new(randomID("sub"))})
		refused(t, err, http.StatusNotFound, sdk.CodeResourceMissing, "subscription")
	})
}

// What a subscription has billed is refunded like a purchase, but does not end its access by itself.
func TestCreateRefund_OfASubscription(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		ada := ok[*sdk.Customer](t)(c.Customers.Create(background, &sdk.CustomerCreate{Email: "ada@example.com"}))
		club := ok[*sdk.Product](t)(c.Products.Create(background, &sdk.ProductCreate{
			Name: "Club", Status: new(sdk.ProductStatusActive), PriceVariants: []sdk.ProductPriceVariant{{
				Type: new(sdk.PriceVariantTypeRecurring), Interval: new(sdk.PriceVariantInterval("month")), IntervalCount: new(int64(1)), Amount: new(int64(900)),
			}},
		}))
		member := ok[*sdk.Subscription](t)(c.Subscriptions.Create(background, &sdk.SubscriptionCreate{
			Customer: ada.ID, PriceVariant: club.PriceVariants[0].ID, PaymentMethod: new("pm_card_visa"),
		}))
		methods := ok[*sdk.SavedPaymentMethodList](t)(c.Customers.ListPaymentMethods(background, ada.ID, nil)).Data
		require.Len(t, methods, 1)
		assert.Equal(t, methods[0].ID, member.PaymentMethod.ID)
		order := ok[*sdk.OrderList](t)(c.Orders.List(background, &sdk.ListOrdersParams{Customer: &ada.ID})).Data[0]
		refund := ok[*sdk.Refund](t)(c.Refunds.Create(background, &sdk.RefundCreate{Order: order.ID}))
		assert.Equal(t, member.ID, refund.Subscription.ID, "the refund")
		assert.False(t, refund.RevokeAccess, "the refund")
		assert.EqualValues(t, "succeeded", refund.Status, "the refund")
		if found := ok[*sdk.RefundList](t)(c.Refunds.List(background, &sdk.ListRefundsParams{Subscription: &member.ID})).Data; len(found) != 1 {
			t.Errorf("%d refunds of the subscription are found", len(found))
		}
	})
}

func TestUpdateRefund_ChangesCommentAndMetadata(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		refund := ok[*sdk.Refund](t)(c.Refunds.Create(background, &sdk.RefundCreate{Order: paidWith(t, c, "pm_card_visa").ID}))
		changed := ok[*sdk.Refund](t)(c.Refunds.Update(background, refund.ID, &sdk.RefundUpdate{Comment: sdk.Set("Late"), Metadata: sdk.Set(sdk.MetadataUpdate{"a": new("b")})}))
		assert.Equal(t, "Late", *changed.Comment, "the refund")
		assert.Equal(t, "b", changed.Metadata["a"], "the refund")
		if cleared := ok[*sdk.Refund](t)(c.Refunds.Update(background, refund.ID, &sdk.RefundUpdate{Comment: sdk.Null[string]()})); cleared.Comment != nil {
			t.Errorf("the refund is %+v", cleared)
		}
	})
}

// Each change of a refund is told once, in order, with the order as it became.
func TestRefundEvents_ShowTheOrderAsItBecomes(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		hooks := harness.NewReceiver(t)
		endpoint := ok[*sdk.WebhookEndpoint](t)(c.WebhookEndpoints.Create(background, &sdk.WebhookEndpointCreate{
			URL: hooks.URL, EnabledEvents: []string{"refund.created", "refund.updated"},
		}))
		order := paidWith(t, c, "pm_card_refundFail")
		refund := ok[*sdk.Refund](t)(c.Refunds.Create(background, &sdk.RefundCreate{Order: order.ID}))
		ok[*sdk.Refund](t)(c.TestHelpers.SettleRefund(background, refund.ID, &sdk.RefundSettlement{Status: "failed"}))
		hooks.Await(t, 1, "refund.updated")
		arrived := hooks.Deliveries()
		if len(arrived) != 2 {
			t.Fatalf("%d events arrived", len(arrived))
		}
		for i, want := range []struct {
			kind   string
			status sdk.RefundStatus
			order  sdk.OrderStatus
			left   int64
		}{{"refund.created", "pending", "refunded", 0}, {"refund.updated", "failed", "paid", 1900}} {
			event := ok[*sdk.Event](t)(sdk.VerifyWebhook(arrived[i].Body, arrived[i].Header, *endpoint.Secret))
			got, about := ok[*sdk.Order](t)(event.Order()), ok[*sdk.Refund](t)(event.Refund())
			assert.Equal(t, want.kind, event.Type, "event %d", i)
			assert.Equal(t, refund.ID, about.ID, "event %d", i)
			assert.Equal(t, want.status, about.Status, "event %d", i)
			assert.Equal(t, want.order, got.Status, "event %d", i)
			assert.Equal(t, want.left, got.RefundableAmount, "event %d", i)
			assert.Equal(t, want.status, got.Refunds[0].Object.Status, event.Type)
			assert.Equal(t, "ada@example.com", got.Customer.Object.Email, event.Type)
			assert.EqualValues(t, 1900, got.LineItems[0].Object.TotalAmount, event.Type)
		}
	})
}

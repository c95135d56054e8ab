package contract

import (
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"

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
		if rest.Amount != 1400 || rest.Reason != "customer_request" || !rest.RevokeAccess {
			t.Errorf("the rest is %+v", rest)
		}
		order = ok[*sdk.Order](t)(c.Orders.Get(background, order.ID, sdk.Expand("refunds")))
		if order.Status != "refunded" || len(order.Refunds) != 2 || order.Refunds[1].Object.ID != rest.ID || order.RefundableAmount != 0 {
			t.Errorf("the order is %+v", order)
		}
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
		if paid.Status != "paid" || refund.Status != "succeeded" || refund.Amount != paid.TotalAmount || refund.TaxAmount != paid.TaxAmount {
			t.Errorf("the invoice is %s, and the refund is %+v", paid.Status, refund)
		}
	})
}

// Fifty at once want a hundred each of nineteen hundred.
func TestCreateRefund_ParallelOnesNeverGiveBackTooMuch(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		order := paidWith(t, c, "pm_card_visa")
		var made atomic.Int64
		var group sync.WaitGroup
		for range 50 {
			group.Go(func() {
				_, err := c.Refunds.Create(background, &sdk.RefundCreate{Order: order.ID, Amount: new(int64(100))})
				if err == nil {
					made.Add(1)
					return
				}
				refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "amount")
			})
		}
		group.Wait()
		order = ok[*sdk.Order](t)(c.Orders.Get(background, order.ID))
		if made.Load() != 19 || order.RefundableAmount != 0 || order.Status != "refunded" {
			t.Errorf("%d refunds were made, and the order is %s with %d left", made.Load(), order.Status, order.RefundableAmount)
		}
	})
}

func TestRefund_PendingOnesAreSettledOrCanceled(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		pending := func(order *sdk.Order, amount int64) *sdk.Refund {
			t.Helper()
			r := ok[*sdk.Refund](t)(c.Refunds.Create(background, &sdk.RefundCreate{Order: order.ID, Amount: &amount}))
			if r.Status != "pending" || r.SucceededAt != nil {
				t.Fatalf("the refund is %+v", r)
			}
			return r
		}
		order := paidWith(t, c, "pm_card_pendingRefund")
		settled := ok[*sdk.Refund](t)(c.TestHelpers.SettleRefund(background, pending(order, 300).ID, &sdk.RefundSettlement{Status: "succeeded"}))
		failed := ok[*sdk.Refund](t)(c.TestHelpers.SettleRefund(background, pending(order, 500).ID, &sdk.RefundSettlement{Status: "failed"}))
		canceled := ok[*sdk.Refund](t)(c.Refunds.Cancel(background, pending(order, 700).ID))
		again := ok[*sdk.Refund](t)(c.Refunds.Cancel(background, canceled.ID))
		if settled.Status != "succeeded" || failed.Status != "failed" || *failed.FailureReason != "expired_or_canceled_card" || canceled.Status != "canceled" || again.UpdatedAt != canceled.UpdatedAt {
			t.Errorf("the refunds are %+v, %+v, %+v", settled, failed, canceled)
		}
		order = ok[*sdk.Order](t)(c.Orders.Get(background, order.ID, sdk.Expand("customer")))
		if order.Status != "partially_refunded" || order.RefundedAmount != 300 || order.Customer.Object.TotalSpent["usd"] != 1600 {
			t.Errorf("the order is %+v", order)
		}
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
			if invoice.CreditNotes != want || invoice.AmountPaid != 1900 || invoice.Status != "paid" || len(invoice.Refunds) != len(refunds) {
				t.Fatalf("the invoice is %+v", invoice)
			}
			for i, status := range refunds {
				if invoice.Refunds[i].Object.Status != status {
					t.Errorf("refund %d is %s", i, invoice.Refunds[i].Object.Status)
				}
			}
			if len(invoice.Payments) != 1 || invoice.Payments[0].Object.Amount != 1900 {
				t.Errorf("the payments are %+v", invoice.Payments)
			}
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
		if invoice.CreditNotes != 1000 || len(invoice.Refunds) != 10 || len(invoice.Metadata) != 10 {
			t.Errorf("the invoice is %+v", invoice)
		}
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
		if payment.Status != "succeeded" || payment.Order == nil || again.UpdatedAt != payment.UpdatedAt {
			t.Errorf("the payment is %+v", payment)
		}
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
			if len(found) != len(filter.want) || len(found) > 0 && (found[0] != filter.want[0] || found[len(found)-1] != filter.want[len(found)-1]) {
				t.Errorf("%+v finds %v, %v is expected", filter.params, found, filter.want)
			}
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
		if methods := ok[*sdk.SavedPaymentMethodList](t)(c.Customers.ListPaymentMethods(background, ada.ID, nil)).Data; len(methods) != 1 || member.PaymentMethod.ID != methods[0].ID {
			t.Errorf("the subscription is charged to %+v, and %+v are saved", member.PaymentMethod, methods)
		}
		order := ok[*sdk.OrderList](t)(c.Orders.List(background, &sdk.ListOrdersParams{Customer: &ada.ID})).Data[0]
		refund := ok[*sdk.Refund](t)(c.Refunds.Create(background, &sdk.RefundCreate{Order: order.ID}))
		if refund.Subscription.ID != member.ID || refund.RevokeAccess || refund.Status != "succeeded" {
			t.Errorf("the refund is %+v", refund)
		}
		if found := ok[*sdk.RefundList](t)(c.Refunds.List(background, &sdk.ListRefundsParams{Subscription: &member.ID})).Data; len(found) != 1 {
			t.Errorf("%d refunds of the subscription are found", len(found))
		}
	})
}

func TestUpdateRefund_ChangesCommentAndMetadata(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		refund := ok[*sdk.Refund](t)(c.Refunds.Create(background, &sdk.RefundCreate{Order: paidWith(t, c, "pm_card_visa").ID}))
		changed := ok[*sdk.Refund](t)(c.Refunds.Update(background, refund.ID, &sdk.RefundUpdate{Comment: sdk.Set("Late"), Metadata: sdk.Set(sdk.MetadataUpdate{"a": new("b")})}))
		if *changed.Comment != "Late" || changed.Metadata["a"] != "b" {
			t.Errorf("the refund is %+v", changed)
		}
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
			if event.Type != want.kind || about.ID != refund.ID || about.Status != want.status || got.Status != want.order || got.RefundableAmount != want.left {
				t.Errorf("event %d is %s: the refund is %+v of an order that is %s", i, event.Type, about, got.Status)
			}
			if got.Refunds[0].Object.Status != want.status || got.Customer.Object.Email != "ada@example.com" || got.LineItems[0].Object.TotalAmount != 1900 {
				t.Errorf("%s carries %+v", event.Type, got)
			}
		}
	})
}

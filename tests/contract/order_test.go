package contract

import (
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/tests/harness"
)

func TestOrder_RecordsThePurchase(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		guide := onSale(t, c, 1900)
		bought := purchase(t, c, "ada@example.com", guide)
		order := ok[*sdk.Order](t)(c.Orders.Get(background, bought.ID, sdk.Expand("customer", "line_items.product", "line_items.price_variant", "checkout", "payments")))
		switch {
		case order.Number != 1, order.Status != "paid", order.BillingReason != "purchase", order.Currency != "usd", order.PaidAt == nil, order.VoidedAt != nil:
			t.Errorf("the order is %+v", order)
		case order.TotalAmount != 1900, order.PaidAmount != 1900, order.DueAmount != 0, order.RefundableAmount != 1900, order.RefundedAmount != 0:
			t.Errorf("the amounts are %+v", order)
		case order.Customer.Object.Email != "ada@example.com", order.Checkout.Object.Order.ID != order.ID:
			t.Errorf("customer and checkout are %+v and %+v", order.Customer.Object, order.Checkout.Object)
		case order.LineItems[0].Object.Product.Object.SalesCount != 1, order.LineItems[0].Object.PriceVariant.Object.SoldCount != 1:
			t.Errorf("the line is %+v", order.LineItems[0].Object)
		case order.Payments[0].Object.Status != "succeeded", order.Payments[0].Object.PaymentMethod.Last4 != "4242", *order.Payments[0].Object.Order != order.ID:
			t.Errorf("the payment is %+v", order.Payments[0].Object)
		}
		second := purchase(t, c, "ada@example.com", guide)
		assert.EqualValues(t, 2, second.Number, "the second order")
		assert.Equal(t, order.Customer.ID, second.Customer.ID, "the second order")
	})
}

func TestListOrders_Filters(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		cheap, dear := onSale(t, c, 100), onSale(t, c, 9900)
		first := purchase(t, c, "ada@example.com", cheap)
		half := off(t, c, "HALF", 5000)
		discounted := reduced(t, c, "Grace@example.com", "HALF", dear)
		paid := ok[*sdk.Checkout](t)(c.Checkouts.Confirm(background, discounted.ID, by("pm_card_visa")))
		second := ok[*sdk.Order](t)(c.Orders.Get(background, paid.Order.ID, sdk.Expand("discount")))
		assert.Equal(t, half.ID, second.Discount.Object.ID)
		assert.Empty(t, first.Discount.ID)
		for _, filter := range []struct {
			params sdk.ListOrdersParams
			want   []string
		}{
			{sdk.ListOrdersParams{}, []string{second.ID, first.ID}},
			{sdk.ListOrdersParams{Status: new(sdk.OrderStatus("paid"))}, []string{second.ID, first.ID}},
			{sdk.ListOrdersParams{Status: new(sdk.OrderStatus("void"))}, nil},
			{sdk.ListOrdersParams{BillingReason: new(sdk.BillingReason("manual"))}, nil},
			{sdk.ListOrdersParams{Customer: &first.Customer.ID}, []string{first.ID}},
			{sdk.ListOrdersParams{CustomerEmail: new("grace@example.com")}, []string{second.ID}},
			{sdk.ListOrdersParams{Product: &cheap.Product.ID}, []string{first.ID}},
			{sdk.ListOrdersParams{PriceVariant: &dear.ID}, []string{second.ID}},
			{sdk.ListOrdersParams{Checkout: &first.Checkout.ID}, []string{first.ID}},
			{sdk.ListOrdersParams{Discount: &half.ID}, []string{second.ID}},
			{sdk.ListOrdersParams{Number: new(int64(2))}, []string{second.ID}},
			{sdk.ListOrdersParams{PaidAfter: second.PaidAt}, []string{second.ID}},
			{sdk.ListOrdersParams{PaidBefore: first.PaidAt}, nil},
			{sdk.ListOrdersParams{TotalMin: new(int64(101))}, []string{second.ID}},
			{sdk.ListOrdersParams{TotalMax: new(int64(4949))}, []string{first.ID}},
			{sdk.ListOrdersParams{Q: new("ada@")}, []string{first.ID}},
		} {
			list := ok[*sdk.OrderList](t)(c.Orders.List(background, &filter.params))
			found := make([]string, len(list.Data))
			for i, order := range list.Data {
				found[i] = order.ID
			}
			require.Len(t, found, len(filter.want))
			assert.False(t, len(found) > 0 && (found[0] != filter.want[0] || found[len(found)-1] != filter.want[len(found)-1]))
		}
	})
}

func TestListOrders_AnotherObjectThatDoesNotExistIsMissing(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, s *harness.Server) {
		other := s.SDK(t)
		foreign := purchase(t, other, "ada@example.com", onSale(t, other, 100))
		for param, filter := range map[string]sdk.ListOrdersParams{
			"customer":      {Customer: &foreign.Customer.ID},
			"checkout":      {Checkout: &foreign.Checkout.ID},
			"product":       {Product: new(randomID("prod"))},
			"discount":      {Discount: &off(t, other, "HALF", 5000).ID},
			"price_variant": {PriceVariant: new("price_x")},
		} {
			_, err := c.Orders.List(background, &filter)
			refused(t, err, http.StatusNotFound, sdk.CodeResourceMissing, param)
		}
	})
}

func TestUpdateOrder_ChangesWhatIsNoRecord(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		order := purchase(t, c, "ada@example.com", onSale(t, c, 1900))
		for name, record := range map[string]*sdk.OrderUpdate{
			"name":    {BillingName: sdk.Set("Ada Ltd")},
			"address": {BillingAddress: sdk.Set(sdk.Address{Country: new("GB")})},
			"tax id":  {TaxID: sdk.Set(sdk.TaxID{Type: "gb_vat", Value: "GB1"})},
		} {
			_, err := c.Orders.Update(background, order.ID, record)
			if e := refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "status"); e == nil {
				t.Errorf("the %s of an issued invoice was changed", name)
			}
		}
		changed := ok[*sdk.Order](t)(c.Orders.Update(background, order.ID, &sdk.OrderUpdate{
			BillingName: sdk.Null[string](), Metadata: sdk.Set(sdk.MetadataUpdate{"shipped": new("yes")}),
		}))
		require.Nil(t, changed.BillingName, "the order")
		assert.Equal(t, "yes", changed.Metadata["shipped"], "the order")
		assert.EqualValues(t, 1900, changed.TotalAmount, "the order")
	})
}

func TestVoidOrder_CallsOffWhatIsNotPaid(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		paid := purchase(t, c, "ada@example.com", onSale(t, c, 1900))
		_, err := c.Orders.Void(background, paid.ID)
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "status")

		invoice := issue(t, c, billed(t, c), workshop(120000))
		for range 2 {
			void := ok[*sdk.Order](t)(c.Orders.Void(background, invoice.Order.ID, sdk.Expand("invoice")))
			assert.EqualValues(t, "void", void.Status)
			require.NotNil(t, void.VoidedAt)
			assert.Zero(t, void.DueAmount)
			assert.EqualValues(t, "void", void.Invoice.Object.Status)
			assert.Equal(t, "requested", *void.Invoice.Object.VoidReason)
		}
	})
}

// An order that is paid by credit is paid as it is made. One of a renewal may be of another product than the last one.
func TestOrderEvents_ShowWhatAChangeOfPlanGives(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		hooks := harness.NewReceiver(t)
		endpoint := ok[*sdk.WebhookEndpoint](t)(c.WebhookEndpoints.Create(background, &sdk.WebhookEndpointCreate{URL: hooks.URL, EnabledEvents: []string{"order.created", "order.paid"}}))
		low, high := monthly(t, c, 900), monthly(t, c, 1900)
		sub := subscription(t, c, low)
		change := func(v *sdk.PriceVariant, when sdk.ProrationBehavior) {
			ok[*sdk.Subscription](t)(c.Subscriptions.Change(background, sub.ID, &sdk.SubscriptionChangeCreate{PriceVariant: &v.ID, ProrationBehavior: &when}))
		}
		gives := func(n int, kind string, v *sdk.PriceVariant) {
			t.Helper()
			last := hooks.Await(t, n, kind)[n-1]
			order := ok[*sdk.Order](t)(ok[*sdk.Event](t)(sdk.VerifyWebhook(last.Body, last.Header, *endpoint.Secret)).Order())
			at := slices.IndexFunc(had(t, c, sub.Customer.ID), func(g sdk.Grant) bool { return g.Product.ID == v.Product.ID })
			want := had(t, c, sub.Customer.ID)[at]
			require.Len(t, order.Grants, 1, "%s %d shows that the order", kind, n)
			assert.Equal(t, want.ID, order.Grants[0].ID, "%s %d shows that the order", kind, n)
		}
		change(high, sdk.ProrationBehaviorInvoiceImmediately)
		change(low, sdk.ProrationBehaviorInvoiceImmediately)
		change(high, sdk.ProrationBehaviorInvoiceImmediately)
		gives(3, "order.paid", high)
		change(low, sdk.ProrationBehaviorNextPeriod)
		advance(t, c, 32*24*time.Hour)
		gives(4, "order.created", low)
	})
}

func TestOrderEvents_ShowTheOrderAsItBecomes(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		hooks := harness.NewReceiver(t)
		endpoint := ok[*sdk.WebhookEndpoint](t)(c.WebhookEndpoints.Create(background, &sdk.WebhookEndpointCreate{
			URL: hooks.URL, EnabledEvents: []string{"order.created", "order.paid"},
		}))
		order := purchase(t, c, "ada@example.com", onSale(t, c, 1900))
		hooks.Await(t, 1, "order.paid")
		arrived := hooks.Deliveries()
		if len(arrived) != 2 {
			t.Fatalf("%d events arrived", len(arrived))
		}
		for i, want := range []struct {
			kind   string
			status sdk.OrderStatus
			paid   int64
		}{{"order.created", "pending", 0}, {"order.paid", "paid", 1900}} {
			event := ok[*sdk.Event](t)(sdk.VerifyWebhook(arrived[i].Body, arrived[i].Header, *endpoint.Secret))
			got := ok[*sdk.Order](t)(event.Order())
			assert.Equal(t, want.kind, event.Type, "event %d", i)
			assert.Equal(t, want.status, got.Status, "event %d", i)
			assert.Equal(t, want.paid, got.PaidAmount, "event %d", i)
			assert.Equal(t, order.ID, got.ID, event.Type)
			assert.Equal(t, "ada@example.com", got.Customer.Object.Email, event.Type)
			assert.EqualValues(t, 1900, got.LineItems[0].Object.TotalAmount, event.Type)
		}
	})
}

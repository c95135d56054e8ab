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

// billed makes a customer without an address.
func billed(t *testing.T, c *sdk.Client) *sdk.Customer {
	t.Helper()
	return ok[*sdk.Customer](t)(c.Customers.Create(background, &sdk.CustomerCreate{Email: unique() + "@example.com", Name: new("Bob")}))
}

// workshop is an ad-hoc line.
func workshop(amount int64) sdk.InvoiceLineCreate {
	return sdk.InvoiceLineCreate{Description: new("Workshop"), UnitAmount: &amount}
}

// draft makes a draft that is due in a week.
func draft(t *testing.T, c *sdk.Client, customer *sdk.Customer, lines ...sdk.InvoiceLineCreate) *sdk.Invoice {
	t.Helper()
	return ok[*sdk.Invoice](t)(c.Invoices.Create(background, &sdk.InvoiceCreate{
		Customer: customer.ID, Lines: lines, DueAt: new(inAWeek()), Currency: new("usd"),
	}))
}

// issue makes an invoice that is open, or paid if it comes to nothing.
func issue(t *testing.T, c *sdk.Client, customer *sdk.Customer, lines ...sdk.InvoiceLineCreate) *sdk.Invoice {
	t.Helper()
	return ok[*sdk.Invoice](t)(c.Invoices.Finalize(background, draft(t, c, customer, lines...).ID))
}

func inAWeek() sdk.Time { return sdk.TimeOf(time.Now().Add(7 * 24 * time.Hour)) }

func TestCreateInvoice_AddsUp(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		ok[*sdk.Account](t)(c.Account.Update(background, &sdk.AccountUpdate{Tax: &sdk.TaxSettings{
			Mode: "flat_table", Behavior: "inclusive", Rates: []sdk.TaxRate{{Country: new("DE"), RateBps: 1900, Name: "MwSt"}},
		}}))
		nowhere := billed(t, c)
		german := ok[*sdk.Customer](t)(c.Customers.Update(background, billed(t, c).ID, &sdk.CustomerUpdate{BillingAddress: sdk.Set(sdk.Address{Country: new("DE")})}))
		guide := onSale(t, c, 1190)
		own := workshop(10000)
		own.TaxRateBps, own.TaxName, own.Quantity = new(int64(700)), new("VAT"), new(int64(2))

		_, err := c.Invoices.Create(background, &sdk.InvoiceCreate{Customer: nowhere.ID, DueAt: new(inAWeek()), Lines: []sdk.InvoiceLineCreate{workshop(100)}})
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "customer")

		made := ok[*sdk.Invoice](t)(c.Invoices.Create(background, &sdk.InvoiceCreate{
			Customer: german.ID, DueAt: new(inAWeek()), Lines: []sdk.InvoiceLineCreate{{PriceVariant: &guide.ID}, own, workshop(0)}, Memo: new("Thanks"),
		}, sdk.Expand("lines.price_variant", "customer")))
		assert.EqualValues(t, "draft", made.Status, "the draft")
		require.Nil(t, made.Number, "the draft")
		assert.Empty(t, made.Order.ID, "the draft")
		assert.Equal(t, "usd", made.Currency, "the draft")
		assert.EqualValues(t, "send_invoice", made.CollectionMethod, "the draft")
		assert.EqualValues(t, 21190, made.SubtotalAmount, "the amounts")
		assert.EqualValues(t, 190+1400, made.TaxAmount, "the amounts")
		assert.EqualValues(t, 21000, made.NetAmount, "the amounts")
		assert.EqualValues(t, 22590, made.TotalAmount, "the amounts")
		assert.EqualValues(t, 22590, made.AmountDue, "the amounts")
		require.Len(t, made.TaxBreakdown, 2, "the taxes")
		assert.False(t, made.TaxBreakdown[0] != (sdk.TaxBreakdown{Name: "MwSt", RateBps: 1900, TaxableAmount: 1000, TaxAmount: 190, Inclusive: true}), "the taxes")
		first, second := made.Lines[0].Object, made.Lines[1].Object
		assert.EqualValues(t, "price", first.Kind, "the first line")
		assert.Equal(t, guide.ID, first.PriceVariant.Object.ID, "the first line")
		assert.Equal(t, "Guide", first.Description, "the first line")
		assert.EqualValues(t, "custom", second.Kind, "the second line")
		assert.Empty(t, second.Product.ID, "the second line")
		assert.Equal(t, "Workshop", second.Description, "the second line")
		assert.EqualValues(t, 700, second.TaxRateBps, "the second line")
		assert.False(t, second.TaxInclusive, "the second line")
		assert.Equal(t, "Bob", *made.CustomerName)
		assert.Equal(t, "DE", *made.CustomerAddress.Country)
		assert.Equal(t, german.ID, made.Customer.Object.ID)
	})
}

func TestCreateInvoice_RefusesWhatCannotBeBilled(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		bob, guide := billed(t, c), onSale(t, c, 1900)
		yesterday := sdk.TimeOf(time.Now().Add(-24 * time.Hour))
		both := workshop(100)
		both.PriceVariant = &guide.ID
		automatic := sdk.CollectionMethodChargeAutomatically
		for param, body := range map[string]*sdk.InvoiceCreate{
			"due_at":              {Lines: []sdk.InvoiceLineCreate{workshop(100)}, DueAt: &yesterday},
			"currency":            {Lines: []sdk.InvoiceLineCreate{workshop(100)}, Currency: new("zzz")},
			"lines.0.description": {Lines: []sdk.InvoiceLineCreate{{UnitAmount: new(int64(1))}}},
			"lines.1.unit_amount": {Lines: []sdk.InvoiceLineCreate{workshop(100), both}},
			"lines":               {Lines: []sdk.InvoiceLineCreate{workshop(10)}, CollectionMethod: &automatic},
		} {
			if body.Customer = bob.ID; body.DueAt == nil {
				body.DueAt = new(inAWeek())
			}
			_, err := c.Invoices.Create(background, body)
			refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, param)
		}
		_, err := c.Invoices.Create(background, &sdk.InvoiceCreate{Customer: bob.ID, Lines: []sdk.InvoiceLineCreate{workshop(100)}})
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "due_at")
		for param, body := range map[string]*sdk.InvoiceCreate{
			"customer":              {Customer: randomID("cus"), Lines: []sdk.InvoiceLineCreate{workshop(100)}},
			"lines.0.price_variant": {Customer: bob.ID, Lines: []sdk.InvoiceLineCreate{{PriceVariant: new(randomID("price"))}}},
			"discount":              {Customer: bob.ID, Lines: []sdk.InvoiceLineCreate{workshop(100)}, Discount: new(randomID("disc"))},
		} {
			body.DueAt = new(inAWeek())
			_, err := c.Invoices.Create(background, body)
			refused(t, err, http.StatusNotFound, sdk.CodeResourceMissing, param)
		}
	})
}

func TestFinalizeInvoice_MakesItsOrder(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		bob := billed(t, c)
		made := draft(t, c, bob, workshop(120000))
		purchase(t, c, "ada@example.com", onSale(t, c, 1900))
		for range 2 {
			open := ok[*sdk.Invoice](t)(c.Invoices.Finalize(background, made.ID, sdk.Expand("order", "lines")))
			order := open.Order.Object
			assert.EqualValues(t, "open", open.Status, "the invoice")
			assert.Equal(t, "INV-000002", *open.Number, "the invoice")
			assert.EqualValues(t, 120000, open.AmountDue, "the invoice")
			assert.NotNil(t, open.FinalizedAt, "the invoice")
			assert.EqualValues(t, "pending", order.Status, "the order")
			assert.EqualValues(t, "manual", order.BillingReason, "the order")
			assert.EqualValues(t, 2, order.Number, "the order")
			assert.EqualValues(t, 120000, order.DueAmount, "the order")
			assert.Equal(t, open.ID, order.Invoice.ID, "the order")
			assert.Equal(t, open.Lines[0].Object.ID, order.LineItems[0].ID, "the order")
			assert.Equal(t, bob.ID, order.Customer.ID, "the order")
			if newest := ok[*sdk.OrderList](t)(c.Orders.List(background, &sdk.ListOrdersParams{Limit: new(int64(1))})); newest.Data[0].ID != order.ID {
				t.Errorf("the newest order is number %d, and not that of the draft", newest.Data[0].Number)
			}
		}
		free := issue(t, c, bob, workshop(0))
		assert.EqualValues(t, "paid", free.Status, "an invoice over nothing")
		assert.Equal(t, "INV-000003", *free.Number, "an invoice over nothing")
		require.NotNil(t, free.PaidAt, "an invoice over nothing")
		assert.Zero(t, free.AmountDue, "an invoice over nothing")
		at := ok[*sdk.Invoice](t)(c.Invoices.Create(background, &sdk.InvoiceCreate{
			Customer: bob.ID, Lines: []sdk.InvoiceLineCreate{workshop(100)}, DueAt: new(inAWeek()), Finalize: new(true),
		}))
		assert.EqualValues(t, "open", at.Status, "issued at once")
		assert.Equal(t, "INV-000004", *at.Number, "issued at once")
	})
}

func TestUpdateInvoice_ChangesADraftAndLittleElse(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		bob := billed(t, c)
		made := draft(t, c, bob, workshop(120000), workshop(500))
		same := ok[*sdk.Invoice](t)(c.Invoices.Update(background, made.ID, &sdk.InvoiceUpdate{Lines: []sdk.InvoiceLineCreate{workshop(120000), workshop(500)}}))
		assert.Equal(t, made.UpdatedAt, same.UpdatedAt, "nothing changed, but the draft")
		assert.Equal(t, made.Lines[0].ID, same.Lines[0].ID, "nothing changed, but the draft")
		_, err := c.Invoices.Update(background, made.ID, &sdk.InvoiceUpdate{Customer: new(billed(t, c).ID)})
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "lines")
		changed := ok[*sdk.Invoice](t)(c.Invoices.Update(background, made.ID, &sdk.InvoiceUpdate{
			Lines: []sdk.InvoiceLineCreate{workshop(120000), workshop(700)}, Memo: sdk.Set("Hello"), Metadata: sdk.Set(sdk.MetadataUpdate{"a": new("b")}),
		}))
		assert.EqualValues(t, 120700, changed.TotalAmount, "the draft")
		assert.Equal(t, made.Lines[0].ID, changed.Lines[0].ID, "the draft")
		assert.NotEqual(t, made.Lines[1].ID, changed.Lines[1].ID, "the draft")
		assert.Equal(t, "Hello", *changed.Memo, "the draft")

		ok[*sdk.Invoice](t)(c.Invoices.Finalize(background, made.ID))
		later := sdk.TimeOf(time.Now().Add(14 * 24 * time.Hour))
		issued := ok[*sdk.Invoice](t)(c.Invoices.Update(background, made.ID, &sdk.InvoiceUpdate{
			Memo: sdk.Null[string](), DueAt: sdk.Set(later), Metadata: sdk.Set(sdk.MetadataUpdate{"a": nil}),
		}))
		require.Nil(t, issued.Memo, "the invoice")
		assert.Equal(t, later, *issued.DueAt, "the invoice")
		require.Empty(t, issued.Metadata, "the invoice")
		assert.EqualValues(t, 120700, issued.TotalAmount, "the invoice")
		for name, record := range map[string]*sdk.InvoiceUpdate{
			"lines":    {Lines: []sdk.InvoiceLineCreate{workshop(1)}},
			"customer": {Customer: &bob.ID},
			"footer":   {Footer: sdk.Set("Bye")},
		} {
			_, err := c.Invoices.Update(background, made.ID, record)
			e := refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "status")
			t.Logf("%s of an issued invoice: %s", name, e.Message)
		}
		_, err = c.Invoices.Update(background, made.ID, &sdk.InvoiceUpdate{DueAt: sdk.Null[sdk.Time]()})
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "due_at")
	})
}

func TestDeleteInvoice_DeletesADraftOnly(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		bob := billed(t, c)
		made := draft(t, c, bob, workshop(100))
		gone := ok[*sdk.Deleted](t)(c.Invoices.Delete(background, made.ID))
		assert.True(t, gone.Deleted, "the confirmation")
		assert.Equal(t, made.ID, gone.ID, "the confirmation")
		_, err := c.Invoices.Get(background, made.ID)
		refused(t, err, http.StatusNotFound, sdk.CodeResourceMissing, "")
		_, err = c.Invoices.Delete(background, issue(t, c, bob, workshop(100)).ID)
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "status")
	})
}

func TestVoidInvoice_CallsItsOrderOffToo(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		bob := billed(t, c)
		open := issue(t, c, bob, workshop(100))
		given := ok[*sdk.Invoice](t)(c.Invoices.MarkUncollectible(background, open.ID))
		assert.EqualValues(t, "uncollectible", given.Status, "the invoice")
		require.NotNil(t, given.MarkedUncollectibleAt, "the invoice")
		assert.EqualValues(t, 100, given.AmountDue, "the invoice")
		for range 2 {
			void := ok[*sdk.Invoice](t)(c.Invoices.Void(background, open.ID, sdk.Expand("order")))
			assert.EqualValues(t, "void", void.Status, "the invoice")
			assert.Equal(t, "requested", *void.VoidReason, "the invoice")
			assert.Zero(t, void.AmountDue, "the invoice")
			assert.EqualValues(t, "void", void.Order.Object.Status, "the invoice")
		}
		for name, id := range map[string]string{"draft": draft(t, c, bob, workshop(100)).ID, "paid": issue(t, c, bob, workshop(0)).ID} {
			for what, call := range map[string]func() error{
				"void": func() error { _, err := c.Invoices.Void(background, id); return err },
				"mark": func() error { _, err := c.Invoices.MarkUncollectible(background, id); return err },
			} {
				e := refused(t, call(), http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "status")
				t.Logf("%s of a %s invoice: %s", what, name, e.Message)
			}
		}
		next := issue(t, c, bob, workshop(100))
		if *next.Number != "INV-000003" {
			t.Errorf("after a void invoice and a paid one comes %s", *next.Number)
		}
	})
}

func TestInvoice_IsPastDueOnceItsTimeIsOver(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		hooks := harness.NewReceiver(t)
		ok[*sdk.WebhookEndpoint](t)(c.WebhookEndpoints.Create(background, &sdk.WebhookEndpointCreate{URL: hooks.URL, EnabledEvents: []string{"invoice.past_due"}}))
		bob := billed(t, c)
		open, made, void := issue(t, c, bob, workshop(100)), draft(t, c, bob, workshop(100)), issue(t, c, bob, workshop(100))
		ok[*sdk.Invoice](t)(c.Invoices.Void(background, void.ID))
		status := func(id string) sdk.InvoiceStatus { return ok[*sdk.Invoice](t)(c.Invoices.Get(background, id)).Status }
		week := int64(7 * 24 * 60 * 60)
		for _, step := range []struct {
			seconds int64
			want    sdk.InvoiceStatus
		}{{week - 600, "open"}, {1200, "past_due"}, {week, "past_due"}} {
			ok[*sdk.TestClock](t)(c.TestHelpers.AdvanceClock(background, &sdk.TestClockCreate{AdvanceSeconds: &step.seconds}))
			if got := status(open.ID); got != step.want {
				t.Errorf("the invoice is %s, %s is expected", got, step.want)
			}
		}
		assert.EqualValues(t, "draft", status(made.ID))
		assert.EqualValues(t, "void", status(void.ID))
		hooks.Await(t, 1, "invoice.past_due")
		if n := len(hooks.Deliveries()); n != 1 {
			t.Errorf("it was told %d times", n)
		}
		given := ok[*sdk.Invoice](t)(c.Invoices.Void(background, open.ID))
		assert.EqualValues(t, "void", given.Status, "the invoice")
		assert.NotNil(t, given.PastDueAt, "the invoice")
		_, err := c.Invoices.Finalize(background, made.ID)
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "due_at")
	})
}

func TestListInvoices_Filters(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		bob := billed(t, c)
		order := purchase(t, c, "ada@example.com", onSale(t, c, 1900))
		open := issue(t, c, bob, workshop(100), workshop(200))
		made := draft(t, c, bob, workshop(300))
		later := sdk.TimeOf(time.Now().Add(30 * 24 * time.Hour))
		for name, filter := range map[string]struct {
			params sdk.ListInvoicesParams
			want   []string
		}{
			"all":        {sdk.ListInvoicesParams{}, []string{made.ID, open.ID, order.Invoice.ID}},
			"status":     {sdk.ListInvoicesParams{Status: new(sdk.InvoiceStatusOpen)}, []string{open.ID}},
			"method":     {sdk.ListInvoicesParams{CollectionMethod: new(sdk.CollectionMethodSendInvoice)}, []string{made.ID, open.ID}},
			"reason":     {sdk.ListInvoicesParams{BillingReason: new(sdk.BillingReasonPurchase)}, []string{order.Invoice.ID}},
			"customer":   {sdk.ListInvoicesParams{Customer: &bob.ID}, []string{made.ID, open.ID}},
			"order":      {sdk.ListInvoicesParams{Order: &order.ID}, []string{order.Invoice.ID}},
			"number":     {sdk.ListInvoicesParams{Number: open.Number}, []string{open.ID}},
			"due_after":  {sdk.ListInvoicesParams{DueAfter: &later}, nil},
			"due_before": {sdk.ListInvoicesParams{DueBefore: &later}, []string{made.ID, open.ID, order.Invoice.ID}},
		} {
			var found []string
			for invoice, err := range sdk.All(background, c.Invoices.List, &filter.params) {
				if err != nil {
					t.Fatal(err)
				}
				found = append(found, invoice.ID)
			}
			if len(found) != len(filter.want) {
				t.Errorf("%s finds %v, %v is expected", name, found, filter.want)
				continue
			}
			for i := range found {
				if found[i] != filter.want[i] {
					t.Errorf("%s finds %v, %v is expected", name, found, filter.want)
				}
			}
		}
		lines := ok[*sdk.LineItemList](t)(c.Invoices.ListLines(background, open.ID, &sdk.ListInvoiceLinesParams{Limit: new(int64(1))}))
		require.Len(t, lines.Data, 1, "the lines")
		assert.True(t, lines.HasMore, "the lines")
		assert.EqualValues(t, 200, lines.Data[0].TotalAmount, "the lines")
	})
}

func TestListInvoices_OfASubscription(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		issue(t, c, billed(t, c), workshop(100))
		sub := subscription(t, c, monthly(t, c, 900))
		found := ok[*sdk.InvoiceList](t)(c.Invoices.List(background, &sdk.ListInvoicesParams{Subscription: &sub.ID}, sdk.Expand("subscription")))
		require.Len(t, found.Data, 1, "the invoices of the subscription")
		assert.Equal(t, sub.ID, found.Data[0].Subscription.Object.ID, "the invoices of the subscription")
		assert.EqualValues(t, "subscription_create", found.Data[0].BillingReason, "the invoices of the subscription")
	})
}

func TestInvoiceEvents_FollowThoseOfTheOrder(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		hooks := harness.NewReceiver(t)
		endpoint := ok[*sdk.WebhookEndpoint](t)(c.WebhookEndpoints.Create(background, &sdk.WebhookEndpointCreate{
			URL: hooks.URL, EnabledEvents: []string{"order.created", "order.paid", "invoice.created", "invoice.paid", "invoice.voided"},
		}))
		heard := func(n int, last string) (kinds []string) {
			hooks.Await(t, 1, last)
			for _, d := range hooks.Deliveries()[n:] {
				kinds = append(kinds, ok[*sdk.Event](t)(sdk.VerifyWebhook(d.Body, d.Header, *endpoint.Secret)).Type)
			}
			return kinds
		}
		purchase(t, c, "ada@example.com", onSale(t, c, 1900))
		kinds := heard(0, "invoice.paid")
		require.Len(t, kinds, 4, "a purchase")
		assert.Equal(t, "order.created", kinds[0], "a purchase")
		assert.Equal(t, "invoice.created", kinds[1], "a purchase")
		assert.Equal(t, "order.paid", kinds[2], "a purchase")
		assert.Equal(t, "invoice.paid", kinds[3], "a purchase")
		open := issue(t, c, billed(t, c), workshop(100))
		ok[*sdk.Invoice](t)(c.Invoices.Void(background, open.ID))
		kinds = heard(4, "invoice.voided")
		require.Len(t, kinds, 3, "an invoice that is voided")
		assert.Equal(t, "invoice.created", kinds[0], "an invoice that is voided")
		assert.Equal(t, "order.created", kinds[1], "an invoice that is voided")
		assert.Equal(t, "invoice.voided", kinds[2], "an invoice that is voided")
	})
}

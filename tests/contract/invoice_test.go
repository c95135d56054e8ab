package contract

import (
	"net/http"
	"testing"
	"time"

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
		if made.Status != "draft" || made.Number != nil || made.Order.ID != "" || made.Currency != "usd" || made.CollectionMethod != "send_invoice" {
			t.Errorf("the draft is %+v", made)
		}
		if made.SubtotalAmount != 21190 || made.TaxAmount != 190+1400 || made.NetAmount != 21000 || made.TotalAmount != 22590 || made.AmountDue != 22590 {
			t.Errorf("the amounts are %+v", made)
		}
		if len(made.TaxBreakdown) != 2 || made.TaxBreakdown[0] != (sdk.TaxBreakdown{Name: "MwSt", RateBps: 1900, TaxableAmount: 1000, TaxAmount: 190, Inclusive: true}) {
			t.Errorf("the taxes are %+v", made.TaxBreakdown)
		}
		first, second := made.Lines[0].Object, made.Lines[1].Object
		if first.Kind != "price" || first.PriceVariant.Object.ID != guide.ID || first.Description != "Guide" {
			t.Errorf("the first line is %+v", first)
		}
		if second.Kind != "custom" || second.Product.ID != "" || second.Description != "Workshop" || second.TaxRateBps != 700 || second.TaxInclusive {
			t.Errorf("the second line is %+v", second)
		}
		if *made.CustomerName != "Bob" || *made.CustomerAddress.Country != "DE" || made.Customer.Object.ID != german.ID {
			t.Errorf("it is for %+v", made)
		}
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
			if open.Status != "open" || *open.Number != "INV-000002" || open.AmountDue != 120000 || open.FinalizedAt == nil {
				t.Errorf("the invoice is %+v", open)
			}
			if order.Status != "pending" || order.BillingReason != "manual" || order.Number != 2 || order.DueAmount != 120000 || order.Invoice.ID != open.ID {
				t.Errorf("the order is %+v", order)
			}
			if order.LineItems[0].ID != open.Lines[0].Object.ID || order.Customer.ID != bob.ID {
				t.Errorf("the order is %+v", order)
			}
			if newest := ok[*sdk.OrderList](t)(c.Orders.List(background, &sdk.ListOrdersParams{Limit: new(int64(1))})); newest.Data[0].ID != order.ID {
				t.Errorf("the newest order is number %d, and not that of the draft", newest.Data[0].Number)
			}
		}
		free := issue(t, c, bob, workshop(0))
		if free.Status != "paid" || *free.Number != "INV-000003" || free.PaidAt == nil || free.AmountDue != 0 {
			t.Errorf("an invoice over nothing is %+v", free)
		}
		at := ok[*sdk.Invoice](t)(c.Invoices.Create(background, &sdk.InvoiceCreate{
			Customer: bob.ID, Lines: []sdk.InvoiceLineCreate{workshop(100)}, DueAt: new(inAWeek()), Finalize: new(true),
		}))
		if at.Status != "open" || *at.Number != "INV-000004" {
			t.Errorf("issued at once it is %+v", at)
		}
	})
}

func TestUpdateInvoice_ChangesADraftAndLittleElse(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		bob := billed(t, c)
		made := draft(t, c, bob, workshop(120000), workshop(500))
		same := ok[*sdk.Invoice](t)(c.Invoices.Update(background, made.ID, &sdk.InvoiceUpdate{Lines: []sdk.InvoiceLineCreate{workshop(120000), workshop(500)}}))
		if same.UpdatedAt != made.UpdatedAt || same.Lines[0].ID != made.Lines[0].ID {
			t.Errorf("nothing changed, but the draft is %+v", same)
		}
		_, err := c.Invoices.Update(background, made.ID, &sdk.InvoiceUpdate{Customer: new(billed(t, c).ID)})
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "lines")
		changed := ok[*sdk.Invoice](t)(c.Invoices.Update(background, made.ID, &sdk.InvoiceUpdate{
			Lines: []sdk.InvoiceLineCreate{workshop(120000), workshop(700)}, Memo: sdk.Set("Hello"), Metadata: sdk.Set(sdk.MetadataUpdate{"a": new("b")}),
		}))
		if changed.TotalAmount != 120700 || changed.Lines[0].ID != made.Lines[0].ID || changed.Lines[1].ID == made.Lines[1].ID || *changed.Memo != "Hello" {
			t.Errorf("the draft is %+v", changed)
		}

		ok[*sdk.Invoice](t)(c.Invoices.Finalize(background, made.ID))
		later := sdk.TimeOf(time.Now().Add(14 * 24 * time.Hour))
		issued := ok[*sdk.Invoice](t)(c.Invoices.Update(background, made.ID, &sdk.InvoiceUpdate{
			Memo: sdk.Null[string](), DueAt: sdk.Set(later), Metadata: sdk.Set(sdk.MetadataUpdate{"a": nil}),
		}))
		if issued.Memo != nil || *issued.DueAt != later || len(issued.Metadata) != 0 || issued.TotalAmount != 120700 {
			t.Errorf("the invoice is %+v", issued)
		}
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
		if gone := ok[*sdk.Deleted](t)(c.Invoices.Delete(background, made.ID)); !gone.Deleted || gone.ID != made.ID {
			t.Errorf("the confirmation is %+v", gone)
		}
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
		if given.Status != "uncollectible" || given.MarkedUncollectibleAt == nil || given.AmountDue != 100 {
			t.Errorf("the invoice is %+v", given)
		}
		for range 2 {
			void := ok[*sdk.Invoice](t)(c.Invoices.Void(background, open.ID, sdk.Expand("order")))
			if void.Status != "void" || *void.VoidReason != "requested" || void.AmountDue != 0 || void.Order.Object.Status != "void" {
				t.Errorf("the invoice is %+v", void)
			}
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
		if status(made.ID) != "draft" || status(void.ID) != "void" {
			t.Errorf("the draft is %s, the void one %s", status(made.ID), status(void.ID))
		}
		hooks.Await(t, 1, "invoice.past_due")
		if n := len(hooks.Deliveries()); n != 1 {
			t.Errorf("it was told %d times", n)
		}
		if given := ok[*sdk.Invoice](t)(c.Invoices.Void(background, open.ID)); given.Status != "void" || given.PastDueAt == nil {
			t.Errorf("the invoice is %+v", given)
		}
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
		if len(lines.Data) != 1 || !lines.HasMore || lines.Data[0].TotalAmount != 200 {
			t.Errorf("the lines are %+v", lines)
		}
	})
}

func TestListInvoices_OfASubscription(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		issue(t, c, billed(t, c), workshop(100))
		sub := subscription(t, c, monthly(t, c, 900))
		found := ok[*sdk.InvoiceList](t)(c.Invoices.List(background, &sdk.ListInvoicesParams{Subscription: &sub.ID}, sdk.Expand("subscription")))
		if len(found.Data) != 1 || found.Data[0].Subscription.Object.ID != sub.ID || found.Data[0].BillingReason != "subscription_create" {
			t.Errorf("the invoices of the subscription are %+v", found.Data)
		}
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
		if kinds := heard(0, "invoice.paid"); len(kinds) != 4 || kinds[0] != "order.created" || kinds[1] != "invoice.created" || kinds[2] != "order.paid" || kinds[3] != "invoice.paid" {
			t.Errorf("a purchase is told as %v", kinds)
		}
		open := issue(t, c, billed(t, c), workshop(100))
		ok[*sdk.Invoice](t)(c.Invoices.Void(background, open.ID))
		if kinds := heard(4, "invoice.voided"); len(kinds) != 3 || kinds[0] != "invoice.created" || kinds[1] != "order.created" || kinds[2] != "invoice.voided" {
			t.Errorf("an invoice that is voided is told as %v", kinds)
		}
	})
}

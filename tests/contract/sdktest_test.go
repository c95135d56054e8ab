package contract

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/sdk/sdktest"
	"github.com/tillwright/tillwright/tests/harness"
)

// tape records what a client is answered, in a form that does not depend on when and by which server.
type tape struct {
	base    http.RoundTripper
	names   map[string]string // of ids
	words   bool              // the messages of errors count
	answers []string
}

func newTape(t *testing.T) *tape {
	t.Helper()
	return &tape{base: &harness.Transport{T: t, Coverage: new(harness.Coverage)}, names: map[string]string{}}
}

// RoundTrip implements http.RoundTripper.
func (r *tape) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := r.base.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(resp.Body)
	resp.Body = io.NopCloser(bytes.NewReader(body))
	query, _ := url.QueryUnescape(req.URL.RawQuery) // was written by the SDK
	r.answers = append(r.answers, fmt.Sprintf("%s %s %s: %d %s", req.Method, r.plain(req.URL.Path), r.plain(query), resp.StatusCode, r.json(body)))
	return resp, err
}

var (
	anID     = regexp.MustCompile(`\b([a-z]+)_[0-9a-hjkmnp-tv-z]{26}`)
	variable = regexp.MustCompile(`\d{4}-\d\d-\d\dT[\d:.]+Z|http://(shop\.test|127\.0\.0\.1:\d+)((/invoice|/receipt)/\w+)?|_secret_[0-9a-z]+|whsec_[\w+/=]+|tre_re_\w+|whev_\w+`)
)

// plain returns a text without what differs each time. An id is called by how many of its kind were there before.
func (r *tape) plain(text string) string {
	text = variable.ReplaceAllString(text, "*")
	return anID.ReplaceAllStringFunc(text, func(id string) string {
		if r.names[id] == "" {
			r.names[id] = fmt.Sprintf("%s#%d", id[:strings.IndexByte(id, '_')], len(r.names))
		}
		return r.names[id]
	})
}

// json returns JSON with one field a line, by name.
func (r *tape) json(body []byte) string {
	var value any
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	if err := decoder.Decode(&value); err != nil {
		return err.Error()
	}
	var b strings.Builder
	r.write(&b, "", value)
	return b.String()
}

func (r *tape) write(b *strings.Builder, path string, value any) {
	switch v := value.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if name != "seller_name" && (name != "message" || path != ".error" || r.words) { // which are the account's and for people
				r.write(b, path+"."+name, v[name])
			}
		}
		if len(v) > 0 {
			return
		}
	case []any:
		for i, item := range v {
			r.write(b, fmt.Sprintf("%s.%d", path, i), item)
		}
		if len(v) > 0 {
			return
		}
	case string:
		value = r.plain(v)
	}
	fmt.Fprintf(b, "\n\t%s = %v", path, value)
}

// sale is a program that sells something and meets every kind of error. It notes nothing: its client's tape does.
func sale(c *sdk.Client) {
	ctx := background
	product, _ := c.Products.Create(ctx, &sdk.ProductCreate{Name: "Field guide", Metadata: &sdk.Metadata{"shelf": "a", "row": "1"}, ExternalID: new("book-1")})
	variant, _ := c.PriceVariants.Create(ctx, &sdk.PriceVariantCreate{Product: product.Slug, Amount: new(int64(1900)), Currency: new("usd"), Name: new("Paper")})
	_, _ = c.PriceVariants.Create(ctx, &sdk.PriceVariantCreate{Product: product.ID, Type: new(sdk.PriceVariantTypeRecurring), Amount: new(int64(500)), Interval: new(sdk.PriceVariantIntervalMonth)})
	_, _ = c.PriceVariants.Create(ctx, &sdk.PriceVariantCreate{Product: product.ID, AmountType: new(sdk.PriceVariantAmountTypeFree), Position: new(int64(3))})
	_, _ = c.PriceVariants.Update(ctx, variant.ID, &sdk.PriceVariantUpdate{ExternalID: sdk.Set("paper")})
	_, _ = c.PriceVariants.Create(ctx, &sdk.PriceVariantCreate{Product: product.ID, Amount: new(int64(500)), ExternalID: new("paper")})
	_, _ = c.Products.Create(ctx, &sdk.ProductCreate{Name: "Twice", PriceVariants: []sdk.ProductPriceVariant{{Amount: new(int64(500)), ExternalID: new("paper")}, {Amount: new(int64(500)), ExternalID: new("other")}, {Amount: new(int64(500)), ExternalID: new("other")}}})
	_, _ = c.PriceVariants.List(ctx, &sdk.ListPriceVariantsParams{ExternalID: new("paper")})
	_, _ = c.PriceVariants.Update(ctx, variant.ID, &sdk.PriceVariantUpdate{Stock: sdk.Set(int64(9)), Metadata: sdk.Set(sdk.MetadataUpdate{"a": nil})})
	_, _ = c.Products.Publish(ctx, product.ID)
	_, _ = c.Products.Publish(ctx, product.ID)
	_, _ = c.Products.Update(ctx, product.Slug, &sdk.ProductUpdate{Headline: sdk.Set("A small book"), Metadata: sdk.Set(sdk.MetadataUpdate{"row": nil, "color": new("red")})}, sdk.Expand("price_variants"))
	_, _ = c.Products.Update(ctx, product.ID, &sdk.ProductUpdate{Headline: sdk.Null[string]()})
	_, _ = c.Products.Get(ctx, product.ID, sdk.Expand("default_price_variant"))
	copied, _ := c.Products.Duplicate(ctx, product.ID)
	_, _ = c.Products.Archive(ctx, copied.ID)
	_, _ = c.Products.Publish(ctx, copied.ID)
	_, _ = c.Products.Unarchive(ctx, copied.ID)
	_, _ = c.Products.Delete(ctx, copied.ID)
	_, _ = c.Products.Get(ctx, copied.ID)
	for range 3 {
		_, _ = c.Products.Create(ctx, &sdk.ProductCreate{Name: "Card", Status: new(sdk.ProductStatusActive), PriceVariants: []sdk.ProductPriceVariant{{Amount: new(int64(300))}}})
	}
	for range sdk.All(ctx, c.Products.List, &sdk.ListProductsParams{Limit: new(int64(2))}) {
	}
	page, _ := c.Products.List(ctx, &sdk.ListProductsParams{Limit: new(int64(2)), Sort: new("created_at")})
	_, _ = c.Products.List(ctx, &sdk.ListProductsParams{EndingBefore: new(page.Data[1].ID), Status: new(sdk.ProductStatusActive)})
	_, _ = c.Products.List(ctx, &sdk.ListProductsParams{Q: new("fie guid"), Metadata: sdk.MetadataFilter{"shelf": "a"}, CreatedAfter: new(product.CreatedAt)})

	customer, _ := c.Customers.Create(ctx, &sdk.CustomerCreate{Email: "grace@example.com", Name: new("Grace"), ExternalID: new("42")})
	_, _ = c.Customers.GetByExternalID(ctx, "42")
	_, _ = c.Customers.Update(ctx, customer.ID, &sdk.CustomerUpdate{Notes: sdk.Set("VIP"), Tags: []string{"vip"}})
	_, _ = c.Customers.List(ctx, &sdk.ListCustomersParams{Email: new("Grace@example.com"), Tag: new("vip")})
	_, _ = c.Discounts.Create(ctx, &sdk.DiscountCreate{Type: sdk.DiscountTypePercent, PercentBps: new(int64(1250)), Code: new("SPRING")})
	_, _ = c.Discounts.Lookup(ctx, &sdk.LookupDiscountParams{Code: "spring"})
	link, _ := c.CheckoutLinks.Create(ctx, &sdk.CheckoutLinkCreate{PriceVariants: []string{variant.ID}})
	_, _ = c.CheckoutLinks.Update(ctx, link.ID, &sdk.CheckoutLinkUpdate{Active: new(false)})
	_, _ = c.CheckoutLinks.Delete(ctx, link.ID)
	lead, _ := c.Leads.Create(ctx, &sdk.LeadCreate{Email: "lead@example.com", Product: new(product.ID)})
	_, _ = c.Leads.Create(ctx, &sdk.LeadCreate{Email: "LEAD@example.com", Product: new(product.Slug)})
	_, _ = c.Leads.Get(ctx, lead.ID, sdk.Expand("customer"))

	buy := &sdk.CheckoutCreate{LineItems: []sdk.CheckoutLine{{PriceVariant: variant.ID, Quantity: new(int64(3))}, {PriceVariant: variant.ID}}, CustomerEmail: new("ada@example.com"), DiscountCode: new("spring")}
	checkout, _ := c.Checkouts.Create(ctx, buy, sdk.Expand("line_items"), sdk.WithIdempotencyKey("checkout"))
	_, _ = c.Checkouts.Create(ctx, buy, sdk.Expand("line_items"), sdk.WithIdempotencyKey("checkout"))
	_, _ = c.Checkouts.Create(ctx, &sdk.CheckoutCreate{}, sdk.WithIdempotencyKey("checkout"))
	_, _ = c.Checkouts.Update(ctx, checkout.ID, &sdk.CheckoutUpdate{CustomerName: sdk.Set("Ada"), BillingAddress: sdk.Set(sdk.Address{Country: new("DE")}), Metadata: sdk.Set(sdk.MetadataUpdate{"cart": new("7")})})
	_, _ = c.PublicCheckouts.Get(ctx, checkout.ClientSecret)
	_, _ = c.Checkouts.Confirm(ctx, checkout.ID, &sdk.CheckoutConfirm{})
	declined := &sdk.CheckoutConfirm{PaymentMethod: &sdk.PaymentMethod{Token: "pm_card_chargeDeclined"}, WithdrawalWaived: new(true)}
	_, _ = c.Checkouts.Confirm(ctx, checkout.ID, declined, sdk.WithIdempotencyKey("declined"))
	_, _ = c.Checkouts.Confirm(ctx, checkout.ID, declined, sdk.WithIdempotencyKey("declined"))
	_, _ = c.Checkouts.Get(ctx, checkout.ID)
	_, _ = c.Checkouts.Confirm(ctx, checkout.ID, &sdk.CheckoutConfirm{PaymentMethod: &sdk.PaymentMethod{Token: "pm_nobody"}})
	checkout, _ = c.Checkouts.Confirm(ctx, checkout.ID, &sdk.CheckoutConfirm{PaymentMethod: &sdk.PaymentMethod{Token: "pm_card_visa"}, WithdrawalWaived: new(true)}, sdk.Expand("customer"))
	_, _ = c.Checkouts.Confirm(ctx, checkout.ID, nil)
	_, _ = c.Checkouts.Update(ctx, checkout.ID, &sdk.CheckoutUpdate{CustomerName: sdk.Set("Eve")})
	_, _ = c.Checkouts.Expire(ctx, checkout.ID)
	order, _ := c.Orders.Get(ctx, checkout.Order.ID, sdk.Expand("line_items.price_variant", "customer", "invoice", "payments", "grants", "discount"))
	_, _ = c.Orders.Update(ctx, order.ID, &sdk.OrderUpdate{Metadata: sdk.Set(sdk.MetadataUpdate{"shipped": new("yes")})})
	_, _ = c.Products.Delete(ctx, product.ID)
	_, _ = c.Refunds.Create(ctx, &sdk.RefundCreate{Order: order.ID, Amount: new(int64(100)), Reason: new(sdk.RefundReasonDuplicate)})
	_, _ = c.Refunds.Create(ctx, &sdk.RefundCreate{Order: order.ID, Amount: new(int64(100_000))})
	_, _ = c.Refunds.Create(ctx, &sdk.RefundCreate{Order: order.ID}, sdk.Expand("order", "customer"))
	_, _ = c.Refunds.Create(ctx, &sdk.RefundCreate{Order: order.ID})
	_, _ = c.Invoices.List(ctx, &sdk.ListInvoicesParams{Status: new(sdk.InvoiceStatusPaid)}, sdk.Expand("lines", "refunds"))
	_, _ = c.Orders.List(ctx, &sdk.ListOrdersParams{Customer: new(order.Customer.ID)})
	_, _ = c.Grants.List(ctx, nil)
	_, _ = c.Customers.Get(ctx, order.Customer.ID)
	open, _ := c.Checkouts.Create(ctx, &sdk.CheckoutCreate{LineItems: []sdk.CheckoutLine{{PriceVariant: variant.ID}}, Customer: new(customer.ID)})
	_, _ = c.Checkouts.Expire(ctx, open.ID)
	_, _ = c.Checkouts.Confirm(ctx, open.ID, declined)

	oddSale(c)
	changedSale(c)
	askingSale(c)

	endpoint, _ := c.WebhookEndpoints.Create(ctx, &sdk.WebhookEndpointCreate{URL: "http://127.0.0.1:9/hooks", EnabledEvents: []string{"invoice.voided"}})
	_, _ = c.WebhookEndpoints.RotateSecret(ctx, endpoint.ID, nil)
	_, _ = c.WebhookEndpoints.Create(ctx, &sdk.WebhookEndpointCreate{URL: "http://127.0.0.1:9/hooks", EnabledEvents: []string{"order.sent"}})
	_, _ = c.WebhookEndpoints.Get(ctx, endpoint.ID)
}

// oddSale is the part of a sale about unusual offers: free, few, of a chosen amount, reduced by a fixed amount, or gone.
func oddSale(c *sdk.Client) {
	ctx := background
	offer, _ := c.Products.Create(ctx, &sdk.ProductCreate{Name: "Poster", Status: new(sdk.ProductStatusActive), PriceVariants: []sdk.ProductPriceVariant{
		{Amount: new(int64(700)), Stock: new(int64(1))},
		{AmountType: new(sdk.PriceVariantAmountTypeFree)},
		{AmountType: new(sdk.PriceVariantAmountTypeCustom), MinAmount: new(int64(200)), SuggestedAmount: new(int64(400))},
		{Amount: new(int64(333)), QuantityMax: new(int64(3)), CurrencyAmounts: &sdk.CurrencyAmounts{"eur": 300}},
	}})
	lines := func(of ...int) (all []sdk.CheckoutLine) {
		for _, i := range of {
			all = append(all, sdk.CheckoutLine{PriceVariant: offer.PriceVariants[i].ID})
		}
		return all
	}
	create := func(body *sdk.CheckoutCreate) *sdk.Checkout {
		body.CustomerEmail = new("alan@example.com")
		checkout, _ := c.Checkouts.Create(ctx, body, sdk.Expand("line_items"))
		return checkout
	}
	pay := func(checkout *sdk.Checkout) {
		_, _ = c.Checkouts.Confirm(ctx, checkout.ID, &sdk.CheckoutConfirm{PaymentMethod: &sdk.PaymentMethod{Token: "pm_card_visa"}})
	}
	last, tooLate := create(&sdk.CheckoutCreate{LineItems: lines(0)}), create(&sdk.CheckoutCreate{LineItems: lines(0)})
	pay(last)
	pay(tooLate)
	create(&sdk.CheckoutCreate{LineItems: lines(0)})
	free := create(&sdk.CheckoutCreate{LineItems: lines(1)})
	free, _ = c.Checkouts.Confirm(ctx, free.ID, nil)
	_, _ = c.Orders.Get(ctx, free.Order.ID, sdk.Expand("invoice", "customer"))
	_, _ = c.Refunds.Create(ctx, &sdk.RefundCreate{Order: free.Order.ID})
	create(&sdk.CheckoutCreate{LineItems: lines(2)})
	create(&sdk.CheckoutCreate{LineItems: []sdk.CheckoutLine{{PriceVariant: offer.PriceVariants[2].ID, CustomAmount: new(int64(350))}}})
	create(&sdk.CheckoutCreate{LineItems: []sdk.CheckoutLine{{PriceVariant: offer.PriceVariants[3].ID, CustomAmount: new(int64(350))}}})
	create(&sdk.CheckoutCreate{LineItems: []sdk.CheckoutLine{{PriceVariant: offer.PriceVariants[3].ID, Quantity: new(int64(4))}}})
	create(&sdk.CheckoutCreate{LineItems: lines(3), Currency: new("eur")})
	create(&sdk.CheckoutCreate{LineItems: lines(3), Currency: new("gbp")})
	fixed, _ := c.Discounts.Create(ctx, &sdk.DiscountCreate{Type: sdk.DiscountTypeFixed, Amount: new(int64(100)), MinSubtotalAmount: new(int64(600)), Code: new("LESS")})
	create(&sdk.CheckoutCreate{LineItems: lines(3, 2, 3), Discount: new(fixed.ID)})
	create(&sdk.CheckoutCreate{LineItems: lines(3), DiscountCode: new("less")})
	_, _ = c.Discounts.Disable(ctx, fixed.ID)
	create(&sdk.CheckoutCreate{LineItems: lines(3, 3), DiscountCode: new("less")})

	gone, _ := c.Products.Create(ctx, &sdk.ProductCreate{Name: "Gone", Status: new(sdk.ProductStatusActive), PriceVariants: []sdk.ProductPriceVariant{{Amount: new(int64(700))}}})
	waiting, _ := c.Checkouts.Create(ctx, &sdk.CheckoutCreate{LineItems: []sdk.CheckoutLine{{PriceVariant: gone.PriceVariants[0].ID}}, CustomerEmail: new("alan@example.com")})
	_, _ = c.PriceVariants.Delete(ctx, gone.PriceVariants[0].ID)
	_, _ = c.PriceVariants.Update(ctx, gone.PriceVariants[0].ID, &sdk.PriceVariantUpdate{Status: new(sdk.PriceVariantStatusArchived)})
	_, _ = c.Products.Archive(ctx, gone.ID)
	pay(waiting)
	_, _ = c.Products.Delete(ctx, gone.ID)
	pay(waiting)
}

// The fake server of the SDK answers a program as this server does, field by field, and sends the same webhooks. Each of its answers is
// checked against the document.
func TestSDKTest_AnswersAsTheServerDoes(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, s *harness.Server) {
		account, hooks := s.Account(t), harness.NewReceiver(t)
		endpoint := ok[*sdk.WebhookEndpoint](t)(account.SDK().WebhookEndpoints.Create(background, &sdk.WebhookEndpointCreate{URL: hooks.URL}))
		real, faked := newTape(t), newTape(t)
		sale(sdk.New(account.Key, sdk.WithBaseURL(s.URL+"/v1"), sdk.WithHTTPClient(&http.Client{Transport: real}), sdk.WithRetries(0)))

		fake, fakeHooks := sdktest.New(t), new(harness.Receiver)
		fake.Webhooks(fakeHooks, *endpoint.Secret)
		sale(fake.Client(sdk.WithHTTPClient(&http.Client{Transport: faked}), sdk.WithRetries(0)))
		sameTapes(t, real.answers, faked.answers)
		if t.Failed() {
			return // the events differ, too
		}
		events := faked.events(t, fakeHooks, *endpoint.Secret)
		for kind, n := range counted(fakeHooks) {
			hooks.Await(t, n, kind)
		}
		sameTapes(t, real.events(t, hooks, *endpoint.Secret), events)
	})
}

// events returns what was delivered, in an order that does not depend on who was quicker.
func (r *tape) events(t *testing.T, hooks *harness.Receiver, secret string) []string {
	t.Helper()
	var all []string
	for _, d := range hooks.Deliveries() {
		event, err := sdk.VerifyWebhook(d.Body, d.Header, secret)
		if err != nil {
			t.Fatalf("a webhook does not verify: %v", err)
		}
		all = append(all, event.Type+r.json(d.Body))
	}
	slices.Sort(all)
	return all
}

func counted(hooks *harness.Receiver) map[string]int {
	count := map[string]int{}
	for _, d := range hooks.Deliveries() {
		count[d.Type()]++
	}
	return count
}

func sameTapes(t *testing.T, real, faked []string) {
	t.Helper()
	for i := range max(len(real), len(faked)) {
		var ours, theirs []string
		if i < len(real) {
			ours = strings.Split(real[i], "\n")
		}
		if i < len(faked) {
			theirs = strings.Split(faked[i], "\n")
		}
		if slices.Equal(ours, theirs) {
			continue
		}
		t.Errorf("%d. The server answers\n%s\nand the fake\n%s", i, lacking(ours, theirs), lacking(theirs, ours))
	}
}

// lacking returns the lines of a text that another one lacks, below the first.
func lacking(lines, others []string) string {
	if len(lines) == 0 {
		return "nothing"
	}
	kept := lines[:1:1]
	for _, line := range lines {
		if !slices.Contains(others, line) && line != lines[0] {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "\n")
}

package sdk_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net/http"
	"os"
	"slices"
	"time"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/sdk/signature"
)

var (
	ctx    = context.Background()
	client = sdk.New(os.Getenv("TILLWRIGHT_API_KEY"))
)

func ExampleNew() {
	client := sdk.New(os.Getenv("TILLWRIGHT_API_KEY"),
		sdk.WithBaseURL("https://shop.example/v1"),
		sdk.WithTimeout(20*time.Second),
		sdk.WithRetryTime(time.Minute),
		sdk.WithUserAgent("my-shop/1.4"),
	)
	account, err := client.Account.Get(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("selling as", account.Name)
}

// A page of yours on which the customer is signed in sends them on to the portal.
func ExampleCustomersService_CreatePortalSession() {
	http.HandleFunc("GET /account/billing", func(w http.ResponseWriter, r *http.Request) {
		session, err := client.Customers.CreatePortalSession(r.Context(), "cus_01k0000000000000000000000a", &sdk.PortalSessionCreate{
			ReturnURL: new("https://shop.example/account"),
		})
		if err != nil {
			http.Error(w, "Try again later.", http.StatusBadGateway)
			return
		}
		http.Redirect(w, r, session.URL, http.StatusSeeOther)
	})
}

// A program that keeps a catalogue in step sends a hundred products at once, by its own ids.
func ExampleProductsService_BulkUpsert() {
	done, err := client.Products.BulkUpsert(ctx, &sdk.ProductBulkUpsert{Items: []sdk.ProductUpsert{
		{ExternalID: "sku-1", Name: new("Field guide to tides")},
		{ExternalID: "sku-2", Name: new("Field guide to clouds")},
	}}, sdk.WithIdempotencyKey("catalogue-2026-11-28-1"))
	if err != nil {
		log.Fatal(err) // nothing was written
	}
	for _, result := range done.Results {
		if result.Error != nil {
			fmt.Println(result.Index, result.Error.Message) // the others are written
		}
	}
}

// A price of your own catalogue is made or changed by its id there, whichever it takes.
func ExamplePriceVariantsService_Upsert() {
	price, err := client.PriceVariants.Upsert(ctx, &sdk.PriceVariantUpsert{
		ExternalID: "sku-1-usd",
		Product:    new("field-guide-to-tides"),
		Amount:     new(int64(1900)), // 19.00
		Currency:   new("usd"),
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(price.ID)
}

// A product needs a price variant before it can be active.
func ExampleProductsService_Create() {
	product, err := client.Products.Create(ctx, &sdk.ProductCreate{
		Name:     "Field guide to tides",
		Headline: new("Forty pages, one pencil"),
		PriceVariants: []sdk.ProductPriceVariant{{
			Amount:   new(int64(1900)), // 19.00
			Currency: new("usd"),
		}},
		Status: new(sdk.ProductStatusActive),
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(product.ID, product.Slug)
}

// In an update a field that is left alone stays as it is.
func ExampleSet() {
	product, err := client.Products.Update(ctx, "field-guide-to-tides", &sdk.ProductUpdate{
		Name:        new("A field guide to tides"),        // may not be cleared: a pointer
		Headline:    sdk.Set("Now with a second edition"), // may be cleared: a value ...
		Description: sdk.Null[string](),                   // ... or null
		Images:      []string{},                           // no more images
		Metadata:    sdk.Set(sdk.MetadataUpdate{"shelf": new("B4"), "draft": nil}),
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(product.Name)
}

func ExampleError() {
	_, err := client.Products.Publish(ctx, "field-guide-to-tides")
	var refused *sdk.Error
	if errors.As(err, &refused) {
		fmt.Println(refused.Status, refused.Code, refused.Param)
		for field, messages := range refused.Errors {
			fmt.Println(field, messages)
		}
		fmt.Println("quote this to the operator:", refused.RequestID)
	}
}

func ExampleCodeOf() {
	_, err := client.Products.Get(ctx, "prod_01k0000000000000000000000a")
	switch sdk.CodeOf(err) {
	case sdk.CodeResourceMissing:
		fmt.Println("no such product")
	case sdk.CodeAuthentication, sdk.CodeForbidden:
		fmt.Println("this key may not read products")
	}
}

// All fetches page after page while the loop runs.
func ExampleAll() {
	paid := &sdk.ListOrdersParams{Status: new(sdk.OrderStatusPaid)}
	for order, err := range sdk.All(ctx, client.Orders.List, paid, sdk.Expand("customer")) {
		if err != nil {
			log.Fatal(err)
		}
		customer, ok := order.Customer.Get()
		if !ok { // deleted since
			customer.Email = "somebody"
		}
		fmt.Println(order.Number, order.TotalAmount, order.Currency, customer.Email)
	}
}

// A List method returns a single page, for a page of your own.
func ExampleOrdersService_List() {
	page, err := client.Orders.List(ctx, &sdk.ListOrdersParams{
		Limit:        new(int64(20)),
		CreatedAfter: new(sdk.TimeOf(time.Now().AddDate(0, -1, 0))),
		Metadata:     sdk.MetadataFilter{"source": "newsletter"},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(page.Data), page.HasMore)
}

// A reference always has its ID. Get returns the resource if the call asked for it, and if it was not deleted since. Of a deleted
// one the ID is all there is.
func ExampleExpand() {
	order, err := client.Orders.Get(ctx, "order_01k0000000000000000000000a", sdk.Expand("line_items.product", "customer"))
	if err != nil {
		log.Fatal(err)
	}
	for _, item := range order.LineItems {
		line, _ := item.Get()
		if product, ok := line.Product.Get(); ok {
			fmt.Println(line.Quantity, product.Name)
		}
	}
	if order.Customer.Deleted != nil {
		fmt.Println("the customer was deleted")
	}
	fmt.Println(order.Checkout.ID) // was not asked for: Get finds nothing
}

// The server remembers the key for 24 hours: the purchase happens once, even if this program is stopped and runs again.
func ExampleWithIdempotencyKey() {
	var response sdk.Response
	checkout, err := client.Checkouts.Confirm(ctx, "chk_01k0000000000000000000000a",
		&sdk.CheckoutConfirm{PaymentMethod: &sdk.PaymentMethod{Token: "pm_card_visa"}},
		sdk.WithIdempotencyKey("cart-4711-confirm"),
		sdk.WithCallTimeout(10*time.Second),
		sdk.WithHeader("traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"),
		sdk.WithResponse(&response),
	)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(checkout.Status, response.RequestID, response.Replayed, response.Attempts)
}

// The server is newer than this package: it takes a field, and answers with it.
func ExampleWithField() {
	var response sdk.Response
	product, err := client.Products.Update(ctx, "field-guide", &sdk.ProductUpdate{}, sdk.WithField("mood", "good"), sdk.WithResponse(&response))
	if err != nil {
		log.Fatal(err)
	}
	var more struct{ Mood string }
	if err := json.Unmarshal(response.Body, &more); err != nil {
		log.Fatal(err)
	}
	fmt.Println(product.Name, more.Mood)
}

func ExampleAllOf() {
	for line, err := range sdk.AllOf(ctx, client.Invoices.ListLines, "inv_01k0000000000000000000000a", nil) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(line.Description, line.Quantity)
	}
}

// A subscription of a customer who is not there. One who is buys it in a checkout.
func ExampleSubscriptionsService_Create() {
	subscription, err := client.Subscriptions.Create(ctx, &sdk.SubscriptionCreate{
		Customer:      "cus_01k0000000000000000000000a",
		PriceVariant:  "price_01k0000000000000000000000s", // recurring
		PaymentMethod: new("pm_01k0000000000000000000000a"),
		TrialEnd:      new(sdk.TimeOf(time.Now().AddDate(0, 0, 14))),
	})
	var refused *sdk.Error
	if errors.As(err, &refused) && refused.Errors["payment_method"] != nil {
		fmt.Println("the bank said no:", refused.Message) // and there is no subscription
		return
	}
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(subscription.Status, "until", subscription.CurrentPeriodEnd.Time())
}

// Without an amount all that is left of an order goes back. A refund may stay pending: refund.updated tells what became of it.
func ExampleRefundsService_Create() {
	refund, err := client.Refunds.Create(ctx, &sdk.RefundCreate{
		Order:  "order_01k0000000000000000000000a",
		Amount: new(int64(500)), // 5.00, tax included
		Reason: new(sdk.RefundReasonCustomerRequest),
	}, sdk.Expand("order"))
	if err != nil {
		log.Fatal(err)
	}
	if order, ok := refund.Order.Get(); ok {
		fmt.Println(refund.Status, "and", order.RefundableAmount, "could still be given back")
	}
}

// A checkout is paid by its buyer without a key.
func ExamplePublicCheckoutsService_Confirm() {
	buyer := sdk.New("")
	checkout, err := buyer.PublicCheckouts.Confirm(ctx, "the client_secret of a checkout", &sdk.CheckoutConfirm{
		PaymentMethod: &sdk.PaymentMethod{Card: &sdk.Card{Number: "4242424242424242", ExpMonth: 12, ExpYear: 2030, CVC: "123"}},
		TermsAccepted: new(true), // ticked by the buyer, where the checkout says terms_required
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(checkout.PaymentStatus)
}

// A hook sees each attempt of each call. Transports for distributed tracing go into WithHTTPClient.
func ExampleWithHook() {
	client := sdk.New(os.Getenv("TILLWRIGHT_API_KEY"), sdk.WithHook(func(ctx context.Context, a sdk.Attempt) {
		slog.InfoContext(ctx, "tillwright", "operation", a.Operation, "attempt", a.Number, "status", a.Status,
			"took", a.Duration, "request_id", a.RequestID, "error", a.Err)
	}))
	_, _ = client.Products.List(ctx, nil)
}

// A receiver verifies the bytes that came, answers at once and works later.
func ExampleVerifyWebhook() {
	secret := os.Getenv("TILLWRIGHT_WEBHOOK_SECRET") // from the answer to WebhookEndpoints.Create
	http.HandleFunc("POST /hooks", func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
		if err != nil {
			http.Error(w, "too large", http.StatusRequestEntityTooLarge)
			return
		}
		event, err := sdk.VerifyWebhook(body, r.Header, secret)
		if errors.Is(err, sdk.ErrNotSigned) || errors.Is(err, sdk.ErrBadSignature) {
			http.Error(w, err.Error(), http.StatusUnauthorized)
			return
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		slog.Info("remember the id: the same event may come twice", "id", event.ID)
		w.WriteHeader(http.StatusNoContent)
	})
}

func ExampleEvent_Order() {
	secret := "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo="
	body := []byte(`{"id":"whev_1","type":"order.paid","data":{"object":"order","number":7,"total_amount":1900,"currency":"usd"}}`)
	header := http.Header{"X-Service-Hmac-Sha256": {signature.Sign(body, secret)}}

	event, err := sdk.VerifyWebhook(body, header, secret)
	if err != nil {
		log.Fatal(err)
	}
	switch event.Type {
	case sdk.EventOrderPaid:
		order, err := event.Order()
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println("order", order.Number, "paid:", order.TotalAmount, order.Currency)
	default:
		fmt.Println("a server may send types that are newer than this program")
	}
	// Output: order 7 paid: 1900 usd
}

// A program that acts on its own can see beforehand which operations a person should approve.
func Example_operations() {
	var ask []string
	for id, operation := range sdk.Operations {
		if operation.Approval == "ask" && operation.Scope == "products:write" {
			ask = append(ask, id)
		}
	}
	slices.Sort(ask)
	fmt.Println(ask)
	fmt.Println(sdk.Operations["confirmCheckout"].Method, sdk.Operations["confirmCheckout"].Path)
	// Output:
	// [deletePriceVariant deleteProduct]
	// POST /checkouts/{id}/confirm
}

// A program of yours that runs on a buyer's device. It asks once for a place of the buyer's key, and needs no network after that.
func ExampleVerifyLicense() {
	const (
		product   = "prod_01k0000000000000000000000a"
		publicKey = "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo" // a constant: a setting could be changed
	)
	typed, fingerprint := "9F3XT-0MBWC-5Z8RA-H4DNE-17QK2", "mac-2f6c1e0a"
	if !sdk.IsLicenseKey(typed) {
		log.Fatal("That is mistyped.")
	}
	client := sdk.New("", sdk.WithBaseURL("https://shop.example/v1"))
	device, err := client.PublicLicenseKeys.Activate(ctx, &sdk.PublicLicenseKeyActivate{
		Account: "acct_01k0000000000000000000000a", Product: product, Key: typed, Fingerprint: fingerprint,
	})
	if err != nil {
		log.Fatal(err)
	}
	kept := *device.Token // in a file

	license, err := sdk.VerifyLicense(kept, publicKey, fingerprint)
	switch {
	case errors.Is(err, sdk.ErrLicenseExpired):
		log.Fatal("Connect to the network once, so that the licence is checked.")
	case err != nil || license.Product != product:
		log.Fatal("That is no licence for this program on this device.")
	}
	fmt.Println("licensed until", license.ExpiresAt)
}

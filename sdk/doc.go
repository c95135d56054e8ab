// Package sdk is the Go client of Tillwright, a self-hosted platform for selling digital products.
//
// # A client
//
// [New] takes an API key. The client has a service for each resource and a method for each operation:
//
//	client := sdk.New(os.Getenv("TILLWRIGHT_API_KEY"), sdk.WithBaseURL("https://shop.example/v1"))
//	product, err := client.Products.Create(ctx, &sdk.ProductCreate{Name: "Field guide"})
//
// Optional fields are pointers; since Go 1.26 new takes a value, so they read Headline: new("A small book"). Integers are int64, so
// that a literal is written new(int64(3)). A [Time] is text as it stands in JSON; its Time method and [TimeOf] convert.
// Amounts are in the currency's minor unit: new(int64(1900)) is 19.00. Enums have constants: [ProductStatusActive].
//
// In an update a field that is left alone keeps its value. A field that can be cleared takes [Set] or [Null]; a list is emptied by an
// empty slice.
//
// # Errors
//
// When the server refuses, the error is an [*Error], for errors.As; branch on its Code, and show its Errors by field. [CodeOf] is a
// shorthand. Any other error means that no answer came, or that the call was wrong before anything was sent: an empty id,
// a nil body.
//
// # Retries
//
// Every write carries a random Idempotency-Key, the same for all attempts of a call, so the server does it once however often it
// is sent. A call is repeated, up to [WithRetries] times, after a network error, a status of 500 or above, a 429, and a 409
// idempotency_request_in_progress, never after another 4xx. A host that DNS does not know, a certificate that is not accepted, and
// plain HTTP behind an https address are errors at once.
//
// Before each repetition it waits for half of a bound that doubles from half a second to eight, and for a random part of the other
// half, so that a restart of the server or of its database is bridged. It also waits for what Retry-After asks for, and on a 429
// without it until X-RateLimit-Reset. It does not wait for more than two minutes, nor beyond the context's deadline: then the error
// comes back at once.
//
// # Lists
//
// A List method returns one page. [All] walks them all:
//
//	for order, err := range sdk.All(ctx, client.Orders.List, nil, sdk.Expand("customer")) { ... }
//
// # References
//
// A reference to another resource is an [Expandable]: its ID always, and with Get the resource, if the call asked for it with
// [Expand] and it was not deleted since.
//
// # Webhooks
//
// [VerifyWebhook] checks the signature of a delivery and returns its [Event]; Event.Order, Event.Invoice,
// Event.Refund, Event.Checkout and Event.Product read what happened.
//
// # Trying things
//
// On a development server cards such as 4242424242424242 and tokens such as "pm_card_visa" pay, and [TestHelpersService.AdvanceClock]
// moves the account's clock over trials and renewals. sdk/examples holds two programs.
//
// # What is allowed
//
// [Operations] describes every operation: whether a person should approve it first, which scope a key needs, whether it is
// deprecated.
package sdk

// Package sdk is the Go client of Tillwright, a self-hosted platform for selling digital products.
//
// # A client
//
// [New] takes an API key. The client has a service for each resource and a method for each operation:
//
//	client := sdk.New(os.Getenv("TILLWRIGHT_API_KEY"), sdk.WithBaseURL("https://shop.example/v1"))
//	product, err := client.Products.Create(ctx, &sdk.ProductCreate{Name: "Field guide"})
//
// Optional fields are pointers. Since Go 1.26 new takes a value: Headline: new("A small book"). Integers are int64: new(int64(3)).
// A [Time] is text as it is in JSON; its Time method and [TimeOf] convert it.
// Amounts are in the currency's minor unit: new(int64(1900)) is 19.00. Enums have constants: [ProductStatusActive].
//
// In an update a field that you do not set keeps its value. A field that can be cleared takes [Set] or [Null]. An empty slice
// empties a list.
//
// # Errors
//
// When the server refuses, the error is an [*Error]: get it with errors.As. Branch on its Code, and show its Errors by field.
// [CodeOf] is a shorthand. Any other error means that no answer came, or that nothing was sent. Nothing is sent when the call is wrong, for example
// with an empty id or a nil body.
//
// # Retries
//
// Every write carries a random Idempotency-Key, the same for all attempts of a call. So the server does it once, even if it is
// sent several times. A call is repeated for [WithRetryTime], 30 seconds by default. It is repeated after a network error, a status of 500 or above
// other than 501, and a 429. It is repeated for 75 seconds after a 409 idempotency_request_in_progress. It is never repeated after another 4xx, or after
// an answer that is too large. A host that DNS does not know, a certificate that is not accepted, and plain HTTP behind an https address are errors
// at once.
//
// The wait before each repetition doubles, from half a second to eight. A random part of it, up to half, is left out. So a call
// outlasts a restart of the server or of its database. It also waits as long as Retry-After asks for, and on a 429 without it
// until X-RateLimit-Reset. It never waits longer than two minutes for that, or beyond the context's deadline: then the error comes back at
// once.
//
// # Lists
//
// A List method returns one page. [All] walks them all:
//
//	for order, err := range sdk.All(ctx, client.Orders.List, nil, sdk.Expand("customer")) { ... }
//
// [AllOf] walks the lists of one resource, such as the lines of an invoice.
//
// # References
//
// A reference to another resource is an [Expandable]. It always has its ID. Get returns the resource, if the call asked for it
// with [Expand] and it was not deleted since.
//
// # A newer server
//
// Fields and values of enums that this package does not know are no errors. [WithResponse] gives the whole answer, with all fields.
// [WithField] and [WithQuery] send what this package has no name for.
//
// # Webhooks
//
// [VerifyWebhook] checks the signature of a delivery and returns its [Event]. Event.Order, Event.Invoice,
// Event.Refund, Event.Checkout and Event.Product read its resource.
//
// # Trying things
//
// On a development server cards such as 4242424242424242 and tokens such as "pm_card_visa" pay. There [TestHelpersService.AdvanceClock] moves the
// account's clock over trials and renewals. Two programs are in sdk/examples. For the tests of your own program, sdk/sdktest is a fake server that
// needs neither a binary nor a database.
//
// # Approval and scopes
//
// [Operations] describes every operation: whether a person should approve it first, which scope a key needs, whether it is
// deprecated.
package sdk

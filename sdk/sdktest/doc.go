// Package sdktest is a fake Tillwright server for the tests of a program that uses the SDK. It needs no binary, no database and no
// network but the loopback, and is there in a few milliseconds. Each test has its own:
//
//	func TestShop(t *testing.T) {
//		server := sdktest.New(t) // ends with the test
//		shop := NewShop(server.Client())
//		...
//	}
//
// # What it does
//
// It checks requests against the API's own document, with which this package was made: paths, parameters, required fields, types,
// lengths, patterns and enums. It keeps what is created, lists it in pages, filters, expands references, replays an
// Idempotency-Key, and refuses with the API's own errors.
//
// These are there: products and price variants, customers, discounts, checkouts, checkout links, orders, invoices, refunds, leads,
// grants, webhook endpoints and webhook events. A checkout that is confirmed makes customer, order, invoice, payment and grants. The test
// cards of a development server work: "pm_card_visa" pays, and "pm_card_chargeDeclined" is declined.
//
// # Webhooks
//
// [Server.Webhooks] hands every event to your handler, signed as the real server signs. [Server.Send] sends one that nothing here brings
// about.
//
// # Faults
//
// [Server.Fail] has calls fail: with a status, after a delay, or without an answer. The answer may also be lost although the change was made.
// [Server.Requests] says what was asked.
//
// # What it does not do
//
// It answers 501 with the code "not_faked", which the client does not repeat, for:
//   - writes by external_id and in bulk;
//   - subscriptions, licence keys, files, experiences, posts, legal pages, sites and ads;
//   - metrics, search, exports, deliveries of webhooks and test helpers;
//   - invoices that are not an order's, the customer's portal and saved payment methods;
//   - recurring price variants in a checkout, discounts with rules or limits by customer, and cards that need authentication;
//   - filters that the object has no field for.
//
// Some things it takes that the real server refuses, or does in another way:
//   - It knows no taxes, currencies and their least amounts, legal pages, deliverables, scopes or quotas. Every key that begins with "sk_" is good.
//   - It takes a doubled key, a NUL and invalid UTF-8 in JSON, and a name that is only white space.
//   - A slug is made of ASCII letters alone. Former slugs and reserved ones may be taken.
//   - The filter q finds the beginnings of words in ids, names, addresses, codes and numbers.
//   - A checkout link may hold price variants that cannot be bought together.
//   - A customer keeps a name that a buyer typed without being known.
//
// It renders no pages: the addresses in its answers lead nowhere. What depends on these is for a development server,
// `tillwright serve --demo`.
package sdktest

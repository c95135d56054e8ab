package store

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/store/audit"
	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/checkout"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/discount"
	"github.com/tillwright/tillwright/store/grant"
	"github.com/tillwright/tillwright/store/internal/dbtest"
	"github.com/tillwright/tillwright/store/offer"
	"github.com/tillwright/tillwright/store/outbox"
	"github.com/tillwright/tillwright/store/payment"
	"github.com/tillwright/tillwright/store/person"
	"github.com/tillwright/tillwright/store/picture"
	"github.com/tillwright/tillwright/store/tenant"
	"github.com/tillwright/tillwright/store/testbank"
	"github.com/tillwright/tillwright/store/throttle"
	"github.com/tillwright/tillwright/tests/harness/database"
)

// aDay is the retention that servers have by default.
var aDay = outbox.DeliveryRetention{Failed: 7 * 24 * time.Hour, Succeeded: 24 * time.Hour}

// purchases makes a paid order of two pieces at a discount, and leaves a second checkout that is being paid.
func purchases(t *testing.T, s *Store, account string) {
	t.Helper()
	p, err := s.Catalog.CreateProduct(t.Context(), account, catalog.NewProduct{
		Product: catalog.Product{Name: "Guide", Status: catalog.ProductStatusActive}, PriceVariants: []catalog.PriceVariant{{Amount: 1900}},
	})
	require.NoError(t, err)
	d, err := s.Discount.Create(t.Context(), account, discount.Discount{Code: new("SPRING"), Type: discount.TypePercent, PercentBps: new(int64(1000))})
	require.NoError(t, err)
	_, err = s.Advert.CreateConversionDestination(t.Context(), account, &advert.SocialAccount{ID: "sacct_1", Platform: advert.PlatformFacebook}, advert.NewConversionDestination{
		PixelID: "1", Events: advert.ConversionKinds, Status: advert.DestinationActive,
	})
	require.NoError(t, err)
	begin := func() *PaymentProgress {
		c, err := s.Checkout.Create(t.Context(), account, checkout.Draft{
			Checkout: &checkout.Checkout{CustomerEmail: new("grace@example.com"), EmailVerified: true, DiscountID: &d.ID, AdsConsent: true, AdsVisit: core.JSONOf(visit())},
			Lines:    []offer.NewLine{{PriceVariant: p.PriceVariantIDs.V[0], Quantity: 2}},
		})
		require.NoError(t, err)
		begun, err := s.BeginConfirm(t.Context(), account, c.ID, checkout.Confirm{Provider: "test", MethodRef: "pm_card_visa"})
		require.NoError(t, err)
		return begun
	}
	paid := begin()
	_, err = s.TestBank.PutCharge(t.Context(), testbank.Charge{
		AccountID: account, ID: "tch_1", Token: paid.Payment.ID, Amount: 3420, Currency: "usd", Status: "succeeded",
	})
	require.NoError(t, err)
	settled, err := s.SettlePayment(t.Context(), paid.Payment, payment.ChargeResult{Status: payment.StatusSucceeded})
	require.NoError(t, err)
	refund(t, s, account, *settled.Checkout.OrderID)
	begin()
	_, err = s.Checkout.CreateLink(t.Context(), account, checkout.Link{PriceVariantIDs: core.JSONOf([]string{p.PriceVariantIDs.V[0]}), DiscountID: &d.ID, MaxUses: new(int64(3))})
	require.NoError(t, err)
}

// refund gives a part of an order back.
func refund(t *testing.T, s *Store, account, order string) {
	t.Helper()
	begun, err := s.BeginRefund(t.Context(), account, NewRefund{Order: order, Amount: new(int64(500)), Reason: RefundReasonCustomerRequest})
	require.NoError(t, err)
	made, err := s.TestBank.PutRefund(t.Context(), testbank.Refund{
		AccountID: account, ID: "tre_1", Token: begun.Refund.ID, ChargeID: "tch_1", Amount: 500, Status: "succeeded",
	})
	require.NoError(t, err)
	_, err = s.SettleRefund(t.Context(), begun.Refund, RefundResult{Ref: made.ID, Status: RefundStatusSucceeded}, time.Second)
	require.NoError(t, err)
}

// Every promise is broken once, behind the back of the code, and has to be missed.
func TestCheck_SeesEveryBrokenPromise(t *testing.T) {
	t.Parallel()
	sabotage := map[string]string{
		"the metrics of a quarter of an hour are what happened in it":                            `UPDATE metric_quarters SET net_revenue = net_revenue - 1 WHERE orders > 0`,
		"the metrics of subscriptions have changed to what they come to now":                     `UPDATE metric_quarters SET mrr = 1`,
		"the metrics of a year are the changes in it":                                            `INSERT INTO metric_years (account_id, currency, start, mrr, active) SELECT account_id, currency, 0, 0, 1 FROM orders`,
		"a line's figures add up":                                                                `UPDATE line_items SET total_amount = total_amount + 1, net_amount = net_amount + 1, subtotal_amount = subtotal_amount + 1`,
		"no amount is negative and no discount exceeds its subtotal":                             `UPDATE line_items SET net_amount = -1, tax_amount = total_amount + 1`,
		"a checkout's figures are the sums of its lines'":                                        `UPDATE checkouts SET net_amount = net_amount + 1`,
		"an order's figures are the sums of its lines'":                                          `UPDATE orders SET subtotal_amount = subtotal_amount + 1`,
		"what is paid is what was charged":                                                       `UPDATE payments SET amount = amount - 1 WHERE status = 'succeeded'`,
		"a payment has an order exactly if it should":                                            `UPDATE payments SET order_id = NULL`,
		"an invoice that was issued has one order like it, a draft none":                         `UPDATE invoices SET order_key = 'order_other'`,
		"an invoice's figures are the sums of its lines'":                                        `UPDATE line_items SET invoice_id = NULL`,
		"an invoice's status is what happened to it":                                             `UPDATE invoices SET status = 'open'`,
		"invoice numbers run without gaps":                                                       `UPDATE invoices SET sequence = 7`,
		"an order's status is what its amounts say":                                              `UPDATE orders SET status = 'refunded'`,
		"an order has one currency":                                                              `UPDATE payments SET currency = 'eur'`,
		"what is sold and held fits the stock":                                                   `UPDATE price_variants SET reserved_count = -1`,
		"what a price variant sold is in orders and in changes of plan":                          `UPDATE price_variants SET sold_count = sold_count + 1`,
		"what a price variant holds is being paid or tried, or a change waits for it":            `UPDATE price_variants SET reserved_count = 0`,
		"what a product sold is in orders and in changes of plan":                                `UPDATE products SET sales_count = 0`,
		"a completed checkout has one order, another one none":                                   `UPDATE checkouts SET status = 'completed'`,
		"a visit is kept while its buyer agrees and may still pay":                               `UPDATE checkouts SET ads_consent = FALSE WHERE status = 'processing'`,
		"ad networks are told of what was bought with consent alone":                             `UPDATE checkouts SET ads_consent = FALSE WHERE status = 'completed'`,
		"ad networks are told of a lead with consent alone, and of none that is gone":            `UPDATE leads SET ads_consent = FALSE`,
		"a processing checkout has one payment under way, another one none":                      `UPDATE payments SET status = 'failed' WHERE status = 'pending'`,
		"order numbers run from 1 without gaps":                                                  `UPDATE orders SET number = 2`,
		"an address is one customer's: merge those who share it":                                 `UPDATE customers SET email_key = email_key || ' ' || id`,
		"a lead is converted by a paid order alone":                                              `UPDATE leads SET status = 'converted'`,
		"a lead that is unsubscribed agrees to nothing":                                          `UPDATE leads SET status = 'unsubscribed', consent = '{"marketing":true}'`,
		"a lead has a customer, who was not deleted":                                             `UPDATE leads SET customer_id = 'cus_other'`,
		"an address has one lead for a product: delete the one that is too many":                 `UPDATE leads SET email_key = email_key || ' ' || id`,
		"one person signs in with an address: the younger needs another one":                     `UPDATE people SET email_key = email_key || ' ' || id`,
		"a letter to a team was sent to each of its readers, was dropped, or waits":              `UPDATE team_letters SET sent = sent + 1`,
		"a customer's orders are counted":                                                        `UPDATE customers SET orders_count = 2`,
		"every reference is to a row of the same account":                                        `UPDATE payments SET account_id = 'acct_other'`,
		"an active product has an active price variant":                                          `UPDATE price_variants SET status = 'archived'`,
		"a discount's redemptions are counted, and are no more than it has":                      `UPDATE discounts SET redemptions_count = redemptions_count - 1`,
		audit.PromiseDelivered:                                                                   `UPDATE products SET delivered_files = 1`,
		"a discount is redeemed by what is being paid or is bought with it, and by nothing else": `UPDATE checkouts SET discount_id = NULL`,
		"a trial is of what is being paid, or of the customer who has had it": `INSERT INTO trials (account_id, id, product_id, buyer_key, checkout_id, created_at, updated_at)
			SELECT account_id, 'trial_1', 'prod_1', 'hash', id, 0, 0 FROM checkouts WHERE status <> 'processing'`,
		"a discount that took nothing off a subscription is free once that has ended": `INSERT INTO subscriptions (account_id, id, status, customer_id, product_id, price_variant_id, product_name, quantity, unit_amount, currency, interval,
			interval_count, anchor_day, current_period_start, current_period_end, period_amount, started_at, cancel_at_period_end, pause_at_period_end, attempt_count,
			extra_attempt, cycles_billed, prorations, custom_field_data, metadata, discount_id, checkout_id, ended_at, created_at, updated_at)
			SELECT o.account_id, 'sub_1', 'canceled', o.customer_id, 'prod_1', 'price_1', 'Ghost', 1, 1, 'usd', 'month', 1, 1, 0, 1, 0, 0, FALSE, FALSE, 0, FALSE, 1, '[]', '{}', '{}', r.discount_id, r.checkout_id, 0, 0, 0 FROM orders o CROSS JOIN discount_redemptions r WHERE r.used_at IS NULL`,
		"a subscription has a next step exactly if it goes on": `INSERT INTO subscriptions (account_id, id, status, customer_id, product_id, price_variant_id, product_name, quantity, unit_amount, currency, interval,
			interval_count, anchor_day, current_period_start, current_period_end, period_amount, started_at, cancel_at_period_end, pause_at_period_end, attempt_count,
			extra_attempt, cycles_billed, prorations, custom_field_data, metadata, latest_invoice_id, created_at, updated_at)
			SELECT account_id, 'sub_1', 'active', customer_id, 'prod_1', 'price_1', 'Ghost', 1, 1, 'usd', 'month', 1, 1, 0, 1, 0, 0, FALSE, FALSE, 0, FALSE, 1, '[]', '{}', '{}', invoice_id, 0, 0 FROM orders`,
		"a subscription is past due exactly if its latest invoice is": `INSERT INTO subscriptions (account_id, id, status, customer_id, product_id, price_variant_id, product_name, quantity, unit_amount, currency, interval,
			interval_count, anchor_day, current_period_start, current_period_end, period_amount, started_at, cancel_at_period_end, pause_at_period_end, attempt_count,
			extra_attempt, cycles_billed, prorations, custom_field_data, metadata, latest_invoice_id, created_at, updated_at)
			SELECT account_id, 'sub_1', 'past_due', customer_id, 'prod_1', 'price_1', 'Ghost', 1, 1, 'usd', 'month', 1, 1, 0, 1, 0, 0, FALSE, FALSE, 0, FALSE, 1, '[]', '{}', '{}', invoice_id, 0, 0 FROM orders`,
		"an open invoice of a subscription is being charged":                                    `UPDATE invoices SET status = 'open', subscription_id = 'sub_1'`,
		"an order of a subscription is its customer's":                                          `UPDATE orders SET subscription_id = 'sub_1'`,
		"a line is for a period exactly if it bills a subscription, which is that of its order": `UPDATE line_items SET subscription_id = 'sub_1' WHERE order_id IS NOT NULL`,
		"events of one key are numbered without gaps":                                           `UPDATE events SET key_seq = 9 WHERE type = 'order.paid'`,
		"an order's last event is its newest":                                                   `UPDATE orders SET event_seq = 3`,
		"an order and its invoice are told of once":                                             `UPDATE events SET type = 'order.paid' WHERE type = 'order.created'`,
		"a payment sends its buyer elsewhere only while it requires an action":                  `UPDATE payments SET next_action_url = 'https://bank.example'`,
		"a charge went through exactly if its payment did":                                      `UPDATE test_charges SET amount = amount + 1`,
		"every charge of the test provider has its payment":                                     `UPDATE test_charges SET token = 'pay_other'`,

		"a subscription has billed its orders, its first period and those that a change of plan began": `INSERT INTO subscriptions (account_id, id, status, customer_id, product_id, price_variant_id, product_name, quantity, unit_amount, currency, interval,
			interval_count, anchor_day, current_period_start, current_period_end, period_amount, started_at, cancel_at_period_end, pause_at_period_end, attempt_count,
			extra_attempt, cycles_billed, prorations, custom_field_data, metadata, discount_id, created_at, updated_at)
			SELECT account_id, 'sub_1', 'canceled', customer_id, 'prod_1', 'price_1', 'Ghost', 1, 1, 'usd', 'month', 1, 1, 0, 1, 0, 0, FALSE, FALSE, 0, FALSE, 2, '[]', '{}', '{}', NULL, 0, 0 FROM orders`,
		"a subscription's discount is redeemed by its checkout, or by itself": `INSERT INTO subscriptions (account_id, id, status, customer_id, product_id, price_variant_id, product_name, quantity, unit_amount, currency, interval,
			interval_count, anchor_day, current_period_start, current_period_end, period_amount, started_at, cancel_at_period_end, pause_at_period_end, attempt_count,
			extra_attempt, cycles_billed, prorations, custom_field_data, metadata, discount_id, created_at, updated_at)
			SELECT account_id, 'sub_1', 'canceled', customer_id, 'prod_1', 'price_1', 'Ghost', 1, 1, 'usd', 'month', 1, 1, 0, 1, 0, 0, FALSE, FALSE, 0, FALSE, 1, '[]', '{}', '{}', 'disc_other', 0, 0 FROM orders`,
		"what a subscription has off its current period alone is redeemed too": `INSERT INTO subscriptions (account_id, id, status, customer_id, product_id, price_variant_id, product_name, quantity, unit_amount, currency, interval,
			interval_count, anchor_day, current_period_start, current_period_end, period_amount, started_at, cancel_at_period_end, pause_at_period_end, attempt_count,
			extra_attempt, cycles_billed, prorations, custom_field_data, metadata, discount_waits, created_at, updated_at)
			SELECT account_id, 'sub_1', 'canceled', customer_id, 'prod_1', 'price_1', 'Ghost', 1, 1, 'usd', 'month', 1, 1, 0, 1, 0, 0, FALSE, FALSE, 0, FALSE, 1, '[]', '{}', '{}', '{"former":{"discount":"disc_other"}}', 0, 0 FROM orders`,
		"a redemption is a checkout's, or that of a subscription and what it took off": `UPDATE discount_redemptions SET checkout_id = NULL`,

		"no checkout and no link has the discount of another account": `UPDATE checkout_links SET account_id = 'acct_other'`,
		"a checkout link is found by its address":                     `DELETE FROM global_names WHERE kind = 'checkout_link'`,
		"a checkout link sells nothing of another account":            `UPDATE checkout_links SET account_id = 'acct_other'`,
		"the test provider gives back no more than it took":           `UPDATE test_refunds SET amount = amount + 10000`,

		"what is refunded is the sum of the refunds, tax included":                            `UPDATE refunds SET tax_amount = tax_amount + 1`,
		"an invoice has its order's payments and refunds":                                     `UPDATE invoices SET credit_notes = credit_notes - 1`,
		"an order knows who can give back what was paid for it":                               `UPDATE orders SET balance_gone = TRUE`,
		"an order names its refunds":                                                          `UPDATE orders SET refund_ids = '["re_other"]'`,
		"a refund gives back what its order's customer paid, in its currency":                 `UPDATE refunds SET customer_id = 'cus_other'`,
		"a refund was made exactly if its provider made it":                                   `UPDATE test_refunds SET status = 'pending'`,
		"every refund of the test provider has its refund":                                    `UPDATE test_refunds SET token = 're_other'`,
		"what is of an order is its customer's":                                               `UPDATE discount_redemptions SET customer_id = 'cus_other'`,
		"a payment method is of a customer of its account, and a default one of its customer": `UPDATE customers SET default_payment_method_id = 'pm_other'`,
		"a checkout link counts what is bought by it":                                         `UPDATE checkout_links SET uses = uses + 1`,
		"a guard counts the payments under way, and the pieces that they hold":                `INSERT INTO payment_guards (account_id, subject, declines, under_way, since, retry_at, touched_at) SELECT id, 'other', 0, 7, 0, 0, 0 FROM accounts`,
		"what somebody bought who only typed an address is charged to nothing that its owner has saved": `INSERT INTO subscriptions (account_id, id, status, customer_id, product_id, price_variant_id, product_name, quantity, unit_amount, currency, interval,
			interval_count, anchor_day, current_period_start, current_period_end, period_amount, started_at, cancel_at_period_end, pause_at_period_end, attempt_count,
			extra_attempt, cycles_billed, prorations, custom_field_data, metadata, customer_verified, payment_method, created_at, updated_at)
			SELECT account_id, 'sub_1', 'canceled', customer_id, 'prod_1', 'price_1', 'Ghost', 1, 1, 'usd', 'month', 1, 1, 0, 1, 0, 0, FALSE, FALSE, 0, FALSE, 1, '[]', '{}', '{}', FALSE, '{"id":"pm_other"}', 0, 0 FROM orders`,
		"what was paid for is given":                                      `UPDATE grants SET item_id = 'li_other'`,
		"nothing is given by an order but what was paid for":              `UPDATE grants SET customer_id = 'cus_other'`,
		"what an order gave is revoked exactly if a refund takes it away": `UPDATE refunds SET revoke_access = TRUE`,
		"what a subscription gives is what its state says":                `UPDATE grants SET source_type = 'subscription'`,
		"what a refund took away is revoked while such a refund stands":   `UPDATE grants SET refunded = TRUE`,
		"who was deleted has nothing":                                     `UPDATE customers SET deleted_at = 1`,
		"a subscription gives its product": `INSERT INTO subscriptions (account_id, id, status, customer_id, product_id, price_variant_id, product_name, quantity, unit_amount, currency, interval,
			interval_count, anchor_day, current_period_start, current_period_end, period_amount, started_at, cancel_at_period_end, pause_at_period_end, attempt_count,
			extra_attempt, cycles_billed, prorations, custom_field_data, metadata, granted, created_at, updated_at)
			SELECT account_id, 'sub_1', 'canceled', customer_id, 'prod_1', 'price_1', 'Ghost', 1, 1, 'usd', 'month', 1, 1, 0, 1, 0, 0, FALSE, FALSE, 0, FALSE, 1, '[]', '{}', '{}', '{"grant":"grant_1"}', 0, 0 FROM orders`,
		"a balance is the sum of what changed it":                                                   `UPDATE customers SET balance = '{"usd":1}'`,
		audit.PromiseTaken:                                                                          `UPDATE orders SET balance_taken = 1`,
		"what an order gave to a balance is written down":                                           `UPDATE orders SET credited_amount = 1`,
		"what refunds gave to a balance is written down":                                            `UPDATE refunds SET balance_amount = 1, status = 'succeeded'`,
		"what an order gave back, to a card or a balance, was paid for it":                          `UPDATE orders SET credited_amount = paid_amount - refunded_amount + 1`,
		"a customer has no more to their credit than they paid or were given, and did not get back": `UPDATE customers SET balance = '{"usd":3000}'`,
		"a subscription holds units for its trial and for a change that waits alone, and has taken what it has": `INSERT INTO subscriptions (account_id, id, status, customer_id, product_id, price_variant_id, product_name, quantity, unit_amount, currency, interval,
			interval_count, anchor_day, current_period_start, current_period_end, period_amount, started_at, cancel_at_period_end, pause_at_period_end, attempt_count,
			extra_attempt, cycles_billed, prorations, custom_field_data, metadata, units, created_at, updated_at)
			SELECT account_id, 'sub_1', 'canceled', customer_id, 'prod_1', 'price_1', 'Ghost', 2, 1, 'usd', 'month', 1, 1, 0, 1, 0, 0, FALSE, FALSE, 0, FALSE, 1, '[]', '{}', '{}',
				'[{"price_variant":"price_1","most":1,"sold":0,"held":0}]', 0, 0 FROM orders`,
		picture.PromiseOwner: `INSERT INTO pictures (account_id, owner_id, address) SELECT account_id, 'prod_gone', 'https://shop.example/a.png' FROM products`,
		picture.PromiseFiles: `INSERT INTO pictures (account_id, owner_id, address, name) SELECT account_id, 'prod_gone', 'https://shop.example/a.png', 'a' FROM products`,
		picture.PromiseUsage: `INSERT INTO picture_usage (account_id, pictures) SELECT account_id, 1 FROM products`,
		"news counts what became of each of its letters once": `INSERT INTO product_news (account_id, id, product_id, subject, body, audience, status, after_id, recipients, sent_count,
			failed_count, skipped_count, created_at, updated_at) SELECT account_id, 'pnw_1', id, 'x', 'x', 'buyers', 'canceled', '', 2, 1, 0, 0, 0, 0 FROM products`,
		"news is sent with its last letter": `INSERT INTO product_news (account_id, id, product_id, subject, body, audience, status, after_id, recipients, sent_count,
			failed_count, skipped_count, created_at, updated_at) SELECT account_id, 'pnw_2', id, 'x', 'x', 'buyers', 'sending', '', 2, 2, 0, 0, 0, 0 FROM products`,
		"no API key can do more than the key that made it": `UPDATE api_keys SET created_by = 'key_other'`,
	}
	sabotage["a subscription counts in the metrics with what it comes to a month, if it is active or past due"] = sabotage["a subscription has a next step exactly if it goes on"]
	database.Each(t, func(t *testing.T, url string) {
		o := newSender(t, url)
		s := o.Store
		purchases(t, s, o.account)
		captures(t, s, o.account, left("lead@example.com"))
		owner, err := s.Person.CreatePerson(t.Context(), person.NewPerson{Email: "ada@example.com"})
		require.NoError(t, err)
		require.NoError(t, s.Person.ConfirmEmail(t.Context(), owner.ID))
		require.NoError(t, s.Person.AddMember(t.Context(), o.account, owner.ID, person.RoleOwner))
		_, err = s.Tenant.UpdateAccount(t.Context(), o.account, func(a *tenant.AccountChange) { a.StripeKey = new("sk_test_wrong") })
		require.NoError(t, err)
		s.NoteKeyRefused(t.Context(), o.account, "sk_test_wrong")
		_, _, err = s.Tenant.CreateAPIKey(t.Context(), o.account, tenant.Granted{}, tenant.NewAPIKey{})
		require.NoError(t, err)
		check := func(ctx context.Context) ([]core.Violation, error) { return s.Audit.Check(ctx, aDay) }
		sound, err := check(t.Context())
		require.NoError(t, err)
		require.Empty(t, sound)
		var asked, elsewhere []string
		require.NoError(t, s.Audit.CheckEach(t.Context(), aDay, func(promise string, _ []core.Violation) { asked = append(asked, promise) }))
		for _, i := range slices.Concat(advert.Invariants, grant.LicenseInvariants, grant.FileInvariants, throttle.Invariants) { // their room breaks them
			assert.Contains(t, asked, i.Promise)
			elsewhere = append(elsewhere, i.Promise)
		}
		for _, promise := range asked {
			if !slices.Contains(elsewhere, promise) {
				assert.Contains(t, dbtest.BrokenBy(t, s.db, sabotage[promise], check), promise)
			}
		}
		ofOrders := o.said("HAVING MAX(e.key_seq) <> o.event_seq")
		require.Len(t, ofOrders, 1)
		assert.NotContains(t, o.planOf(t, ofOrders[0]), "events_type", "it would read all events of an account for each of its orders")

		// A server of the release before goes on under the order's id, where this one counts under the draft's key.
		for _, changed := range []string{`UPDATE orders SET event_key = 'order_draft'`, `UPDATE events SET ordering_key = 'order_draft' WHERE type IN ('order.created', 'invoice.created', 'invoice.paid')`} {
			_, err = s.db.Write.DB.ExecContext(t.Context(), changed)
			require.NoError(t, err)
		}
		split, err := check(t.Context())
		require.NoError(t, err)
		assert.Empty(t, split)
		for _, promise := range []string{"events of one key are numbered without gaps", "an order's last event is its newest"} {
			assert.Contains(t, dbtest.BrokenBy(t, s.db, sabotage[promise], check), promise)
		}
	})
}

// Retention deletes an order's events one by one: first those that were delivered, later those that were not.
func TestCheck_IsSoundAfterRetention(t *testing.T) {
	eachSender(t, func(t *testing.T, o *sender) {
		created, both := o.endpoint(outbox.EventOrderCreated), o.endpoint(outbox.EventOrderCreated, outbox.EventOrderPaid)
		purchases(t, o.Store, o.account)
		for _, e := range []*outbox.WebhookEndpoint{created, both} {
			for claimed := o.claim(e, 1); len(claimed) > 0; claimed = o.claim(e, 1) {
				done := success(claimed[0])
				if e == created {
					done.Reason = outbox.ReasonTimeout
				}
				o.exchange([]outbox.DeliveryResult{done})
			}
		}
		events := func() int { return o.count(t, `SELECT count(*) FROM events`) }
		anHour := outbox.DeliveryRetention{Failed: aDay.Failed, Succeeded: time.Hour}
		for _, c := range []struct {
			age  time.Duration
			keep outbox.DeliveryRetention
			left bool
		}{{time.Minute, aDay, true}, {2 * time.Hour, anHour, true}, {25 * time.Hour, aDay, true}, {8 * 24 * time.Hour, aDay, false}} {
			o.moved = c.age
			_, err := o.Outbox.DeleteOldDeliveries(t.Context(), c.keep, 1000)
			require.NoError(t, err)
			broken, err := o.Audit.Check(t.Context(), c.keep)
			require.NoError(t, err)
			require.Empty(t, broken, "after %s, with %d events", c.age, events())
			require.Equal(t, c.left, events() > 0)
		}
	})
}

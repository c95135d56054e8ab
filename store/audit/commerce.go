package audit

import (
	"strings"

	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/outbox"
)

// commerceInvariants are promises about the data that hold after every transaction. A query returns the rows that break its promise.
var commerceInvariants = []db.Invariant{
	{Promise: "a line's figures add up", Query: `
		SELECT account_id, id FROM line_items
		WHERE subtotal_amount <> unit_amount * quantity OR net_amount + tax_amount <> total_amount
			OR subtotal_amount - discount_amount NOT IN (net_amount, total_amount)`},
	{Promise: "no amount is negative and no discount exceeds its subtotal", Query: `
		SELECT account_id, id FROM line_items WHERE discount_amount < 0 OR discount_amount > subtotal_amount OR net_amount < 0 OR tax_amount < 0
		UNION ALL SELECT account_id, id FROM orders WHERE discount_amount < 0 OR discount_amount > subtotal_amount OR net_amount < 0 OR tax_amount < 0
		UNION ALL SELECT account_id, id FROM checkouts WHERE discount_amount < 0 OR discount_amount > subtotal_amount OR net_amount < 0 OR tax_amount < 0`},
	{Promise: "a checkout's figures are the sums of its lines'", Query: `
		SELECT c.account_id, c.id FROM checkouts c LEFT JOIN line_items l ON l.account_id = c.account_id AND l.checkout_id = c.id
		GROUP BY c.account_id, c.id, c.subtotal_amount, c.discount_amount, c.net_amount, c.tax_amount, c.total_amount
		HAVING COALESCE(SUM(l.subtotal_amount), -1) <> c.subtotal_amount OR SUM(l.discount_amount) <> c.discount_amount
			OR SUM(l.net_amount) <> c.net_amount OR SUM(l.tax_amount) <> c.tax_amount OR SUM(l.total_amount) <> c.total_amount`},
	{Promise: "an order's figures are the sums of its lines'", Query: `
		SELECT o.account_id, o.id FROM orders o LEFT JOIN line_items l ON l.account_id = o.account_id AND l.order_id = o.id
		GROUP BY o.account_id, o.id, o.subtotal_amount, o.discount_amount, o.net_amount, o.tax_amount, o.total_amount
		HAVING COALESCE(SUM(l.subtotal_amount), -1) <> o.subtotal_amount OR SUM(l.discount_amount) <> o.discount_amount
			OR SUM(l.net_amount) <> o.net_amount OR SUM(l.tax_amount) <> o.tax_amount OR SUM(l.total_amount) <> o.total_amount`},
	{Promise: "what is paid is what was charged", Query: `
		SELECT o.account_id, o.id FROM orders o
		WHERE o.paid_amount + o.balance_applied > o.total_amount OR o.paid_amount <> (
			SELECT COALESCE(SUM(p.amount), 0) FROM payments p
			WHERE p.account_id = o.account_id AND p.order_id = o.id AND p.status = 'succeeded')`},
	{Promise: "a payment has an order exactly if it should", Query: `
		SELECT account_id, id FROM payments WHERE (status = 'succeeded' OR purpose = 'invoice') <> (order_id IS NOT NULL)
			OR (order_id IS NULL) <> (invoice_id IS NULL) OR (order_id IS NULL) <> (customer_id IS NULL)`},
	{Promise: "an order's status is what its amounts say", Query: `
		SELECT account_id, id FROM orders WHERE status <> CASE
			WHEN voided_at IS NOT NULL THEN 'void'
			WHEN paid_at IS NULL OR paid_amount + balance_applied < total_amount THEN 'pending'
			WHEN refunded_amount + refunded_balance = 0 THEN 'paid'
			WHEN refunded_amount + refunded_balance < paid_amount + balance_taken THEN 'partially_refunded'
			ELSE 'refunded' END`},
	{Promise: "an order has one currency", Query: `
		SELECT o.account_id, o.id FROM orders o JOIN line_items l ON l.account_id = o.account_id AND l.order_id = o.id WHERE l.currency <> o.currency
		UNION ALL
		SELECT o.account_id, o.id FROM orders o JOIN payments p ON p.account_id = o.account_id AND p.order_id = o.id WHERE p.currency <> o.currency`},
	{Promise: "what is sold and held fits the stock", Query: `
		SELECT account_id, id FROM price_variants WHERE sold_count < 0 OR reserved_count < 0 OR sold_count + reserved_count > stock`},
	{Promise: "a completed checkout has one order, another one none", Query: `
		SELECT c.account_id, c.id FROM checkouts c WHERE CASE WHEN c.status = 'completed' THEN 1 ELSE 0 END <> (
			SELECT COUNT(*) FROM orders o WHERE o.account_id = c.account_id AND o.checkout_id = c.id AND o.id = c.order_id)`},
	{Promise: "a visit is kept while its buyer agrees and may still pay", Query: `
		SELECT account_id, id FROM checkouts WHERE ads_visit IS NOT NULL AND (NOT ads_consent OR status NOT IN ('open', 'processing'))`},
	{Promise: "ad networks are told of what was bought with consent alone", Query: `
		SELECT v.account_id, v.id FROM ad_conversions v WHERE v.source = 'order' AND NOT EXISTS (
			SELECT 1 FROM orders o JOIN checkouts c ON c.account_id = o.account_id AND c.id = o.checkout_id
			WHERE o.account_id = v.account_id AND o.id = v.event_id AND o.paid_amount > 0 AND c.ads_consent)
		AND NOT EXISTS (
			SELECT 1 FROM subscriptions s JOIN checkouts c ON c.account_id = s.account_id AND c.id = s.checkout_id
			WHERE s.account_id = v.account_id AND s.id = v.event_id AND c.ads_consent)`},
	{Promise: "ad networks are told of a lead with consent alone, and of none that is gone", Query: `
		SELECT v.account_id, v.id FROM ad_conversions v LEFT JOIN leads l ON l.account_id = v.account_id AND l.id = v.event_id
		WHERE v.source = 'lead' AND (NOT l.ads_consent OR l.id IS NULL AND v.status = 'pending')`},
	{Promise: PromiseNews, Query: `
		SELECT account_id, id FROM product_news n WHERE recipients - sent_count - failed_count - skipped_count <> (
			SELECT COUNT(*) FROM letters l WHERE l.account_id = n.account_id AND l.object_id = n.id AND l.kind = 'product_news' AND l.status || '' = 'queued')`},
	{Promise: "news is sent with its last letter", Query: `
		SELECT account_id, id FROM product_news
		WHERE status IN ('sending', 'sent') AND (status = 'sent') <> (turn_at IS NULL AND sent_count + failed_count + skipped_count = recipients)`},
	{Promise: "a lead is converted by a paid order alone", Query: `
		SELECT l.account_id, l.id FROM leads l LEFT JOIN orders o ON o.account_id = l.account_id AND o.id = l.converted_order_id
		WHERE (l.converted_order_id IS NULL) <> (l.converted_at IS NULL) OR l.converted_order_id IS NOT NULL AND o.paid_at IS NULL
			OR (l.converted_order_id IS NULL AND l.status = 'converted') OR (l.converted_order_id IS NOT NULL AND l.status IN ('new', 'qualified'))`},
	{Promise: "a lead that is unsubscribed agrees to nothing", Query: `
		SELECT account_id, id FROM leads WHERE status = 'unsubscribed' AND consent LIKE '%"marketing":true%'`},
	{Promise: "a lead has a customer, who was not deleted", Query: `
		SELECT l.account_id, l.id FROM leads l WHERE NOT EXISTS (
			SELECT 1 FROM customers c WHERE c.account_id = l.account_id AND c.id = l.customer_id AND c.deleted_at IS NULL)`},
	{Promise: "a processing checkout has one payment under way, another one none", Query: `
		SELECT c.account_id, c.id FROM checkouts c WHERE CASE WHEN c.status = 'processing' THEN 1 ELSE 0 END <> (
			SELECT COUNT(*) FROM payments p
			WHERE p.account_id = c.account_id AND p.checkout_id = c.id AND p.status IN ('pending', 'requires_action'))`},
	{Promise: "a checkout link counts what is bought by it", Query: `
		SELECT l.account_id, l.id FROM checkout_links l WHERE l.uses <> (
			SELECT COUNT(*) FROM checkouts c
			WHERE c.account_id = l.account_id AND c.status IN ('processing', 'completed') AND c.source LIKE '%"' || l.id || '"%')`},
	{Promise: "a guard counts the payments under way, and the pieces that they hold", Query: `
		SELECT g.account_id, g.subject AS id FROM payment_guards g WHERE g.under_way <> (
			SELECT COALESCE(SUM(COALESCE((
				SELECT SUM(l.quantity) FROM line_items l
				WHERE l.account_id = p.account_id AND l.checkout_id = p.checkout_id AND l.kind = 'price'
					AND g.subject LIKE 'held:' || l.price_variant_id || ':%'), 1)), 0)
			FROM payments p
			WHERE p.account_id = g.account_id AND p.status IN ('pending', 'requires_action') AND p.guards LIKE '%"' || g.subject || '"%')`},
	{Promise: "order numbers run from 1 without gaps", Query: `
		SELECT account_id, MAX(id) AS id FROM orders GROUP BY account_id
		HAVING MIN(number) <> 1 OR MAX(number) <> COUNT(DISTINCT number) OR COUNT(number) <> COUNT(DISTINCT number)`},
	// Whoever had the same address as somebody older, before ways to write one counted as the same, has a key with a space: see core.KeptApart.
	{Promise: "an address is one customer's: merge those who share it", Query: sharing("customers")},
	{Promise: "an address has one lead for a product: delete the one that is too many", Query: sharing("leads")},
	{Promise: "one person signs in with an address: the younger needs another one", Query: `
		SELECT '' AS account_id, p.id FROM people p WHERE p.email_key LIKE '% %'
		UNION SELECT '' AS account_id, o.id FROM people p JOIN people o ON o.email_key = substr(p.email_key, 1, length(p.email_key) - length(p.id) - 1) WHERE p.email_key LIKE '% %'`},
	// Copies outlive a letter that nobody sent for so long that it is forgotten.
	{Promise: "a letter to a team was sent to each of its readers, was dropped, or waits", Query: `
		SELECT account_id, id FROM (
			SELECT account_id, id, 1 AS known, people - sent - dropped AS waiting FROM team_letters
			UNION ALL SELECT account_id, letter_id, 0, -1 FROM people_letters WHERE letter_id IS NOT NULL) AS planned
		GROUP BY account_id, id HAVING SUM(known) = 1 AND SUM(waiting) <> 0`},
	{Promise: "a customer's orders are counted", Query: `
		SELECT c.account_id, c.id FROM customers c WHERE c.orders_count <> (
			SELECT COUNT(*) FROM orders o WHERE o.account_id = c.account_id AND o.customer_id = c.id)`},
	{Promise: "every reference is to a row of the same account", Query: `
		SELECT l.account_id, l.id FROM line_items l WHERE l.checkout_id IS NOT NULL
			AND NOT EXISTS (SELECT 1 FROM checkouts c WHERE c.account_id = l.account_id AND c.id = l.checkout_id)
		UNION ALL SELECT l.account_id, l.id FROM line_items l WHERE l.order_id IS NOT NULL
			AND NOT EXISTS (SELECT 1 FROM orders o WHERE o.account_id = l.account_id AND o.id = l.order_id)
		UNION ALL SELECT o.account_id, o.id FROM orders o WHERE o.checkout_id IS NOT NULL
			AND NOT EXISTS (SELECT 1 FROM checkouts c WHERE c.account_id = o.account_id AND c.id = o.checkout_id)
		UNION ALL SELECT p.account_id, p.id FROM payments p WHERE p.checkout_id IS NOT NULL
			AND NOT EXISTS (SELECT 1 FROM checkouts c WHERE c.account_id = p.account_id AND c.id = p.checkout_id)
		UNION ALL SELECT p.account_id, p.id FROM payments p WHERE p.order_id IS NOT NULL
			AND NOT EXISTS (SELECT 1 FROM orders o WHERE o.account_id = p.account_id AND o.id = p.order_id)
		UNION ALL SELECT r.account_id, r.id FROM discount_redemptions r WHERE r.checkout_id IS NOT NULL
			AND NOT EXISTS (SELECT 1 FROM checkouts c WHERE c.account_id = r.account_id AND c.id = r.checkout_id)
		UNION ALL SELECT r.account_id, r.id FROM discount_redemptions r WHERE r.order_id IS NOT NULL
			AND NOT EXISTS (SELECT 1 FROM orders o WHERE o.account_id = r.account_id AND o.id = r.order_id)
		UNION ALL SELECT l.account_id, l.id FROM line_items l WHERE l.invoice_id IS NOT NULL
			AND NOT EXISTS (SELECT 1 FROM invoices i WHERE i.account_id = l.account_id AND i.id = l.invoice_id)
		UNION ALL SELECT p.account_id, p.id FROM payments p WHERE p.invoice_id IS NOT NULL
			AND NOT EXISTS (SELECT 1 FROM invoices i WHERE i.account_id = p.account_id AND i.id = p.invoice_id)
		UNION ALL SELECT p.account_id, p.id FROM payments p WHERE p.customer_id IS NOT NULL
			AND NOT EXISTS (SELECT 1 FROM customers c WHERE c.account_id = p.account_id AND c.id = p.customer_id)
		UNION ALL SELECT c.account_id, c.id FROM checkouts c WHERE c.invoice_id IS NOT NULL
			AND NOT EXISTS (SELECT 1 FROM invoices i WHERE i.account_id = c.account_id AND i.id = c.invoice_id)
		UNION ALL SELECT c.account_id, c.id FROM checkouts c WHERE c.subscription_id IS NOT NULL
			AND NOT EXISTS (SELECT 1 FROM subscriptions s WHERE s.account_id = c.account_id AND s.id = c.subscription_id)`},
	{Promise: "no checkout and no link has the discount of another account", Query: `
		SELECT c.account_id, c.id FROM checkouts c JOIN discounts d ON d.id = c.discount_id WHERE d.account_id <> c.account_id
		UNION ALL SELECT l.account_id, l.id FROM checkout_links l JOIN discounts d ON d.id = l.discount_id WHERE d.account_id <> l.account_id`},
	{Promise: "a checkout link is found by its address", Query: `
		SELECT l.account_id, l.id FROM checkout_links l WHERE NOT EXISTS (
			SELECT 1 FROM global_names g WHERE g.kind = 'checkout_link' AND g.name = l.id AND g.account_id = l.account_id AND g.object_id = l.id)`},
	{Promise: "an invoice that was issued has one order like it, a draft none", Query: `
		SELECT i.account_id, i.id FROM invoices i LEFT JOIN orders o ON o.account_id = i.account_id AND o.id = i.order_key AND o.invoice_id = i.id
		WHERE (i.status = 'draft') <> (o.id IS NULL) OR (i.status = 'draft') <> (i.number IS NULL) OR (i.status = 'draft') <> (i.sequence IS NULL)
			OR (i.status = 'draft') <> (i.finalized_at IS NULL) OR COALESCE(i.order_id, '') <> COALESCE(o.id, '')
			OR i.customer_id <> o.customer_id OR i.currency <> o.currency OR i.billing_reason <> o.billing_reason
			OR i.subtotal_amount <> o.subtotal_amount OR i.discount_amount <> o.discount_amount OR i.net_amount <> o.net_amount
			OR i.tax_amount <> o.tax_amount OR i.total_amount <> o.total_amount OR i.amount_paid <> o.paid_amount
			OR i.balance_applied <> o.balance_applied
		UNION ALL SELECT o.account_id, o.id FROM orders o
		WHERE NOT EXISTS (SELECT 1 FROM invoices i WHERE i.account_id = o.account_id AND i.id = o.invoice_id AND i.order_id = o.id)`},
	{Promise: "an invoice's figures are the sums of its lines'", Query: `
		SELECT i.account_id, i.id FROM invoices i LEFT JOIN line_items l ON l.account_id = i.account_id AND l.invoice_id = i.id
		GROUP BY i.account_id, i.id, i.currency, i.subtotal_amount, i.discount_amount, i.net_amount, i.tax_amount, i.total_amount
		HAVING COALESCE(SUM(l.subtotal_amount), -1) <> i.subtotal_amount OR SUM(l.discount_amount) <> i.discount_amount
			OR SUM(l.net_amount) <> i.net_amount OR SUM(l.tax_amount) <> i.tax_amount OR SUM(l.total_amount) <> i.total_amount
			OR MIN(l.currency) <> i.currency OR MAX(l.currency) <> i.currency`},
	{Promise: "an invoice's status is what happened to it", Query: `
		SELECT i.account_id, i.id FROM invoices i LEFT JOIN orders o ON o.account_id = i.account_id AND o.id = i.order_id
		WHERE i.status <> CASE
				WHEN i.voided_at IS NOT NULL THEN 'void'
				WHEN i.finalized_at IS NULL THEN 'draft'
				WHEN i.paid_at IS NOT NULL THEN 'paid'
				WHEN i.uncollectible_at IS NOT NULL THEN 'uncollectible'
				WHEN i.past_due_at IS NOT NULL THEN 'past_due'
				ELSE 'open' END
			OR (i.status = 'paid') <> COALESCE(o.status IN ('paid', 'partially_refunded', 'refunded'), FALSE)
			OR (i.status = 'void') <> COALESCE(o.status = 'void', FALSE)
			OR i.status = 'paid' AND i.amount_paid + i.balance_applied <> i.total_amount`},
	{Promise: "invoice numbers run without gaps", Query: `
		SELECT i.account_id, MAX(i.id) AS id FROM invoices i JOIN accounts a ON a.id = i.account_id
			LEFT JOIN counters c ON c.account_id = i.account_id AND c.name = 'invoice_number'
		WHERE i.sequence IS NOT NULL GROUP BY i.account_id, a.first_invoice_number, c.value
		HAVING MIN(i.sequence) <> a.first_invoice_number OR MAX(i.sequence) <> COALESCE(c.value, 0)
			OR MAX(i.sequence) - MIN(i.sequence) + 1 <> COUNT(*)`},
	{Promise: "a discount's redemptions are counted, and are no more than it has", Query: `
		SELECT d.account_id, d.id FROM discounts d WHERE d.redemptions_count > d.max_redemptions OR d.redemptions_count <> (
			SELECT COUNT(*) FROM discount_redemptions r WHERE r.account_id = d.account_id AND r.discount_id = d.id)`},
	{Promise: "a discount is redeemed by what is being paid or is bought with it, and by nothing else", Query: `
		SELECT r.account_id, r.id FROM discount_redemptions r JOIN checkouts c ON c.account_id = r.account_id AND c.id = r.checkout_id
		WHERE c.status NOT IN ('processing', 'completed') OR c.discount_id IS NULL OR c.discount_id <> r.discount_id OR c.discount_amount <> r.discount_amount
		UNION ALL SELECT c.account_id, c.id FROM checkouts c
		WHERE c.discount_id IS NOT NULL AND c.status IN ('processing', 'completed') AND NOT EXISTS (
			SELECT 1 FROM discount_redemptions r WHERE r.account_id = c.account_id AND r.checkout_id = c.id)
			AND NOT (c.subscription_id IS NOT NULL AND EXISTS (
				SELECT 1 FROM orders o WHERE o.account_id = c.account_id AND o.id = c.order_id AND o.discount_amount = 0))`},
	{Promise: "a trial is of what is being paid, or of the customer who has had it", Query: `
		SELECT t.account_id, t.id FROM trials t LEFT JOIN checkouts c ON c.account_id = t.account_id AND c.id = t.checkout_id
		WHERE t.customer_id IS NULL AND COALESCE(c.status, '') <> 'processing' OR t.customer_id IS NOT NULL AND COALESCE(c.status, 'completed') <> 'completed'`},
	// A column with an empty text behind it is compared without an index. Otherwise SQLite reads all active price variants for each
	// product here, and below looks up each row of the largest table one by one.
	{Promise: "an active product has an active price variant", Query: `
		SELECT p.account_id, p.id FROM products p WHERE p.status = 'active' AND NOT EXISTS (
			SELECT 1 FROM price_variants v WHERE v.account_id = p.account_id AND v.product_id = p.id AND v.status || '' = 'active')`},
	{Promise: "an order and its invoice are told of once", Query: `
		SELECT MIN(account_id) AS account_id, ordering_key AS id FROM events
		WHERE type IN ('` + strings.Join([]string{
		outbox.EventOrderCreated, outbox.EventOrderPaid, outbox.EventInvoiceCreated, outbox.EventInvoicePaid, outbox.EventInvoicePastDue, outbox.EventInvoiceVoided,
	}, "', '") + `')
		GROUP BY account_id || '', ordering_key, type HAVING COUNT(*) > 1`},
	{Promise: "a subscription has a next step exactly if it goes on", Query: `
		SELECT account_id, id FROM subscriptions
		WHERE (status IN ('canceled', 'completed')) <> (ended_at IS NOT NULL) OR status IN ('canceled', 'completed') AND due_at IS NOT NULL
			OR status IN ('trialing', 'active') AND COALESCE(due_at, 0) <> current_period_end
			OR status = 'trialing' AND COALESCE(trial_end, 0) <> current_period_end OR (status = 'paused') AND paused_at IS NULL
			OR status = 'past_due' AND past_due_at IS NULL`},
	{Promise: "a subscription is past due exactly if its latest invoice is", Query: `
		SELECT s.account_id, s.id FROM subscriptions s JOIN invoices i ON i.account_id = s.account_id AND i.id = s.latest_invoice_id
		WHERE (s.status = 'past_due') <> (i.status = 'past_due')`},
	{Promise: "an open invoice of a subscription is being charged", Query: `
		SELECT i.account_id, i.id FROM invoices i
		WHERE i.status = 'open' AND i.subscription_id IS NOT NULL AND NOT EXISTS (
			SELECT 1 FROM payments p WHERE p.account_id = i.account_id AND p.invoice_id = i.id AND p.status IN ('pending', 'requires_action'))`},
	{Promise: "an order of a subscription is its customer's", Query: `
		SELECT o.account_id, o.id FROM orders o LEFT JOIN subscriptions s ON s.account_id = o.account_id AND s.id = o.subscription_id
		WHERE o.subscription_id IS NOT NULL AND (s.id IS NULL OR s.customer_id <> o.customer_id OR s.currency <> o.currency)`},
	{Promise: "a line is for a period exactly if it bills a subscription, which is that of its order", Query: `
		SELECT l.account_id, l.id FROM line_items l
			LEFT JOIN orders o ON o.account_id = l.account_id AND o.id = l.order_id
			LEFT JOIN subscriptions s ON s.account_id = l.account_id AND s.id = l.subscription_id
		WHERE (l.subscription_id IS NULL) <> (l.period_start IS NULL) OR l.subscription_id IS NOT NULL AND (s.id IS NULL OR s.currency <> l.currency
			OR CASE WHEN o.checkout_id IS NULL THEN COALESCE(o.subscription_id, '') <> s.id ELSE o.checkout_id <> COALESCE(s.checkout_id, '') END)`},
	{Promise: "a subscription has billed its orders, its first period and those that a change of plan began", Query: `
		SELECT s.account_id, s.id FROM subscriptions s WHERE s.cycles_billed <> s.restarts + CASE WHEN s.trial_start IS NULL THEN 1 ELSE 0 END + (
			SELECT COUNT(*) FROM orders o WHERE o.account_id = s.account_id AND o.customer_id = s.customer_id AND o.subscription_id = s.id
				AND o.billing_reason = 'subscription_cycle')`},
	{Promise: "a subscription's discount is redeemed by its checkout, or by itself", Query: `
		SELECT s.account_id, s.id FROM subscriptions s WHERE s.discount_id IS NOT NULL AND s.ended_at IS NULL AND NOT EXISTS (
			SELECT 1 FROM discount_redemptions r WHERE r.account_id = s.account_id AND r.discount_id = s.discount_id
				AND (r.subscription_id = s.id OR r.checkout_id = s.checkout_id))`},
	{Promise: "a discount that took nothing off a subscription is free once that has ended", Query: `
		SELECT r.account_id, r.id FROM discount_redemptions r WHERE r.used_at IS NULL AND EXISTS (
			SELECT 1 FROM subscriptions s WHERE s.account_id = r.account_id AND s.discount_id = r.discount_id AND s.ended_at IS NOT NULL
				AND (s.id = r.subscription_id OR s.checkout_id = r.checkout_id)
		) AND NOT EXISTS (
			SELECT 1 FROM subscriptions s WHERE s.account_id = r.account_id AND s.discount_id = r.discount_id AND s.ended_at IS NULL
				AND (s.id = r.subscription_id OR s.checkout_id = r.checkout_id))`},
	{Promise: "what a subscription has off its current period alone is redeemed too", Query: `
		SELECT s.account_id, s.id FROM subscriptions s WHERE s.discount_waits LIKE '{"former":{%' AND s.id NOT IN (
			SELECT g.id FROM discount_redemptions r JOIN subscriptions g ON g.account_id = r.account_id AND g.id = r.subscription_id
			WHERE g.discount_waits LIKE '%"' || r.discount_id || '"%'
			UNION ALL SELECT b.id FROM discount_redemptions r JOIN subscriptions b ON b.account_id = r.account_id AND b.checkout_id = r.checkout_id
			WHERE b.discount_waits LIKE '%"' || r.discount_id || '"%')`},
	{Promise: "a redemption is a checkout's, or that of a subscription and what it took off", Query: `
		SELECT r.account_id, r.id FROM discount_redemptions r
			LEFT JOIN subscriptions s ON s.account_id = r.account_id AND s.id = r.subscription_id
			LEFT JOIN orders o ON o.account_id = r.account_id AND o.id = r.order_id
		WHERE (r.checkout_id IS NULL) = (r.subscription_id IS NULL) OR r.subscription_id IS NOT NULL AND (s.id IS NULL OR s.currency <> r.currency
			OR r.used_at IS NULL AND COALESCE(s.discount_id, '') <> r.discount_id
			OR CASE WHEN r.order_id IS NULL THEN r.discount_amount <> 0
				ELSE r.used_at IS NULL OR COALESCE(o.subscription_id, '') <> s.id OR COALESCE(o.discount_id, '') <> r.discount_id OR o.discount_amount <> r.discount_amount END)`},
	{Promise: "a payment sends its buyer elsewhere only while it requires an action", Query: `
		SELECT account_id, id FROM payments WHERE next_action_url IS NOT NULL AND status <> 'requires_action'`},
	{Promise: "a charge went through exactly if its payment did", Query: `
		SELECT p.account_id, p.id FROM payments p JOIN test_charges t ON t.account_id = p.account_id AND t.token = p.id
		WHERE (p.status IN ('failed', 'canceled') AND t.status = 'succeeded')
			OR (p.status = 'succeeded' AND (t.status <> 'succeeded' OR t.amount <> p.amount OR t.currency <> p.currency))`},
	{Promise: "every charge of the test provider has its payment", Query: `
		SELECT t.account_id, t.id FROM test_charges t WHERE NOT EXISTS (
			SELECT 1 FROM payments p WHERE p.account_id = t.account_id AND p.id = t.token)`},

	// Refunds and payment methods.
	{Promise: "what is refunded is the sum of the refunds, tax included", Query: `
		SELECT o.account_id, o.id FROM orders o
		LEFT JOIN refunds r ON r.account_id = o.account_id AND r.order_id = o.id AND r.status IN ('pending', 'succeeded')
		GROUP BY o.account_id, o.id, o.paid_amount, o.balance_taken, o.refunded_amount, o.refunded_balance, o.refunded_tax_amount
		HAVING o.refunded_amount + o.refunded_balance <> COALESCE(SUM(r.amount), 0) OR o.refunded_balance <> COALESCE(SUM(r.balance_amount), 0)
			OR o.refunded_tax_amount <> COALESCE(SUM(r.tax_amount), 0) OR o.refunded_amount > o.paid_amount OR o.refunded_balance > o.balance_taken`},
	{Promise: "an invoice has its order's payments and refunds", Query: `
		SELECT i.account_id, i.id FROM invoices i LEFT JOIN orders o ON o.account_id = i.account_id AND o.id = i.order_id
		WHERE i.credit_notes <> COALESCE(o.refunded_amount, 0) OR i.refunded_balance <> COALESCE(o.refunded_balance, 0) OR i.payment_ids <> COALESCE(o.payment_ids, '[]')
			OR i.refund_ids <> COALESCE(o.refund_ids, '[]')`},
	{Promise: "an order names its refunds", Query: `
		SELECT r.account_id, r.id FROM refunds r WHERE NOT EXISTS (
			SELECT 1 FROM orders o WHERE o.account_id = r.account_id AND o.id = r.order_id AND o.refund_ids LIKE '%"' || r.id || '"%')`},
	{Promise: "a refund gives back what its order's customer paid, in its currency", Query: `
		SELECT r.account_id, r.id FROM refunds r WHERE r.payment_id <> '' AND NOT EXISTS (
			SELECT 1 FROM orders o JOIN payments p ON p.account_id = o.account_id AND p.order_id = o.id
			WHERE o.account_id = r.account_id AND o.id = r.order_id AND o.customer_id = r.customer_id AND o.currency = r.currency
				AND p.id = r.payment_id AND p.status = 'succeeded' AND p.provider = r.provider)
		UNION ALL SELECT r.account_id, r.id FROM refunds r JOIN orders o ON o.account_id = r.account_id AND o.id = r.order_id
		WHERE o.customer_id <> r.customer_id OR o.currency <> r.currency OR r.balance_amount < 0 OR r.balance_amount > r.amount
			OR (r.payment_id = '') <> (r.balance_amount = r.amount) OR r.payment_id = '' AND (r.provider <> 'balance' OR r.status <> 'succeeded')`},
	{Promise: PromiseGivers, Query: `
		SELECT o.account_id, o.id FROM orders o
			LEFT JOIN payments p ON p.account_id = o.account_id AND p.order_id = o.id AND p.status = 'succeeded' AND p.amount > 0 AND p.provider <> 'out_of_band'
			LEFT JOIN customers c ON c.account_id = o.account_id AND c.id = o.customer_id
		WHERE COALESCE(o.refund_provider, '') <> COALESCE(p.provider, '') OR o.balance_gone <> (o.balance_applied > 0 AND c.deleted_at IS NOT NULL)`},
	{Promise: "a refund was made exactly if its provider made it", Query: `
		SELECT r.account_id, r.id FROM refunds r JOIN test_refunds t ON t.account_id = r.account_id AND t.token = r.id
		WHERE t.amount <> r.amount - r.balance_amount OR (r.status <> 'pending' AND t.status <> r.status)`},
	{Promise: "the test provider gives back no more than it took", Query: `
		SELECT r.account_id, r.charge_id AS id FROM test_refunds r
			LEFT JOIN test_charges c ON c.account_id = r.account_id AND c.id = r.charge_id AND c.status = 'succeeded'
		WHERE r.status IN ('pending', 'succeeded') GROUP BY r.account_id, r.charge_id, c.amount HAVING SUM(r.amount) > COALESCE(c.amount, 0)`},
	{Promise: "every refund of the test provider has its refund", Query: `
		SELECT t.account_id, t.id FROM test_refunds t WHERE NOT EXISTS (
			SELECT 1 FROM refunds r WHERE r.account_id = t.account_id AND r.id = t.token)`},
	{Promise: "what is of an order is its customer's", Query: `
		SELECT p.account_id, p.id FROM payments p JOIN orders o ON o.account_id = p.account_id AND o.id = p.order_id WHERE p.customer_id <> o.customer_id
		UNION ALL SELECT c.account_id, c.id FROM checkouts c JOIN orders o ON o.account_id = c.account_id AND o.id = c.order_id
		WHERE COALESCE(c.customer_id, '') <> o.customer_id
		UNION ALL SELECT r.account_id, r.id FROM discount_redemptions r JOIN orders o ON o.account_id = r.account_id AND o.id = r.order_id
		WHERE COALESCE(r.customer_id, '') <> o.customer_id`},
	{Promise: "what somebody bought who only typed an address is charged to nothing that its owner has saved", Query: `
		SELECT account_id, id FROM subscriptions WHERE NOT customer_verified AND payment_method LIKE '%"id":"pm_%'
		UNION ALL SELECT p.account_id, p.id FROM payments p JOIN orders o ON o.account_id = p.account_id AND o.id = p.order_id
		WHERE NOT o.customer_verified AND p.purpose = 'invoice' AND p.payment_method_id IS NOT NULL`},
	{Promise: "a payment method is of a customer of its account, and a default one of its customer", Query: `
		SELECT m.account_id, m.id FROM payment_methods m WHERE NOT EXISTS (
			SELECT 1 FROM customers c WHERE c.account_id = m.account_id AND c.id = m.customer_id)
		UNION ALL
		SELECT c.account_id, c.id FROM customers c WHERE c.default_payment_method_id IS NOT NULL AND NOT EXISTS (
			SELECT 1 FROM payment_methods m
			WHERE m.account_id = c.account_id AND m.customer_id = c.id AND m.id = c.default_payment_method_id AND m.deleted_at IS NULL)`},
}

// sharing returns the query for rows of a table whose address is that of another one, and for the one that has its key.
func sharing(table string) string {
	return `
		SELECT account_id, id FROM ` + table + ` WHERE email_key LIKE '% %'
		UNION SELECT o.account_id, o.id FROM ` + table + ` c JOIN ` + table + ` o ON o.account_id = c.account_id
			AND o.email_key = substr(c.email_key, 1, length(c.email_key) - length(c.id) - 1) WHERE c.email_key LIKE '% %'`
}

// arrayInvariants are further invariants, about what a JSON array names. The database engines read arrays in different ways.
func arrayInvariants(d *db.DB) []db.Invariant {
	return []db.Invariant{
		{Promise: "a checkout link sells nothing of another account", Query: `
			SELECT l.account_id, l.id FROM checkout_links l JOIN ` + d.JSONElements("l.price_variant_ids") + ` e ON TRUE
				JOIN price_variants v ON v.id = e.value WHERE v.account_id <> l.account_id`},
		// All are counted at once: for each of many products PostgreSQL would read what the best-selling one sold.
		{Promise: "what a price variant sold is in orders and in changes of plan", Query: `
			SELECT v.account_id, v.id FROM price_variants v LEFT JOIN (
				SELECT account_id, price_variant_id, SUM(units) AS sold FROM (` + soldLines + ` UNION ALL ` + changedUnits(d, "sold") + `) AS s GROUP BY account_id, price_variant_id
			) AS c ON c.account_id = v.account_id AND c.price_variant_id = v.id WHERE v.sold_count <> COALESCE(c.sold, 0)`},
		{Promise: "what a product sold is in orders and in changes of plan", Query: `
			SELECT p.account_id, p.id FROM products p LEFT JOIN (
				SELECT v.account_id, v.product_id, SUM(s.units) AS sold FROM (` + soldLines + ` UNION ALL ` + changedUnits(d, "sold") + `) AS s
				JOIN price_variants v ON v.account_id = s.account_id AND v.id = s.price_variant_id GROUP BY v.account_id, v.product_id
			) AS c ON c.account_id = p.account_id AND c.product_id = p.id WHERE p.sales_count <> COALESCE(c.sold, 0)`},
		{Promise: "what a price variant holds is being paid or tried, or a change waits for it", Query: `
			SELECT v.account_id, v.id FROM price_variants v LEFT JOIN (
				SELECT account_id, price_variant_id, SUM(units) AS held FROM (
					SELECT l.account_id, l.price_variant_id, l.quantity AS units FROM line_items l JOIN checkouts c ON c.account_id = l.account_id AND c.id = l.checkout_id
					WHERE l.kind = 'price' AND c.status = 'processing' UNION ALL ` + changedUnits(d, "held") + `) AS s GROUP BY account_id, price_variant_id
			) AS c ON c.account_id = v.account_id AND c.price_variant_id = v.id WHERE v.reserved_count <> COALESCE(c.held, 0)`},
		{Promise: "a subscription holds units for its trial and for a change that waits alone, and has taken what it has", Query: `
			SELECT account_id, id FROM (
				SELECT s.account_id, s.id, s.quantity, s.pending_change, s.ended_at, s.trial_start, e.value LIKE '%"' || s.price_variant_id || '"%' AS has, ` + d.JSONNumber("e.value", "most") + ` AS most,
					` + d.JSONNumber("e.value", "held") + ` AS held, COALESCE(` + d.JSONNumber("e.value", "tried") + `, 0) AS tried
				FROM subscriptions s JOIN ` + d.JSONElements("s.units") + ` e ON TRUE) AS u
			WHERE held > tried AND pending_change IS NULL OR tried > held OR tried > 0 AND (NOT has OR ended_at IS NOT NULL OR trial_start IS NULL)
				OR has AND most + tried < quantity AND (ended_at IS NULL OR trial_start IS NULL)`},
	}
}

// soldLines is SQL for what orders sold of price variants.
const soldLines = `
	SELECT l.account_id, l.price_variant_id, l.quantity AS units FROM line_items l JOIN orders o ON o.account_id = l.account_id AND o.id = l.order_id
	WHERE l.kind = 'price' AND o.billing_reason IN ('purchase', 'subscription_create')`

// changedUnits returns SQL for what changes of plan took of price variants: a member of store.PlanUnits.
func changedUnits(d *db.DB, member string) string {
	return `
		SELECT s.account_id, v.id, ` + d.JSONNumber("e.value", member) + ` FROM subscriptions s JOIN ` + d.JSONElements("s.units") + ` e ON TRUE
		JOIN price_variants v ON v.account_id = s.account_id AND v.id = ` + d.JSONText("e.value", "price_variant") + ` WHERE s.units <> '[]'`
}

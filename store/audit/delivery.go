package audit

import "github.com/tillwright/tillwright/store/internal/db"

// deliveryInvariants say that customers have what was paid for, and nothing else. What the seller has decided last is left out, and what was
// revoked because its customer was deleted.
var deliveryInvariants = []db.Invariant{
	{Promise: "what was paid for is given", Query: `
		SELECT l.account_id, l.id FROM line_items l JOIN orders o ON o.account_id = l.account_id AND o.id = l.order_id
		WHERE l.gives AND l.subscription_id IS NULL AND o.paid_at IS NOT NULL AND o.billing_reason IN ('purchase', 'subscription_create', 'manual')
			AND NOT EXISTS (SELECT 1 FROM grants g WHERE g.account_id = l.account_id AND g.source_id = o.id AND g.item_id = l.id
				AND g.product_id = l.product_id AND g.quantity = l.quantity)
			AND NOT EXISTS (SELECT 1 FROM customers c WHERE c.account_id = o.account_id AND c.id = o.customer_id AND c.deleted_at IS NOT NULL)`},
	{Promise: "nothing is given by an order but what was paid for", Query: `
		SELECT g.account_id, g.id FROM grants g WHERE g.source_type = 'order' AND NOT EXISTS (
			SELECT 1 FROM line_items l JOIN orders o ON o.account_id = l.account_id AND o.id = l.order_id
			WHERE l.account_id = g.account_id AND l.id = g.item_id AND l.gives AND o.id = g.source_id AND o.paid_at IS NOT NULL
				AND o.customer_id = g.customer_id AND o.grant_ids LIKE '%"' || g.id || '"%')`},
	{Promise: "what an order gave is revoked exactly if a refund takes it away", Query: `
		SELECT g.account_id, g.id FROM grants g WHERE g.source_type = 'order' AND NOT g.by_hand AND COALESCE(g.reason, '') <> 'customer_deleted'
			AND (g.status = 'suspended' OR (g.status = 'revoked') <> EXISTS (
				SELECT 1 FROM refunds r WHERE r.account_id = g.account_id AND r.order_id = g.source_id AND r.status = 'succeeded' AND r.revoke_access))`},
	{Promise: "a subscription gives its product", Query: `
		SELECT s.account_id, s.id FROM subscriptions s
		WHERE s.granted IS NULL AND EXISTS (SELECT 1 FROM line_items l WHERE l.account_id = s.account_id AND l.checkout_id = s.checkout_id AND l.gives)
			OR s.granted IS NOT NULL AND s.granted NOT LIKE '%"grant":""%' AND NOT EXISTS (
				SELECT 1 FROM grants g WHERE g.account_id = s.account_id AND g.source_id = s.id AND g.item_id = s.product_id AND g.product_id = s.product_id
					AND g.price_variant_id = s.price_variant_id AND g.quantity = s.quantity AND g.customer_id = s.customer_id
					AND s.granted LIKE '%"grant":"' || g.id || '"%')`},
	{Promise: "what a subscription gives is what its state says", Query: `
		SELECT g.account_id, g.id FROM grants g LEFT JOIN subscriptions s ON s.account_id = g.account_id AND s.id = g.source_id
		WHERE g.source_type = 'subscription' AND NOT g.by_hand AND COALESCE(g.reason, '') <> 'customer_deleted' AND CASE
			WHEN s.id IS NULL THEN TRUE
			WHEN g.item_id <> s.product_id THEN g.status <> 'revoked'
			WHEN g.reason = 'refund' THEN NOT EXISTS (
				SELECT 1 FROM refunds r WHERE r.account_id = g.account_id AND r.status = 'succeeded' AND r.revoke_access AND (r.subscription_id = s.id
					OR r.order_id IN (SELECT l.order_id FROM line_items l WHERE l.account_id = s.account_id AND l.subscription_id = s.id)))
			WHEN s.status = 'canceled' THEN COALESCE(g.reason, '') <> 'subscription_ended'
			WHEN s.status = 'paused' THEN COALESCE(g.reason, '') <> 'paused'
			WHEN s.status IN ('past_due', 'completed') THEN COALESCE(g.reason, '') <> CASE WHEN s.granted LIKE '%"suspended":"past_due"%' THEN 'past_due' ELSE '' END
			ELSE g.status <> 'active' END`},
	{Promise: "what a refund took away is revoked while such a refund stands", Query: `
		SELECT g.account_id, g.id FROM grants g WHERE g.reason = 'refund' AND NOT g.refunded OR g.refunded AND (g.status <> 'revoked' OR NOT EXISTS (
			SELECT 1 FROM refunds r WHERE r.account_id = g.account_id AND r.status = 'succeeded' AND r.revoke_access AND (r.subscription_id = g.source_id
				OR r.order_id = g.source_id
				OR r.order_id IN (SELECT l.order_id FROM line_items l WHERE l.account_id = g.account_id AND l.subscription_id = g.source_id))))`},
	{Promise: "who was deleted has nothing", Query: `
		SELECT g.account_id, g.id FROM grants g WHERE COALESCE(g.reason, '') <> 'customer_deleted' AND NOT EXISTS (
			SELECT 1 FROM customers c WHERE c.account_id = g.account_id AND c.id = g.customer_id AND c.deleted_at IS NULL)`},
	{Promise: PromiseDelivered, Query: `
		SELECT p.account_id, p.id FROM products p LEFT JOIN (
			SELECT account_id, product_id, SUM(CASE WHEN type = 'file' THEN 1 ELSE 0 END) AS files, SUM(CASE WHEN type = 'license_key' THEN 1 ELSE 0 END) AS license_keys,
				SUM(CASE WHEN type IN ('link', 'experience') THEN 1 ELSE 0 END) AS access
			FROM product_deliverables WHERE removed IS NULL GROUP BY account_id, product_id) AS d ON d.account_id = p.account_id AND d.product_id = p.id
		WHERE p.delivers <> (d.product_id IS NOT NULL) OR p.delivered_files <> COALESCE(d.files, 0)
			OR p.delivered_keys <> COALESCE(d.license_keys, 0) OR p.delivered_access <> COALESCE(d.access, 0)`},
}

-- +goose Up

-- Whether more than a typed address says who the buyer is.
ALTER TABLE checkouts ADD COLUMN email_verified INTEGER NOT NULL DEFAULT 0;
ALTER TABLE orders ADD COLUMN customer_verified INTEGER NOT NULL DEFAULT 1;
ALTER TABLE subscriptions ADD COLUMN customer_verified INTEGER NOT NULL DEFAULT 1;

-- Who named the customer of a living subscription, its checkout tells in part: the customer is filled in when it is bought. The
-- seller did with an id of their own; and a checkout that they made, of no link, for a customer who was there before it, counts as
-- theirs too. Of the others only an address is known: they keep their method as their own, apart from what the customer has saved,
-- and without one they are charged to nothing before the customer, or the seller, has said whose they are.
UPDATE subscriptions SET customer_verified = 0, payment_method = json_set(payment_method, '$.id', NULL)
WHERE status NOT IN ('canceled', 'completed') AND checkout_id IS NOT NULL AND NOT EXISTS (
	SELECT 1 FROM checkouts c JOIN customers b ON b.account_id = c.account_id AND b.id = c.customer_id
	WHERE c.account_id = subscriptions.account_id AND c.id = subscriptions.checkout_id AND (
		c.external_customer_id IS NOT NULL
		OR COALESCE(c.source, '') NOT LIKE '%"checkout_link":"%' AND b.created_at < c.created_at));

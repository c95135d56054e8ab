-- +goose NO TRANSACTION
-- +goose Up

-- Whether more than a typed address says who the buyer is. A program of before that still runs beside this one says nothing: what
-- it sells on from now on is charged to its own method alone.
ALTER TABLE checkouts ADD COLUMN IF NOT EXISTS email_verified BOOLEAN NOT NULL DEFAULT FALSE;
ALTER TABLE orders ADD COLUMN IF NOT EXISTS customer_verified BOOLEAN NOT NULL DEFAULT TRUE;
ALTER TABLE subscriptions ADD COLUMN IF NOT EXISTS customer_verified BOOLEAN NOT NULL DEFAULT TRUE;
ALTER TABLE subscriptions ALTER COLUMN customer_verified SET DEFAULT FALSE;

-- Who named the customer of a living subscription, its checkout tells in part: the customer is filled in when it is bought. The
-- seller did with an id of their own; and a checkout that they made, of no link, for a customer who was there before it, counts as
-- theirs too. Of the others only an address is known: they keep their method as their own, apart from what the customer has saved,
-- and without one they are charged to nothing before the customer, or the seller, has said whose they are.
UPDATE subscriptions SET customer_verified = FALSE, payment_method = regexp_replace(payment_method, '"id":"pm_[^"]*"', '"id":null')
WHERE status NOT IN ('canceled', 'completed') AND checkout_id IS NOT NULL AND NOT EXISTS (
	SELECT 1 FROM checkouts c JOIN customers b ON b.account_id = c.account_id AND b.id = c.customer_id
	WHERE c.account_id = subscriptions.account_id AND c.id = subscriptions.checkout_id AND (
		c.external_customer_id IS NOT NULL
		OR COALESCE(c.source, '') NOT LIKE '%"checkout_link":"%' AND b.created_at < c.created_at));

-- +goose NO TRANSACTION
-- +goose Up

-- The subscription that an order's line bills: the one of the order, or of several that a checkout made the one that the line
-- made. Their ids ascend as their lines do.
ALTER TABLE line_items ADD COLUMN IF NOT EXISTS subscription_id TEXT;

UPDATE line_items SET subscription_id = (
    SELECT o.subscription_id FROM orders o WHERE o.account_id = line_items.account_id AND o.id = line_items.order_id AND o.checkout_id IS NULL)
WHERE period_start IS NOT NULL AND order_id IS NOT NULL AND subscription_id IS NULL;

UPDATE line_items SET subscription_id = (
    SELECT s.id FROM orders o JOIN subscriptions s ON s.account_id = o.account_id AND s.checkout_id = o.checkout_id
    WHERE o.account_id = line_items.account_id AND o.id = line_items.order_id AND (
        SELECT COUNT(*) FROM subscriptions b WHERE b.account_id = s.account_id AND b.checkout_id = s.checkout_id AND b.id < s.id
    ) = (
        SELECT COUNT(*) FROM line_items b
        WHERE b.account_id = line_items.account_id AND b.order_id = line_items.order_id AND b.period_start IS NOT NULL AND b.position < line_items.position))
WHERE period_start IS NOT NULL AND order_id IS NOT NULL AND subscription_id IS NULL;

CREATE INDEX IF NOT EXISTS line_items_subscription ON line_items (account_id, subscription_id, period_end) WHERE subscription_id IS NOT NULL;

-- What was paid for a period that a change of plan cut short, and pays for the one that it began: a JSON array. Of changes
-- before this step it is not known.
ALTER TABLE subscriptions ADD COLUMN IF NOT EXISTS carried TEXT NOT NULL DEFAULT '[]';

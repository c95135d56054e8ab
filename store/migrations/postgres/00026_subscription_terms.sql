-- +goose NO TRANSACTION
-- +goose Up

-- Until when a recurring line costs nothing, if the seller said so; otherwise trial_days says for how long.
ALTER TABLE line_items ADD COLUMN IF NOT EXISTS trial_end BIGINT;

-- The use of a discount that the seller gave to a subscription. That of a checkout has the checkout.
ALTER TABLE discount_redemptions ADD COLUMN IF NOT EXISTS subscription_id TEXT;

CREATE UNIQUE INDEX IF NOT EXISTS discount_redemptions_given ON discount_redemptions (account_id, subscription_id) WHERE subscription_id IS NOT NULL AND order_id IS NULL;

-- The periods that a change of plan began. The others have an order each, but for the first, which a checkout begins.
ALTER TABLE subscriptions ADD COLUMN IF NOT EXISTS restarts BIGINT NOT NULL DEFAULT 0 CHECK (restarts >= 0);

UPDATE subscriptions SET restarts = GREATEST(0, cycles_billed - CASE WHEN trial_start IS NULL THEN 1 ELSE 0 END - (
    SELECT COUNT(*) FROM orders o
    WHERE o.account_id = subscriptions.account_id AND o.subscription_id = subscriptions.id AND o.billing_reason = 'subscription_cycle'));

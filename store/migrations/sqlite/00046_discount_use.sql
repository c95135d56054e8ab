-- +goose Up

-- When a discount that was given to a subscription first took something off: an order has it, or a change of plan, which none shows.
ALTER TABLE discount_redemptions ADD COLUMN used_at INTEGER;
UPDATE discount_redemptions SET used_at = updated_at WHERE subscription_id IS NOT NULL AND order_id IS NOT NULL;

DROP INDEX discount_redemptions_given;
CREATE UNIQUE INDEX discount_redemptions_given ON discount_redemptions (account_id, subscription_id) WHERE subscription_id IS NOT NULL AND used_at IS NULL;

-- What the current period had off before the subscription's discount was changed in the middle of it. Of those that were, nothing
-- says any more what it was.
ALTER TABLE subscriptions ADD COLUMN discount_waits TEXT; -- JSON
UPDATE subscriptions SET discount_waits = '{"former":null}' WHERE EXISTS (
    SELECT 1 FROM discount_redemptions r
    WHERE r.account_id = subscriptions.account_id AND r.subscription_id = subscriptions.id AND r.discount_id = subscriptions.discount_id
        AND r.used_at IS NULL AND r.created_at >= subscriptions.current_period_start);

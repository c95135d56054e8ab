-- +goose Up

-- The months of a discount begin with the first period that is billed after it was given, and have no end before. So far they began at once:
-- while a trial lasted, and in the middle of the period in which the discount was given.
UPDATE subscriptions SET discount_ends_at = NULL
WHERE discount_ends_at IS NOT NULL AND ended_at IS NULL AND (trial_end = current_period_end OR discount_waits IS NOT NULL AND EXISTS (
    SELECT 1 FROM discount_redemptions r
    WHERE r.account_id = subscriptions.account_id AND r.subscription_id = subscriptions.id AND r.discount_id = subscriptions.discount_id
        AND r.used_at IS NULL));

-- A use that took nothing off is free again when its subscription ends. So a checkout's says too when it first took something off. Those
-- that there are count as used, because nothing says any more that they were not.
UPDATE discount_redemptions SET used_at = updated_at WHERE checkout_id IS NOT NULL AND order_id IS NOT NULL AND used_at IS NULL;

UPDATE discounts SET redemptions_count = redemptions_count - (
    SELECT COUNT(*) FROM discount_redemptions r WHERE r.account_id = discounts.account_id AND r.discount_id = discounts.id
        AND r.subscription_id IS NOT NULL AND r.used_at IS NULL AND EXISTS (
        SELECT 1 FROM subscriptions s WHERE s.account_id = r.account_id AND s.id = r.subscription_id AND s.ended_at IS NOT NULL))
WHERE redemptions_count > 0;

DELETE FROM discount_redemptions WHERE (account_id, id) IN (
    SELECT r.account_id, r.id FROM discount_redemptions r WHERE r.subscription_id IS NOT NULL AND r.used_at IS NULL AND EXISTS (
        SELECT 1 FROM subscriptions s WHERE s.account_id = r.account_id AND s.id = r.subscription_id AND s.ended_at IS NOT NULL));

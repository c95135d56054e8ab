-- +goose Up

-- The months of a discount begin with the first period that is billed after it was given, and have no end before. So far they began at once:
-- while a trial lasted, and in the middle of the period in which the discount was given.
UPDATE subscriptions SET discount_ends_at = NULL
WHERE discount_ends_at IS NOT NULL AND ended_at IS NULL AND (trial_end = current_period_end OR discount_waits IS NOT NULL AND EXISTS (
    SELECT 1 FROM discount_redemptions r
    WHERE r.account_id = subscriptions.account_id AND r.subscription_id = subscriptions.id AND r.discount_id = subscriptions.discount_id
        AND r.used_at IS NULL));

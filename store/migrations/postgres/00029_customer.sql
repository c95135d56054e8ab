-- +goose NO TRANSACTION
-- +goose Up

-- What one customer has used becomes another one's when they are merged.
CREATE INDEX IF NOT EXISTS discount_redemptions_customer ON discount_redemptions (account_id, customer_id) WHERE customer_id IS NOT NULL;

-- Whether a customer has an active subscription, and those that are past due.
CREATE INDEX IF NOT EXISTS subscriptions_active ON subscriptions (account_id, customer_id, id) WHERE status IN ('trialing', 'active', 'past_due');

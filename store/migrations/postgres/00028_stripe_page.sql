-- +goose NO TRANSACTION
-- +goose Up

-- With what a page lets Stripe read a card; it is no secret.
ALTER TABLE accounts ADD COLUMN IF NOT EXISTS stripe_publishable_key TEXT;

-- Where the buyer does what a payment requires of them.
ALTER TABLE payments ADD COLUMN IF NOT EXISTS next_action_url TEXT;

-- What providers told us long ago is forgotten.
CREATE INDEX IF NOT EXISTS provider_events_age ON provider_events (created_at);

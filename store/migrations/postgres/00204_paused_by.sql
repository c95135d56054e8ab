-- +goose NO TRANSACTION
-- +goose Up

-- Whether the customer asked for the pause, so that they may end it. Of an older pause nobody knows: it counts as the seller's.
ALTER TABLE subscriptions ADD COLUMN IF NOT EXISTS paused_by_customer BOOLEAN NOT NULL DEFAULT FALSE;

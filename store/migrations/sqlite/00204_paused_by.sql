-- +goose Up

-- Whether the customer asked for the pause, so that they may end it. Of an older pause nobody knows: it counts as the seller's.
ALTER TABLE subscriptions ADD COLUMN paused_by_customer INTEGER NOT NULL DEFAULT 0;

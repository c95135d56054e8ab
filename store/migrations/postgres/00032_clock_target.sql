-- +goose NO TRANSACTION
-- +goose Up

-- Where an account's clock was last to be moved to, and by which request: one that is sent again goes on to the same.
ALTER TABLE accounts ADD COLUMN IF NOT EXISTS clock_effect TEXT NOT NULL DEFAULT '';
ALTER TABLE accounts ADD COLUMN IF NOT EXISTS clock_target BIGINT NOT NULL DEFAULT 0;

-- +goose NO TRANSACTION
-- +goose Up

-- Whether the buyer is on our page, and comes back to it from their bank.
ALTER TABLE payments ADD COLUMN IF NOT EXISTS on_page BOOLEAN NOT NULL DEFAULT FALSE;

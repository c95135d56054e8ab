-- +goose NO TRANSACTION
-- +goose Up

-- Whether buyers choose on the page how many pieces they buy.
ALTER TABLE checkouts ADD COLUMN IF NOT EXISTS allow_quantity_change BOOLEAN NOT NULL DEFAULT FALSE;

ALTER TABLE checkout_links ADD COLUMN IF NOT EXISTS allow_quantity_change BOOLEAN NOT NULL DEFAULT FALSE;

-- +goose NO TRANSACTION
-- +goose Up

-- What the buyers of a product read on the page after paying.
ALTER TABLE products ADD COLUMN IF NOT EXISTS thank_you TEXT;

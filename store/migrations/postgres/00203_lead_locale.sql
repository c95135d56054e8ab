-- +goose NO TRANSACTION
-- +goose Up

-- The language in which a lead was asked whether they may be written to; NULL = not known, and letters are in the seller's.
ALTER TABLE leads ADD COLUMN IF NOT EXISTS locale TEXT;

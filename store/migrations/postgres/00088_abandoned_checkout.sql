-- +goose NO TRANSACTION
-- +goose Up

-- Whether checkouts that expire become leads.
ALTER TABLE accounts ADD COLUMN IF NOT EXISTS capture_abandoned_checkouts BOOLEAN NOT NULL DEFAULT FALSE;

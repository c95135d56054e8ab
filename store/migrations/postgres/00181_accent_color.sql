-- +goose NO TRANSACTION
-- +goose Up

-- The colour of links and buttons on the pages of the account's buyers; null for ours.
ALTER TABLE accounts ADD COLUMN IF NOT EXISTS accent_color TEXT;

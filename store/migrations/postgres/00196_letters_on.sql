-- +goose NO TRANSACTION
-- +goose Up

-- The kinds of letters that an account has switched on of those that are off at first, as a JSON array.
ALTER TABLE accounts ADD COLUMN IF NOT EXISTS letters_on TEXT NOT NULL DEFAULT '[]';

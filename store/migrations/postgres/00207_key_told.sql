-- +goose NO TRANSACTION
-- +goose Up

-- When the team was told that the payment provider refuses the key; null: never of this one.
ALTER TABLE accounts ADD COLUMN IF NOT EXISTS key_told_at BIGINT;

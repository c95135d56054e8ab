-- +goose Up

-- When the team was told that the payment provider refuses the key; null: never of this one.
ALTER TABLE accounts ADD COLUMN key_told_at INTEGER;

-- +goose Up

-- When the team was told that the payment provider refuses the key; null: not since it worked last.
ALTER TABLE accounts ADD COLUMN key_told_at INTEGER;

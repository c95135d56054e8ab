-- +goose Up

-- The plan of a subscription asks for no licence key any more: the one that it had has ended, until a plan asks for it again.
ALTER TABLE grants ADD COLUMN IF NOT EXISTS keyless BOOLEAN NOT NULL DEFAULT FALSE;

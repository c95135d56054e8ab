-- +goose NO TRANSACTION
-- +goose Up

-- How many bytes a large answer has that is kept for an Idempotency-Key; 0 for a small one. And whether it was given to somebody without
-- an API key.
ALTER TABLE idempotency_keys ADD COLUMN IF NOT EXISTS size BIGINT NOT NULL DEFAULT 0;

ALTER TABLE idempotency_keys ADD COLUMN IF NOT EXISTS keyless BOOLEAN NOT NULL DEFAULT FALSE;

CREATE INDEX IF NOT EXISTS idempotency_keys_large ON idempotency_keys (account_id, keyless, expires_at, size) WHERE size > 0;

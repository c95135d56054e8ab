-- +goose Up

-- How many bytes a large answer has that is kept for an Idempotency-Key; 0 for a small one. And whether it was given to somebody without
-- an API key.
ALTER TABLE idempotency_keys ADD COLUMN size INTEGER NOT NULL DEFAULT 0;

ALTER TABLE idempotency_keys ADD COLUMN keyless INTEGER NOT NULL DEFAULT 0;

CREATE INDEX idempotency_keys_large ON idempotency_keys (account_id, keyless, expires_at, size) WHERE size > 0;

-- +goose NO TRANSACTION
-- +goose Up

-- The letters that ask whose a checkout's address is: when the last one was sent, by the real clock, and how many were.
ALTER TABLE checkouts ADD COLUMN IF NOT EXISTS verification_sent_at BIGINT;
ALTER TABLE checkouts ADD COLUMN IF NOT EXISTS verifications_sent BIGINT NOT NULL DEFAULT 0;

CREATE INDEX IF NOT EXISTS checkouts_verification ON checkouts (account_id, verification_sent_at) WHERE verification_sent_at IS NOT NULL;

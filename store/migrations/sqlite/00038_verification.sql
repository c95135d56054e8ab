-- +goose Up

-- The letters that ask whose a checkout's address is: when the last one was sent, by the real clock, and how many were.
ALTER TABLE checkouts ADD COLUMN verification_sent_at INTEGER;
ALTER TABLE checkouts ADD COLUMN verifications_sent INTEGER NOT NULL DEFAULT 0;

CREATE INDEX checkouts_verification ON checkouts (account_id, verification_sent_at) WHERE verification_sent_at IS NOT NULL;

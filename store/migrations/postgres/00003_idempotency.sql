-- +goose NO TRANSACTION
-- +goose Up

-- A claimed Idempotency-Key and, once status is not 0, the sealed answer to replay.
-- account_id is the scope of the key: an account, or the object of a public secret.
CREATE TABLE IF NOT EXISTS idempotency_keys (
    account_id  TEXT NOT NULL,
    key         TEXT NOT NULL,
    fingerprint BYTEA NOT NULL,
    token       TEXT NOT NULL,
    effect      TEXT NOT NULL,
    status      BIGINT NOT NULL DEFAULT 0,
    body        BYTEA,
    lease_until BIGINT NOT NULL,
    expires_at  BIGINT NOT NULL,
    PRIMARY KEY (account_id, key)
);

CREATE INDEX IF NOT EXISTS idempotency_keys_expires_at ON idempotency_keys (expires_at);

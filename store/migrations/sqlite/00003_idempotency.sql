-- +goose Up

-- A claimed Idempotency-Key and, once status is not 0, the sealed answer to replay.
-- account_id is the scope of the key: an account, or the object of a public secret.
CREATE TABLE idempotency_keys (
    account_id  TEXT NOT NULL,
    key         TEXT NOT NULL,
    fingerprint BLOB NOT NULL,
    token       TEXT NOT NULL,
    effect      TEXT NOT NULL,
    status      INTEGER NOT NULL DEFAULT 0,
    body        BLOB,
    lease_until INTEGER NOT NULL,
    expires_at  INTEGER NOT NULL,
    PRIMARY KEY (account_id, key)
) STRICT;

CREATE INDEX idempotency_keys_expires_at ON idempotency_keys (expires_at);

-- +goose NO TRANSACTION
-- +goose Up

CREATE TABLE IF NOT EXISTS api_keys (
    account_id   TEXT NOT NULL,
    id           TEXT NOT NULL,
    name         TEXT NOT NULL,
    token_hash   BYTEA NOT NULL,
    token_last4  TEXT NOT NULL,
    scopes       TEXT NOT NULL, -- JSON array, empty = all
    expires_at   BIGINT,
    last_used_at BIGINT,
    last_used_ip TEXT,
    created_by   TEXT,
    created_at   BIGINT NOT NULL,
    updated_at   BIGINT NOT NULL,
    PRIMARY KEY (account_id, id)
);

-- The one lookup that has no account yet.
CREATE UNIQUE INDEX IF NOT EXISTS api_keys_token_hash ON api_keys (token_hash);

-- Requests in the current minute, by key id or "addr_" + address. Unlogged: a crash forgives one minute.
CREATE UNLOGGED TABLE IF NOT EXISTS rate_windows (
    subject TEXT NOT NULL PRIMARY KEY,
    minute  BIGINT NOT NULL,
    used    BIGINT NOT NULL
) WITH (fillfactor = 50);

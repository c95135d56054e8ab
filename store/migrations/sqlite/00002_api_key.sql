-- +goose Up

CREATE TABLE api_keys (
    account_id   TEXT NOT NULL,
    id           TEXT NOT NULL,
    name         TEXT NOT NULL,
    token_hash   BLOB NOT NULL,
    token_last4  TEXT NOT NULL,
    scopes       TEXT NOT NULL, -- JSON array, empty = all
    expires_at   INTEGER,
    last_used_at INTEGER,
    last_used_ip TEXT,
    created_by   TEXT,
    created_at   INTEGER NOT NULL,
    updated_at   INTEGER NOT NULL,
    PRIMARY KEY (account_id, id)
) STRICT;

-- The one lookup that has no account yet.
CREATE UNIQUE INDEX api_keys_token_hash ON api_keys (token_hash);

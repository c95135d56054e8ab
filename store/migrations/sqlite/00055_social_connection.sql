-- +goose Up

-- Channels that are being connected by somebody's consent at the network.
CREATE TABLE social_connections (
    account_id  TEXT NOT NULL,
    id          TEXT NOT NULL,
    platform    TEXT NOT NULL,
    driver      TEXT NOT NULL,
    status      TEXT NOT NULL CHECK (status IN ('pending', 'answered', 'choose', 'connected', 'denied', 'failed')),
    state_hash  TEXT NOT NULL, -- of the text that the person brings back, in hex
    verifier    BLOB NOT NULL, -- sealed
    return_url  TEXT NOT NULL,
    channel_id  TEXT NOT NULL, -- '' until it is connected
    profiles    TEXT NOT NULL, -- JSON array
    access      BLOB, -- sealed; NULL but for choose
    error       TEXT NOT NULL,
    expires_at  INTEGER NOT NULL,
    created_at  INTEGER NOT NULL,
    updated_at  INTEGER NOT NULL,
    PRIMARY KEY (account_id, id)
) STRICT;

CREATE INDEX social_connections_state ON social_connections (state_hash);

-- What housekeeping deletes and forgets, of any account.
CREATE INDEX social_connections_created ON social_connections (created_at);

CREATE INDEX social_connections_choose ON social_connections (expires_at) WHERE access IS NOT NULL;

-- By what the access of a channel is renewed, and when; NULL = it does not have to be, or cannot.
ALTER TABLE social_accounts ADD COLUMN refresh_token BLOB;
ALTER TABLE social_accounts ADD COLUMN refresh_at INTEGER;

CREATE INDEX social_accounts_refresh ON social_accounts (refresh_at) WHERE refresh_at IS NOT NULL;

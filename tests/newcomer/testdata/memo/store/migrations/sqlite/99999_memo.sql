-- +goose Up

CREATE TABLE memos (
    account_id TEXT NOT NULL,
    id         TEXT NOT NULL,
    text       TEXT NOT NULL,
    pinned     INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (account_id, id)
) STRICT;

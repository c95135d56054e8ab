-- +goose NO TRANSACTION
-- +goose Up

CREATE TABLE IF NOT EXISTS memos (
    account_id TEXT NOT NULL,
    id         TEXT NOT NULL,
    text       TEXT NOT NULL,
    pinned     BOOLEAN NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    PRIMARY KEY (account_id, id)
);

ALTER TABLE memos ALTER COLUMN account_id SET (n_distinct = 20);

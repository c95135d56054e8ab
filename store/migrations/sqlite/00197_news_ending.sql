-- +goose Up

-- Addresses whose readers want no news of an account any more. The id is a hash of the address, so that it stays when they are deleted.
CREATE TABLE news_endings (
    account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    id         TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (account_id, id)
) STRICT;

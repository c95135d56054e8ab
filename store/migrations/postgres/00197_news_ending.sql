-- +goose NO TRANSACTION
-- +goose Up

-- Addresses whose readers want no news of an account any more. The id is a hash of the address, so that it stays when they are deleted.
CREATE TABLE IF NOT EXISTS news_endings (
    account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    id         TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (account_id, id)
);

ALTER TABLE news_endings ALTER COLUMN account_id SET (n_distinct = 20);

-- +goose NO TRANSACTION
-- +goose Up

-- Raised to end every address of the page that there is. Those from before this step have none, and count as of version 0.
ALTER TABLE orders ADD COLUMN IF NOT EXISTS link_version BIGINT NOT NULL DEFAULT 0;

ALTER TABLE invoices ADD COLUMN IF NOT EXISTS link_version BIGINT NOT NULL DEFAULT 0;

-- How many letters were sent about a document, and by an account, since began_at. What is older than a day is deleted.
CREATE TABLE IF NOT EXISTS letter_windows (
    account_id TEXT NOT NULL,
    subject    TEXT NOT NULL,
    began_at   BIGINT NOT NULL,
    sent       BIGINT NOT NULL CHECK (sent > 0),
    PRIMARY KEY (account_id, subject)
);

CREATE INDEX IF NOT EXISTS letter_windows_age ON letter_windows (began_at);

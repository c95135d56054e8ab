-- +goose NO TRANSACTION
-- +goose Up

-- Letters that wait, and ask whose the address of a checkout is. A row goes once its letter was sent.
CREATE TABLE IF NOT EXISTS checkout_letters (
    account_id TEXT NOT NULL,
    id         TEXT NOT NULL, -- of the checkout
    email_hash TEXT NOT NULL, -- of the address for which it was asked
    due_at     BIGINT NOT NULL, -- when it is to be sent, or tried again
    attempts   BIGINT NOT NULL,
    PRIMARY KEY (account_id, id)
);

ALTER TABLE checkout_letters ALTER COLUMN account_id SET (n_distinct = 20);

CREATE INDEX IF NOT EXISTS checkout_letters_due ON checkout_letters (due_at);

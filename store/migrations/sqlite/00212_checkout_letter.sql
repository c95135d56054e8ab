-- +goose Up

-- Letters that wait, and ask whose the address of a checkout is. A row goes once its letter was sent.
CREATE TABLE checkout_letters (
    account_id TEXT NOT NULL,
    id         TEXT NOT NULL, -- of the checkout
    email_hash TEXT NOT NULL, -- of the address for which it was asked
    due_at     INTEGER NOT NULL, -- when it is to be sent, or tried again
    attempts   INTEGER NOT NULL,
    PRIMARY KEY (account_id, id)
) STRICT;

CREATE INDEX checkout_letters_due ON checkout_letters (due_at);

-- +goose Up

-- What the built-in test provider was asked to charge: the far side of payments, committed on its own.
CREATE TABLE test_charges (
    account_id   TEXT NOT NULL,
    id           TEXT NOT NULL,
    token        TEXT NOT NULL,
    amount       INTEGER NOT NULL,
    currency     TEXT NOT NULL,
    method_ref   TEXT NOT NULL,
    status       TEXT NOT NULL CHECK (status IN ('requires_action', 'succeeded', 'declined', 'canceled')),
    decline_code TEXT NOT NULL,
    created_at   INTEGER NOT NULL,
    updated_at   INTEGER NOT NULL,
    PRIMARY KEY (account_id, id)
) STRICT;

CREATE UNIQUE INDEX test_charges_token ON test_charges (account_id, token);

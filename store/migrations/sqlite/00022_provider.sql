-- +goose Up

-- By whom an account's payments are made, and its secrets with them, sealed, with what is shown of them.
ALTER TABLE accounts ADD COLUMN payments_provider TEXT NOT NULL DEFAULT 'test' CHECK (payments_provider IN ('test', 'stripe'));

ALTER TABLE accounts ADD COLUMN stripe_secret_key BLOB;

ALTER TABLE accounts ADD COLUMN stripe_webhook_secret BLOB;

ALTER TABLE accounts ADD COLUMN stripe_secret_key_last4 TEXT;

ALTER TABLE accounts ADD COLUMN stripe_webhook_secret_last4 TEXT;

-- Nobody is there to do what the charge may require.
ALTER TABLE payments ADD COLUMN off_session INTEGER NOT NULL DEFAULT 0;

-- A method with a history, which begins with tok_, remembers its charges.
ALTER TABLE test_charges ADD COLUMN off_session INTEGER NOT NULL DEFAULT 0;

CREATE INDEX test_charges_history ON test_charges (account_id, method_ref) WHERE method_ref >= 'tok_';

-- What the built-in test provider was asked to give back: the far side of refunds, committed on its own.
CREATE TABLE test_refunds (
    account_id     TEXT NOT NULL,
    id             TEXT NOT NULL,
    token          TEXT NOT NULL,
    charge_id      TEXT NOT NULL,
    amount         INTEGER NOT NULL,
    status         TEXT NOT NULL CHECK (status IN ('pending', 'succeeded', 'failed', 'canceled')),
    failure_reason TEXT NOT NULL,
    created_at     INTEGER NOT NULL,
    updated_at     INTEGER NOT NULL,
    PRIMARY KEY (account_id, id)
) STRICT;

CREATE UNIQUE INDEX test_refunds_token ON test_refunds (account_id, token);

CREATE INDEX test_refunds_charge ON test_refunds (account_id, charge_id);

-- What providers told us, so that each is applied once.
CREATE TABLE provider_events (
    account_id TEXT NOT NULL,
    provider   TEXT NOT NULL,
    event_id   TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (account_id, provider, event_id)
) STRICT;

-- +goose Up

CREATE TABLE customers (
    account_id        TEXT NOT NULL,
    id                TEXT NOT NULL,
    email             TEXT, -- NULL once anonymised
    email_key         TEXT, -- email in lower case: unique per account
    name              TEXT,
    phone             TEXT,
    external_id       TEXT,
    avatar_url        TEXT,
    billing_address   TEXT, -- JSON
    tax_id            TEXT, -- JSON
    tax_exempt        INTEGER NOT NULL,
    preferred_locale  TEXT,
    type              TEXT NOT NULL CHECK (type IN ('lead', 'customer')),
    orders_count      INTEGER NOT NULL,
    total_spent       TEXT NOT NULL, -- JSON object: currency to amount
    first_paid_at     INTEGER,
    last_order_at     INTEGER,
    marketing_consent TEXT, -- JSON
    notes             TEXT,
    tags              TEXT NOT NULL, -- JSON array
    metadata          TEXT NOT NULL, -- JSON object
    deleted_at        INTEGER, -- anonymised: kept for its orders
    created_at        INTEGER NOT NULL,
    updated_at        INTEGER NOT NULL,
    PRIMARY KEY (account_id, id)
) STRICT;

CREATE UNIQUE INDEX customers_email_key ON customers (account_id, email_key) WHERE email_key IS NOT NULL;

CREATE UNIQUE INDEX customers_external_id ON customers (account_id, external_id) WHERE external_id IS NOT NULL;

-- +goose NO TRANSACTION
-- +goose Up

CREATE TABLE IF NOT EXISTS customers (
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
    tax_exempt        BOOLEAN NOT NULL,
    preferred_locale  TEXT,
    type              TEXT NOT NULL CHECK (type IN ('lead', 'customer')),
    orders_count      BIGINT NOT NULL,
    total_spent       TEXT NOT NULL, -- JSON object: currency to amount
    first_paid_at     BIGINT,
    last_order_at     BIGINT,
    marketing_consent TEXT, -- JSON
    notes             TEXT,
    tags              TEXT NOT NULL, -- JSON array
    metadata          TEXT NOT NULL, -- JSON object
    deleted_at        BIGINT, -- anonymised: kept for its orders
    created_at        BIGINT NOT NULL,
    updated_at        BIGINT NOT NULL,
    PRIMARY KEY (account_id, id)
);

CREATE UNIQUE INDEX IF NOT EXISTS customers_email_key ON customers (account_id, email_key) WHERE email_key IS NOT NULL;

CREATE UNIQUE INDEX IF NOT EXISTS customers_external_id ON customers (account_id, external_id) WHERE external_id IS NOT NULL;

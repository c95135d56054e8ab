-- +goose Up

-- The intent and the outcome of giving money of an order back. The id is the provider's idempotency token. What is
-- pending or succeeded is counted in the order's refunded_amount and refunded_tax_amount.
CREATE TABLE refunds (
    account_id      TEXT NOT NULL,
    id              TEXT NOT NULL,
    order_id        TEXT NOT NULL,
    payment_id      TEXT NOT NULL,
    customer_id     TEXT NOT NULL,
    subscription_id TEXT,
    amount          INTEGER NOT NULL CHECK (amount > 0),
    tax_amount      INTEGER NOT NULL CHECK (tax_amount >= 0),
    currency        TEXT NOT NULL,
    status          TEXT NOT NULL CHECK (status IN ('pending', 'succeeded', 'failed', 'canceled')),
    reason          TEXT NOT NULL,
    comment         TEXT,
    revoke_access   INTEGER NOT NULL,
    failure_reason  TEXT,
    provider        TEXT NOT NULL,
    provider_ref    TEXT,
    succeeded_at    INTEGER,
    lease_until     INTEGER NOT NULL, -- whoever asks the provider is left alone until then
    metadata        TEXT NOT NULL, -- JSON object
    created_at      INTEGER NOT NULL,
    updated_at      INTEGER NOT NULL,
    PRIMARY KEY (account_id, id)
) STRICT;

CREATE UNIQUE INDEX refunds_provider_ref ON refunds (account_id, provider, provider_ref) WHERE provider_ref IS NOT NULL;

CREATE INDEX refunds_order ON refunds (account_id, order_id, id);

CREATE INDEX refunds_customer ON refunds (account_id, customer_id, id);

CREATE INDEX refunds_unsettled ON refunds (lease_until) WHERE status = 'pending';

ALTER TABLE orders ADD COLUMN refund_ids TEXT NOT NULL DEFAULT '[]'; -- JSON array

-- What a customer can be charged with later. A deleted one is kept for what was paid with it.
CREATE TABLE payment_methods (
    account_id   TEXT NOT NULL,
    id           TEXT NOT NULL,
    customer_id  TEXT NOT NULL,
    provider     TEXT NOT NULL,
    provider_ref TEXT NOT NULL, -- the provider's name of it
    customer_ref TEXT NOT NULL, -- the provider's name of the customer that it belongs to
    card         TEXT NOT NULL, -- JSON: what may be shown of it
    deleted_at   INTEGER,
    created_at   INTEGER NOT NULL,
    updated_at   INTEGER NOT NULL,
    PRIMARY KEY (account_id, id)
) STRICT;

CREATE INDEX payment_methods_customer ON payment_methods (account_id, customer_id, id);

ALTER TABLE customers ADD COLUMN default_payment_method_id TEXT;

-- The stored method that pays, whether a new one is to be stored, and the provider's name of the customer.
ALTER TABLE payments ADD COLUMN payment_method_id TEXT;

ALTER TABLE payments ADD COLUMN save_method INTEGER NOT NULL DEFAULT 0;

ALTER TABLE payments ADD COLUMN customer_ref TEXT;

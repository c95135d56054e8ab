-- +goose Up

CREATE TABLE orders (
    account_id          TEXT NOT NULL,
    id                  TEXT NOT NULL,
    number              INTEGER NOT NULL,
    status              TEXT NOT NULL CHECK (status IN ('pending', 'paid', 'partially_refunded', 'refunded', 'void')),
    billing_reason      TEXT NOT NULL CHECK (billing_reason IN ('purchase', 'subscription_create', 'subscription_cycle', 'subscription_update', 'manual')),
    customer_id         TEXT NOT NULL,
    customer_email      TEXT, -- as it was when the order was placed
    line_item_ids       TEXT NOT NULL, -- JSON array
    payment_ids         TEXT NOT NULL, -- JSON array
    checkout_id         TEXT,
    currency            TEXT NOT NULL,
    subtotal_amount     INTEGER NOT NULL CHECK (subtotal_amount >= 0),
    discount_amount     INTEGER NOT NULL CHECK (discount_amount >= 0 AND discount_amount <= subtotal_amount),
    net_amount          INTEGER NOT NULL,
    tax_amount          INTEGER NOT NULL CHECK (tax_amount >= 0),
    total_amount        INTEGER NOT NULL CHECK (total_amount = net_amount + tax_amount),
    paid_amount         INTEGER NOT NULL CHECK (paid_amount >= 0 AND paid_amount <= total_amount),
    refunded_amount     INTEGER NOT NULL CHECK (refunded_amount >= 0 AND refunded_amount <= paid_amount),
    refunded_tax_amount INTEGER NOT NULL CHECK (refunded_tax_amount >= 0 AND refunded_tax_amount <= tax_amount),
    tax_breakdown       TEXT NOT NULL, -- JSON array
    billing_name        TEXT,
    billing_address     TEXT, -- JSON
    tax_id              TEXT, -- JSON
    custom_field_data   TEXT NOT NULL, -- JSON object
    paid_at             INTEGER,
    voided_at           INTEGER,
    metadata            TEXT NOT NULL, -- JSON object
    event_seq           INTEGER NOT NULL,
    created_at          INTEGER NOT NULL,
    updated_at          INTEGER NOT NULL,
    PRIMARY KEY (account_id, id),
    FOREIGN KEY (account_id, customer_id) REFERENCES customers (account_id, id)
) STRICT;

CREATE UNIQUE INDEX orders_number ON orders (account_id, number);

-- At most one order per checkout.
CREATE UNIQUE INDEX orders_checkout ON orders (account_id, checkout_id) WHERE checkout_id IS NOT NULL;

CREATE INDEX orders_status ON orders (account_id, status, id);

CREATE INDEX orders_customer ON orders (account_id, customer_id, id);

-- The intent and the outcome of one charge. The id is the provider's idempotency token.
CREATE TABLE payments (
    account_id     TEXT NOT NULL,
    id             TEXT NOT NULL,
    checkout_id    TEXT,
    order_id       TEXT,
    status         TEXT NOT NULL CHECK (status IN ('pending', 'requires_action', 'succeeded', 'failed', 'canceled')),
    amount         INTEGER NOT NULL CHECK (amount >= 0),
    currency       TEXT NOT NULL,
    provider       TEXT NOT NULL,
    provider_ref   TEXT,
    method_ref     TEXT NOT NULL, -- the provider's name of the payment method
    payment_method TEXT NOT NULL, -- JSON: what may be shown of it
    failure        TEXT, -- JSON
    lease_until    INTEGER NOT NULL, -- whoever is charging is left alone until then
    created_at     INTEGER NOT NULL,
    updated_at     INTEGER NOT NULL,
    PRIMARY KEY (account_id, id)
) STRICT;

CREATE UNIQUE INDEX payments_provider_ref ON payments (account_id, provider, provider_ref) WHERE provider_ref IS NOT NULL;

CREATE INDEX payments_checkout ON payments (account_id, checkout_id);

CREATE INDEX payments_unsettled ON payments (lease_until) WHERE status IN ('pending', 'requires_action');

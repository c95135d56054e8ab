-- +goose NO TRANSACTION
-- +goose Up

-- How far an account's own clock is ahead of the real one, in microseconds. Only a development server moves it.
ALTER TABLE accounts ADD COLUMN IF NOT EXISTS clock_offset BIGINT NOT NULL DEFAULT 0;

-- What a subscription costs is a snapshot of the price variant that it was made of.
CREATE TABLE IF NOT EXISTS subscriptions (
    account_id              TEXT NOT NULL,
    id                      TEXT NOT NULL,
    status                  TEXT NOT NULL CHECK (status IN ('trialing', 'active', 'past_due', 'paused', 'canceled', 'completed')),
    customer_id             TEXT NOT NULL,
    product_id              TEXT NOT NULL,
    price_variant_id        TEXT NOT NULL,
    product_name            TEXT NOT NULL,
    price_variant_name      TEXT,
    quantity                BIGINT NOT NULL CHECK (quantity > 0),
    unit_amount             BIGINT NOT NULL CHECK (unit_amount >= 0),
    currency                TEXT NOT NULL,
    interval                TEXT NOT NULL CHECK (interval IN ('day', 'week', 'month', 'year')),
    interval_count          BIGINT NOT NULL CHECK (interval_count > 0),
    anchor_day              BIGINT NOT NULL CHECK (anchor_day BETWEEN 1 AND 31),
    current_period_start    BIGINT NOT NULL,
    current_period_end      BIGINT NOT NULL CHECK (current_period_end > current_period_start),
    period_amount           BIGINT NOT NULL CHECK (period_amount >= 0), -- what the current period costs after its discount
    trial_start             BIGINT,
    trial_end               BIGINT,
    started_at              BIGINT NOT NULL,
    cancel_at_period_end    BOOLEAN NOT NULL,
    canceled_at             BIGINT,
    ended_at                BIGINT,
    cancellation            TEXT, -- JSON
    cancellation_reason     TEXT,
    pause_at_period_end     BOOLEAN NOT NULL,
    paused_at               BIGINT,
    resumes_at              BIGINT,
    past_due_at             BIGINT,
    next_payment_attempt_at BIGINT,
    attempt_count           BIGINT NOT NULL, -- of the invoice that is past due
    extra_attempt           BOOLEAN NOT NULL, -- a new payment method is to be tried at once
    cycles_billed           BIGINT NOT NULL,
    billing_cycles          BIGINT,
    discount_id             TEXT,
    discount                TEXT, -- JSON: the discount's terms as they were
    discount_ends_at        BIGINT,
    payment_method          TEXT, -- JSON: what is charged
    latest_invoice_id       TEXT,
    pending_change          TEXT, -- JSON
    prorations              TEXT NOT NULL, -- JSON array: billed with the next period
    custom_field_data       TEXT NOT NULL, -- JSON object
    billing_name            TEXT,
    billing_address         TEXT, -- JSON
    tax_id                  TEXT, -- JSON
    checkout_id             TEXT,
    metadata                TEXT NOT NULL, -- JSON object
    due_at                  BIGINT, -- when something is to be done next
    created_at              BIGINT NOT NULL,
    updated_at              BIGINT NOT NULL,
    PRIMARY KEY (account_id, id),
    FOREIGN KEY (account_id, customer_id) REFERENCES customers (account_id, id)
);

CREATE INDEX IF NOT EXISTS subscriptions_due ON subscriptions (due_at) WHERE due_at IS NOT NULL;

CREATE INDEX IF NOT EXISTS subscriptions_status ON subscriptions (account_id, status, id);

CREATE INDEX IF NOT EXISTS subscriptions_customer ON subscriptions (account_id, customer_id, id);

CREATE INDEX IF NOT EXISTS subscriptions_product ON subscriptions (account_id, product_id, id);

CREATE INDEX IF NOT EXISTS subscriptions_price_variant ON subscriptions (account_id, price_variant_id, id);

CREATE INDEX IF NOT EXISTS subscriptions_checkout ON subscriptions (account_id, checkout_id) WHERE checkout_id IS NOT NULL;

ALTER TABLE checkouts ADD COLUMN IF NOT EXISTS subscription_id TEXT;

-- What a customer has to their credit, by currency. It pays the next invoices.
ALTER TABLE customers ADD COLUMN IF NOT EXISTS balance TEXT NOT NULL DEFAULT '{}';

-- +goose NO TRANSACTION
-- +goose Up

CREATE TABLE IF NOT EXISTS checkouts (
    account_id              TEXT NOT NULL,
    id                      TEXT NOT NULL,
    client_secret           BYTEA NOT NULL, -- sealed; found by its hash in global_names
    line_item_ids           TEXT NOT NULL, -- JSON array
    customer_id             TEXT,
    customer_email          TEXT,
    customer_name           TEXT,
    billing_address         TEXT, -- JSON
    tax_id                  TEXT, -- JSON
    currency                TEXT NOT NULL,
    subtotal_amount         BIGINT NOT NULL CHECK (subtotal_amount >= 0),
    discount_amount         BIGINT NOT NULL CHECK (discount_amount >= 0 AND discount_amount <= subtotal_amount),
    net_amount              BIGINT NOT NULL,
    tax_amount              BIGINT, -- NULL until it is known
    total_amount            BIGINT NOT NULL CHECK (total_amount >= 0),
    amount_due_now          BIGINT NOT NULL CHECK (amount_due_now >= 0),
    status                  TEXT NOT NULL CHECK (status IN ('open', 'processing', 'completed', 'expired')),
    payment_status          TEXT NOT NULL CHECK (payment_status IN ('unpaid', 'paid', 'no_payment_required')),
    payment_method_required BOOLEAN NOT NULL,
    last_payment_error      TEXT, -- JSON
    next_action             TEXT, -- JSON
    success_url             TEXT,
    cancel_url              TEXT,
    return_url              TEXT,
    custom_field_data       TEXT NOT NULL, -- JSON object
    client_reference_id     TEXT,
    external_customer_id    TEXT,
    locale                  TEXT,
    expires_at              BIGINT NOT NULL,
    completed_at            BIGINT,
    order_id                TEXT,
    source                  TEXT, -- JSON
    terms_accepted_at       BIGINT,
    metadata                TEXT NOT NULL, -- JSON object
    event_seq               BIGINT NOT NULL,
    created_at              BIGINT NOT NULL,
    updated_at              BIGINT NOT NULL,
    PRIMARY KEY (account_id, id)
);

CREATE INDEX IF NOT EXISTS checkouts_status ON checkouts (account_id, status, id);

CREATE INDEX IF NOT EXISTS checkouts_customer ON checkouts (account_id, customer_id, id);

CREATE INDEX IF NOT EXISTS checkouts_expiry ON checkouts (expires_at) WHERE status = 'open';

-- A line of a checkout, and of the order once it is placed. The unit amount is the price at that moment.
CREATE TABLE IF NOT EXISTS line_items (
    account_id         TEXT NOT NULL,
    id                 TEXT NOT NULL,
    checkout_id        TEXT,
    order_id           TEXT,
    product_id         TEXT NOT NULL,
    price_variant_id   TEXT NOT NULL,
    product_name       TEXT NOT NULL, -- the names as they were then
    price_variant_name TEXT,
    position           BIGINT NOT NULL,
    quantity           BIGINT NOT NULL CHECK (quantity > 0),
    custom_amount      BIGINT,
    unit_amount        BIGINT NOT NULL CHECK (unit_amount >= 0),
    currency           TEXT NOT NULL,
    subtotal_amount    BIGINT NOT NULL CHECK (subtotal_amount >= 0),
    discount_amount    BIGINT NOT NULL CHECK (discount_amount >= 0 AND discount_amount <= subtotal_amount),
    net_amount         BIGINT NOT NULL,
    tax_amount         BIGINT,
    total_amount       BIGINT NOT NULL CHECK (total_amount >= 0),
    created_at         BIGINT NOT NULL,
    updated_at         BIGINT NOT NULL,
    PRIMARY KEY (account_id, id)
);

CREATE INDEX IF NOT EXISTS line_items_checkout ON line_items (account_id, checkout_id);

CREATE INDEX IF NOT EXISTS line_items_order ON line_items (account_id, order_id);

CREATE INDEX IF NOT EXISTS line_items_product ON line_items (account_id, product_id, order_id);

CREATE INDEX IF NOT EXISTS line_items_price_variant ON line_items (account_id, price_variant_id, order_id);

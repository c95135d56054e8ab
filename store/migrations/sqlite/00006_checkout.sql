-- +goose Up

CREATE TABLE checkouts (
    account_id              TEXT NOT NULL,
    id                      TEXT NOT NULL,
    client_secret           BLOB NOT NULL, -- sealed; found by its hash in global_names
    line_item_ids           TEXT NOT NULL, -- JSON array
    customer_id             TEXT,
    customer_email          TEXT,
    customer_name           TEXT,
    billing_address         TEXT, -- JSON
    tax_id                  TEXT, -- JSON
    currency                TEXT NOT NULL,
    subtotal_amount         INTEGER NOT NULL CHECK (subtotal_amount >= 0),
    discount_amount         INTEGER NOT NULL CHECK (discount_amount >= 0 AND discount_amount <= subtotal_amount),
    net_amount              INTEGER NOT NULL,
    tax_amount              INTEGER, -- NULL until it is known
    total_amount            INTEGER NOT NULL CHECK (total_amount >= 0),
    amount_due_now          INTEGER NOT NULL CHECK (amount_due_now >= 0),
    status                  TEXT NOT NULL CHECK (status IN ('open', 'processing', 'completed', 'expired')),
    payment_status          TEXT NOT NULL CHECK (payment_status IN ('unpaid', 'paid', 'no_payment_required')),
    payment_method_required INTEGER NOT NULL,
    last_payment_error      TEXT, -- JSON
    next_action             TEXT, -- JSON
    success_url             TEXT,
    cancel_url              TEXT,
    return_url              TEXT,
    custom_field_data       TEXT NOT NULL, -- JSON object
    client_reference_id     TEXT,
    external_customer_id    TEXT,
    locale                  TEXT,
    expires_at              INTEGER NOT NULL,
    completed_at            INTEGER,
    order_id                TEXT,
    source                  TEXT, -- JSON
    terms_accepted_at       INTEGER,
    metadata                TEXT NOT NULL, -- JSON object
    event_seq               INTEGER NOT NULL,
    created_at              INTEGER NOT NULL,
    updated_at              INTEGER NOT NULL,
    PRIMARY KEY (account_id, id)
) STRICT;

CREATE INDEX checkouts_status ON checkouts (account_id, status, id);

CREATE INDEX checkouts_customer ON checkouts (account_id, customer_id, id);

CREATE INDEX checkouts_expiry ON checkouts (expires_at) WHERE status = 'open';

-- A line of a checkout, and of the order once it is placed. The unit amount is the price at that moment.
CREATE TABLE line_items (
    account_id         TEXT NOT NULL,
    id                 TEXT NOT NULL,
    checkout_id        TEXT,
    order_id           TEXT,
    product_id         TEXT NOT NULL,
    price_variant_id   TEXT NOT NULL,
    product_name       TEXT NOT NULL, -- the names as they were then
    price_variant_name TEXT,
    position           INTEGER NOT NULL,
    quantity           INTEGER NOT NULL CHECK (quantity > 0),
    custom_amount      INTEGER,
    unit_amount        INTEGER NOT NULL CHECK (unit_amount >= 0),
    currency           TEXT NOT NULL,
    subtotal_amount    INTEGER NOT NULL CHECK (subtotal_amount >= 0),
    discount_amount    INTEGER NOT NULL CHECK (discount_amount >= 0 AND discount_amount <= subtotal_amount),
    net_amount         INTEGER NOT NULL,
    tax_amount         INTEGER,
    total_amount       INTEGER NOT NULL CHECK (total_amount >= 0),
    created_at         INTEGER NOT NULL,
    updated_at         INTEGER NOT NULL,
    PRIMARY KEY (account_id, id)
) STRICT;

CREATE INDEX line_items_checkout ON line_items (account_id, checkout_id);

CREATE INDEX line_items_order ON line_items (account_id, order_id);

CREATE INDEX line_items_product ON line_items (account_id, product_id, order_id);

CREATE INDEX line_items_price_variant ON line_items (account_id, price_variant_id, order_id);

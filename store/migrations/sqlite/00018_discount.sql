-- +goose Up

CREATE TABLE discounts (
    account_id                   TEXT NOT NULL,
    id                           TEXT NOT NULL,
    name                         TEXT NOT NULL,
    code                         TEXT,
    code_key                     TEXT, -- the code in lower case
    type                         TEXT NOT NULL CHECK (type IN ('percent', 'fixed')),
    percent_bps                  INTEGER CHECK (percent_bps >= 1 AND percent_bps <= 10000),
    amount                       INTEGER,
    currency                     TEXT,
    amounts                      TEXT NOT NULL, -- JSON object: amounts in further currencies
    duration                     TEXT NOT NULL CHECK (duration IN ('once', 'repeating', 'forever')),
    duration_in_months           INTEGER,
    product_ids                  TEXT NOT NULL, -- JSON array; with price_variant_ids empty too: every product
    price_variant_ids            TEXT NOT NULL, -- JSON array
    rules                        TEXT NOT NULL, -- JSON array
    covered_product_ids          TEXT NOT NULL, -- JSON array: product_ids, and the products of all price variants named
    min_subtotal_amount          INTEGER,
    min_subtotal_amounts         TEXT NOT NULL, -- JSON object: the least in further currencies
    first_purchase_only          INTEGER NOT NULL,
    starts_at                    INTEGER,
    ends_at                      INTEGER CHECK (ends_at > starts_at),
    max_redemptions              INTEGER,
    max_redemptions_per_customer INTEGER,
    redemptions_count            INTEGER NOT NULL CHECK (redemptions_count >= 0 AND (max_redemptions IS NULL OR redemptions_count <= max_redemptions)),
    disabled_at                  INTEGER,
    deleted_at                   INTEGER, -- kept for its redemptions
    metadata                     TEXT NOT NULL, -- JSON object
    created_at                   INTEGER NOT NULL,
    updated_at                   INTEGER NOT NULL,
    PRIMARY KEY (account_id, id)
) STRICT;

CREATE UNIQUE INDEX discounts_code ON discounts (account_id, code_key) WHERE code_key IS NOT NULL;

-- One use of a discount, from the moment that somebody begins to pay.
CREATE TABLE discount_redemptions (
    account_id      TEXT NOT NULL,
    id              TEXT NOT NULL,
    discount_id     TEXT NOT NULL,
    checkout_id     TEXT,
    order_id        TEXT, -- once it is paid
    customer_id     TEXT,
    buyer_key       TEXT NOT NULL, -- hash of the buyer's address
    currency        TEXT NOT NULL,
    discount_amount INTEGER NOT NULL CHECK (discount_amount >= 0),
    created_at      INTEGER NOT NULL,
    updated_at      INTEGER NOT NULL,
    PRIMARY KEY (account_id, id),
    FOREIGN KEY (account_id, discount_id) REFERENCES discounts (account_id, id)
) STRICT;

CREATE INDEX discount_redemptions_discount ON discount_redemptions (account_id, discount_id, id);

CREATE INDEX discount_redemptions_buyer ON discount_redemptions (account_id, discount_id, buyer_key);

CREATE UNIQUE INDEX discount_redemptions_checkout ON discount_redemptions (account_id, checkout_id) WHERE checkout_id IS NOT NULL;

-- +goose NO TRANSACTION
-- +goose Up

CREATE TABLE IF NOT EXISTS discounts (
    account_id                   TEXT NOT NULL,
    id                           TEXT NOT NULL,
    name                         TEXT NOT NULL,
    code                         TEXT,
    code_key                     TEXT, -- the code in lower case
    type                         TEXT NOT NULL CHECK (type IN ('percent', 'fixed')),
    percent_bps                  BIGINT CHECK (percent_bps >= 1 AND percent_bps <= 10000),
    amount                       BIGINT,
    currency                     TEXT,
    amounts                      TEXT NOT NULL, -- JSON object: amounts in further currencies
    duration                     TEXT NOT NULL CHECK (duration IN ('once', 'repeating', 'forever')),
    duration_in_months           BIGINT,
    product_ids                  TEXT NOT NULL, -- JSON array; with price_variant_ids empty too: every product
    price_variant_ids            TEXT NOT NULL, -- JSON array
    rules                        TEXT NOT NULL, -- JSON array
    covered_product_ids          TEXT NOT NULL, -- JSON array: product_ids, and the products of all price variants named
    min_subtotal_amount          BIGINT,
    min_subtotal_amounts         TEXT NOT NULL, -- JSON object: the least in further currencies
    first_purchase_only          BOOLEAN NOT NULL,
    starts_at                    BIGINT,
    ends_at                      BIGINT CHECK (ends_at > starts_at),
    max_redemptions              BIGINT,
    max_redemptions_per_customer BIGINT,
    redemptions_count            BIGINT NOT NULL CHECK (redemptions_count >= 0 AND (max_redemptions IS NULL OR redemptions_count <= max_redemptions)),
    disabled_at                  BIGINT,
    deleted_at                   BIGINT, -- kept for its redemptions
    metadata                     TEXT NOT NULL, -- JSON object
    created_at                   BIGINT NOT NULL,
    updated_at                   BIGINT NOT NULL,
    PRIMARY KEY (account_id, id)
);

CREATE UNIQUE INDEX IF NOT EXISTS discounts_code ON discounts (account_id, code_key) WHERE code_key IS NOT NULL;

-- One use of a discount, from the moment that somebody begins to pay.
CREATE TABLE IF NOT EXISTS discount_redemptions (
    account_id      TEXT NOT NULL,
    id              TEXT NOT NULL,
    discount_id     TEXT NOT NULL,
    checkout_id     TEXT,
    order_id        TEXT, -- once it is paid
    customer_id     TEXT,
    buyer_key       TEXT NOT NULL, -- hash of the buyer's address
    currency        TEXT NOT NULL,
    discount_amount BIGINT NOT NULL CHECK (discount_amount >= 0),
    created_at      BIGINT NOT NULL,
    updated_at      BIGINT NOT NULL,
    PRIMARY KEY (account_id, id),
    FOREIGN KEY (account_id, discount_id) REFERENCES discounts (account_id, id)
);

CREATE INDEX IF NOT EXISTS discount_redemptions_discount ON discount_redemptions (account_id, discount_id, id);

CREATE INDEX IF NOT EXISTS discount_redemptions_buyer ON discount_redemptions (account_id, discount_id, buyer_key);

CREATE UNIQUE INDEX IF NOT EXISTS discount_redemptions_checkout ON discount_redemptions (account_id, checkout_id) WHERE checkout_id IS NOT NULL;

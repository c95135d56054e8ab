-- +goose Up

-- Who has a product, and by what. Source and item are those of commerce: an order and its line, a subscription and its product, or
-- the seller's word. Expired is what expires_at says.
CREATE TABLE grants (
    account_id       TEXT NOT NULL,
    id               TEXT NOT NULL,
    customer_id      TEXT NOT NULL,
    product_id       TEXT NOT NULL,
    price_variant_id TEXT,
    quantity         INTEGER NOT NULL,
    source_type      TEXT NOT NULL CHECK (source_type IN ('order', 'subscription', 'manual')),
    source_id        TEXT NOT NULL,
    item_id          TEXT NOT NULL,
    status           TEXT NOT NULL CHECK (status IN ('active', 'suspended', 'revoked')),
    reason           TEXT, -- why it is suspended or revoked
    by_hand          INTEGER NOT NULL, -- the seller decided last
    paid_until       INTEGER, -- the end of the period that a subscription has paid for
    expires_at       INTEGER,
    suspended_at     INTEGER,
    revoked_at       INTEGER,
    created_at       INTEGER NOT NULL,
    updated_at       INTEGER NOT NULL,
    PRIMARY KEY (account_id, id),
    CHECK ((status = 'suspended') = (suspended_at IS NOT NULL)),
    CHECK ((status = 'revoked') = (revoked_at IS NOT NULL)),
    CHECK ((status = 'active') = (reason IS NULL))
) STRICT;

-- A source gives an item once, however often it is asked to.
CREATE UNIQUE INDEX grants_source ON grants (account_id, source_id, item_id);

CREATE INDEX grants_source_type ON grants (account_id, source_type, id);

CREATE INDEX grants_customer ON grants (account_id, customer_id, id);

CREATE INDEX grants_product ON grants (account_id, product_id, id);

CREATE INDEX grants_status ON grants (account_id, status, id);

CREATE INDEX grants_expires ON grants (account_id, expires_at, id) WHERE expires_at IS NOT NULL;

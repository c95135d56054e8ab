-- +goose NO TRANSACTION
-- +goose Up

ALTER TABLE checkouts ADD COLUMN IF NOT EXISTS discount_id TEXT;

-- By which the discount came, NULL if by its id.
ALTER TABLE checkouts ADD COLUMN IF NOT EXISTS discount_code TEXT;

ALTER TABLE checkouts ADD COLUMN IF NOT EXISTS allow_discount_codes BOOLEAN NOT NULL DEFAULT TRUE;

ALTER TABLE checkouts ADD COLUMN IF NOT EXISTS tax_breakdown TEXT NOT NULL DEFAULT '[]';

ALTER TABLE checkouts ADD COLUMN IF NOT EXISTS invoice_id TEXT;

CREATE INDEX IF NOT EXISTS checkouts_discount ON checkouts (account_id, discount_id, id) WHERE discount_id IS NOT NULL;

-- How long a recurring line costs nothing: the days that the buyer was shown.
ALTER TABLE line_items ADD COLUMN IF NOT EXISTS trial_days BIGINT NOT NULL DEFAULT 0 CHECK (trial_days >= 0);

UPDATE checkouts SET invoice_id = 'inv_' || substr(order_id, 7) WHERE order_id IS NOT NULL AND invoice_id IS NULL;

-- An address that anybody may open: each time makes a checkout. uses counts them, never beyond max_uses.
CREATE TABLE IF NOT EXISTS checkout_links (
    account_id           TEXT NOT NULL,
    id                   TEXT NOT NULL,
    name                 TEXT,
    price_variant_ids    TEXT NOT NULL, -- JSON array
    discount_id          TEXT,
    allow_discount_codes BOOLEAN NOT NULL,
    success_url          TEXT,
    cancel_url           TEXT,
    active               BOOLEAN NOT NULL,
    max_uses             BIGINT,
    uses                 BIGINT NOT NULL CHECK (uses >= 0 AND (max_uses IS NULL OR uses <= max_uses)),
    metadata             TEXT NOT NULL, -- JSON object
    created_at           BIGINT NOT NULL,
    updated_at           BIGINT NOT NULL,
    PRIMARY KEY (account_id, id)
);

-- +goose NO TRANSACTION
-- +goose Up

-- Whether the account gives each customer one trial of a product.
ALTER TABLE accounts ADD COLUMN IF NOT EXISTS trial_once_per_customer BOOLEAN NOT NULL DEFAULT FALSE;

-- The buyer of the line has had a trial of its product: it costs something from the start.
ALTER TABLE line_items ADD COLUMN IF NOT EXISTS trial_used BOOLEAN NOT NULL DEFAULT FALSE;

-- Who had a trial of which product, or is about to have one.
CREATE TABLE IF NOT EXISTS trials (
    account_id  TEXT NOT NULL,
    id          TEXT NOT NULL,
    product_id  TEXT NOT NULL,
    buyer_key   TEXT NOT NULL, -- hash of the buyer's address
    customer_id TEXT, -- once it has begun
    checkout_id TEXT,
    created_at  BIGINT NOT NULL,
    updated_at  BIGINT NOT NULL,
    PRIMARY KEY (account_id, id)
);

ALTER TABLE trials ALTER COLUMN account_id SET (n_distinct = 20);

CREATE UNIQUE INDEX IF NOT EXISTS trials_buyer ON trials (account_id, product_id, buyer_key);

CREATE INDEX IF NOT EXISTS trials_customer ON trials (account_id, customer_id) WHERE customer_id IS NOT NULL;

CREATE INDEX IF NOT EXISTS trials_checkout ON trials (account_id, checkout_id) WHERE checkout_id IS NOT NULL;

-- Those that there were until now, by their customer: a hash cannot be made here.
INSERT INTO trials (account_id, id, product_id, buyer_key, customer_id, checkout_id, created_at, updated_at)
SELECT s.account_id, 'trial_' || MIN(l.id), l.product_id, 'customer ' || s.customer_id, s.customer_id, MIN(s.checkout_id), MIN(s.created_at), MIN(s.created_at)
FROM subscriptions s JOIN line_items l ON l.account_id = s.account_id AND l.checkout_id = s.checkout_id
WHERE s.trial_start IS NOT NULL AND s.customer_verified AND l.kind = 'price' AND l.trial_days > 0 AND l.product_id IS NOT NULL
GROUP BY s.account_id, l.product_id, s.customer_id
ON CONFLICT DO NOTHING;

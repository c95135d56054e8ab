-- +goose Up

-- Whether the account gives each customer one trial of a product.
ALTER TABLE accounts ADD COLUMN trial_once_per_customer INTEGER NOT NULL DEFAULT 0;

-- The buyer of the line has had a trial of its product: it costs something from the start.
ALTER TABLE line_items ADD COLUMN trial_used INTEGER NOT NULL DEFAULT 0;

-- Who had a trial of which product, or is about to have one.
CREATE TABLE trials (
    account_id  TEXT NOT NULL,
    id          TEXT NOT NULL,
    product_id  TEXT NOT NULL,
    buyer_key   TEXT NOT NULL, -- hash of the buyer's address
    customer_id TEXT, -- once it has begun
    checkout_id TEXT,
    created_at  INTEGER NOT NULL,
    updated_at  INTEGER NOT NULL,
    PRIMARY KEY (account_id, id)
) STRICT;

CREATE UNIQUE INDEX trials_buyer ON trials (account_id, product_id, buyer_key);

CREATE INDEX trials_customer ON trials (account_id, customer_id) WHERE customer_id IS NOT NULL;

CREATE INDEX trials_checkout ON trials (account_id, checkout_id) WHERE checkout_id IS NOT NULL;

-- Those that there were until now, by their customer: a hash cannot be made here.
INSERT INTO trials (account_id, id, product_id, buyer_key, customer_id, checkout_id, created_at, updated_at)
SELECT s.account_id, 'trial_' || MIN(l.id), l.product_id, 'customer ' || s.customer_id, s.customer_id, MIN(s.checkout_id), MIN(s.created_at), MIN(s.created_at)
FROM subscriptions s JOIN line_items l ON l.account_id = s.account_id AND l.checkout_id = s.checkout_id
WHERE s.trial_start IS NOT NULL AND s.customer_verified AND l.kind = 'price' AND l.trial_days > 0 AND l.product_id IS NOT NULL
GROUP BY s.account_id, l.product_id, s.customer_id;

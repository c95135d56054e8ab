-- +goose Up

-- The table has the name that the interface has for its rows. What came of neither an order nor a refund has no source.
CREATE TABLE balance_transactions (
    account_id  TEXT NOT NULL,
    id          TEXT NOT NULL,
    customer_id TEXT NOT NULL,
    currency    TEXT NOT NULL,
    amount      INTEGER NOT NULL, -- below 0 for what was taken
    reason      TEXT NOT NULL,
    source_id   TEXT, -- the order, or the refund
    description TEXT, -- what a seller says of a change by hand
    created_at  INTEGER NOT NULL,
    updated_at  INTEGER NOT NULL,
    PRIMARY KEY (account_id, id)
) STRICT;

INSERT INTO balance_transactions (account_id, id, customer_id, currency, amount, reason, source_id, description, created_at, updated_at)
SELECT account_id, id, customer_id, currency, amount, reason, CASE WHEN reason IN ('opening', 'manual', 'deleted') THEN NULL ELSE source_id END, description, created_at, updated_at
FROM balance_entries;

DROP TABLE balance_entries;

-- A customer's changes are listed, the newest first: all, those for a reason, and those in a currency.
CREATE INDEX balance_transactions_listed ON balance_transactions (account_id, customer_id, id);

CREATE INDEX balance_transactions_reason ON balance_transactions (account_id, customer_id, reason, id);

CREATE INDEX balance_transactions_currency ON balance_transactions (account_id, customer_id, currency, id);

-- What was said of changes is forgotten with their customer.
CREATE INDEX balance_transactions_described ON balance_transactions (account_id, customer_id) WHERE description IS NOT NULL;

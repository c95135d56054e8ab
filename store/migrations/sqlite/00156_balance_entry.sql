-- +goose Up

-- Why a customer's balance is what it is: each change of it.
CREATE TABLE balance_entries (
    account_id  TEXT NOT NULL,
    id          TEXT NOT NULL,
    customer_id TEXT NOT NULL,
    currency    TEXT NOT NULL,
    amount      INTEGER NOT NULL, -- below 0 for what was taken
    reason      TEXT NOT NULL,
    source_id   TEXT NOT NULL, -- the order, or the customer
    created_at  INTEGER NOT NULL,
    updated_at  INTEGER NOT NULL,
    PRIMARY KEY (account_id, id)
) STRICT;

CREATE INDEX balance_entries_customer ON balance_entries (account_id, customer_id);

-- What customers have until now.
INSERT INTO balance_entries (account_id, id, customer_id, currency, amount, reason, source_id, created_at, updated_at)
SELECT c.account_id, 'bal_' || c.id || '_' || b.key, c.id, b.key, CAST(b.value AS INTEGER), 'opening', c.id, c.updated_at, c.updated_at
FROM customers c, json_each(c.balance) AS b WHERE CAST(b.value AS INTEGER) <> 0;

-- +goose NO TRANSACTION
-- +goose Up

-- Why a customer's balance is what it is: each change of it.
CREATE TABLE IF NOT EXISTS balance_entries (
    account_id  TEXT NOT NULL,
    id          TEXT NOT NULL,
    customer_id TEXT NOT NULL,
    currency    TEXT NOT NULL,
    amount      BIGINT NOT NULL, -- below 0 for what was taken
    reason      TEXT NOT NULL,
    source_id   TEXT NOT NULL, -- the order, or the customer
    created_at  BIGINT NOT NULL,
    updated_at  BIGINT NOT NULL,
    PRIMARY KEY (account_id, id)
);

ALTER TABLE balance_entries ALTER COLUMN account_id SET (n_distinct = 20);

CREATE INDEX IF NOT EXISTS balance_entries_customer ON balance_entries (account_id, customer_id);

-- What customers have until now.
INSERT INTO balance_entries (account_id, id, customer_id, currency, amount, reason, source_id, created_at, updated_at)
SELECT c.account_id, 'bal_' || c.id || '_' || b.key, c.id, b.key, CAST(b.value AS BIGINT), 'opening', c.id, c.updated_at, c.updated_at
FROM customers c JOIN json_each_text(CAST(c.balance AS json)) AS b ON TRUE WHERE CAST(b.value AS BIGINT) <> 0
ON CONFLICT (account_id, id) DO NOTHING;

-- +goose NO TRANSACTION
-- +goose Up

-- The table has the name that the interface has for its rows.
ALTER TABLE IF EXISTS balance_entries RENAME TO balance_transactions;

ALTER INDEX IF EXISTS balance_entries_pkey RENAME TO balance_transactions_pkey;

ALTER TABLE balance_transactions ALTER COLUMN account_id SET (n_distinct = 20);

-- What came of neither an order nor a refund has no source.
ALTER TABLE balance_transactions ALTER COLUMN source_id DROP NOT NULL;

UPDATE balance_transactions SET source_id = NULL WHERE reason IN ('opening', 'manual', 'deleted') AND source_id IS NOT NULL;

-- A customer's changes are listed, the newest first: all, those for a reason, and those in a currency.
ALTER INDEX IF EXISTS balance_entries_listed RENAME TO balance_transactions_listed;

CREATE INDEX IF NOT EXISTS balance_transactions_reason ON balance_transactions (account_id, customer_id, reason, id);

CREATE INDEX IF NOT EXISTS balance_transactions_currency ON balance_transactions (account_id, customer_id, currency, id);

-- What was said of changes is forgotten with their customer.
CREATE INDEX IF NOT EXISTS balance_transactions_described ON balance_transactions (account_id, customer_id) WHERE description IS NOT NULL;

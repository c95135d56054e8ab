-- +goose NO TRANSACTION
-- +goose Up

-- What a seller says of a change of a customer's balance that they made by hand.
ALTER TABLE balance_entries ADD COLUMN IF NOT EXISTS description TEXT;

-- What customers had before their changes were written down gets an id like all others: the moment that the customer was made, a number for each
-- currency, and the end of the customer's id.
UPDATE balance_entries SET id = 'bal_' || substr(source_id, 5, 10) || right('00' || (
    SELECT COUNT(*) FROM balance_entries b WHERE b.account_id = balance_entries.account_id AND b.customer_id = balance_entries.customer_id
        AND b.source_id = balance_entries.source_id AND b.reason = 'opening' AND b.currency < balance_entries.currency), 3) || substr(source_id, 18)
WHERE id LIKE 'bal_cus_%';

-- A customer's changes are listed, the newest first.
CREATE INDEX IF NOT EXISTS balance_entries_listed ON balance_entries (account_id, customer_id, id);

DROP INDEX IF EXISTS balance_entries_customer;

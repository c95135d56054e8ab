-- +goose NO TRANSACTION
-- +goose Up

-- What a product delivers of licence keys now, which each sale counts. What was taken off the list stays in the table.
CREATE INDEX IF NOT EXISTS product_deliverables_key ON product_deliverables (account_id, product_id) WHERE type = 'license_key' AND removed IS NULL;

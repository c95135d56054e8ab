-- +goose NO TRANSACTION
-- +goose Up

-- What refunds give back to the balance of a customer that had paid: of the refund, of all of an order, and on its invoice.
ALTER TABLE refunds ADD COLUMN IF NOT EXISTS balance_amount BIGINT NOT NULL DEFAULT 0;

ALTER TABLE orders ADD COLUMN IF NOT EXISTS refunded_balance BIGINT NOT NULL DEFAULT 0;

ALTER TABLE invoices ADD COLUMN IF NOT EXISTS refunded_balance BIGINT NOT NULL DEFAULT 0;

-- Of an order that the balance has paid too, the rest can be given back now.
UPDATE orders SET status = 'partially_refunded' WHERE status = 'refunded' AND balance_applied > 0;

-- +goose NO TRANSACTION
-- +goose Up

-- What changes of plan gave of an order to its customer's balance.
ALTER TABLE orders ADD COLUMN IF NOT EXISTS credited_amount BIGINT NOT NULL DEFAULT 0;

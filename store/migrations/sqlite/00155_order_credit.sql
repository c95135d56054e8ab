-- +goose Up

-- What changes of plan gave of an order to its customer's balance.
ALTER TABLE orders ADD COLUMN credited_amount INTEGER NOT NULL DEFAULT 0;

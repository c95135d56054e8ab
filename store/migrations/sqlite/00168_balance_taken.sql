-- +goose Up

-- What was really taken off the customer's balance for an order: of a small bill that nobody was known to owe it is less than balance_applied. Of the
-- orders that there are, the step Repair says it.
ALTER TABLE orders ADD COLUMN balance_taken INTEGER NOT NULL DEFAULT 0;

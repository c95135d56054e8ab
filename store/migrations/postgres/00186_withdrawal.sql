-- +goose NO TRANSACTION
-- +goose Up

-- When a buyer gave up their right to withdraw, so that they get at once what they bought.
ALTER TABLE checkouts ADD COLUMN IF NOT EXISTS withdrawal_waived_at BIGINT;

ALTER TABLE orders ADD COLUMN IF NOT EXISTS withdrawal_waived_at BIGINT;

-- +goose NO TRANSACTION
-- +goose Up

-- The ordering key of an order's events, if that is not its id: an order of a draft goes on with the draft's. It has an id of its own, which is as old as
-- the order.
ALTER TABLE orders ADD COLUMN IF NOT EXISTS event_key TEXT;

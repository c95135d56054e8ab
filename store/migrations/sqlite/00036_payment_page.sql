-- +goose Up

-- Whether the buyer is on our page, and comes back to it from their bank.
ALTER TABLE payments ADD COLUMN on_page INTEGER NOT NULL DEFAULT 0;

-- +goose Up

-- Whether checkouts that expire become leads.
ALTER TABLE accounts ADD COLUMN capture_abandoned_checkouts INTEGER NOT NULL DEFAULT 0;

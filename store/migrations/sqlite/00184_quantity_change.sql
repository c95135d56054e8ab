-- +goose Up

-- Whether buyers choose on the page how many pieces they buy.
ALTER TABLE checkouts ADD COLUMN allow_quantity_change INTEGER NOT NULL DEFAULT 0;

ALTER TABLE checkout_links ADD COLUMN allow_quantity_change INTEGER NOT NULL DEFAULT 0;

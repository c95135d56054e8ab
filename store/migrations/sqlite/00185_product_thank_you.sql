-- +goose Up

-- What the buyers of a product read on the page after paying.
ALTER TABLE products ADD COLUMN thank_you TEXT;

-- +goose Up

-- A key that was disabled when its grant ended is disabled again when that comes back.
ALTER TABLE license_keys ADD COLUMN was_disabled BOOLEAN NOT NULL DEFAULT FALSE;

-- Grants that wait for imported keys: there was none left when they were given.
CREATE TABLE license_waits (
    account_id TEXT NOT NULL,
    id         TEXT NOT NULL, -- of the grant
    product_id TEXT NOT NULL,
    PRIMARY KEY (account_id, id)
);

CREATE INDEX license_waits_product ON license_waits (account_id, product_id, id);

-- +goose Up

-- Whether a grant that waits for an imported key is revoked: then it waits again once it is reinstated.
ALTER TABLE license_waits ADD COLUMN paused BOOLEAN NOT NULL DEFAULT FALSE;

UPDATE license_waits SET paused = TRUE WHERE EXISTS (
    SELECT 1 FROM grants g WHERE g.account_id = license_waits.account_id AND g.id = license_waits.id AND g.status = 'revoked');

DROP INDEX license_waits_product;

CREATE INDEX license_waits_product ON license_waits (account_id, product_id, id) WHERE NOT paused;

-- What is disabled is not sold.
DROP INDEX license_keys_stock;

CREATE INDEX license_keys_stock ON license_keys (account_id, product_id, id) WHERE in_stock AND status = 'granted';

-- +goose Up

-- How many things of each kind a product delivers, so that the page of a checkout says so without counting them. Access is links and experiences.
ALTER TABLE products ADD COLUMN delivered_files BIGINT NOT NULL DEFAULT 0;

ALTER TABLE products ADD COLUMN delivered_keys BIGINT NOT NULL DEFAULT 0;

ALTER TABLE products ADD COLUMN delivered_access BIGINT NOT NULL DEFAULT 0;

UPDATE products SET
    delivered_files = (SELECT count(*) FROM product_deliverables AS d WHERE d.account_id = products.account_id AND d.product_id = products.id AND d.removed IS NULL AND d.type = 'file'),
    delivered_keys = (SELECT count(*) FROM product_deliverables AS d WHERE d.account_id = products.account_id AND d.product_id = products.id AND d.removed IS NULL AND d.type = 'license_key'),
    delivered_access = (SELECT count(*) FROM product_deliverables AS d WHERE d.account_id = products.account_id AND d.product_id = products.id AND d.removed IS NULL AND d.type IN ('link', 'experience'))
WHERE delivers;

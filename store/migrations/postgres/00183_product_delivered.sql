-- +goose NO TRANSACTION
-- +goose Up

-- How many things of each kind a product delivers, so that the page of a checkout says so without counting them. Access is links and experiences.
ALTER TABLE products ADD COLUMN IF NOT EXISTS delivered_files BIGINT NOT NULL DEFAULT 0;

ALTER TABLE products ADD COLUMN IF NOT EXISTS delivered_keys BIGINT NOT NULL DEFAULT 0;

ALTER TABLE products ADD COLUMN IF NOT EXISTS delivered_access BIGINT NOT NULL DEFAULT 0;

-- Each product by itself, so that no sale of it waits for the others. What was cut short goes on where it was.
-- +goose StatementBegin
DO $$
DECLARE
    product RECORD;
BEGIN
    FOR product IN SELECT account_id, id FROM products WHERE delivers AND delivered_files + delivered_keys + delivered_access = 0 LOOP
        UPDATE products SET
            delivered_files = (SELECT count(*) FROM product_deliverables AS d WHERE d.account_id = products.account_id AND d.product_id = products.id AND d.removed IS NULL AND d.type = 'file'),
            delivered_keys = (SELECT count(*) FROM product_deliverables AS d WHERE d.account_id = products.account_id AND d.product_id = products.id AND d.removed IS NULL AND d.type = 'license_key'),
            delivered_access = (SELECT count(*) FROM product_deliverables AS d WHERE d.account_id = products.account_id AND d.product_id = products.id AND d.removed IS NULL AND d.type IN ('link', 'experience'))
        WHERE account_id = product.account_id AND id = product.id;
        COMMIT;
    END LOOP;
END
$$;
-- +goose StatementEnd

-- +goose NO TRANSACTION
-- +goose Up

-- How often a buyer may download each file of the grant, instead of what the product says; NULL = as the product says.
ALTER TABLE grants ADD COLUMN IF NOT EXISTS download_limit BIGINT;

-- How often each buyer of a product may download a file; NULL = any number.
ALTER TABLE product_deliverables ADD COLUMN IF NOT EXISTS download_limit BIGINT;

-- How often the files of a grant were downloaded. There is no row before the first time.
CREATE TABLE IF NOT EXISTS grant_downloads (
    account_id TEXT NOT NULL,
    grant_id   TEXT NOT NULL,
    file_id    TEXT NOT NULL,
    downloads  BIGINT NOT NULL,
    PRIMARY KEY (account_id, grant_id, file_id)
);

-- +goose NO TRANSACTION
-- +goose Up

-- The account's own id of a price variant, null without one.
ALTER TABLE price_variants ADD COLUMN IF NOT EXISTS external_id TEXT;

CREATE UNIQUE INDEX IF NOT EXISTS price_variants_external_id ON price_variants (account_id, external_id) WHERE external_id IS NOT NULL;

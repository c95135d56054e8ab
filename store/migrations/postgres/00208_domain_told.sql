-- +goose NO TRANSACTION
-- +goose Up

-- The team was told that the domain fails, which has not worked since.
ALTER TABLE ai_sites ADD COLUMN IF NOT EXISTS domain_told BOOLEAN NOT NULL DEFAULT FALSE;

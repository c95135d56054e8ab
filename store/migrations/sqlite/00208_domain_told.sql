-- +goose Up

-- The team was told that the domain fails, which has not worked since.
ALTER TABLE ai_sites ADD COLUMN domain_told INTEGER NOT NULL DEFAULT 0;

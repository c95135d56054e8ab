-- +goose NO TRANSACTION
-- +goose Up

-- Where a walk through a large ad account stopped, and when it began: the next round goes on from there.
ALTER TABLE ad_accounts ADD COLUMN IF NOT EXISTS sync_cursor TEXT NOT NULL DEFAULT '';

ALTER TABLE ad_accounts ADD COLUMN IF NOT EXISTS sync_began BIGINT NOT NULL DEFAULT 0;

-- Since when it is switched off, if it was on before: what is left of a lifetime budget counts over the days left.
ALTER TABLE ad_campaigns ADD COLUMN IF NOT EXISTS off_since BIGINT;

ALTER TABLE ad_groups ADD COLUMN IF NOT EXISTS off_since BIGINT;

-- +goose Up

-- Where a walk through a large ad account stopped, and when it began: the next round goes on from there.
ALTER TABLE ad_accounts ADD COLUMN sync_cursor TEXT NOT NULL DEFAULT '';

ALTER TABLE ad_accounts ADD COLUMN sync_began INTEGER NOT NULL DEFAULT 0;

-- Since when it is switched off, if it was on before: what is left of a lifetime budget counts over the days left.
ALTER TABLE ad_campaigns ADD COLUMN off_since INTEGER;

ALTER TABLE ad_groups ADD COLUMN off_since INTEGER;

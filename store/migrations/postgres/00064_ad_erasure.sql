-- +goose NO TRANSACTION
-- +goose Up

-- Since when somebody who was erased is to leave an audience, and when its network is told next; NULL = they stay.
ALTER TABLE ad_audience_members ADD COLUMN IF NOT EXISTS erase_since BIGINT;
ALTER TABLE ad_audience_members ADD COLUMN IF NOT EXISTS erase_due BIGINT;

CREATE INDEX IF NOT EXISTS ad_audience_members_leaving ON ad_audience_members (account_id, audience_id, erase_due) WHERE erase_due IS NOT NULL;

-- Whose turn it is, of any account.
CREATE INDEX IF NOT EXISTS ad_audience_members_due ON ad_audience_members (erase_due) WHERE erase_due IS NOT NULL;

-- +goose Up

ALTER TABLE ad_audiences ADD COLUMN status_reason TEXT NOT NULL DEFAULT '';

-- Somebody who is erased leaves every audience that has them.
CREATE INDEX ad_audience_members_hash ON ad_audience_members (account_id, hash);

-- +goose Up

-- When the row that an action is about was written last, as it was seen before the network was asked; 0 = not known.
ALTER TABLE ad_actions ADD COLUMN seen INTEGER NOT NULL DEFAULT 0;

-- Whether it is in doubt how something in the ad account is at its network, so that it is mirrored soon.
ALTER TABLE ad_accounts ADD COLUMN look_again INTEGER NOT NULL DEFAULT 0;
CREATE INDEX ad_accounts_look_again ON ad_accounts (synced_at) WHERE look_again;

-- +goose Up

-- What is known of a channel's access to its network, and since when the channel is deleted.
ALTER TABLE social_accounts ADD COLUMN token_expires_at INTEGER;
ALTER TABLE social_accounts ADD COLUMN scopes TEXT NOT NULL DEFAULT '[]'; -- JSON array
ALTER TABLE social_accounts ADD COLUMN last_error TEXT NOT NULL DEFAULT '';
ALTER TABLE social_accounts ADD COLUMN deleted_at INTEGER;

-- A profile is one channel from now on. Of several that there are already, one is it and the others stay beside it.
ALTER TABLE social_accounts ADD COLUMN is_duplicate INTEGER NOT NULL DEFAULT 0;

UPDATE social_accounts SET is_duplicate = 1 WHERE id IN (
    SELECT id FROM (
        SELECT id, row_number() OVER (PARTITION BY account_id, platform, driver, platform_id
            ORDER BY CASE ads_status WHEN 'active' THEN 0 ELSE 1 END, id) AS place
        FROM social_accounts WHERE platform_id <> '') AS of_a_profile
    WHERE place > 1);

CREATE UNIQUE INDEX social_accounts_profile ON social_accounts (account_id, platform, driver, platform_id) WHERE platform_id <> '' AND is_duplicate = 0;

-- +goose NO TRANSACTION
-- +goose Up

-- From now on a key can do at most what its maker can, and goes with it. Keys that are there were made under other rules:
-- they are the owner's.
UPDATE api_keys SET created_by = NULL WHERE created_by IS NOT NULL;

-- What a key made.
CREATE INDEX IF NOT EXISTS api_keys_created_by ON api_keys (account_id, created_by);

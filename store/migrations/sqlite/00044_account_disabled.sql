-- +goose Up

-- Since when an account is switched off, and every time that it was, in microseconds of the account's own time.
ALTER TABLE accounts ADD COLUMN disabled_at INTEGER;
ALTER TABLE accounts ADD COLUMN rests TEXT NOT NULL DEFAULT '[]';

-- What every look for a key, a checkout or work that is due leaves out.
CREATE INDEX accounts_disabled ON accounts (id) WHERE disabled_at IS NOT NULL;

-- +goose Up

-- What is wrong with the domain; when its records were last looked for, when that is due again, since when the domain is wanted, how often
-- they were looked for since it was wanted or verified, and how often in a row a verified one had none.
ALTER TABLE ai_sites ADD COLUMN domain_error TEXT;
ALTER TABLE ai_sites ADD COLUMN domain_checked_at INTEGER;
ALTER TABLE ai_sites ADD COLUMN domain_due_at INTEGER;
ALTER TABLE ai_sites ADD COLUMN domain_since INTEGER NOT NULL DEFAULT 0;
ALTER TABLE ai_sites ADD COLUMN domain_tries INTEGER NOT NULL DEFAULT 0;
ALTER TABLE ai_sites ADD COLUMN domain_misses INTEGER NOT NULL DEFAULT 0;

UPDATE ai_sites SET domain_since = updated_at, domain_due_at = updated_at WHERE domain IS NOT NULL;

-- Whose turn it is, of any account.
CREATE INDEX ai_sites_domain_due ON ai_sites (domain_due_at) WHERE domain_due_at IS NOT NULL;

-- +goose Up

-- From when on the team is to be told that the domain fails; null: they need not be.
ALTER TABLE ai_sites ADD COLUMN domain_tell_at INTEGER;

CREATE INDEX ai_sites_tell ON ai_sites (domain_tell_at) WHERE domain_tell_at IS NOT NULL;
CREATE INDEX ai_sites_account_tell ON ai_sites (account_id, domain_tell_at) WHERE domain_tell_at IS NOT NULL;

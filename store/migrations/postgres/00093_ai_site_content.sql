-- +goose Up

-- The number of the version that is the draft, 0 if the page is composed; of the newest version; and of the one that was published last,
-- NULL if that was composed.
ALTER TABLE ai_sites ADD COLUMN version BIGINT NOT NULL DEFAULT 0;
ALTER TABLE ai_sites ADD COLUMN last_version BIGINT NOT NULL DEFAULT 0;
ALTER TABLE ai_sites ADD COLUMN published_version BIGINT;
ALTER TABLE ai_sites ADD COLUMN published_at BIGINT;

UPDATE ai_sites SET published_at = updated_at WHERE is_live;

CREATE TABLE ai_site_versions (
    account_id TEXT NOT NULL,
    id         TEXT NOT NULL,
    site_id    TEXT NOT NULL,
    version    BIGINT NOT NULL,
    origin     TEXT NOT NULL CHECK (origin IN ('edited', 'generated')),
    prompt     TEXT,
    content    TEXT NOT NULL, -- JSON object
    dropped    TEXT NOT NULL, -- JSON array
    created_at BIGINT NOT NULL,
    PRIMARY KEY (account_id, id)
);

CREATE UNIQUE INDEX ai_site_versions_number ON ai_site_versions (account_id, site_id, version);
CREATE INDEX ai_site_versions_site ON ai_site_versions (account_id, site_id, id);

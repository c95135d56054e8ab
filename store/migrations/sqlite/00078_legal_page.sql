-- +goose Up

-- Each text of a page that was published is kept for ever, in content_texts.
CREATE TABLE legal_pages (
    account_id   TEXT NOT NULL,
    id           TEXT NOT NULL,
    kind         TEXT NOT NULL CHECK (kind IN ('terms', 'privacy', 'refund_policy', 'cookies', 'imprint', 'license', 'custom')),
    title        TEXT NOT NULL,
    slug         TEXT NOT NULL,
    status       TEXT NOT NULL CHECK (status IN ('draft', 'published', 'archived')),
    version      INTEGER NOT NULL,
    published_at INTEGER,
    locale       TEXT NOT NULL,
    metadata     TEXT NOT NULL, -- JSON object
    created_at   INTEGER NOT NULL,
    updated_at   INTEGER NOT NULL,
    PRIMARY KEY (account_id, id)
) STRICT;

CREATE INDEX legal_pages_status ON legal_pages (account_id, status, id);

CREATE INDEX legal_pages_kind ON legal_pages (account_id, kind, id);

CREATE UNIQUE INDEX legal_pages_published ON legal_pages (account_id, kind, locale) WHERE status = 'published' AND kind <> 'custom';

-- +goose StatementBegin
CREATE TRIGGER legal_pages_filter_insert AFTER INSERT ON legal_pages BEGIN
    INSERT OR IGNORE INTO filter_entries (account_id, list, name, value, object_id) SELECT NEW.account_id, 'legal_pages', name, value, NEW.id FROM (
        SELECT 'metadata.' || key AS name, substr(value, 1, 500) AS value FROM json_each(NEW.metadata)
        UNION ALL SELECT 'word' AS name, value FROM json_each(filter_words(NEW.title, NEW.slug)));
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER legal_pages_filter_update AFTER UPDATE OF title, slug, metadata ON legal_pages WHEN OLD.title IS NOT NEW.title OR OLD.slug IS NOT NEW.slug OR OLD.metadata IS NOT NEW.metadata BEGIN
    DELETE FROM filter_entries WHERE account_id = OLD.account_id AND list = 'legal_pages' AND object_id = OLD.id AND (name, value) IN (
        SELECT 'metadata.' || key AS name, substr(value, 1, 500) AS value FROM json_each(OLD.metadata)
        UNION ALL SELECT 'word' AS name, value FROM json_each(filter_words(OLD.title, OLD.slug)));
    INSERT OR IGNORE INTO filter_entries (account_id, list, name, value, object_id) SELECT NEW.account_id, 'legal_pages', name, value, NEW.id FROM (
        SELECT 'metadata.' || key AS name, substr(value, 1, 500) AS value FROM json_each(NEW.metadata)
        UNION ALL SELECT 'word' AS name, value FROM json_each(filter_words(NEW.title, NEW.slug)));
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER legal_pages_filter_delete AFTER DELETE ON legal_pages BEGIN
    DELETE FROM filter_entries WHERE account_id = OLD.account_id AND list = 'legal_pages' AND object_id = OLD.id AND (name, value) IN (
        SELECT 'metadata.' || key AS name, substr(value, 1, 500) AS value FROM json_each(OLD.metadata)
        UNION ALL SELECT 'word' AS name, value FROM json_each(filter_words(OLD.title, OLD.slug)));
END;
-- +goose StatementEnd

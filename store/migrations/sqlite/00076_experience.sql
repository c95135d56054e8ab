-- +goose Up

CREATE TABLE experiences (
    account_id  TEXT NOT NULL,
    id          TEXT NOT NULL,
    name        TEXT NOT NULL,
    slug        TEXT NOT NULL,
    type        TEXT NOT NULL CHECK (type IN ('course', 'community', 'download', 'link', 'event', 'embed')),
    description TEXT,
    cover_url   TEXT,
    content     TEXT NOT NULL, -- JSON object
    access      TEXT NOT NULL CHECK (access IN ('public', 'purchase')),
    position    INTEGER NOT NULL,
    status      TEXT NOT NULL CHECK (status IN ('draft', 'published', 'archived')),
    metadata    TEXT NOT NULL, -- JSON object
    created_at  INTEGER NOT NULL,
    updated_at  INTEGER NOT NULL,
    PRIMARY KEY (account_id, id)
) STRICT;

CREATE INDEX experiences_status ON experiences (account_id, status, id);

CREATE INDEX experiences_type ON experiences (account_id, type, id);

CREATE INDEX experiences_access ON experiences (account_id, access, id);

-- +goose StatementBegin
CREATE TRIGGER experiences_filter_insert AFTER INSERT ON experiences BEGIN
    INSERT OR IGNORE INTO filter_entries (account_id, list, name, value, object_id) SELECT NEW.account_id, 'experiences', name, value, NEW.id FROM (
        SELECT 'metadata.' || key AS name, substr(value, 1, 500) AS value FROM json_each(NEW.metadata)
        UNION ALL SELECT 'word' AS name, value FROM json_each(filter_words(NEW.name, NEW.slug)));
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER experiences_filter_update AFTER UPDATE OF name, slug, metadata ON experiences WHEN OLD.name IS NOT NEW.name OR OLD.slug IS NOT NEW.slug OR OLD.metadata IS NOT NEW.metadata BEGIN
    DELETE FROM filter_entries WHERE account_id = OLD.account_id AND list = 'experiences' AND object_id = OLD.id AND (name, value) IN (
        SELECT 'metadata.' || key AS name, substr(value, 1, 500) AS value FROM json_each(OLD.metadata)
        UNION ALL SELECT 'word' AS name, value FROM json_each(filter_words(OLD.name, OLD.slug)));
    INSERT OR IGNORE INTO filter_entries (account_id, list, name, value, object_id) SELECT NEW.account_id, 'experiences', name, value, NEW.id FROM (
        SELECT 'metadata.' || key AS name, substr(value, 1, 500) AS value FROM json_each(NEW.metadata)
        UNION ALL SELECT 'word' AS name, value FROM json_each(filter_words(NEW.name, NEW.slug)));
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER experiences_filter_delete AFTER DELETE ON experiences BEGIN
    DELETE FROM filter_entries WHERE account_id = OLD.account_id AND list = 'experiences' AND object_id = OLD.id AND (name, value) IN (
        SELECT 'metadata.' || key AS name, substr(value, 1, 500) AS value FROM json_each(OLD.metadata)
        UNION ALL SELECT 'word' AS name, value FROM json_each(filter_words(OLD.name, OLD.slug)));
END;
-- +goose StatementEnd

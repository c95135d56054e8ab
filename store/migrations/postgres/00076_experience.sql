-- +goose NO TRANSACTION
-- +goose Up

CREATE TABLE IF NOT EXISTS experiences (
    account_id  TEXT NOT NULL,
    id          TEXT NOT NULL,
    name        TEXT NOT NULL,
    slug        TEXT NOT NULL,
    type        TEXT NOT NULL CHECK (type IN ('course', 'community', 'download', 'link', 'event', 'embed')),
    description TEXT,
    cover_url   TEXT,
    content     TEXT NOT NULL, -- JSON object
    access      TEXT NOT NULL CHECK (access IN ('public', 'purchase')),
    position    BIGINT NOT NULL,
    status      TEXT NOT NULL CHECK (status IN ('draft', 'published', 'archived')),
    metadata    TEXT NOT NULL, -- JSON object
    created_at  BIGINT NOT NULL,
    updated_at  BIGINT NOT NULL,
    PRIMARY KEY (account_id, id)
);

CREATE INDEX IF NOT EXISTS experiences_status ON experiences (account_id, status, id);

CREATE INDEX IF NOT EXISTS experiences_type ON experiences (account_id, type, id);

CREATE INDEX IF NOT EXISTS experiences_access ON experiences (account_id, access, id);

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION experiences_filter() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP <> 'INSERT' THEN
        DELETE FROM filter_entries WHERE account_id = OLD.account_id AND list = 'experiences' AND object_id = OLD.id AND (name, value) IN (
            SELECT 'metadata.' || key AS name, left(value, 500) AS value FROM json_each_text(CAST(OLD.metadata AS json))
            UNION ALL SELECT 'word' AS name, value FROM filter_words(concat_ws(' ', OLD.name, OLD.slug)) AS value);
    END IF;
    IF TG_OP <> 'DELETE' THEN
        INSERT INTO filter_entries (account_id, list, name, value, object_id) SELECT NEW.account_id, 'experiences', e.name, e.value, NEW.id FROM (
            SELECT 'metadata.' || key AS name, left(value, 500) AS value FROM json_each_text(CAST(NEW.metadata AS json))
            UNION ALL SELECT 'word' AS name, value FROM filter_words(concat_ws(' ', NEW.name, NEW.slug)) AS value) AS e ON CONFLICT DO NOTHING;
    END IF;
    RETURN NULL;
END
$$;
-- +goose StatementEnd
CREATE OR REPLACE TRIGGER experiences_filter AFTER INSERT OR DELETE ON experiences FOR EACH ROW EXECUTE FUNCTION experiences_filter();
CREATE OR REPLACE TRIGGER experiences_filter_update AFTER UPDATE ON experiences FOR EACH ROW WHEN (OLD.name IS DISTINCT FROM NEW.name OR OLD.slug IS DISTINCT FROM NEW.slug OR OLD.metadata IS DISTINCT FROM NEW.metadata) EXECUTE FUNCTION experiences_filter();

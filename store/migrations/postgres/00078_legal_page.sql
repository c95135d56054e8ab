-- +goose NO TRANSACTION
-- +goose Up

-- Each text of a page that was published is kept for ever, in content_texts.
CREATE TABLE IF NOT EXISTS legal_pages (
    account_id   TEXT NOT NULL,
    id           TEXT NOT NULL,
    kind         TEXT NOT NULL CHECK (kind IN ('terms', 'privacy', 'refund_policy', 'cookies', 'imprint', 'license', 'custom')),
    title        TEXT NOT NULL,
    slug         TEXT NOT NULL,
    status       TEXT NOT NULL CHECK (status IN ('draft', 'published', 'archived')),
    version      BIGINT NOT NULL,
    published_at BIGINT,
    locale       TEXT NOT NULL,
    metadata     TEXT NOT NULL, -- JSON object
    created_at   BIGINT NOT NULL,
    updated_at   BIGINT NOT NULL,
    PRIMARY KEY (account_id, id)
);

CREATE INDEX IF NOT EXISTS legal_pages_status ON legal_pages (account_id, status, id);

CREATE INDEX IF NOT EXISTS legal_pages_kind ON legal_pages (account_id, kind, id);

CREATE UNIQUE INDEX IF NOT EXISTS legal_pages_published ON legal_pages (account_id, kind, locale) WHERE status = 'published' AND kind <> 'custom';

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION legal_pages_filter() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP <> 'INSERT' THEN
        DELETE FROM filter_entries WHERE account_id = OLD.account_id AND list = 'legal_pages' AND object_id = OLD.id AND (name, value) IN (
            SELECT 'metadata.' || key AS name, left(value, 500) AS value FROM json_each_text(CAST(OLD.metadata AS json))
            UNION ALL SELECT 'word' AS name, value FROM filter_words(concat_ws(' ', OLD.title, OLD.slug)) AS value);
    END IF;
    IF TG_OP <> 'DELETE' THEN
        INSERT INTO filter_entries (account_id, list, name, value, object_id) SELECT NEW.account_id, 'legal_pages', e.name, e.value, NEW.id FROM (
            SELECT 'metadata.' || key AS name, left(value, 500) AS value FROM json_each_text(CAST(NEW.metadata AS json))
            UNION ALL SELECT 'word' AS name, value FROM filter_words(concat_ws(' ', NEW.title, NEW.slug)) AS value) AS e ON CONFLICT DO NOTHING;
    END IF;
    RETURN NULL;
END
$$;
-- +goose StatementEnd
CREATE OR REPLACE TRIGGER legal_pages_filter AFTER INSERT OR DELETE ON legal_pages FOR EACH ROW EXECUTE FUNCTION legal_pages_filter();
CREATE OR REPLACE TRIGGER legal_pages_filter_update AFTER UPDATE ON legal_pages FOR EACH ROW WHEN (OLD.title IS DISTINCT FROM NEW.title OR OLD.slug IS DISTINCT FROM NEW.slug OR OLD.metadata IS DISTINCT FROM NEW.metadata) EXECUTE FUNCTION legal_pages_filter();

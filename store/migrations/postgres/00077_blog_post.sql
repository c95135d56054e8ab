-- +goose NO TRANSACTION
-- +goose Up

-- What is long, of whatever object: its working text as version 0, and each version of it that was published.
CREATE TABLE IF NOT EXISTS content_texts (
    account_id  TEXT NOT NULL,
    object_id   TEXT NOT NULL,
    version     BIGINT NOT NULL,
    title       TEXT NOT NULL,
    body        TEXT NOT NULL, -- Markdown
    body_html   TEXT NOT NULL,
    made_by     BIGINT NOT NULL, -- the version of what made body_html
    created_at  BIGINT NOT NULL,
    PRIMARY KEY (account_id, object_id, version)
);

CREATE INDEX IF NOT EXISTS content_texts_made_by ON content_texts (made_by);

CREATE TABLE IF NOT EXISTS blog_posts (
    account_id      TEXT NOT NULL,
    id              TEXT NOT NULL,
    title           TEXT NOT NULL,
    slug            TEXT NOT NULL,
    excerpt         TEXT,
    cover_url       TEXT,
    author_name     TEXT,
    tags            TEXT NOT NULL, -- JSON array
    status          TEXT NOT NULL CHECK (status IN ('draft', 'scheduled', 'published', 'archived')),
    scheduled_for   BIGINT,
    published_at    BIGINT,
    access          TEXT NOT NULL CHECK (access IN ('public', 'customers', 'product')),
    product_id      TEXT,
    seo_title       TEXT,
    seo_description TEXT,
    reading_minutes BIGINT NOT NULL,
    version         BIGINT NOT NULL,
    metadata        TEXT NOT NULL, -- JSON object
    created_at      BIGINT NOT NULL,
    updated_at      BIGINT NOT NULL,
    PRIMARY KEY (account_id, id),
    CHECK ((status = 'scheduled') = (scheduled_for IS NOT NULL))
);

CREATE INDEX IF NOT EXISTS blog_posts_status ON blog_posts (account_id, status, id);

CREATE INDEX IF NOT EXISTS blog_posts_access ON blog_posts (account_id, access, id);

CREATE INDEX IF NOT EXISTS blog_posts_due ON blog_posts (scheduled_for) WHERE scheduled_for IS NOT NULL;

CREATE INDEX IF NOT EXISTS blog_posts_account_due ON blog_posts (account_id, scheduled_for) WHERE scheduled_for IS NOT NULL;

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION blog_posts_filter() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP <> 'INSERT' THEN
        DELETE FROM filter_entries WHERE account_id = OLD.account_id AND list = 'blog_posts' AND object_id = OLD.id AND (name, value) IN (
            SELECT 'metadata.' || key AS name, left(value, 500) AS value FROM json_each_text(CAST(OLD.metadata AS json))
            UNION ALL SELECT 'tag' AS name, left(value, 500) AS value FROM json_array_elements_text(CAST(OLD.tags AS json)) AS value
            UNION ALL SELECT 'word' AS name, value FROM filter_words(concat_ws(' ', OLD.title, OLD.slug, OLD.author_name)) AS value);
    END IF;
    IF TG_OP <> 'DELETE' THEN
        INSERT INTO filter_entries (account_id, list, name, value, object_id) SELECT NEW.account_id, 'blog_posts', e.name, e.value, NEW.id FROM (
            SELECT 'metadata.' || key AS name, left(value, 500) AS value FROM json_each_text(CAST(NEW.metadata AS json))
            UNION ALL SELECT 'tag' AS name, left(value, 500) AS value FROM json_array_elements_text(CAST(NEW.tags AS json)) AS value
            UNION ALL SELECT 'word' AS name, value FROM filter_words(concat_ws(' ', NEW.title, NEW.slug, NEW.author_name)) AS value) AS e ON CONFLICT DO NOTHING;
    END IF;
    RETURN NULL;
END
$$;
-- +goose StatementEnd
CREATE OR REPLACE TRIGGER blog_posts_filter AFTER INSERT OR DELETE ON blog_posts FOR EACH ROW EXECUTE FUNCTION blog_posts_filter();
CREATE OR REPLACE TRIGGER blog_posts_filter_update AFTER UPDATE ON blog_posts FOR EACH ROW WHEN (OLD.title IS DISTINCT FROM NEW.title OR OLD.slug IS DISTINCT FROM NEW.slug OR OLD.author_name IS DISTINCT FROM NEW.author_name OR OLD.metadata IS DISTINCT FROM NEW.metadata OR OLD.tags IS DISTINCT FROM NEW.tags) EXECUTE FUNCTION blog_posts_filter();

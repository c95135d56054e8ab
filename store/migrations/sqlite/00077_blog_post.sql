-- +goose Up

-- What is long, of whatever object: its working text as version 0, and each version of it that was published.
CREATE TABLE content_texts (
    account_id  TEXT NOT NULL,
    object_id   TEXT NOT NULL,
    version     INTEGER NOT NULL,
    title       TEXT NOT NULL,
    body        TEXT NOT NULL, -- Markdown
    body_html   TEXT NOT NULL,
    made_by     INTEGER NOT NULL, -- the version of what made body_html
    created_at  INTEGER NOT NULL,
    PRIMARY KEY (account_id, object_id, version)
) STRICT;

CREATE INDEX content_texts_made_by ON content_texts (made_by);

CREATE TABLE blog_posts (
    account_id      TEXT NOT NULL,
    id              TEXT NOT NULL,
    title           TEXT NOT NULL,
    slug            TEXT NOT NULL,
    excerpt         TEXT,
    cover_url       TEXT,
    author_name     TEXT,
    tags            TEXT NOT NULL, -- JSON array
    status          TEXT NOT NULL CHECK (status IN ('draft', 'scheduled', 'published', 'archived')),
    scheduled_for   INTEGER,
    published_at    INTEGER,
    access          TEXT NOT NULL CHECK (access IN ('public', 'customers', 'product')),
    product_id      TEXT,
    seo_title       TEXT,
    seo_description TEXT,
    reading_minutes INTEGER NOT NULL,
    version         INTEGER NOT NULL,
    metadata        TEXT NOT NULL, -- JSON object
    created_at      INTEGER NOT NULL,
    updated_at      INTEGER NOT NULL,
    PRIMARY KEY (account_id, id),
    CHECK ((status = 'scheduled') = (scheduled_for IS NOT NULL))
) STRICT;

CREATE INDEX blog_posts_status ON blog_posts (account_id, status, id);

CREATE INDEX blog_posts_access ON blog_posts (account_id, access, id);

CREATE INDEX blog_posts_due ON blog_posts (scheduled_for) WHERE scheduled_for IS NOT NULL;

CREATE INDEX blog_posts_account_due ON blog_posts (account_id, scheduled_for) WHERE scheduled_for IS NOT NULL;

-- +goose StatementBegin
CREATE TRIGGER blog_posts_filter_insert AFTER INSERT ON blog_posts BEGIN
    INSERT OR IGNORE INTO filter_entries (account_id, list, name, value, object_id) SELECT NEW.account_id, 'blog_posts', name, value, NEW.id FROM (
        SELECT 'metadata.' || key AS name, substr(value, 1, 500) AS value FROM json_each(NEW.metadata)
        UNION ALL SELECT 'tag' AS name, substr(value, 1, 500) AS value FROM json_each(NEW.tags)
        UNION ALL SELECT 'word' AS name, value FROM json_each(filter_words(NEW.title, NEW.slug, NEW.author_name)));
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER blog_posts_filter_update AFTER UPDATE OF title, slug, author_name, metadata, tags ON blog_posts WHEN OLD.title IS NOT NEW.title OR OLD.slug IS NOT NEW.slug OR OLD.author_name IS NOT NEW.author_name OR OLD.metadata IS NOT NEW.metadata OR OLD.tags IS NOT NEW.tags BEGIN
    DELETE FROM filter_entries WHERE account_id = OLD.account_id AND list = 'blog_posts' AND object_id = OLD.id AND (name, value) IN (
        SELECT 'metadata.' || key AS name, substr(value, 1, 500) AS value FROM json_each(OLD.metadata)
        UNION ALL SELECT 'tag' AS name, substr(value, 1, 500) AS value FROM json_each(OLD.tags)
        UNION ALL SELECT 'word' AS name, value FROM json_each(filter_words(OLD.title, OLD.slug, OLD.author_name)));
    INSERT OR IGNORE INTO filter_entries (account_id, list, name, value, object_id) SELECT NEW.account_id, 'blog_posts', name, value, NEW.id FROM (
        SELECT 'metadata.' || key AS name, substr(value, 1, 500) AS value FROM json_each(NEW.metadata)
        UNION ALL SELECT 'tag' AS name, substr(value, 1, 500) AS value FROM json_each(NEW.tags)
        UNION ALL SELECT 'word' AS name, value FROM json_each(filter_words(NEW.title, NEW.slug, NEW.author_name)));
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER blog_posts_filter_delete AFTER DELETE ON blog_posts BEGIN
    DELETE FROM filter_entries WHERE account_id = OLD.account_id AND list = 'blog_posts' AND object_id = OLD.id AND (name, value) IN (
        SELECT 'metadata.' || key AS name, substr(value, 1, 500) AS value FROM json_each(OLD.metadata)
        UNION ALL SELECT 'tag' AS name, substr(value, 1, 500) AS value FROM json_each(OLD.tags)
        UNION ALL SELECT 'word' AS name, value FROM json_each(filter_words(OLD.title, OLD.slug, OLD.author_name)));
END;
-- +goose StatementEnd

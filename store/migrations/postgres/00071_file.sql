-- +goose NO TRANSACTION
-- +goose Up

-- Files that are sold. What a pending one says of its bytes was said of the upload.
CREATE TABLE IF NOT EXISTS files (
    account_id        TEXT NOT NULL,
    id                TEXT NOT NULL,
    name              TEXT NOT NULL,
    size              BIGINT NOT NULL,
    content_type      TEXT NOT NULL,
    sha256            TEXT, -- hex
    version           BIGINT NOT NULL, -- the one that is downloaded; of a pending file the one that is uploaded
    last_version      BIGINT NOT NULL, -- the highest number that was ever given
    status            TEXT NOT NULL CHECK (status IN ('pending', 'ready')),
    upload_id         TEXT, -- the version that is being uploaded
    upload_expires_at BIGINT,
    downloads_count   BIGINT NOT NULL,
    metadata          TEXT NOT NULL,
    created_at        BIGINT NOT NULL,
    updated_at        BIGINT NOT NULL,
    PRIMARY KEY (account_id, id)
);

CREATE INDEX IF NOT EXISTS files_status ON files (account_id, status, id);

-- What a file's bytes are, or were, or are to be. A version that was given up has no row any more, its bytes have one in file_removals.
CREATE TABLE IF NOT EXISTS file_versions (
    account_id        TEXT NOT NULL,
    id                TEXT NOT NULL,
    file_id           TEXT NOT NULL,
    version           BIGINT NOT NULL,
    size              BIGINT NOT NULL,
    content_type      TEXT NOT NULL,
    sha256            TEXT,
    status            TEXT NOT NULL CHECK (status IN ('pending', 'ready')),
    upload_expires_at BIGINT, -- of a pending one
    created_at        BIGINT NOT NULL,
    updated_at        BIGINT NOT NULL,
    PRIMARY KEY (account_id, id)
);

CREATE UNIQUE INDEX IF NOT EXISTS file_versions_number ON file_versions (account_id, file_id, version);
CREATE INDEX IF NOT EXISTS file_versions_file ON file_versions (account_id, file_id, id);

-- How far the bytes of a pending version have come. The id is the version's.
CREATE TABLE IF NOT EXISTS uploads (
    account_id  TEXT NOT NULL,
    id          TEXT NOT NULL,
    file_id     TEXT NOT NULL,
    version     BIGINT NOT NULL,
    size        BIGINT NOT NULL,
    received    BIGINT NOT NULL, -- whole parts, which are stored
    digest      BYTEA, -- the state of SHA-256 after them; NULL before the first
    bucket_ref  TEXT NOT NULL, -- by what the bucket knows it; '' before the first byte
    writer      TEXT NOT NULL, -- who has it
    lease_until BIGINT NOT NULL, -- until when that one has it
    expires_at  BIGINT NOT NULL,
    PRIMARY KEY (account_id, id)
);

CREATE INDEX IF NOT EXISTS uploads_expiry ON uploads (expires_at);

-- Those that a process that died has left behind: see endLeases.
CREATE INDEX IF NOT EXISTS uploads_leased ON uploads (lease_until) WHERE lease_until > 0;

-- The parts that are stored, by what the bucket knows them.
CREATE TABLE IF NOT EXISTS upload_parts (
    account_id TEXT NOT NULL,
    upload_id  TEXT NOT NULL,
    number     BIGINT NOT NULL,
    tag        TEXT NOT NULL,
    PRIMARY KEY (account_id, upload_id, number)
);

-- Bytes that nothing names any more, until they are removed.
CREATE TABLE IF NOT EXISTS file_removals (
    account_id TEXT NOT NULL,
    id         TEXT NOT NULL, -- of the version
    file_id    TEXT NOT NULL,
    version    BIGINT NOT NULL,
    size       BIGINT NOT NULL,
    due_at     BIGINT NOT NULL,
    PRIMARY KEY (account_id, id)
);

CREATE INDEX IF NOT EXISTS file_removals_due ON file_removals (due_at);

-- How many bytes an account has: the sizes of its versions and of what is still to be removed.
CREATE TABLE IF NOT EXISTS file_usage (
    account_id TEXT PRIMARY KEY,
    bytes      BIGINT NOT NULL
);

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION files_filter() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP <> 'INSERT' THEN
        DELETE FROM filter_entries WHERE account_id = OLD.account_id AND list = 'files' AND object_id = OLD.id AND (name, value) IN (
            SELECT 'metadata.' || key AS name, left(value, 500) AS value FROM json_each_text(CAST(OLD.metadata AS json))
            UNION ALL SELECT 'word' AS name, value FROM filter_words(OLD.name) AS value);
    END IF;
    IF TG_OP <> 'DELETE' THEN
        INSERT INTO filter_entries (account_id, list, name, value, object_id) SELECT NEW.account_id, 'files', e.name, e.value, NEW.id FROM (
            SELECT 'metadata.' || key AS name, left(value, 500) AS value FROM json_each_text(CAST(NEW.metadata AS json))
            UNION ALL SELECT 'word' AS name, value FROM filter_words(NEW.name) AS value) AS e ON CONFLICT DO NOTHING;
    END IF;
    RETURN NULL;
END
$$;
-- +goose StatementEnd
CREATE OR REPLACE TRIGGER files_filter AFTER INSERT OR DELETE ON files FOR EACH ROW EXECUTE FUNCTION files_filter();
CREATE OR REPLACE TRIGGER files_filter_update AFTER UPDATE ON files FOR EACH ROW WHEN (OLD.name IS DISTINCT FROM NEW.name OR OLD.metadata IS DISTINCT FROM NEW.metadata) EXECUTE FUNCTION files_filter();

-- +goose Up

-- Files that are sold. What a pending one says of its bytes was said of the upload.
CREATE TABLE files (
    account_id        TEXT NOT NULL,
    id                TEXT NOT NULL,
    name              TEXT NOT NULL,
    size              INTEGER NOT NULL,
    content_type      TEXT NOT NULL,
    sha256            TEXT, -- hex
    version           INTEGER NOT NULL, -- the one that is downloaded; of a pending file the one that is uploaded
    last_version      INTEGER NOT NULL, -- the highest number that was ever given
    status            TEXT NOT NULL CHECK (status IN ('pending', 'ready')),
    upload_id         TEXT, -- the version that is being uploaded
    upload_expires_at INTEGER,
    downloads_count   INTEGER NOT NULL,
    metadata          TEXT NOT NULL,
    created_at        INTEGER NOT NULL,
    updated_at        INTEGER NOT NULL,
    PRIMARY KEY (account_id, id)
) STRICT;

CREATE INDEX files_status ON files (account_id, status, id);

-- What a file's bytes are, or were, or are to be. A version that was given up has no row any more, its bytes have one in file_removals.
CREATE TABLE file_versions (
    account_id        TEXT NOT NULL,
    id                TEXT NOT NULL,
    file_id           TEXT NOT NULL,
    version           INTEGER NOT NULL,
    size              INTEGER NOT NULL,
    content_type      TEXT NOT NULL,
    sha256            TEXT,
    status            TEXT NOT NULL CHECK (status IN ('pending', 'ready')),
    upload_expires_at INTEGER, -- of a pending one
    created_at        INTEGER NOT NULL,
    updated_at        INTEGER NOT NULL,
    PRIMARY KEY (account_id, id)
) STRICT;

CREATE UNIQUE INDEX file_versions_number ON file_versions (account_id, file_id, version);
CREATE INDEX file_versions_file ON file_versions (account_id, file_id, id);

-- How far the bytes of a pending version have come. The id is the version's.
CREATE TABLE uploads (
    account_id  TEXT NOT NULL,
    id          TEXT NOT NULL,
    file_id     TEXT NOT NULL,
    version     INTEGER NOT NULL,
    size        INTEGER NOT NULL,
    received    INTEGER NOT NULL, -- whole parts, which are stored
    digest      BLOB, -- the state of SHA-256 after them; NULL before the first
    bucket_ref  TEXT NOT NULL, -- by what the bucket knows it; '' before the first byte
    writer      TEXT NOT NULL, -- who has it
    lease_until INTEGER NOT NULL, -- until when that one has it
    expires_at  INTEGER NOT NULL,
    PRIMARY KEY (account_id, id)
) STRICT;

CREATE INDEX uploads_expiry ON uploads (expires_at);

-- Those that a process that died has left behind: see endLeases.
CREATE INDEX uploads_leased ON uploads (lease_until) WHERE lease_until > 0;

-- The parts that are stored, by what the bucket knows them.
CREATE TABLE upload_parts (
    account_id TEXT NOT NULL,
    upload_id  TEXT NOT NULL,
    number     INTEGER NOT NULL,
    tag        TEXT NOT NULL,
    PRIMARY KEY (account_id, upload_id, number)
) STRICT;

-- Bytes that nothing names any more, until they are removed.
CREATE TABLE file_removals (
    account_id TEXT NOT NULL,
    id         TEXT NOT NULL, -- of the version
    file_id    TEXT NOT NULL,
    version    INTEGER NOT NULL,
    size       INTEGER NOT NULL,
    due_at     INTEGER NOT NULL,
    PRIMARY KEY (account_id, id)
) STRICT;

CREATE INDEX file_removals_due ON file_removals (due_at);

-- How many bytes an account has: the sizes of its versions and of what is still to be removed.
CREATE TABLE file_usage (
    account_id TEXT PRIMARY KEY,
    bytes      INTEGER NOT NULL
) STRICT;

-- +goose StatementBegin
CREATE TRIGGER files_filter_insert AFTER INSERT ON files BEGIN
    INSERT OR IGNORE INTO filter_entries (account_id, list, name, value, object_id) SELECT NEW.account_id, 'files', name, value, NEW.id FROM (
        SELECT 'metadata.' || key AS name, substr(value, 1, 500) AS value FROM json_each(NEW.metadata)
        UNION ALL SELECT 'word' AS name, value FROM json_each(filter_words(NEW.name)));
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER files_filter_update AFTER UPDATE OF name, metadata ON files WHEN OLD.name IS NOT NEW.name OR OLD.metadata IS NOT NEW.metadata BEGIN
    DELETE FROM filter_entries WHERE account_id = OLD.account_id AND list = 'files' AND object_id = OLD.id AND (name, value) IN (
        SELECT 'metadata.' || key AS name, substr(value, 1, 500) AS value FROM json_each(OLD.metadata)
        UNION ALL SELECT 'word' AS name, value FROM json_each(filter_words(OLD.name)));
    INSERT OR IGNORE INTO filter_entries (account_id, list, name, value, object_id) SELECT NEW.account_id, 'files', name, value, NEW.id FROM (
        SELECT 'metadata.' || key AS name, substr(value, 1, 500) AS value FROM json_each(NEW.metadata)
        UNION ALL SELECT 'word' AS name, value FROM json_each(filter_words(NEW.name)));
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER files_filter_delete AFTER DELETE ON files BEGIN
    DELETE FROM filter_entries WHERE account_id = OLD.account_id AND list = 'files' AND object_id = OLD.id AND (name, value) IN (
        SELECT 'metadata.' || key AS name, substr(value, 1, 500) AS value FROM json_each(OLD.metadata)
        UNION ALL SELECT 'word' AS name, value FROM json_each(filter_words(OLD.name)));
END;
-- +goose StatementEnd

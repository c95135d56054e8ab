-- +goose Up

-- The picture that an account or a product has at an address: it is fetched once, and kept by us. When the address changes, the former picture is
-- kept until the new one is there.
CREATE TABLE IF NOT EXISTS pictures (
    account_id TEXT NOT NULL,
    owner_id   TEXT NOT NULL, -- the account of a logo, or the product
    address    TEXT NOT NULL,
    due_at     INTEGER DEFAULT 0, -- when it is fetched, or fetched again; null if it is not
    attempts   INTEGER NOT NULL DEFAULT 0,
    problem    TEXT, -- why it could not be had
    name       TEXT, -- of its files, once it was had
    kind       TEXT NOT NULL DEFAULT '', -- jpg or png
    sizes      TEXT NOT NULL DEFAULT '[]', -- JSON: the width and height of each file
    bytes      INTEGER NOT NULL DEFAULT 0, -- of all files
    PRIMARY KEY (account_id, owner_id)
) STRICT;

CREATE INDEX IF NOT EXISTS pictures_due ON pictures (account_id, due_at, owner_id) WHERE due_at IS NOT NULL;

CREATE TABLE IF NOT EXISTS picture_files (
    account_id TEXT NOT NULL,
    name       TEXT NOT NULL,
    size       TEXT NOT NULL, -- such as 640.jpg
    content    BLOB NOT NULL,
    PRIMARY KEY (account_id, name, size)
) STRICT;

-- What an account keeps, and what it has removed that is still counted, and how many pictures were fetched for it on a day, counted from 1970.
CREATE TABLE IF NOT EXISTS picture_usage (
    account_id TEXT NOT NULL PRIMARY KEY,
    pictures   INTEGER NOT NULL DEFAULT 0,
    bytes      INTEGER NOT NULL DEFAULT 0,
    day        INTEGER NOT NULL DEFAULT 0,
    fetches    INTEGER NOT NULL DEFAULT 0
) STRICT;

-- What was kept, and removed since, until a claim takes it off picture_usage. So a change of a product waits for no other one.
CREATE TABLE IF NOT EXISTS picture_removed (
    account_id TEXT NOT NULL,
    name       TEXT NOT NULL,
    bytes      INTEGER NOT NULL,
    PRIMARY KEY (account_id, name)
) STRICT;

-- The files go with the row that names them.
-- +goose StatementBegin
CREATE TRIGGER IF NOT EXISTS pictures_files AFTER DELETE ON pictures WHEN OLD.name IS NOT NULL BEGIN
    DELETE FROM picture_files WHERE account_id = OLD.account_id AND name = OLD.name;
    INSERT INTO picture_removed (account_id, name, bytes) VALUES (OLD.account_id, OLD.name, OLD.bytes);
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER IF NOT EXISTS accounts_picture_insert AFTER INSERT ON accounts WHEN NEW.logo_url IS NOT NULL BEGIN
    INSERT INTO pictures (account_id, owner_id, address) SELECT NEW.id, NEW.id, NEW.logo_url WHERE NEW.logo_url IS NOT NULL
    ON CONFLICT (account_id, owner_id) DO UPDATE SET address = excluded.address, due_at = 0, attempts = 0, problem = NULL WHERE pictures.address <> excluded.address;
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER IF NOT EXISTS accounts_picture_update AFTER UPDATE ON accounts WHEN OLD.logo_url IS NOT NEW.logo_url BEGIN
    DELETE FROM pictures WHERE account_id = OLD.id AND owner_id = OLD.id AND NEW.logo_url IS NULL;
    INSERT INTO pictures (account_id, owner_id, address) SELECT NEW.id, NEW.id, NEW.logo_url WHERE NEW.logo_url IS NOT NULL
    ON CONFLICT (account_id, owner_id) DO UPDATE SET address = excluded.address, due_at = 0, attempts = 0, problem = NULL WHERE pictures.address <> excluded.address;
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER IF NOT EXISTS accounts_picture_delete AFTER DELETE ON accounts WHEN OLD.logo_url IS NOT NULL BEGIN
    DELETE FROM pictures WHERE account_id = OLD.id AND owner_id = OLD.id;
END;
-- +goose StatementEnd

-- A product without a cover shows the first of its images.
-- +goose StatementBegin
CREATE TRIGGER IF NOT EXISTS products_picture_insert AFTER INSERT ON products WHEN NEW.cover_url IS NOT NULL OR NEW.images <> '[]' BEGIN
    INSERT INTO pictures (account_id, owner_id, address) SELECT NEW.account_id, NEW.id, COALESCE(NEW.cover_url, json_extract(NEW.images, '$[0]')) WHERE COALESCE(NEW.cover_url, json_extract(NEW.images, '$[0]')) IS NOT NULL
    ON CONFLICT (account_id, owner_id) DO UPDATE SET address = excluded.address, due_at = 0, attempts = 0, problem = NULL WHERE pictures.address <> excluded.address;
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER IF NOT EXISTS products_picture_update AFTER UPDATE ON products WHEN OLD.cover_url IS NOT NEW.cover_url
    OR NEW.cover_url IS NULL AND OLD.images <> NEW.images AND json_extract(OLD.images, '$[0]') IS NOT json_extract(NEW.images, '$[0]') BEGIN
    DELETE FROM pictures WHERE account_id = OLD.account_id AND owner_id = OLD.id AND COALESCE(NEW.cover_url, json_extract(NEW.images, '$[0]')) IS NULL;
    INSERT INTO pictures (account_id, owner_id, address) SELECT NEW.account_id, NEW.id, COALESCE(NEW.cover_url, json_extract(NEW.images, '$[0]')) WHERE COALESCE(NEW.cover_url, json_extract(NEW.images, '$[0]')) IS NOT NULL
    ON CONFLICT (account_id, owner_id) DO UPDATE SET address = excluded.address, due_at = 0, attempts = 0, problem = NULL WHERE pictures.address <> excluded.address;
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER IF NOT EXISTS products_picture_delete AFTER DELETE ON products WHEN OLD.cover_url IS NOT NULL OR OLD.images <> '[]' BEGIN
    DELETE FROM pictures WHERE account_id = OLD.account_id AND owner_id = OLD.id;
END;
-- +goose StatementEnd

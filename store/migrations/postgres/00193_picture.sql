-- +goose NO TRANSACTION
-- +goose Up

-- The picture that an account or a product has at an address: it is fetched once, and kept by us. When the address changes, the former picture is
-- kept until the new one is there.
CREATE TABLE IF NOT EXISTS pictures (
    account_id TEXT NOT NULL,
    owner_id   TEXT NOT NULL, -- the account of a logo, or the product
    address    TEXT NOT NULL,
    due_at     BIGINT DEFAULT 0, -- when it is fetched, or fetched again; null if it is not
    attempts   BIGINT NOT NULL DEFAULT 0,
    problem    TEXT, -- why it could not be had
    name       TEXT, -- of its files, once it was had
    kind       TEXT NOT NULL DEFAULT '', -- jpg or png
    sizes      TEXT NOT NULL DEFAULT '[]', -- JSON: the width and height of each file
    bytes      BIGINT NOT NULL DEFAULT 0, -- of all files
    PRIMARY KEY (account_id, owner_id)
);

CREATE INDEX IF NOT EXISTS pictures_due ON pictures (account_id, due_at, owner_id) WHERE due_at IS NOT NULL;

ALTER TABLE pictures ALTER COLUMN account_id SET (n_distinct = 20);

CREATE TABLE IF NOT EXISTS picture_files (
    account_id TEXT NOT NULL,
    name       TEXT NOT NULL,
    size       TEXT NOT NULL, -- such as 640.jpg
    content    BYTEA NOT NULL,
    PRIMARY KEY (account_id, name, size)
);

ALTER TABLE picture_files ALTER COLUMN account_id SET (n_distinct = 20);

-- What an account keeps, and what it has removed that is still counted, and how many pictures were fetched for it on a day, counted from 1970.
CREATE TABLE IF NOT EXISTS picture_usage (
    account_id TEXT NOT NULL PRIMARY KEY,
    pictures   BIGINT NOT NULL DEFAULT 0,
    bytes      BIGINT NOT NULL DEFAULT 0,
    day        BIGINT NOT NULL DEFAULT 0,
    fetches    BIGINT NOT NULL DEFAULT 0
);

ALTER TABLE picture_usage ALTER COLUMN account_id SET (n_distinct = 20);

-- What was kept, and removed since, until a claim takes it off picture_usage. So a change of a product waits for no other one.
CREATE TABLE IF NOT EXISTS picture_removed (
    account_id TEXT NOT NULL,
    name       TEXT NOT NULL,
    bytes      BIGINT NOT NULL,
    PRIMARY KEY (account_id, name)
);

ALTER TABLE picture_removed ALTER COLUMN account_id SET (n_distinct = 20);

-- The files go with the row that names them.
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION pictures_files() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM picture_files WHERE account_id = OLD.account_id AND name = OLD.name;
    INSERT INTO picture_removed (account_id, name, bytes) VALUES (OLD.account_id, OLD.name, OLD.bytes);
    RETURN NULL;
END
$$;
-- +goose StatementEnd

CREATE OR REPLACE TRIGGER pictures_files AFTER DELETE ON pictures FOR EACH ROW WHEN (OLD.name IS NOT NULL) EXECUTE FUNCTION pictures_files();

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION accounts_picture() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    named TEXT;
BEGIN
    IF TG_OP <> 'DELETE' THEN
        named := NEW.logo_url;
    END IF;
    IF TG_OP <> 'INSERT' AND named IS NULL THEN
        DELETE FROM pictures WHERE account_id = OLD.id AND owner_id = OLD.id;
    END IF;
    IF named IS NOT NULL THEN
        INSERT INTO pictures (account_id, owner_id, address) VALUES (NEW.id, NEW.id, named)
        ON CONFLICT (account_id, owner_id) DO UPDATE SET address = excluded.address, due_at = 0, attempts = 0, problem = NULL WHERE pictures.address <> excluded.address;
    END IF;
    RETURN NULL;
END
$$;
-- +goose StatementEnd

CREATE OR REPLACE TRIGGER accounts_picture_insert AFTER INSERT ON accounts FOR EACH ROW WHEN (NEW.logo_url IS NOT NULL) EXECUTE FUNCTION accounts_picture();

CREATE OR REPLACE TRIGGER accounts_picture_update AFTER UPDATE ON accounts FOR EACH ROW WHEN (OLD.logo_url IS DISTINCT FROM NEW.logo_url) EXECUTE FUNCTION accounts_picture();

CREATE OR REPLACE TRIGGER accounts_picture_delete AFTER DELETE ON accounts FOR EACH ROW WHEN (OLD.logo_url IS NOT NULL) EXECUTE FUNCTION accounts_picture();

-- A product without a cover shows the first of its images.
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION products_picture() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    named TEXT;
BEGIN
    IF TG_OP <> 'DELETE' THEN
        named := COALESCE(NEW.cover_url, CAST(NEW.images AS json) ->> 0);
    END IF;
    IF TG_OP <> 'INSERT' AND named IS NULL THEN
        DELETE FROM pictures WHERE account_id = OLD.account_id AND owner_id = OLD.id;
    END IF;
    IF named IS NOT NULL THEN
        INSERT INTO pictures (account_id, owner_id, address) VALUES (NEW.account_id, NEW.id, named)
        ON CONFLICT (account_id, owner_id) DO UPDATE SET address = excluded.address, due_at = 0, attempts = 0, problem = NULL WHERE pictures.address <> excluded.address;
    END IF;
    RETURN NULL;
END
$$;
-- +goose StatementEnd

CREATE OR REPLACE TRIGGER products_picture_insert AFTER INSERT ON products FOR EACH ROW WHEN (NEW.cover_url IS NOT NULL OR NEW.images <> '[]') EXECUTE FUNCTION products_picture();

CREATE OR REPLACE TRIGGER products_picture_update AFTER UPDATE ON products FOR EACH ROW WHEN (OLD.cover_url IS DISTINCT FROM NEW.cover_url
    OR NEW.cover_url IS NULL AND OLD.images <> NEW.images AND CAST(OLD.images AS json) ->> 0 IS DISTINCT FROM CAST(NEW.images AS json) ->> 0) EXECUTE FUNCTION products_picture();

CREATE OR REPLACE TRIGGER products_picture_delete AFTER DELETE ON products FOR EACH ROW WHEN (OLD.cover_url IS NOT NULL OR OLD.images <> '[]') EXECUTE FUNCTION products_picture();

-- +goose Up

CREATE TABLE leads (
    account_id         TEXT NOT NULL,
    id                 TEXT NOT NULL,
    email              TEXT NOT NULL,
    email_key          TEXT NOT NULL, -- email in lower case
    name               TEXT,
    phone              TEXT,
    product_id         TEXT,
    source             TEXT NOT NULL CHECK (source IN ('form', 'checkout_abandoned', 'ai_site', 'link_in_bio', 'import', 'api')),
    ai_site_id         TEXT,
    checkout_id        TEXT, -- that was abandoned
    referrer           TEXT,
    utm                TEXT, -- JSON
    status             TEXT NOT NULL CHECK (status IN ('new', 'qualified', 'converted', 'unsubscribed')),
    customer_id        TEXT NOT NULL,
    converted_at       INTEGER,
    converted_order_id TEXT,
    consent            TEXT NOT NULL, -- JSON
    custom_field_data  TEXT NOT NULL, -- JSON object
    tags               TEXT NOT NULL, -- JSON array
    metadata           TEXT NOT NULL, -- JSON object
    created_at         INTEGER NOT NULL,
    updated_at         INTEGER NOT NULL,
    PRIMARY KEY (account_id, id)
) STRICT;

-- An address has one lead for each product, and one for none.
CREATE UNIQUE INDEX leads_email_product ON leads (account_id, email_key, COALESCE(product_id, ''));

CREATE INDEX leads_status ON leads (account_id, status, id);

CREATE INDEX leads_source ON leads (account_id, source, id);

CREATE INDEX leads_product ON leads (account_id, product_id, id) WHERE product_id IS NOT NULL;

CREATE INDEX leads_customer ON leads (account_id, customer_id, id);

-- What the list is searched and filtered by: see migration 48.
-- +goose StatementBegin
CREATE TRIGGER leads_filter_insert AFTER INSERT ON leads BEGIN
    INSERT OR IGNORE INTO filter_entries (account_id, list, name, value, object_id) SELECT NEW.account_id, 'leads', name, value, NEW.id FROM (
        SELECT 'metadata.' || key AS name, substr(value, 1, 500) AS value FROM json_each(NEW.metadata)
        UNION ALL SELECT 'tag' AS name, substr(value, 1, 500) AS value FROM json_each(NEW.tags)
        UNION ALL SELECT 'word' AS name, value FROM json_each(filter_words(NEW.email, NEW.name)));
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER leads_filter_update AFTER UPDATE OF email, name, tags, metadata ON leads WHEN OLD.email IS NOT NEW.email OR OLD.name IS NOT NEW.name OR OLD.tags IS NOT NEW.tags OR OLD.metadata IS NOT NEW.metadata BEGIN
    DELETE FROM filter_entries WHERE account_id = OLD.account_id AND list = 'leads' AND object_id = OLD.id AND (name, value) IN (
        SELECT 'metadata.' || key AS name, substr(value, 1, 500) AS value FROM json_each(OLD.metadata)
        UNION ALL SELECT 'tag' AS name, substr(value, 1, 500) AS value FROM json_each(OLD.tags)
        UNION ALL SELECT 'word' AS name, value FROM json_each(filter_words(OLD.email, OLD.name)));
    INSERT OR IGNORE INTO filter_entries (account_id, list, name, value, object_id) SELECT NEW.account_id, 'leads', name, value, NEW.id FROM (
        SELECT 'metadata.' || key AS name, substr(value, 1, 500) AS value FROM json_each(NEW.metadata)
        UNION ALL SELECT 'tag' AS name, substr(value, 1, 500) AS value FROM json_each(NEW.tags)
        UNION ALL SELECT 'word' AS name, value FROM json_each(filter_words(NEW.email, NEW.name)));
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER leads_filter_delete AFTER DELETE ON leads BEGIN
    DELETE FROM filter_entries WHERE account_id = OLD.account_id AND list = 'leads' AND object_id = OLD.id AND (name, value) IN (
        SELECT 'metadata.' || key AS name, substr(value, 1, 500) AS value FROM json_each(OLD.metadata)
        UNION ALL SELECT 'tag' AS name, substr(value, 1, 500) AS value FROM json_each(OLD.tags)
        UNION ALL SELECT 'word' AS name, value FROM json_each(filter_words(OLD.email, OLD.name)));
END;
-- +goose StatementEnd

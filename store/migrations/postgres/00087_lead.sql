-- +goose NO TRANSACTION
-- +goose Up

CREATE TABLE IF NOT EXISTS leads (
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
    converted_at       BIGINT,
    converted_order_id TEXT,
    consent            TEXT NOT NULL, -- JSON
    custom_field_data  TEXT NOT NULL, -- JSON object
    tags               TEXT NOT NULL, -- JSON array
    metadata           TEXT NOT NULL, -- JSON object
    created_at         BIGINT NOT NULL,
    updated_at         BIGINT NOT NULL,
    PRIMARY KEY (account_id, id)
);

-- An address has one lead for each product, and one for none.
CREATE UNIQUE INDEX IF NOT EXISTS leads_email_product ON leads (account_id, email_key, COALESCE(product_id, ''));

CREATE INDEX IF NOT EXISTS leads_status ON leads (account_id, status, id);

CREATE INDEX IF NOT EXISTS leads_source ON leads (account_id, source, id);

CREATE INDEX IF NOT EXISTS leads_product ON leads (account_id, product_id, id) WHERE product_id IS NOT NULL;

CREATE INDEX IF NOT EXISTS leads_customer ON leads (account_id, customer_id, id);

-- What the list is searched and filtered by: see migration 48.
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION leads_filter() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP <> 'INSERT' THEN
        DELETE FROM filter_entries WHERE account_id = OLD.account_id AND list = 'leads' AND object_id = OLD.id AND (name, value) IN (
            SELECT 'metadata.' || key AS name, left(value, 500) AS value FROM json_each_text(CAST(OLD.metadata AS json))
            UNION ALL SELECT 'tag' AS name, left(value, 500) AS value FROM json_array_elements_text(CAST(OLD.tags AS json)) AS value
            UNION ALL SELECT 'word' AS name, value FROM filter_words(concat_ws(' ', OLD.email, OLD.name)) AS value);
    END IF;
    IF TG_OP <> 'DELETE' THEN
        INSERT INTO filter_entries (account_id, list, name, value, object_id) SELECT NEW.account_id, 'leads', e.name, e.value, NEW.id FROM (
            SELECT 'metadata.' || key AS name, left(value, 500) AS value FROM json_each_text(CAST(NEW.metadata AS json))
            UNION ALL SELECT 'tag' AS name, left(value, 500) AS value FROM json_array_elements_text(CAST(NEW.tags AS json)) AS value
            UNION ALL SELECT 'word' AS name, value FROM filter_words(concat_ws(' ', NEW.email, NEW.name)) AS value) AS e ON CONFLICT DO NOTHING;
    END IF;
    RETURN NULL;
END
$$;
-- +goose StatementEnd
CREATE OR REPLACE TRIGGER leads_filter AFTER INSERT OR DELETE ON leads FOR EACH ROW EXECUTE FUNCTION leads_filter();
CREATE OR REPLACE TRIGGER leads_filter_update AFTER UPDATE ON leads FOR EACH ROW WHEN (OLD.email IS DISTINCT FROM NEW.email OR OLD.name IS DISTINCT FROM NEW.name OR OLD.tags IS DISTINCT FROM NEW.tags OR OLD.metadata IS DISTINCT FROM NEW.metadata) EXECUTE FUNCTION leads_filter();

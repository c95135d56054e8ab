-- +goose NO TRANSACTION
-- +goose Up

-- What a list is searched and filtered by, in the order of the ids: a row for each entry of an object's metadata, for each of its tags,
-- and for each word that q can find, cut to 200 characters. List is the name of the object's table.
-- The triggers below keep it, whatever statement writes.
CREATE TABLE IF NOT EXISTS filter_entries (
    account_id TEXT NOT NULL,
    list       TEXT NOT NULL,
    name       TEXT NOT NULL, -- metadata.key, tag or word
    value      TEXT COLLATE "C" NOT NULL, -- words are looked for by their beginnings
    object_id  TEXT NOT NULL,
    PRIMARY KEY (account_id, list, name, value, object_id)
);

-- filter_words are the words of a text, in lower case: what stands between spaces and signs of ASCII, but that an e-mail address is one.
-- core.Words splits in the same way.
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION filter_words(searched text) RETURNS SETOF text LANGUAGE sql IMMUTABLE AS $$
    SELECT DISTINCT left(word, 200)
    FROM regexp_split_to_table(lower(searched), '[\x01-\x20\x7f,;:()<>{}"\[\]]+') AS part,
        LATERAL regexp_split_to_table(part, CASE WHEN part LIKE '%@%' THEN '[\x01]+' ELSE '[\x01-\x2f\x3a-\x40\x5b-\x60\x7b-\x7f]+' END) AS word
    WHERE word <> ''
$$;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION orders_filter() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP <> 'INSERT' THEN
        DELETE FROM filter_entries WHERE account_id = OLD.account_id AND list = 'orders' AND object_id = OLD.id AND (name, value) IN (
            SELECT 'metadata.' || key AS name, left(value, 500) AS value FROM json_each_text(CAST(OLD.metadata AS json))
            UNION ALL SELECT 'word' AS name, value FROM filter_words(concat_ws(' ', OLD.customer_email, OLD.billing_name)) AS value);
    END IF;
    IF TG_OP <> 'DELETE' THEN
        INSERT INTO filter_entries (account_id, list, name, value, object_id) SELECT NEW.account_id, 'orders', e.name, e.value, NEW.id FROM (
            SELECT 'metadata.' || key AS name, left(value, 500) AS value FROM json_each_text(CAST(NEW.metadata AS json))
            UNION ALL SELECT 'word' AS name, value FROM filter_words(concat_ws(' ', NEW.customer_email, NEW.billing_name)) AS value) AS e ON CONFLICT DO NOTHING;
    END IF;
    RETURN NULL;
END
$$;
-- +goose StatementEnd
CREATE OR REPLACE TRIGGER orders_filter AFTER INSERT OR DELETE ON orders FOR EACH ROW EXECUTE FUNCTION orders_filter();
CREATE OR REPLACE TRIGGER orders_filter_update AFTER UPDATE ON orders FOR EACH ROW WHEN (OLD.customer_email IS DISTINCT FROM NEW.customer_email OR OLD.billing_name IS DISTINCT FROM NEW.billing_name OR OLD.metadata IS DISTINCT FROM NEW.metadata) EXECUTE FUNCTION orders_filter();
INSERT INTO filter_entries (account_id, list, name, value, object_id)
SELECT o.account_id, 'orders', e.name, e.value, o.id FROM orders AS o, LATERAL (
    SELECT 'metadata.' || key AS name, left(value, 500) AS value FROM json_each_text(CAST(o.metadata AS json))
    UNION ALL SELECT 'word' AS name, value FROM filter_words(concat_ws(' ', o.customer_email, o.billing_name)) AS value) AS e
ON CONFLICT DO NOTHING;

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION invoices_filter() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP <> 'INSERT' THEN
        DELETE FROM filter_entries WHERE account_id = OLD.account_id AND list = 'invoices' AND object_id = OLD.id AND (name, value) IN (
            SELECT 'metadata.' || key AS name, left(value, 500) AS value FROM json_each_text(CAST(OLD.metadata AS json))
            UNION ALL SELECT 'word' AS name, value FROM filter_words(concat_ws(' ', OLD.number, OLD.customer_email, OLD.customer_name)) AS value);
    END IF;
    IF TG_OP <> 'DELETE' THEN
        INSERT INTO filter_entries (account_id, list, name, value, object_id) SELECT NEW.account_id, 'invoices', e.name, e.value, NEW.id FROM (
            SELECT 'metadata.' || key AS name, left(value, 500) AS value FROM json_each_text(CAST(NEW.metadata AS json))
            UNION ALL SELECT 'word' AS name, value FROM filter_words(concat_ws(' ', NEW.number, NEW.customer_email, NEW.customer_name)) AS value) AS e ON CONFLICT DO NOTHING;
    END IF;
    RETURN NULL;
END
$$;
-- +goose StatementEnd
CREATE OR REPLACE TRIGGER invoices_filter AFTER INSERT OR DELETE ON invoices FOR EACH ROW EXECUTE FUNCTION invoices_filter();
CREATE OR REPLACE TRIGGER invoices_filter_update AFTER UPDATE ON invoices FOR EACH ROW WHEN (OLD.number IS DISTINCT FROM NEW.number OR OLD.customer_email IS DISTINCT FROM NEW.customer_email OR OLD.customer_name IS DISTINCT FROM NEW.customer_name OR OLD.metadata IS DISTINCT FROM NEW.metadata) EXECUTE FUNCTION invoices_filter();
INSERT INTO filter_entries (account_id, list, name, value, object_id)
SELECT o.account_id, 'invoices', e.name, e.value, o.id FROM invoices AS o, LATERAL (
    SELECT 'metadata.' || key AS name, left(value, 500) AS value FROM json_each_text(CAST(o.metadata AS json))
    UNION ALL SELECT 'word' AS name, value FROM filter_words(concat_ws(' ', o.number, o.customer_email, o.customer_name)) AS value) AS e
ON CONFLICT DO NOTHING;

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION checkouts_filter() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP <> 'INSERT' THEN
        DELETE FROM filter_entries WHERE account_id = OLD.account_id AND list = 'checkouts' AND object_id = OLD.id AND (name, value) IN (
            SELECT 'metadata.' || key AS name, left(value, 500) AS value FROM json_each_text(CAST(OLD.metadata AS json))
            UNION ALL SELECT 'word' AS name, value FROM filter_words(concat_ws(' ', OLD.customer_email, OLD.customer_name, OLD.client_reference_id)) AS value);
    END IF;
    IF TG_OP <> 'DELETE' THEN
        INSERT INTO filter_entries (account_id, list, name, value, object_id) SELECT NEW.account_id, 'checkouts', e.name, e.value, NEW.id FROM (
            SELECT 'metadata.' || key AS name, left(value, 500) AS value FROM json_each_text(CAST(NEW.metadata AS json))
            UNION ALL SELECT 'word' AS name, value FROM filter_words(concat_ws(' ', NEW.customer_email, NEW.customer_name, NEW.client_reference_id)) AS value) AS e ON CONFLICT DO NOTHING;
    END IF;
    RETURN NULL;
END
$$;
-- +goose StatementEnd
CREATE OR REPLACE TRIGGER checkouts_filter AFTER INSERT OR DELETE ON checkouts FOR EACH ROW EXECUTE FUNCTION checkouts_filter();
CREATE OR REPLACE TRIGGER checkouts_filter_update AFTER UPDATE ON checkouts FOR EACH ROW WHEN (OLD.customer_email IS DISTINCT FROM NEW.customer_email OR OLD.customer_name IS DISTINCT FROM NEW.customer_name OR OLD.client_reference_id IS DISTINCT FROM NEW.client_reference_id OR OLD.metadata IS DISTINCT FROM NEW.metadata) EXECUTE FUNCTION checkouts_filter();
INSERT INTO filter_entries (account_id, list, name, value, object_id)
SELECT o.account_id, 'checkouts', e.name, e.value, o.id FROM checkouts AS o, LATERAL (
    SELECT 'metadata.' || key AS name, left(value, 500) AS value FROM json_each_text(CAST(o.metadata AS json))
    UNION ALL SELECT 'word' AS name, value FROM filter_words(concat_ws(' ', o.customer_email, o.customer_name, o.client_reference_id)) AS value) AS e
ON CONFLICT DO NOTHING;

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION customers_filter() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP <> 'INSERT' THEN
        DELETE FROM filter_entries WHERE account_id = OLD.account_id AND list = 'customers' AND object_id = OLD.id AND (name, value) IN (
            SELECT 'metadata.' || key AS name, left(value, 500) AS value FROM json_each_text(CAST(OLD.metadata AS json))
            UNION ALL SELECT 'tag' AS name, left(value, 500) AS value FROM json_array_elements_text(CAST(OLD.tags AS json)) AS value
            UNION ALL SELECT 'word' AS name, value FROM filter_words(concat_ws(' ', OLD.email, OLD.name, OLD.external_id)) AS value);
    END IF;
    IF TG_OP <> 'DELETE' THEN
        INSERT INTO filter_entries (account_id, list, name, value, object_id) SELECT NEW.account_id, 'customers', e.name, e.value, NEW.id FROM (
            SELECT 'metadata.' || key AS name, left(value, 500) AS value FROM json_each_text(CAST(NEW.metadata AS json))
            UNION ALL SELECT 'tag' AS name, left(value, 500) AS value FROM json_array_elements_text(CAST(NEW.tags AS json)) AS value
            UNION ALL SELECT 'word' AS name, value FROM filter_words(concat_ws(' ', NEW.email, NEW.name, NEW.external_id)) AS value) AS e ON CONFLICT DO NOTHING;
    END IF;
    RETURN NULL;
END
$$;
-- +goose StatementEnd
CREATE OR REPLACE TRIGGER customers_filter AFTER INSERT OR DELETE ON customers FOR EACH ROW EXECUTE FUNCTION customers_filter();
CREATE OR REPLACE TRIGGER customers_filter_update AFTER UPDATE ON customers FOR EACH ROW WHEN (OLD.email IS DISTINCT FROM NEW.email OR OLD.name IS DISTINCT FROM NEW.name OR OLD.external_id IS DISTINCT FROM NEW.external_id OR OLD.metadata IS DISTINCT FROM NEW.metadata OR OLD.tags IS DISTINCT FROM NEW.tags) EXECUTE FUNCTION customers_filter();
INSERT INTO filter_entries (account_id, list, name, value, object_id)
SELECT o.account_id, 'customers', e.name, e.value, o.id FROM customers AS o, LATERAL (
    SELECT 'metadata.' || key AS name, left(value, 500) AS value FROM json_each_text(CAST(o.metadata AS json))
    UNION ALL SELECT 'tag' AS name, left(value, 500) AS value FROM json_array_elements_text(CAST(o.tags AS json)) AS value
    UNION ALL SELECT 'word' AS name, value FROM filter_words(concat_ws(' ', o.email, o.name, o.external_id)) AS value) AS e
ON CONFLICT DO NOTHING;

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION products_filter() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP <> 'INSERT' THEN
        DELETE FROM filter_entries WHERE account_id = OLD.account_id AND list = 'products' AND object_id = OLD.id AND (name, value) IN (
            SELECT 'metadata.' || key AS name, left(value, 500) AS value FROM json_each_text(CAST(OLD.metadata AS json))
            UNION ALL SELECT 'word' AS name, value FROM filter_words(concat_ws(' ', OLD.name, OLD.slug, OLD.headline)) AS value);
    END IF;
    IF TG_OP <> 'DELETE' THEN
        INSERT INTO filter_entries (account_id, list, name, value, object_id) SELECT NEW.account_id, 'products', e.name, e.value, NEW.id FROM (
            SELECT 'metadata.' || key AS name, left(value, 500) AS value FROM json_each_text(CAST(NEW.metadata AS json))
            UNION ALL SELECT 'word' AS name, value FROM filter_words(concat_ws(' ', NEW.name, NEW.slug, NEW.headline)) AS value) AS e ON CONFLICT DO NOTHING;
    END IF;
    RETURN NULL;
END
$$;
-- +goose StatementEnd
CREATE OR REPLACE TRIGGER products_filter AFTER INSERT OR DELETE ON products FOR EACH ROW EXECUTE FUNCTION products_filter();
CREATE OR REPLACE TRIGGER products_filter_update AFTER UPDATE ON products FOR EACH ROW WHEN (OLD.name IS DISTINCT FROM NEW.name OR OLD.slug IS DISTINCT FROM NEW.slug OR OLD.headline IS DISTINCT FROM NEW.headline OR OLD.metadata IS DISTINCT FROM NEW.metadata) EXECUTE FUNCTION products_filter();
INSERT INTO filter_entries (account_id, list, name, value, object_id)
SELECT o.account_id, 'products', e.name, e.value, o.id FROM products AS o, LATERAL (
    SELECT 'metadata.' || key AS name, left(value, 500) AS value FROM json_each_text(CAST(o.metadata AS json))
    UNION ALL SELECT 'word' AS name, value FROM filter_words(concat_ws(' ', o.name, o.slug, o.headline)) AS value) AS e
ON CONFLICT DO NOTHING;

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION price_variants_filter() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP <> 'INSERT' THEN
        DELETE FROM filter_entries WHERE account_id = OLD.account_id AND list = 'price_variants' AND object_id = OLD.id AND (name, value) IN (
            SELECT 'metadata.' || key AS name, left(value, 500) AS value FROM json_each_text(CAST(OLD.metadata AS json))
            UNION ALL SELECT 'word' AS name, value FROM filter_words(concat_ws(' ', OLD.name)) AS value);
    END IF;
    IF TG_OP <> 'DELETE' THEN
        INSERT INTO filter_entries (account_id, list, name, value, object_id) SELECT NEW.account_id, 'price_variants', e.name, e.value, NEW.id FROM (
            SELECT 'metadata.' || key AS name, left(value, 500) AS value FROM json_each_text(CAST(NEW.metadata AS json))
            UNION ALL SELECT 'word' AS name, value FROM filter_words(concat_ws(' ', NEW.name)) AS value) AS e ON CONFLICT DO NOTHING;
    END IF;
    RETURN NULL;
END
$$;
-- +goose StatementEnd
CREATE OR REPLACE TRIGGER price_variants_filter AFTER INSERT OR DELETE ON price_variants FOR EACH ROW EXECUTE FUNCTION price_variants_filter();
CREATE OR REPLACE TRIGGER price_variants_filter_update AFTER UPDATE ON price_variants FOR EACH ROW WHEN (OLD.name IS DISTINCT FROM NEW.name OR OLD.metadata IS DISTINCT FROM NEW.metadata) EXECUTE FUNCTION price_variants_filter();
INSERT INTO filter_entries (account_id, list, name, value, object_id)
SELECT o.account_id, 'price_variants', e.name, e.value, o.id FROM price_variants AS o, LATERAL (
    SELECT 'metadata.' || key AS name, left(value, 500) AS value FROM json_each_text(CAST(o.metadata AS json))
    UNION ALL SELECT 'word' AS name, value FROM filter_words(concat_ws(' ', o.name)) AS value) AS e
ON CONFLICT DO NOTHING;

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION subscriptions_filter() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP <> 'INSERT' THEN
        DELETE FROM filter_entries WHERE account_id = OLD.account_id AND list = 'subscriptions' AND object_id = OLD.id AND (name, value) IN (
            SELECT 'metadata.' || key AS name, left(value, 500) AS value FROM json_each_text(CAST(OLD.metadata AS json))
            UNION ALL SELECT 'word' AS name, value FROM filter_words(concat_ws(' ', OLD.product_name, OLD.price_variant_name, OLD.billing_name)) AS value);
    END IF;
    IF TG_OP <> 'DELETE' THEN
        INSERT INTO filter_entries (account_id, list, name, value, object_id) SELECT NEW.account_id, 'subscriptions', e.name, e.value, NEW.id FROM (
            SELECT 'metadata.' || key AS name, left(value, 500) AS value FROM json_each_text(CAST(NEW.metadata AS json))
            UNION ALL SELECT 'word' AS name, value FROM filter_words(concat_ws(' ', NEW.product_name, NEW.price_variant_name, NEW.billing_name)) AS value) AS e ON CONFLICT DO NOTHING;
    END IF;
    RETURN NULL;
END
$$;
-- +goose StatementEnd
CREATE OR REPLACE TRIGGER subscriptions_filter AFTER INSERT OR DELETE ON subscriptions FOR EACH ROW EXECUTE FUNCTION subscriptions_filter();
CREATE OR REPLACE TRIGGER subscriptions_filter_update AFTER UPDATE ON subscriptions FOR EACH ROW WHEN (OLD.product_name IS DISTINCT FROM NEW.product_name OR OLD.price_variant_name IS DISTINCT FROM NEW.price_variant_name OR OLD.billing_name IS DISTINCT FROM NEW.billing_name OR OLD.metadata IS DISTINCT FROM NEW.metadata) EXECUTE FUNCTION subscriptions_filter();
INSERT INTO filter_entries (account_id, list, name, value, object_id)
SELECT o.account_id, 'subscriptions', e.name, e.value, o.id FROM subscriptions AS o, LATERAL (
    SELECT 'metadata.' || key AS name, left(value, 500) AS value FROM json_each_text(CAST(o.metadata AS json))
    UNION ALL SELECT 'word' AS name, value FROM filter_words(concat_ws(' ', o.product_name, o.price_variant_name, o.billing_name)) AS value) AS e
ON CONFLICT DO NOTHING;

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION discounts_filter() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP <> 'INSERT' THEN
        DELETE FROM filter_entries WHERE account_id = OLD.account_id AND list = 'discounts' AND object_id = OLD.id AND (name, value) IN (
            SELECT 'metadata.' || key AS name, left(value, 500) AS value FROM json_each_text(CAST(OLD.metadata AS json))
            UNION ALL SELECT 'word' AS name, value FROM filter_words(concat_ws(' ', OLD.name, OLD.code)) AS value);
    END IF;
    IF TG_OP <> 'DELETE' THEN
        INSERT INTO filter_entries (account_id, list, name, value, object_id) SELECT NEW.account_id, 'discounts', e.name, e.value, NEW.id FROM (
            SELECT 'metadata.' || key AS name, left(value, 500) AS value FROM json_each_text(CAST(NEW.metadata AS json))
            UNION ALL SELECT 'word' AS name, value FROM filter_words(concat_ws(' ', NEW.name, NEW.code)) AS value) AS e ON CONFLICT DO NOTHING;
    END IF;
    RETURN NULL;
END
$$;
-- +goose StatementEnd
CREATE OR REPLACE TRIGGER discounts_filter AFTER INSERT OR DELETE ON discounts FOR EACH ROW EXECUTE FUNCTION discounts_filter();
CREATE OR REPLACE TRIGGER discounts_filter_update AFTER UPDATE ON discounts FOR EACH ROW WHEN (OLD.name IS DISTINCT FROM NEW.name OR OLD.code IS DISTINCT FROM NEW.code OR OLD.metadata IS DISTINCT FROM NEW.metadata) EXECUTE FUNCTION discounts_filter();
INSERT INTO filter_entries (account_id, list, name, value, object_id)
SELECT o.account_id, 'discounts', e.name, e.value, o.id FROM discounts AS o, LATERAL (
    SELECT 'metadata.' || key AS name, left(value, 500) AS value FROM json_each_text(CAST(o.metadata AS json))
    UNION ALL SELECT 'word' AS name, value FROM filter_words(concat_ws(' ', o.name, o.code)) AS value) AS e
ON CONFLICT DO NOTHING;

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION checkout_links_filter() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP <> 'INSERT' THEN
        DELETE FROM filter_entries WHERE account_id = OLD.account_id AND list = 'checkout_links' AND object_id = OLD.id AND (name, value) IN (
            SELECT 'metadata.' || key AS name, left(value, 500) AS value FROM json_each_text(CAST(OLD.metadata AS json))
            UNION ALL SELECT 'word' AS name, value FROM filter_words(concat_ws(' ', OLD.name)) AS value);
    END IF;
    IF TG_OP <> 'DELETE' THEN
        INSERT INTO filter_entries (account_id, list, name, value, object_id) SELECT NEW.account_id, 'checkout_links', e.name, e.value, NEW.id FROM (
            SELECT 'metadata.' || key AS name, left(value, 500) AS value FROM json_each_text(CAST(NEW.metadata AS json))
            UNION ALL SELECT 'word' AS name, value FROM filter_words(concat_ws(' ', NEW.name)) AS value) AS e ON CONFLICT DO NOTHING;
    END IF;
    RETURN NULL;
END
$$;
-- +goose StatementEnd
CREATE OR REPLACE TRIGGER checkout_links_filter AFTER INSERT OR DELETE ON checkout_links FOR EACH ROW EXECUTE FUNCTION checkout_links_filter();
CREATE OR REPLACE TRIGGER checkout_links_filter_update AFTER UPDATE ON checkout_links FOR EACH ROW WHEN (OLD.name IS DISTINCT FROM NEW.name OR OLD.metadata IS DISTINCT FROM NEW.metadata) EXECUTE FUNCTION checkout_links_filter();
INSERT INTO filter_entries (account_id, list, name, value, object_id)
SELECT o.account_id, 'checkout_links', e.name, e.value, o.id FROM checkout_links AS o, LATERAL (
    SELECT 'metadata.' || key AS name, left(value, 500) AS value FROM json_each_text(CAST(o.metadata AS json))
    UNION ALL SELECT 'word' AS name, value FROM filter_words(concat_ws(' ', o.name)) AS value) AS e
ON CONFLICT DO NOTHING;

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION refunds_filter() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP <> 'INSERT' THEN
        DELETE FROM filter_entries WHERE account_id = OLD.account_id AND list = 'refunds' AND object_id = OLD.id AND (name, value) IN (
            SELECT 'metadata.' || key AS name, left(value, 500) AS value FROM json_each_text(CAST(OLD.metadata AS json))
            UNION ALL SELECT 'word' AS name, value FROM filter_words(concat_ws(' ', OLD.comment)) AS value);
    END IF;
    IF TG_OP <> 'DELETE' THEN
        INSERT INTO filter_entries (account_id, list, name, value, object_id) SELECT NEW.account_id, 'refunds', e.name, e.value, NEW.id FROM (
            SELECT 'metadata.' || key AS name, left(value, 500) AS value FROM json_each_text(CAST(NEW.metadata AS json))
            UNION ALL SELECT 'word' AS name, value FROM filter_words(concat_ws(' ', NEW.comment)) AS value) AS e ON CONFLICT DO NOTHING;
    END IF;
    RETURN NULL;
END
$$;
-- +goose StatementEnd
CREATE OR REPLACE TRIGGER refunds_filter AFTER INSERT OR DELETE ON refunds FOR EACH ROW EXECUTE FUNCTION refunds_filter();
CREATE OR REPLACE TRIGGER refunds_filter_update AFTER UPDATE ON refunds FOR EACH ROW WHEN (OLD.comment IS DISTINCT FROM NEW.comment OR OLD.metadata IS DISTINCT FROM NEW.metadata) EXECUTE FUNCTION refunds_filter();
INSERT INTO filter_entries (account_id, list, name, value, object_id)
SELECT o.account_id, 'refunds', e.name, e.value, o.id FROM refunds AS o, LATERAL (
    SELECT 'metadata.' || key AS name, left(value, 500) AS value FROM json_each_text(CAST(o.metadata AS json))
    UNION ALL SELECT 'word' AS name, value FROM filter_words(concat_ws(' ', o.comment)) AS value) AS e
ON CONFLICT DO NOTHING;

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION ai_sites_filter() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP <> 'INSERT' THEN
        DELETE FROM filter_entries WHERE account_id = OLD.account_id AND list = 'ai_sites' AND object_id = OLD.id AND (name, value) IN (
            SELECT 'metadata.' || key AS name, left(value, 500) AS value FROM json_each_text(CAST(OLD.metadata AS json))
            UNION ALL SELECT 'word' AS name, value FROM filter_words(concat_ws(' ', OLD.name, OLD.subdomain, OLD.domain)) AS value);
    END IF;
    IF TG_OP <> 'DELETE' THEN
        INSERT INTO filter_entries (account_id, list, name, value, object_id) SELECT NEW.account_id, 'ai_sites', e.name, e.value, NEW.id FROM (
            SELECT 'metadata.' || key AS name, left(value, 500) AS value FROM json_each_text(CAST(NEW.metadata AS json))
            UNION ALL SELECT 'word' AS name, value FROM filter_words(concat_ws(' ', NEW.name, NEW.subdomain, NEW.domain)) AS value) AS e ON CONFLICT DO NOTHING;
    END IF;
    RETURN NULL;
END
$$;
-- +goose StatementEnd
CREATE OR REPLACE TRIGGER ai_sites_filter AFTER INSERT OR DELETE ON ai_sites FOR EACH ROW EXECUTE FUNCTION ai_sites_filter();
CREATE OR REPLACE TRIGGER ai_sites_filter_update AFTER UPDATE ON ai_sites FOR EACH ROW WHEN (OLD.name IS DISTINCT FROM NEW.name OR OLD.subdomain IS DISTINCT FROM NEW.subdomain OR OLD.domain IS DISTINCT FROM NEW.domain OR OLD.metadata IS DISTINCT FROM NEW.metadata) EXECUTE FUNCTION ai_sites_filter();
INSERT INTO filter_entries (account_id, list, name, value, object_id)
SELECT o.account_id, 'ai_sites', e.name, e.value, o.id FROM ai_sites AS o, LATERAL (
    SELECT 'metadata.' || key AS name, left(value, 500) AS value FROM json_each_text(CAST(o.metadata AS json))
    UNION ALL SELECT 'word' AS name, value FROM filter_words(concat_ws(' ', o.name, o.subdomain, o.domain)) AS value) AS e
ON CONFLICT DO NOTHING;

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION webhook_endpoints_filter() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP <> 'INSERT' THEN
        DELETE FROM filter_entries WHERE account_id = OLD.account_id AND list = 'webhook_endpoints' AND object_id = OLD.id AND (name, value) IN (
            SELECT 'metadata.' || key AS name, left(value, 500) AS value FROM json_each_text(CAST(OLD.metadata AS json))
            UNION ALL SELECT 'word' AS name, value FROM filter_words(concat_ws(' ', OLD.url, OLD.description)) AS value);
    END IF;
    IF TG_OP <> 'DELETE' THEN
        INSERT INTO filter_entries (account_id, list, name, value, object_id) SELECT NEW.account_id, 'webhook_endpoints', e.name, e.value, NEW.id FROM (
            SELECT 'metadata.' || key AS name, left(value, 500) AS value FROM json_each_text(CAST(NEW.metadata AS json))
            UNION ALL SELECT 'word' AS name, value FROM filter_words(concat_ws(' ', NEW.url, NEW.description)) AS value) AS e ON CONFLICT DO NOTHING;
    END IF;
    RETURN NULL;
END
$$;
-- +goose StatementEnd
CREATE OR REPLACE TRIGGER webhook_endpoints_filter AFTER INSERT OR DELETE ON webhook_endpoints FOR EACH ROW EXECUTE FUNCTION webhook_endpoints_filter();
CREATE OR REPLACE TRIGGER webhook_endpoints_filter_update AFTER UPDATE ON webhook_endpoints FOR EACH ROW WHEN (OLD.url IS DISTINCT FROM NEW.url OR OLD.description IS DISTINCT FROM NEW.description OR OLD.metadata IS DISTINCT FROM NEW.metadata) EXECUTE FUNCTION webhook_endpoints_filter();
INSERT INTO filter_entries (account_id, list, name, value, object_id)
SELECT o.account_id, 'webhook_endpoints', e.name, e.value, o.id FROM webhook_endpoints AS o, LATERAL (
    SELECT 'metadata.' || key AS name, left(value, 500) AS value FROM json_each_text(CAST(o.metadata AS json))
    UNION ALL SELECT 'word' AS name, value FROM filter_words(concat_ws(' ', o.url, o.description)) AS value) AS e
ON CONFLICT DO NOTHING;

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION api_keys_filter() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP <> 'INSERT' THEN
        DELETE FROM filter_entries WHERE account_id = OLD.account_id AND list = 'api_keys' AND object_id = OLD.id AND (name, value) IN (
            SELECT 'word' AS name, value FROM filter_words(concat_ws(' ', OLD.name, OLD.token_last4)) AS value);
    END IF;
    IF TG_OP <> 'DELETE' THEN
        INSERT INTO filter_entries (account_id, list, name, value, object_id) SELECT NEW.account_id, 'api_keys', e.name, e.value, NEW.id FROM (
            SELECT 'word' AS name, value FROM filter_words(concat_ws(' ', NEW.name, NEW.token_last4)) AS value) AS e ON CONFLICT DO NOTHING;
    END IF;
    RETURN NULL;
END
$$;
-- +goose StatementEnd
CREATE OR REPLACE TRIGGER api_keys_filter AFTER INSERT OR DELETE ON api_keys FOR EACH ROW EXECUTE FUNCTION api_keys_filter();
CREATE OR REPLACE TRIGGER api_keys_filter_update AFTER UPDATE ON api_keys FOR EACH ROW WHEN (OLD.name IS DISTINCT FROM NEW.name OR OLD.token_last4 IS DISTINCT FROM NEW.token_last4) EXECUTE FUNCTION api_keys_filter();
INSERT INTO filter_entries (account_id, list, name, value, object_id)
SELECT o.account_id, 'api_keys', e.name, e.value, o.id FROM api_keys AS o, LATERAL (
    SELECT 'word' AS name, value FROM filter_words(concat_ws(' ', o.name, o.token_last4)) AS value) AS e
ON CONFLICT DO NOTHING;

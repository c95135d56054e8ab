-- +goose Up

-- What a list is searched and filtered by, in the order of the ids: a row for each entry of an object's metadata, for each of its tags,
-- and for each word that q can find, cut to 200 characters. List is the name of the object's table.
-- The triggers below keep it, whatever statement writes.
CREATE TABLE filter_entries (
    account_id TEXT NOT NULL,
    list       TEXT NOT NULL,
    name       TEXT NOT NULL, -- metadata.key, tag or word
    value      TEXT NOT NULL,
    object_id  TEXT NOT NULL,
    PRIMARY KEY (account_id, list, name, value, object_id)
) STRICT, WITHOUT ROWID;

-- +goose StatementBegin
CREATE TRIGGER orders_filter_insert AFTER INSERT ON orders BEGIN
    INSERT OR IGNORE INTO filter_entries (account_id, list, name, value, object_id) SELECT NEW.account_id, 'orders', name, value, NEW.id FROM (
        SELECT 'metadata.' || key AS name, substr(value, 1, 500) AS value FROM json_each(NEW.metadata)
        UNION ALL SELECT 'word' AS name, value FROM json_each(filter_words(NEW.customer_email, NEW.billing_name)));
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER orders_filter_update AFTER UPDATE OF customer_email, billing_name, metadata ON orders WHEN OLD.customer_email IS NOT NEW.customer_email OR OLD.billing_name IS NOT NEW.billing_name OR OLD.metadata IS NOT NEW.metadata BEGIN
    DELETE FROM filter_entries WHERE account_id = OLD.account_id AND list = 'orders' AND object_id = OLD.id AND (name, value) IN (
        SELECT 'metadata.' || key AS name, substr(value, 1, 500) AS value FROM json_each(OLD.metadata)
        UNION ALL SELECT 'word' AS name, value FROM json_each(filter_words(OLD.customer_email, OLD.billing_name)));
    INSERT OR IGNORE INTO filter_entries (account_id, list, name, value, object_id) SELECT NEW.account_id, 'orders', name, value, NEW.id FROM (
        SELECT 'metadata.' || key AS name, substr(value, 1, 500) AS value FROM json_each(NEW.metadata)
        UNION ALL SELECT 'word' AS name, value FROM json_each(filter_words(NEW.customer_email, NEW.billing_name)));
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER orders_filter_delete AFTER DELETE ON orders BEGIN
    DELETE FROM filter_entries WHERE account_id = OLD.account_id AND list = 'orders' AND object_id = OLD.id AND (name, value) IN (
        SELECT 'metadata.' || key AS name, substr(value, 1, 500) AS value FROM json_each(OLD.metadata)
        UNION ALL SELECT 'word' AS name, value FROM json_each(filter_words(OLD.customer_email, OLD.billing_name)));
END;
-- +goose StatementEnd

INSERT OR IGNORE INTO filter_entries (account_id, list, name, value, object_id)
SELECT account_id, 'orders', 'metadata.' || e.key, substr(e.value, 1, 500), orders.id FROM orders, json_each(orders.metadata) AS e
UNION ALL SELECT account_id, 'orders', 'word', e.value, orders.id FROM orders, json_each(filter_words(customer_email, billing_name)) AS e;

-- +goose StatementBegin
CREATE TRIGGER invoices_filter_insert AFTER INSERT ON invoices BEGIN
    INSERT OR IGNORE INTO filter_entries (account_id, list, name, value, object_id) SELECT NEW.account_id, 'invoices', name, value, NEW.id FROM (
        SELECT 'metadata.' || key AS name, substr(value, 1, 500) AS value FROM json_each(NEW.metadata)
        UNION ALL SELECT 'word' AS name, value FROM json_each(filter_words(NEW.number, NEW.customer_email, NEW.customer_name)));
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER invoices_filter_update AFTER UPDATE OF number, customer_email, customer_name, metadata ON invoices WHEN OLD.number IS NOT NEW.number OR OLD.customer_email IS NOT NEW.customer_email OR OLD.customer_name IS NOT NEW.customer_name OR OLD.metadata IS NOT NEW.metadata BEGIN
    DELETE FROM filter_entries WHERE account_id = OLD.account_id AND list = 'invoices' AND object_id = OLD.id AND (name, value) IN (
        SELECT 'metadata.' || key AS name, substr(value, 1, 500) AS value FROM json_each(OLD.metadata)
        UNION ALL SELECT 'word' AS name, value FROM json_each(filter_words(OLD.number, OLD.customer_email, OLD.customer_name)));
    INSERT OR IGNORE INTO filter_entries (account_id, list, name, value, object_id) SELECT NEW.account_id, 'invoices', name, value, NEW.id FROM (
        SELECT 'metadata.' || key AS name, substr(value, 1, 500) AS value FROM json_each(NEW.metadata)
        UNION ALL SELECT 'word' AS name, value FROM json_each(filter_words(NEW.number, NEW.customer_email, NEW.customer_name)));
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER invoices_filter_delete AFTER DELETE ON invoices BEGIN
    DELETE FROM filter_entries WHERE account_id = OLD.account_id AND list = 'invoices' AND object_id = OLD.id AND (name, value) IN (
        SELECT 'metadata.' || key AS name, substr(value, 1, 500) AS value FROM json_each(OLD.metadata)
        UNION ALL SELECT 'word' AS name, value FROM json_each(filter_words(OLD.number, OLD.customer_email, OLD.customer_name)));
END;
-- +goose StatementEnd

INSERT OR IGNORE INTO filter_entries (account_id, list, name, value, object_id)
SELECT account_id, 'invoices', 'metadata.' || e.key, substr(e.value, 1, 500), invoices.id FROM invoices, json_each(invoices.metadata) AS e
UNION ALL SELECT account_id, 'invoices', 'word', e.value, invoices.id FROM invoices, json_each(filter_words(number, customer_email, customer_name)) AS e;

-- +goose StatementBegin
CREATE TRIGGER checkouts_filter_insert AFTER INSERT ON checkouts BEGIN
    INSERT OR IGNORE INTO filter_entries (account_id, list, name, value, object_id) SELECT NEW.account_id, 'checkouts', name, value, NEW.id FROM (
        SELECT 'metadata.' || key AS name, substr(value, 1, 500) AS value FROM json_each(NEW.metadata)
        UNION ALL SELECT 'word' AS name, value FROM json_each(filter_words(NEW.customer_email, NEW.customer_name, NEW.client_reference_id)));
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER checkouts_filter_update AFTER UPDATE OF customer_email, customer_name, client_reference_id, metadata ON checkouts WHEN OLD.customer_email IS NOT NEW.customer_email OR OLD.customer_name IS NOT NEW.customer_name OR OLD.client_reference_id IS NOT NEW.client_reference_id OR OLD.metadata IS NOT NEW.metadata BEGIN
    DELETE FROM filter_entries WHERE account_id = OLD.account_id AND list = 'checkouts' AND object_id = OLD.id AND (name, value) IN (
        SELECT 'metadata.' || key AS name, substr(value, 1, 500) AS value FROM json_each(OLD.metadata)
        UNION ALL SELECT 'word' AS name, value FROM json_each(filter_words(OLD.customer_email, OLD.customer_name, OLD.client_reference_id)));
    INSERT OR IGNORE INTO filter_entries (account_id, list, name, value, object_id) SELECT NEW.account_id, 'checkouts', name, value, NEW.id FROM (
        SELECT 'metadata.' || key AS name, substr(value, 1, 500) AS value FROM json_each(NEW.metadata)
        UNION ALL SELECT 'word' AS name, value FROM json_each(filter_words(NEW.customer_email, NEW.customer_name, NEW.client_reference_id)));
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER checkouts_filter_delete AFTER DELETE ON checkouts BEGIN
    DELETE FROM filter_entries WHERE account_id = OLD.account_id AND list = 'checkouts' AND object_id = OLD.id AND (name, value) IN (
        SELECT 'metadata.' || key AS name, substr(value, 1, 500) AS value FROM json_each(OLD.metadata)
        UNION ALL SELECT 'word' AS name, value FROM json_each(filter_words(OLD.customer_email, OLD.customer_name, OLD.client_reference_id)));
END;
-- +goose StatementEnd

INSERT OR IGNORE INTO filter_entries (account_id, list, name, value, object_id)
SELECT account_id, 'checkouts', 'metadata.' || e.key, substr(e.value, 1, 500), checkouts.id FROM checkouts, json_each(checkouts.metadata) AS e
UNION ALL SELECT account_id, 'checkouts', 'word', e.value, checkouts.id FROM checkouts, json_each(filter_words(customer_email, customer_name, client_reference_id)) AS e;

-- +goose StatementBegin
CREATE TRIGGER customers_filter_insert AFTER INSERT ON customers BEGIN
    INSERT OR IGNORE INTO filter_entries (account_id, list, name, value, object_id) SELECT NEW.account_id, 'customers', name, value, NEW.id FROM (
        SELECT 'metadata.' || key AS name, substr(value, 1, 500) AS value FROM json_each(NEW.metadata)
        UNION ALL SELECT 'tag' AS name, substr(value, 1, 500) AS value FROM json_each(NEW.tags)
        UNION ALL SELECT 'word' AS name, value FROM json_each(filter_words(NEW.email, NEW.name, NEW.external_id)));
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER customers_filter_update AFTER UPDATE OF email, name, external_id, metadata, tags ON customers WHEN OLD.email IS NOT NEW.email OR OLD.name IS NOT NEW.name OR OLD.external_id IS NOT NEW.external_id OR OLD.metadata IS NOT NEW.metadata OR OLD.tags IS NOT NEW.tags BEGIN
    DELETE FROM filter_entries WHERE account_id = OLD.account_id AND list = 'customers' AND object_id = OLD.id AND (name, value) IN (
        SELECT 'metadata.' || key AS name, substr(value, 1, 500) AS value FROM json_each(OLD.metadata)
        UNION ALL SELECT 'tag' AS name, substr(value, 1, 500) AS value FROM json_each(OLD.tags)
        UNION ALL SELECT 'word' AS name, value FROM json_each(filter_words(OLD.email, OLD.name, OLD.external_id)));
    INSERT OR IGNORE INTO filter_entries (account_id, list, name, value, object_id) SELECT NEW.account_id, 'customers', name, value, NEW.id FROM (
        SELECT 'metadata.' || key AS name, substr(value, 1, 500) AS value FROM json_each(NEW.metadata)
        UNION ALL SELECT 'tag' AS name, substr(value, 1, 500) AS value FROM json_each(NEW.tags)
        UNION ALL SELECT 'word' AS name, value FROM json_each(filter_words(NEW.email, NEW.name, NEW.external_id)));
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER customers_filter_delete AFTER DELETE ON customers BEGIN
    DELETE FROM filter_entries WHERE account_id = OLD.account_id AND list = 'customers' AND object_id = OLD.id AND (name, value) IN (
        SELECT 'metadata.' || key AS name, substr(value, 1, 500) AS value FROM json_each(OLD.metadata)
        UNION ALL SELECT 'tag' AS name, substr(value, 1, 500) AS value FROM json_each(OLD.tags)
        UNION ALL SELECT 'word' AS name, value FROM json_each(filter_words(OLD.email, OLD.name, OLD.external_id)));
END;
-- +goose StatementEnd

INSERT OR IGNORE INTO filter_entries (account_id, list, name, value, object_id)
SELECT account_id, 'customers', 'metadata.' || e.key, substr(e.value, 1, 500), customers.id FROM customers, json_each(customers.metadata) AS e
UNION ALL SELECT account_id, 'customers', 'tag', substr(e.value, 1, 500), customers.id FROM customers, json_each(customers.tags) AS e
UNION ALL SELECT account_id, 'customers', 'word', e.value, customers.id FROM customers, json_each(filter_words(email, name, external_id)) AS e;

-- +goose StatementBegin
CREATE TRIGGER products_filter_insert AFTER INSERT ON products BEGIN
    INSERT OR IGNORE INTO filter_entries (account_id, list, name, value, object_id) SELECT NEW.account_id, 'products', name, value, NEW.id FROM (
        SELECT 'metadata.' || key AS name, substr(value, 1, 500) AS value FROM json_each(NEW.metadata)
        UNION ALL SELECT 'word' AS name, value FROM json_each(filter_words(NEW.name, NEW.slug, NEW.headline)));
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER products_filter_update AFTER UPDATE OF name, slug, headline, metadata ON products WHEN OLD.name IS NOT NEW.name OR OLD.slug IS NOT NEW.slug OR OLD.headline IS NOT NEW.headline OR OLD.metadata IS NOT NEW.metadata BEGIN
    DELETE FROM filter_entries WHERE account_id = OLD.account_id AND list = 'products' AND object_id = OLD.id AND (name, value) IN (
        SELECT 'metadata.' || key AS name, substr(value, 1, 500) AS value FROM json_each(OLD.metadata)
        UNION ALL SELECT 'word' AS name, value FROM json_each(filter_words(OLD.name, OLD.slug, OLD.headline)));
    INSERT OR IGNORE INTO filter_entries (account_id, list, name, value, object_id) SELECT NEW.account_id, 'products', name, value, NEW.id FROM (
        SELECT 'metadata.' || key AS name, substr(value, 1, 500) AS value FROM json_each(NEW.metadata)
        UNION ALL SELECT 'word' AS name, value FROM json_each(filter_words(NEW.name, NEW.slug, NEW.headline)));
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER products_filter_delete AFTER DELETE ON products BEGIN
    DELETE FROM filter_entries WHERE account_id = OLD.account_id AND list = 'products' AND object_id = OLD.id AND (name, value) IN (
        SELECT 'metadata.' || key AS name, substr(value, 1, 500) AS value FROM json_each(OLD.metadata)
        UNION ALL SELECT 'word' AS name, value FROM json_each(filter_words(OLD.name, OLD.slug, OLD.headline)));
END;
-- +goose StatementEnd

INSERT OR IGNORE INTO filter_entries (account_id, list, name, value, object_id)
SELECT account_id, 'products', 'metadata.' || e.key, substr(e.value, 1, 500), products.id FROM products, json_each(products.metadata) AS e
UNION ALL SELECT account_id, 'products', 'word', e.value, products.id FROM products, json_each(filter_words(name, slug, headline)) AS e;

-- +goose StatementBegin
CREATE TRIGGER price_variants_filter_insert AFTER INSERT ON price_variants BEGIN
    INSERT OR IGNORE INTO filter_entries (account_id, list, name, value, object_id) SELECT NEW.account_id, 'price_variants', name, value, NEW.id FROM (
        SELECT 'metadata.' || key AS name, substr(value, 1, 500) AS value FROM json_each(NEW.metadata)
        UNION ALL SELECT 'word' AS name, value FROM json_each(filter_words(NEW.name)));
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER price_variants_filter_update AFTER UPDATE OF name, metadata ON price_variants WHEN OLD.name IS NOT NEW.name OR OLD.metadata IS NOT NEW.metadata BEGIN
    DELETE FROM filter_entries WHERE account_id = OLD.account_id AND list = 'price_variants' AND object_id = OLD.id AND (name, value) IN (
        SELECT 'metadata.' || key AS name, substr(value, 1, 500) AS value FROM json_each(OLD.metadata)
        UNION ALL SELECT 'word' AS name, value FROM json_each(filter_words(OLD.name)));
    INSERT OR IGNORE INTO filter_entries (account_id, list, name, value, object_id) SELECT NEW.account_id, 'price_variants', name, value, NEW.id FROM (
        SELECT 'metadata.' || key AS name, substr(value, 1, 500) AS value FROM json_each(NEW.metadata)
        UNION ALL SELECT 'word' AS name, value FROM json_each(filter_words(NEW.name)));
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER price_variants_filter_delete AFTER DELETE ON price_variants BEGIN
    DELETE FROM filter_entries WHERE account_id = OLD.account_id AND list = 'price_variants' AND object_id = OLD.id AND (name, value) IN (
        SELECT 'metadata.' || key AS name, substr(value, 1, 500) AS value FROM json_each(OLD.metadata)
        UNION ALL SELECT 'word' AS name, value FROM json_each(filter_words(OLD.name)));
END;
-- +goose StatementEnd

INSERT OR IGNORE INTO filter_entries (account_id, list, name, value, object_id)
SELECT account_id, 'price_variants', 'metadata.' || e.key, substr(e.value, 1, 500), price_variants.id FROM price_variants, json_each(price_variants.metadata) AS e
UNION ALL SELECT account_id, 'price_variants', 'word', e.value, price_variants.id FROM price_variants, json_each(filter_words(name)) AS e;

-- +goose StatementBegin
CREATE TRIGGER subscriptions_filter_insert AFTER INSERT ON subscriptions BEGIN
    INSERT OR IGNORE INTO filter_entries (account_id, list, name, value, object_id) SELECT NEW.account_id, 'subscriptions', name, value, NEW.id FROM (
        SELECT 'metadata.' || key AS name, substr(value, 1, 500) AS value FROM json_each(NEW.metadata)
        UNION ALL SELECT 'word' AS name, value FROM json_each(filter_words(NEW.product_name, NEW.price_variant_name, NEW.billing_name)));
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER subscriptions_filter_update AFTER UPDATE OF product_name, price_variant_name, billing_name, metadata ON subscriptions WHEN OLD.product_name IS NOT NEW.product_name OR OLD.price_variant_name IS NOT NEW.price_variant_name OR OLD.billing_name IS NOT NEW.billing_name OR OLD.metadata IS NOT NEW.metadata BEGIN
    DELETE FROM filter_entries WHERE account_id = OLD.account_id AND list = 'subscriptions' AND object_id = OLD.id AND (name, value) IN (
        SELECT 'metadata.' || key AS name, substr(value, 1, 500) AS value FROM json_each(OLD.metadata)
        UNION ALL SELECT 'word' AS name, value FROM json_each(filter_words(OLD.product_name, OLD.price_variant_name, OLD.billing_name)));
    INSERT OR IGNORE INTO filter_entries (account_id, list, name, value, object_id) SELECT NEW.account_id, 'subscriptions', name, value, NEW.id FROM (
        SELECT 'metadata.' || key AS name, substr(value, 1, 500) AS value FROM json_each(NEW.metadata)
        UNION ALL SELECT 'word' AS name, value FROM json_each(filter_words(NEW.product_name, NEW.price_variant_name, NEW.billing_name)));
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER subscriptions_filter_delete AFTER DELETE ON subscriptions BEGIN
    DELETE FROM filter_entries WHERE account_id = OLD.account_id AND list = 'subscriptions' AND object_id = OLD.id AND (name, value) IN (
        SELECT 'metadata.' || key AS name, substr(value, 1, 500) AS value FROM json_each(OLD.metadata)
        UNION ALL SELECT 'word' AS name, value FROM json_each(filter_words(OLD.product_name, OLD.price_variant_name, OLD.billing_name)));
END;
-- +goose StatementEnd

INSERT OR IGNORE INTO filter_entries (account_id, list, name, value, object_id)
SELECT account_id, 'subscriptions', 'metadata.' || e.key, substr(e.value, 1, 500), subscriptions.id FROM subscriptions, json_each(subscriptions.metadata) AS e
UNION ALL SELECT account_id, 'subscriptions', 'word', e.value, subscriptions.id FROM subscriptions, json_each(filter_words(product_name, price_variant_name, billing_name)) AS e;

-- +goose StatementBegin
CREATE TRIGGER discounts_filter_insert AFTER INSERT ON discounts BEGIN
    INSERT OR IGNORE INTO filter_entries (account_id, list, name, value, object_id) SELECT NEW.account_id, 'discounts', name, value, NEW.id FROM (
        SELECT 'metadata.' || key AS name, substr(value, 1, 500) AS value FROM json_each(NEW.metadata)
        UNION ALL SELECT 'word' AS name, value FROM json_each(filter_words(NEW.name, NEW.code)));
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER discounts_filter_update AFTER UPDATE OF name, code, metadata ON discounts WHEN OLD.name IS NOT NEW.name OR OLD.code IS NOT NEW.code OR OLD.metadata IS NOT NEW.metadata BEGIN
    DELETE FROM filter_entries WHERE account_id = OLD.account_id AND list = 'discounts' AND object_id = OLD.id AND (name, value) IN (
        SELECT 'metadata.' || key AS name, substr(value, 1, 500) AS value FROM json_each(OLD.metadata)
        UNION ALL SELECT 'word' AS name, value FROM json_each(filter_words(OLD.name, OLD.code)));
    INSERT OR IGNORE INTO filter_entries (account_id, list, name, value, object_id) SELECT NEW.account_id, 'discounts', name, value, NEW.id FROM (
        SELECT 'metadata.' || key AS name, substr(value, 1, 500) AS value FROM json_each(NEW.metadata)
        UNION ALL SELECT 'word' AS name, value FROM json_each(filter_words(NEW.name, NEW.code)));
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER discounts_filter_delete AFTER DELETE ON discounts BEGIN
    DELETE FROM filter_entries WHERE account_id = OLD.account_id AND list = 'discounts' AND object_id = OLD.id AND (name, value) IN (
        SELECT 'metadata.' || key AS name, substr(value, 1, 500) AS value FROM json_each(OLD.metadata)
        UNION ALL SELECT 'word' AS name, value FROM json_each(filter_words(OLD.name, OLD.code)));
END;
-- +goose StatementEnd

INSERT OR IGNORE INTO filter_entries (account_id, list, name, value, object_id)
SELECT account_id, 'discounts', 'metadata.' || e.key, substr(e.value, 1, 500), discounts.id FROM discounts, json_each(discounts.metadata) AS e
UNION ALL SELECT account_id, 'discounts', 'word', e.value, discounts.id FROM discounts, json_each(filter_words(name, code)) AS e;

-- +goose StatementBegin
CREATE TRIGGER checkout_links_filter_insert AFTER INSERT ON checkout_links BEGIN
    INSERT OR IGNORE INTO filter_entries (account_id, list, name, value, object_id) SELECT NEW.account_id, 'checkout_links', name, value, NEW.id FROM (
        SELECT 'metadata.' || key AS name, substr(value, 1, 500) AS value FROM json_each(NEW.metadata)
        UNION ALL SELECT 'word' AS name, value FROM json_each(filter_words(NEW.name)));
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER checkout_links_filter_update AFTER UPDATE OF name, metadata ON checkout_links WHEN OLD.name IS NOT NEW.name OR OLD.metadata IS NOT NEW.metadata BEGIN
    DELETE FROM filter_entries WHERE account_id = OLD.account_id AND list = 'checkout_links' AND object_id = OLD.id AND (name, value) IN (
        SELECT 'metadata.' || key AS name, substr(value, 1, 500) AS value FROM json_each(OLD.metadata)
        UNION ALL SELECT 'word' AS name, value FROM json_each(filter_words(OLD.name)));
    INSERT OR IGNORE INTO filter_entries (account_id, list, name, value, object_id) SELECT NEW.account_id, 'checkout_links', name, value, NEW.id FROM (
        SELECT 'metadata.' || key AS name, substr(value, 1, 500) AS value FROM json_each(NEW.metadata)
        UNION ALL SELECT 'word' AS name, value FROM json_each(filter_words(NEW.name)));
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER checkout_links_filter_delete AFTER DELETE ON checkout_links BEGIN
    DELETE FROM filter_entries WHERE account_id = OLD.account_id AND list = 'checkout_links' AND object_id = OLD.id AND (name, value) IN (
        SELECT 'metadata.' || key AS name, substr(value, 1, 500) AS value FROM json_each(OLD.metadata)
        UNION ALL SELECT 'word' AS name, value FROM json_each(filter_words(OLD.name)));
END;
-- +goose StatementEnd

INSERT OR IGNORE INTO filter_entries (account_id, list, name, value, object_id)
SELECT account_id, 'checkout_links', 'metadata.' || e.key, substr(e.value, 1, 500), checkout_links.id FROM checkout_links, json_each(checkout_links.metadata) AS e
UNION ALL SELECT account_id, 'checkout_links', 'word', e.value, checkout_links.id FROM checkout_links, json_each(filter_words(name)) AS e;

-- +goose StatementBegin
CREATE TRIGGER refunds_filter_insert AFTER INSERT ON refunds BEGIN
    INSERT OR IGNORE INTO filter_entries (account_id, list, name, value, object_id) SELECT NEW.account_id, 'refunds', name, value, NEW.id FROM (
        SELECT 'metadata.' || key AS name, substr(value, 1, 500) AS value FROM json_each(NEW.metadata)
        UNION ALL SELECT 'word' AS name, value FROM json_each(filter_words(NEW.comment)));
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER refunds_filter_update AFTER UPDATE OF comment, metadata ON refunds WHEN OLD.comment IS NOT NEW.comment OR OLD.metadata IS NOT NEW.metadata BEGIN
    DELETE FROM filter_entries WHERE account_id = OLD.account_id AND list = 'refunds' AND object_id = OLD.id AND (name, value) IN (
        SELECT 'metadata.' || key AS name, substr(value, 1, 500) AS value FROM json_each(OLD.metadata)
        UNION ALL SELECT 'word' AS name, value FROM json_each(filter_words(OLD.comment)));
    INSERT OR IGNORE INTO filter_entries (account_id, list, name, value, object_id) SELECT NEW.account_id, 'refunds', name, value, NEW.id FROM (
        SELECT 'metadata.' || key AS name, substr(value, 1, 500) AS value FROM json_each(NEW.metadata)
        UNION ALL SELECT 'word' AS name, value FROM json_each(filter_words(NEW.comment)));
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER refunds_filter_delete AFTER DELETE ON refunds BEGIN
    DELETE FROM filter_entries WHERE account_id = OLD.account_id AND list = 'refunds' AND object_id = OLD.id AND (name, value) IN (
        SELECT 'metadata.' || key AS name, substr(value, 1, 500) AS value FROM json_each(OLD.metadata)
        UNION ALL SELECT 'word' AS name, value FROM json_each(filter_words(OLD.comment)));
END;
-- +goose StatementEnd

INSERT OR IGNORE INTO filter_entries (account_id, list, name, value, object_id)
SELECT account_id, 'refunds', 'metadata.' || e.key, substr(e.value, 1, 500), refunds.id FROM refunds, json_each(refunds.metadata) AS e
UNION ALL SELECT account_id, 'refunds', 'word', e.value, refunds.id FROM refunds, json_each(filter_words(comment)) AS e;

-- +goose StatementBegin
CREATE TRIGGER ai_sites_filter_insert AFTER INSERT ON ai_sites BEGIN
    INSERT OR IGNORE INTO filter_entries (account_id, list, name, value, object_id) SELECT NEW.account_id, 'ai_sites', name, value, NEW.id FROM (
        SELECT 'metadata.' || key AS name, substr(value, 1, 500) AS value FROM json_each(NEW.metadata)
        UNION ALL SELECT 'word' AS name, value FROM json_each(filter_words(NEW.name, NEW.subdomain, NEW.domain)));
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER ai_sites_filter_update AFTER UPDATE OF name, subdomain, domain, metadata ON ai_sites WHEN OLD.name IS NOT NEW.name OR OLD.subdomain IS NOT NEW.subdomain OR OLD.domain IS NOT NEW.domain OR OLD.metadata IS NOT NEW.metadata BEGIN
    DELETE FROM filter_entries WHERE account_id = OLD.account_id AND list = 'ai_sites' AND object_id = OLD.id AND (name, value) IN (
        SELECT 'metadata.' || key AS name, substr(value, 1, 500) AS value FROM json_each(OLD.metadata)
        UNION ALL SELECT 'word' AS name, value FROM json_each(filter_words(OLD.name, OLD.subdomain, OLD.domain)));
    INSERT OR IGNORE INTO filter_entries (account_id, list, name, value, object_id) SELECT NEW.account_id, 'ai_sites', name, value, NEW.id FROM (
        SELECT 'metadata.' || key AS name, substr(value, 1, 500) AS value FROM json_each(NEW.metadata)
        UNION ALL SELECT 'word' AS name, value FROM json_each(filter_words(NEW.name, NEW.subdomain, NEW.domain)));
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER ai_sites_filter_delete AFTER DELETE ON ai_sites BEGIN
    DELETE FROM filter_entries WHERE account_id = OLD.account_id AND list = 'ai_sites' AND object_id = OLD.id AND (name, value) IN (
        SELECT 'metadata.' || key AS name, substr(value, 1, 500) AS value FROM json_each(OLD.metadata)
        UNION ALL SELECT 'word' AS name, value FROM json_each(filter_words(OLD.name, OLD.subdomain, OLD.domain)));
END;
-- +goose StatementEnd

INSERT OR IGNORE INTO filter_entries (account_id, list, name, value, object_id)
SELECT account_id, 'ai_sites', 'metadata.' || e.key, substr(e.value, 1, 500), ai_sites.id FROM ai_sites, json_each(ai_sites.metadata) AS e
UNION ALL SELECT account_id, 'ai_sites', 'word', e.value, ai_sites.id FROM ai_sites, json_each(filter_words(name, subdomain, domain)) AS e;

-- +goose StatementBegin
CREATE TRIGGER webhook_endpoints_filter_insert AFTER INSERT ON webhook_endpoints BEGIN
    INSERT OR IGNORE INTO filter_entries (account_id, list, name, value, object_id) SELECT NEW.account_id, 'webhook_endpoints', name, value, NEW.id FROM (
        SELECT 'metadata.' || key AS name, substr(value, 1, 500) AS value FROM json_each(NEW.metadata)
        UNION ALL SELECT 'word' AS name, value FROM json_each(filter_words(NEW.url, NEW.description)));
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER webhook_endpoints_filter_update AFTER UPDATE OF url, description, metadata ON webhook_endpoints WHEN OLD.url IS NOT NEW.url OR OLD.description IS NOT NEW.description OR OLD.metadata IS NOT NEW.metadata BEGIN
    DELETE FROM filter_entries WHERE account_id = OLD.account_id AND list = 'webhook_endpoints' AND object_id = OLD.id AND (name, value) IN (
        SELECT 'metadata.' || key AS name, substr(value, 1, 500) AS value FROM json_each(OLD.metadata)
        UNION ALL SELECT 'word' AS name, value FROM json_each(filter_words(OLD.url, OLD.description)));
    INSERT OR IGNORE INTO filter_entries (account_id, list, name, value, object_id) SELECT NEW.account_id, 'webhook_endpoints', name, value, NEW.id FROM (
        SELECT 'metadata.' || key AS name, substr(value, 1, 500) AS value FROM json_each(NEW.metadata)
        UNION ALL SELECT 'word' AS name, value FROM json_each(filter_words(NEW.url, NEW.description)));
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER webhook_endpoints_filter_delete AFTER DELETE ON webhook_endpoints BEGIN
    DELETE FROM filter_entries WHERE account_id = OLD.account_id AND list = 'webhook_endpoints' AND object_id = OLD.id AND (name, value) IN (
        SELECT 'metadata.' || key AS name, substr(value, 1, 500) AS value FROM json_each(OLD.metadata)
        UNION ALL SELECT 'word' AS name, value FROM json_each(filter_words(OLD.url, OLD.description)));
END;
-- +goose StatementEnd

INSERT OR IGNORE INTO filter_entries (account_id, list, name, value, object_id)
SELECT account_id, 'webhook_endpoints', 'metadata.' || e.key, substr(e.value, 1, 500), webhook_endpoints.id FROM webhook_endpoints, json_each(webhook_endpoints.metadata) AS e
UNION ALL SELECT account_id, 'webhook_endpoints', 'word', e.value, webhook_endpoints.id FROM webhook_endpoints, json_each(filter_words(url, description)) AS e;

-- +goose StatementBegin
CREATE TRIGGER api_keys_filter_insert AFTER INSERT ON api_keys BEGIN
    INSERT OR IGNORE INTO filter_entries (account_id, list, name, value, object_id) SELECT NEW.account_id, 'api_keys', name, value, NEW.id FROM (
        SELECT 'word' AS name, value FROM json_each(filter_words(NEW.name, NEW.token_last4)));
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER api_keys_filter_update AFTER UPDATE OF name, token_last4 ON api_keys WHEN OLD.name IS NOT NEW.name OR OLD.token_last4 IS NOT NEW.token_last4 BEGIN
    DELETE FROM filter_entries WHERE account_id = OLD.account_id AND list = 'api_keys' AND object_id = OLD.id AND (name, value) IN (
        SELECT 'word' AS name, value FROM json_each(filter_words(OLD.name, OLD.token_last4)));
    INSERT OR IGNORE INTO filter_entries (account_id, list, name, value, object_id) SELECT NEW.account_id, 'api_keys', name, value, NEW.id FROM (
        SELECT 'word' AS name, value FROM json_each(filter_words(NEW.name, NEW.token_last4)));
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER api_keys_filter_delete AFTER DELETE ON api_keys BEGIN
    DELETE FROM filter_entries WHERE account_id = OLD.account_id AND list = 'api_keys' AND object_id = OLD.id AND (name, value) IN (
        SELECT 'word' AS name, value FROM json_each(filter_words(OLD.name, OLD.token_last4)));
END;
-- +goose StatementEnd

INSERT OR IGNORE INTO filter_entries (account_id, list, name, value, object_id)
SELECT account_id, 'api_keys', 'word', e.value, api_keys.id FROM api_keys, json_each(filter_words(name, token_last4)) AS e;

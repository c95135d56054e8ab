-- +goose Up

-- price_variant_ids, price_* and has_recurring repeat what price_variants says, written under this row's lock,
-- so that a product is read by one statement.
CREATE TABLE products (
    account_id               TEXT NOT NULL,
    id                       TEXT NOT NULL,
    name                     TEXT NOT NULL,
    slug                     TEXT NOT NULL,
    description              TEXT,
    headline                 TEXT,
    status                   TEXT NOT NULL CHECK (status IN ('draft', 'active', 'archived')),
    type                     TEXT NOT NULL CHECK (type IN ('digital', 'course', 'membership', 'service', 'bundle', 'tip')),
    visibility               TEXT NOT NULL CHECK (visibility IN ('public', 'unlisted')),
    images                   TEXT NOT NULL, -- JSON array
    cover_url                TEXT,
    tax_code                 TEXT,
    call_to_action           TEXT,
    custom_fields            TEXT NOT NULL, -- JSON array
    deliverables             TEXT NOT NULL, -- JSON array
    price_variant_ids        TEXT NOT NULL, -- JSON array
    default_price_variant_id TEXT,
    price_min_amount         INTEGER,
    price_max_amount         INTEGER,
    price_currency           TEXT,
    has_recurring            INTEGER NOT NULL,
    sales_count              INTEGER NOT NULL,
    published_at             INTEGER,
    seo_title                TEXT,
    seo_description          TEXT,
    external_id              TEXT,
    metadata                 TEXT NOT NULL, -- JSON object
    event_seq                INTEGER NOT NULL,
    created_at               INTEGER NOT NULL,
    updated_at               INTEGER NOT NULL,
    PRIMARY KEY (account_id, id)
) STRICT;

CREATE UNIQUE INDEX products_external_id ON products (account_id, external_id) WHERE external_id IS NOT NULL;

CREATE INDEX products_status ON products (account_id, status, id);

CREATE TABLE price_variants (
    account_id        TEXT NOT NULL,
    id                TEXT NOT NULL,
    product_id        TEXT NOT NULL,
    name              TEXT,
    type              TEXT NOT NULL CHECK (type IN ('one_time', 'recurring')),
    amount_type       TEXT NOT NULL CHECK (amount_type IN ('fixed', 'free', 'custom')),
    amount            INTEGER NOT NULL,
    currency          TEXT NOT NULL,
    currency_amounts  TEXT NOT NULL, -- JSON object
    min_amount        INTEGER,
    suggested_amount  INTEGER,
    max_amount        INTEGER,
    interval          TEXT CHECK (interval IN ('day', 'week', 'month', 'year')),
    interval_count    INTEGER,
    trial_days        INTEGER NOT NULL,
    setup_fee_amount  INTEGER NOT NULL,
    billing_cycles    INTEGER,
    compare_at_amount INTEGER,
    tax_behavior      TEXT CHECK (tax_behavior IN ('exclusive', 'inclusive')),
    quantity_min      INTEGER NOT NULL,
    quantity_max      INTEGER,
    stock             INTEGER, -- NULL = unlimited
    reserved_count    INTEGER NOT NULL, -- units held by checkouts that are being paid
    sold_count        INTEGER NOT NULL CHECK (stock IS NULL OR sold_count + reserved_count <= stock),
    position          INTEGER NOT NULL,
    status            TEXT NOT NULL CHECK (status IN ('active', 'archived')),
    license           TEXT, -- JSON
    metadata          TEXT NOT NULL, -- JSON object
    created_at        INTEGER NOT NULL,
    updated_at        INTEGER NOT NULL,
    PRIMARY KEY (account_id, id),
    FOREIGN KEY (account_id, product_id) REFERENCES products (account_id, id)
) STRICT;

CREATE INDEX price_variants_product ON price_variants (account_id, product_id, id);

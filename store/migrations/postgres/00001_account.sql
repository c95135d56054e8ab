-- +goose NO TRANSACTION
-- +goose Up

-- A merchant. The tables of this file are the ones that have no account yet when they are read.
CREATE TABLE IF NOT EXISTS accounts (
    id                      TEXT NOT NULL PRIMARY KEY,
    name                    TEXT NOT NULL,
    handle                  TEXT NOT NULL,
    email                   TEXT NOT NULL,
    support_email           TEXT,
    website_url             TEXT,
    logo_url                TEXT,
    country                 TEXT,
    default_currency        TEXT NOT NULL,
    timezone                TEXT NOT NULL,
    locale                  TEXT NOT NULL,
    business_name           TEXT,
    business_address        TEXT, -- JSON
    tax_id                  TEXT,
    plan                    TEXT NOT NULL CHECK (plan IN ('free', 'pro', 'business')),
    statement_descriptor    TEXT,
    custom_domain           TEXT,
    remove_branding         BOOLEAN NOT NULL,
    checkout_requires_terms BOOLEAN NOT NULL,
    created_at              BIGINT NOT NULL,
    updated_at              BIGINT NOT NULL
);

-- Names that are unique over all accounts: handles, subdomains, domains, public secrets by their hash.
CREATE TABLE IF NOT EXISTS global_names (
    kind       TEXT NOT NULL,
    name       TEXT NOT NULL,
    account_id TEXT NOT NULL,
    object_id  TEXT NOT NULL,
    PRIMARY KEY (kind, name)
);

-- Slugs, the present and the former ones: a former slug resolves until another object takes it.
CREATE TABLE IF NOT EXISTS slugs (
    account_id TEXT NOT NULL,
    kind       TEXT NOT NULL,
    slug       TEXT NOT NULL,
    object_id  TEXT NOT NULL,
    current    BOOLEAN NOT NULL,
    PRIMARY KEY (account_id, kind, slug)
);

CREATE INDEX IF NOT EXISTS slugs_object ON slugs (account_id, object_id);

-- Gapless numbers, one row per account and sequence.
CREATE TABLE IF NOT EXISTS counters (
    account_id TEXT NOT NULL,
    name       TEXT NOT NULL,
    value      BIGINT NOT NULL,
    PRIMARY KEY (account_id, name)
);

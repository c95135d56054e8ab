-- +goose Up

-- A merchant. The tables of this file are the ones that have no account yet when they are read.
CREATE TABLE accounts (
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
    remove_branding         INTEGER NOT NULL,
    checkout_requires_terms INTEGER NOT NULL,
    created_at              INTEGER NOT NULL,
    updated_at              INTEGER NOT NULL
) STRICT;

-- Names that are unique over all accounts: handles, subdomains, domains, public secrets by their hash.
CREATE TABLE global_names (
    kind       TEXT NOT NULL,
    name       TEXT NOT NULL,
    account_id TEXT NOT NULL,
    object_id  TEXT NOT NULL,
    PRIMARY KEY (kind, name)
) STRICT;

-- Slugs, the present and the former ones: a former slug resolves until another object takes it.
CREATE TABLE slugs (
    account_id TEXT NOT NULL,
    kind       TEXT NOT NULL,
    slug       TEXT NOT NULL,
    object_id  TEXT NOT NULL,
    current    INTEGER NOT NULL,
    PRIMARY KEY (account_id, kind, slug)
) STRICT;

CREATE INDEX slugs_object ON slugs (account_id, object_id);

-- Gapless numbers, one row per account and sequence.
CREATE TABLE counters (
    account_id TEXT NOT NULL,
    name       TEXT NOT NULL,
    value      INTEGER NOT NULL,
    PRIMARY KEY (account_id, name)
) STRICT;

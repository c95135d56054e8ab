-- +goose Up

CREATE TABLE ai_sites (
    account_id               TEXT NOT NULL,
    id                       TEXT NOT NULL,
    name                     TEXT NOT NULL,
    type                     TEXT NOT NULL CHECK (type IN ('link_in_bio', 'ai_builder')),
    is_default               INTEGER NOT NULL,
    subdomain                TEXT NOT NULL,
    domain                   TEXT,
    domain_status            TEXT CHECK (domain_status IN ('pending', 'ssl_pending', 'active', 'error')),
    domain_verified_at       INTEGER,
    code_host_repo_full_name TEXT,
    code_host_url            TEXT,
    app_url                  TEXT,
    is_live                  INTEGER NOT NULL,
    metadata                 TEXT NOT NULL, -- JSON object
    created_at               INTEGER NOT NULL,
    updated_at               INTEGER NOT NULL,
    PRIMARY KEY (account_id, id)
) STRICT;

CREATE UNIQUE INDEX ai_sites_default ON ai_sites (account_id) WHERE is_default;

-- +goose NO TRANSACTION
-- +goose Up

CREATE TABLE IF NOT EXISTS ai_sites (
    account_id               TEXT NOT NULL,
    id                       TEXT NOT NULL,
    name                     TEXT NOT NULL,
    type                     TEXT NOT NULL CHECK (type IN ('link_in_bio', 'ai_builder')),
    is_default               BOOLEAN NOT NULL,
    subdomain                TEXT NOT NULL,
    domain                   TEXT,
    domain_status            TEXT CHECK (domain_status IN ('pending', 'ssl_pending', 'active', 'error')),
    domain_verified_at       BIGINT,
    code_host_repo_full_name TEXT,
    code_host_url            TEXT,
    app_url                  TEXT,
    is_live                  BOOLEAN NOT NULL,
    metadata                 TEXT NOT NULL, -- JSON object
    created_at               BIGINT NOT NULL,
    updated_at               BIGINT NOT NULL,
    PRIMARY KEY (account_id, id)
);

CREATE UNIQUE INDEX IF NOT EXISTS ai_sites_default ON ai_sites (account_id) WHERE is_default;

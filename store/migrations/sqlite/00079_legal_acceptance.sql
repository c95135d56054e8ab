-- +goose Up

-- Whether buyers must accept a page while it is published, and whether one has: then it is kept for ever.
ALTER TABLE legal_pages ADD COLUMN requires_acceptance INTEGER NOT NULL DEFAULT 0;
ALTER TABLE legal_pages ADD COLUMN accepted INTEGER NOT NULL DEFAULT 0;

CREATE INDEX legal_pages_acceptance ON legal_pages (account_id, locale, id) WHERE status = 'published' AND requires_acceptance;

-- The pages that the buyer accepted, with their versions.
ALTER TABLE checkouts ADD COLUMN legal_acceptances TEXT NOT NULL DEFAULT '[]'; -- JSON array
ALTER TABLE orders ADD COLUMN legal_acceptances TEXT NOT NULL DEFAULT '[]'; -- JSON array

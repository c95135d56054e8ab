-- +goose NO TRANSACTION
-- +goose Up

-- Links by which customers open the portal once, sent to their addresses. The id is that of the session which a link becomes.
CREATE TABLE IF NOT EXISTS portal_links (
    account_id      TEXT NOT NULL,
    id              TEXT NOT NULL,
    customer_id     TEXT NOT NULL,
    token_hash      TEXT NOT NULL, -- empty until its letter is written
    letter_due_at   BIGINT, -- when its letter is to be sent, or tried again; NULL once it needs no further attempt
    letter_attempts BIGINT NOT NULL,
    expires_at      BIGINT NOT NULL,
    used_at         BIGINT,
    created_at      BIGINT NOT NULL,
    PRIMARY KEY (account_id, id),
    FOREIGN KEY (account_id, customer_id) REFERENCES customers (account_id, id) ON DELETE CASCADE
);

CREATE INDEX IF NOT EXISTS portal_links_customer ON portal_links (account_id, customer_id);

CREATE INDEX IF NOT EXISTS portal_links_expiry ON portal_links (expires_at);

CREATE INDEX IF NOT EXISTS portal_links_letter ON portal_links (letter_due_at) WHERE letter_due_at IS NOT NULL;

-- Whoever asks for a link says an address, and not at which shops.
CREATE INDEX IF NOT EXISTS customers_owner ON customers (email_key) WHERE email_key IS NOT NULL;

-- +goose NO TRANSACTION
-- +goose Up

-- What opens the portal to a customer for a while. Of its token there is the hash alone.
CREATE TABLE IF NOT EXISTS portal_sessions (
    account_id  TEXT NOT NULL,
    id          TEXT NOT NULL,
    customer_id TEXT NOT NULL,
    token_hash  TEXT NOT NULL,
    return_url  TEXT,
    expires_at  BIGINT NOT NULL,
    created_at  BIGINT NOT NULL,
    updated_at  BIGINT NOT NULL,
    PRIMARY KEY (account_id, id),
    FOREIGN KEY (account_id, customer_id) REFERENCES customers (account_id, id) ON DELETE CASCADE
);

CREATE INDEX IF NOT EXISTS portal_sessions_customer ON portal_sessions (account_id, customer_id);

CREATE INDEX IF NOT EXISTS portal_sessions_expiry ON portal_sessions (expires_at);

-- +goose NO TRANSACTION
-- +goose Up

-- Who changed what: one row a change that somebody may ask about.
CREATE TABLE IF NOT EXISTS activities (
    account_id    TEXT NOT NULL,
    id            TEXT NOT NULL,
    actor_type    TEXT NOT NULL CHECK (actor_type IN ('api_key', 'customer', 'system', 'cli')),
    actor_id      TEXT NOT NULL, -- the type, if nobody knows who it was
    actor_name    TEXT,
    operation     TEXT NOT NULL,
    target_object TEXT NOT NULL,
    target_id     TEXT,
    customer_id   TEXT, -- whom it is about
    scope         TEXT NOT NULL, -- what a key needs to see the changes
    changes       TEXT, -- JSON object
    request_id    TEXT,
    ip            TEXT,
    created_at    BIGINT NOT NULL,
    PRIMARY KEY (account_id, id)
);

CREATE INDEX IF NOT EXISTS activities_actor ON activities (account_id, actor_id, id);

CREATE INDEX IF NOT EXISTS activities_operation ON activities (account_id, operation, id);

CREATE INDEX IF NOT EXISTS activities_target ON activities (account_id, target_id, id);

-- To forget the customer: only what says something about them is looked for.
CREATE INDEX IF NOT EXISTS activities_customer ON activities (account_id, customer_id) WHERE customer_id IS NOT NULL AND changes IS NOT NULL;

-- For the housekeeping.
CREATE INDEX IF NOT EXISTS activities_age ON activities (created_at);

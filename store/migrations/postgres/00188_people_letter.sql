-- +goose NO TRANSACTION
-- +goose Up

-- What people who sign in are told of by a letter that nobody can switch off, until it is sent.
CREATE TABLE IF NOT EXISTS people_letters (
    id         TEXT PRIMARY KEY,
    person_id  TEXT NOT NULL REFERENCES people (id) ON DELETE CASCADE,
    kind       TEXT NOT NULL,
    account_id TEXT REFERENCES accounts (id) ON DELETE CASCADE, -- that it is about
    detail     TEXT NOT NULL,
    due_at     BIGINT NOT NULL, -- when it is to be sent next
    attempts   BIGINT NOT NULL,
    created_at BIGINT NOT NULL
);

ALTER TABLE people_letters ALTER COLUMN account_id SET (n_distinct = 20);

CREATE INDEX IF NOT EXISTS people_letters_due ON people_letters (due_at);
CREATE INDEX IF NOT EXISTS people_letters_person ON people_letters (person_id);
CREATE INDEX IF NOT EXISTS people_letters_account ON people_letters (account_id);
-- The failing_since of which owners were told that an endpoint fails.
ALTER TABLE webhook_endpoints ADD COLUMN IF NOT EXISTS told_since BIGINT;

CREATE INDEX CONCURRENTLY IF NOT EXISTS webhook_endpoints_untold ON webhook_endpoints (failing_since) WHERE failing_since IS NOT NULL AND (told_since IS NULL OR told_since <> failing_since);

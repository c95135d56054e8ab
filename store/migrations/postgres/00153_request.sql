-- +goose NO TRANSACTION
-- +goose Up

-- What programs asked the API for. The id is that of the request, which its answer has.
CREATE TABLE IF NOT EXISTS requests (
    account_id TEXT NOT NULL,
    id         TEXT NOT NULL,
    key_id     TEXT NOT NULL,
    method     TEXT NOT NULL,
    path       TEXT NOT NULL, -- with the ids of objects, and with the names of all other parameters in their place
    operation  TEXT NOT NULL,
    status     BIGINT NOT NULL,
    class      BIGINT NOT NULL, -- the first digit of the status
    address    TEXT NOT NULL,
    duration   BIGINT NOT NULL, -- in microseconds
    error      TEXT, -- the envelope of one that failed
    created_at BIGINT NOT NULL,
    PRIMARY KEY (account_id, id)
);

CREATE INDEX IF NOT EXISTS requests_class ON requests (account_id, class, id);

CREATE INDEX IF NOT EXISTS requests_key ON requests (account_id, key_id, id);

CREATE INDEX IF NOT EXISTS requests_operation ON requests (account_id, operation, id);

CREATE INDEX IF NOT EXISTS requests_path ON requests (account_id, path, id);

-- For the housekeeping.
CREATE INDEX IF NOT EXISTS requests_age ON requests (created_at);

-- How many were not kept, because too many came at once.
CREATE TABLE IF NOT EXISTS request_gaps (
    account_id TEXT NOT NULL,
    hour       BIGINT NOT NULL, -- when it began
    dropped    BIGINT NOT NULL,
    PRIMARY KEY (account_id, hour)
);

CREATE INDEX IF NOT EXISTS request_gaps_age ON request_gaps (hour);

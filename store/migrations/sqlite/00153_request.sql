-- +goose Up

-- What programs asked the API for. The id is that of the request, which its answer has.
CREATE TABLE requests (
    account_id TEXT NOT NULL,
    id         TEXT NOT NULL,
    key_id     TEXT NOT NULL,
    method     TEXT NOT NULL,
    path       TEXT NOT NULL, -- with the ids of objects, and with the names of all other parameters in their place
    operation  TEXT NOT NULL,
    status     INTEGER NOT NULL,
    class      INTEGER NOT NULL, -- the first digit of the status
    address    TEXT NOT NULL,
    duration   INTEGER NOT NULL, -- in microseconds
    error      TEXT, -- the envelope of one that failed
    created_at INTEGER NOT NULL,
    PRIMARY KEY (account_id, id)
) STRICT;

CREATE INDEX requests_class ON requests (account_id, class, id);

CREATE INDEX requests_key ON requests (account_id, key_id, id);

CREATE INDEX requests_operation ON requests (account_id, operation, id);

CREATE INDEX requests_path ON requests (account_id, path, id);

-- For the housekeeping.
CREATE INDEX requests_age ON requests (created_at);

-- How many were not kept, because too many came at once.
CREATE TABLE request_gaps (
    account_id TEXT NOT NULL,
    hour       INTEGER NOT NULL, -- when it began
    dropped    INTEGER NOT NULL,
    PRIMARY KEY (account_id, hour)
) STRICT;

CREATE INDEX request_gaps_age ON request_gaps (hour);

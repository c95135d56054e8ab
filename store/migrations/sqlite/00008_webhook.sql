-- +goose Up

CREATE TABLE webhook_endpoints (
    account_id     TEXT NOT NULL,
    id             TEXT NOT NULL,
    url            TEXT NOT NULL,
    api_version    TEXT NOT NULL,
    status         TEXT NOT NULL CHECK (status IN ('active', 'inactive')),
    enabled_events TEXT NOT NULL, -- JSON array
    description    TEXT,
    secret         BLOB NOT NULL, -- sealed
    metadata       TEXT NOT NULL, -- JSON object
    created_at     INTEGER NOT NULL,
    updated_at     INTEGER NOT NULL,
    PRIMARY KEY (account_id, id)
) STRICT;

-- body is what every endpoint is sent, byte for byte.
CREATE TABLE events (
    account_id   TEXT NOT NULL,
    id           TEXT NOT NULL,
    type         TEXT NOT NULL,
    ordering_key TEXT NOT NULL,
    key_seq      INTEGER NOT NULL,
    body         TEXT NOT NULL,
    created_at   INTEGER NOT NULL,
    PRIMARY KEY (account_id, id)
) STRICT;

CREATE INDEX events_created_at ON events (created_at);

-- One attempt at telling one endpoint of one event.
CREATE TABLE webhook_deliveries (
    account_id   TEXT NOT NULL,
    id           TEXT NOT NULL,
    endpoint_id  TEXT NOT NULL,
    event_id     TEXT NOT NULL,
    ordering_key TEXT NOT NULL,
    key_seq      INTEGER NOT NULL,
    state        TEXT NOT NULL CHECK (state IN ('pending', 'sending', 'succeeded', 'failed')),
    attempts     INTEGER NOT NULL,
    lease_token  TEXT,
    lease_until  INTEGER,
    reason       TEXT,
    status_code  INTEGER,
    duration_ms  INTEGER,
    response     TEXT, -- the beginning of the answer
    created_at   INTEGER NOT NULL,
    updated_at   INTEGER NOT NULL,
    finished_at  INTEGER,
    PRIMARY KEY (account_id, id)
) STRICT;

CREATE INDEX webhook_deliveries_pending ON webhook_deliveries (endpoint_id, account_id, created_at, id) WHERE state = 'pending';

CREATE INDEX webhook_deliveries_sending ON webhook_deliveries (lease_until) WHERE state = 'sending';

-- Whether an earlier delivery of the same endpoint and ordering key is still under way.
CREATE INDEX webhook_deliveries_order ON webhook_deliveries (account_id, endpoint_id, ordering_key, key_seq) WHERE state IN ('pending', 'sending');

CREATE INDEX webhook_deliveries_log ON webhook_deliveries (account_id, endpoint_id, id);

CREATE INDEX webhook_deliveries_event ON webhook_deliveries (account_id, event_id);

CREATE INDEX webhook_deliveries_finished ON webhook_deliveries (state, finished_at) WHERE state IN ('succeeded', 'failed');

-- +goose Up

ALTER TABLE webhook_endpoints ADD COLUMN format TEXT NOT NULL DEFAULT 'raw' CHECK (format IN ('raw', 'slack', 'discord'));

-- The sealed secret before the last rotation. It signs deliveries too, until the time beside it.
ALTER TABLE webhook_endpoints ADD COLUMN previous_secret BLOB;

ALTER TABLE webhook_endpoints ADD COLUMN previous_secret_until INTEGER;

ALTER TABLE webhook_endpoints ADD COLUMN consecutive_failures INTEGER NOT NULL DEFAULT 0;

ALTER TABLE webhook_endpoints ADD COLUMN failing_since INTEGER;

ALTER TABLE webhook_deliveries ADD COLUMN type TEXT NOT NULL DEFAULT '';

UPDATE webhook_deliveries SET type = COALESCE((
    SELECT e.type FROM events AS e WHERE e.account_id = webhook_deliveries.account_id AND e.id = webhook_deliveries.event_id), '');

-- The log of an endpoint is read newest first, state by state, of all types or of one.
DROP INDEX webhook_deliveries_log;

CREATE INDEX webhook_deliveries_log ON webhook_deliveries (account_id, state, endpoint_id, id);

CREATE INDEX webhook_deliveries_type ON webhook_deliveries (account_id, type, state, endpoint_id, id);

DROP INDEX webhook_deliveries_pending;

CREATE INDEX webhook_deliveries_pending ON webhook_deliveries (endpoint_id, account_id, id) WHERE state = 'pending';

-- Whether an earlier delivery of the same endpoint and ordering key is still under way.
DROP INDEX webhook_deliveries_order;

CREATE INDEX webhook_deliveries_order ON webhook_deliveries (account_id, endpoint_id, ordering_key, key_seq) WHERE finished_at IS NULL;

-- How many are being sent to an endpoint, by all replicas. There are never many rows in it.
DROP INDEX webhook_deliveries_sending;

CREATE INDEX webhook_deliveries_sending ON webhook_deliveries (account_id, endpoint_id, lease_until) WHERE state = 'sending';

-- The event comes first, so that nobody can take this index for a way to a delivery's id: on an empty table it looks as
-- short as the primary key, and PostgreSQL kept to that plan while the table grew.
DROP INDEX webhook_deliveries_event;

CREATE INDEX webhook_deliveries_event ON webhook_deliveries (event_id, account_id);

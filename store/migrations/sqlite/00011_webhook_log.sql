-- +goose Up

ALTER TABLE webhook_endpoints ADD COLUMN format TEXT NOT NULL DEFAULT 'raw' CHECK (format IN ('raw', 'slack', 'discord'));

-- The sealed secret before the last rotation. It signs deliveries too, until the time beside it.
ALTER TABLE webhook_endpoints ADD COLUMN previous_secret BLOB;

ALTER TABLE webhook_endpoints ADD COLUMN previous_secret_until INTEGER;

ALTER TABLE webhook_endpoints ADD COLUMN consecutive_failures INTEGER NOT NULL DEFAULT 0;

ALTER TABLE webhook_endpoints ADD COLUMN failing_since INTEGER;

ALTER TABLE webhook_deliveries ADD COLUMN type TEXT NOT NULL DEFAULT '';

UPDATE webhook_deliveries SET type = (
    SELECT e.type FROM events AS e WHERE e.account_id = webhook_deliveries.account_id AND e.id = webhook_deliveries.event_id);

-- The log of an endpoint is read newest first, state by state, of all types or of one.
DROP INDEX webhook_deliveries_log;

CREATE INDEX webhook_deliveries_log ON webhook_deliveries (account_id, state, endpoint_id, id);

CREATE INDEX webhook_deliveries_type ON webhook_deliveries (account_id, type, state, endpoint_id, id);

-- How many are being sent to an endpoint, by all replicas. There are never many rows in it.
DROP INDEX webhook_deliveries_sending;

CREATE INDEX webhook_deliveries_sending ON webhook_deliveries (account_id, endpoint_id, lease_until) WHERE state = 'sending';

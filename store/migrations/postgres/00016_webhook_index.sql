-- +goose NO TRANSACTION
-- +goose Up

-- What is not finished yet is found by the index of what waits: these hold the log, and a delivery enters them once.
DROP INDEX IF EXISTS webhook_deliveries_log;

CREATE INDEX IF NOT EXISTS webhook_deliveries_log ON webhook_deliveries (account_id, state, endpoint_id, id) WHERE finished_at IS NOT NULL;

DROP INDEX IF EXISTS webhook_deliveries_type;

CREATE INDEX IF NOT EXISTS webhook_deliveries_type ON webhook_deliveries (account_id, type, state, endpoint_id, id) WHERE finished_at IS NOT NULL;

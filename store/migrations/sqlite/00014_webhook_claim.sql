-- +goose Up

-- What is being sent, and until when by whom. It stands beside the deliveries because these have many indexes, and a
-- delivery is claimed and finished within milliseconds: one row here comes and goes, and the delivery is written once.
CREATE TABLE webhook_claims (
    account_id  TEXT NOT NULL,
    endpoint_id TEXT NOT NULL,
    delivery_id TEXT NOT NULL,
    lease_token TEXT NOT NULL,
    lease_until INTEGER NOT NULL,
    PRIMARY KEY (account_id, endpoint_id, delivery_id)
) STRICT, WITHOUT ROWID;

UPDATE webhook_deliveries SET state = 'pending' WHERE state = 'sending';

DROP INDEX webhook_deliveries_sending;

ALTER TABLE webhook_deliveries DROP COLUMN lease_token;

ALTER TABLE webhook_deliveries DROP COLUMN lease_until;

-- The id is in it so that the earliest delivery of a key is found without a look at the table.
DROP INDEX webhook_deliveries_order;

CREATE INDEX webhook_deliveries_order ON webhook_deliveries (account_id, endpoint_id, ordering_key, key_seq, id) WHERE finished_at IS NULL;

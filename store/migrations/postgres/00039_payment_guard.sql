-- +goose NO TRANSACTION
-- +goose Up

-- How many payments of somebody were declined, and are under way: of a network address, of the network around it, of an e-mail
-- address, of a customer or of an invoice. What nobody has touched for two hours is deleted.
CREATE TABLE IF NOT EXISTS payment_guards (
    account_id TEXT NOT NULL,
    subject    TEXT NOT NULL,
    declines   BIGINT NOT NULL CHECK (declines >= 0), -- in the hour from since on
    under_way  BIGINT NOT NULL,
    since      BIGINT NOT NULL,
    retry_at   BIGINT NOT NULL, -- no payment begins before
    touched_at BIGINT NOT NULL,
    PRIMARY KEY (account_id, subject)
);

CREATE INDEX IF NOT EXISTS payment_guards_age ON payment_guards (touched_at);

-- Whether the buyer came without an API key, and while it is under way, who counts it: a JSON array of subjects.
ALTER TABLE payments ADD COLUMN IF NOT EXISTS keyless BOOLEAN NOT NULL DEFAULT FALSE;

ALTER TABLE payments ADD COLUMN IF NOT EXISTS guards TEXT NOT NULL DEFAULT '[]';

CREATE INDEX IF NOT EXISTS payments_keyless ON payments (account_id, id) WHERE keyless AND status = 'succeeded';

-- How often it was tried to pay a checkout, and when it may be tried again; NULL for at once.
ALTER TABLE checkouts ADD COLUMN IF NOT EXISTS attempts BIGINT NOT NULL DEFAULT 0;

ALTER TABLE checkouts ADD COLUMN IF NOT EXISTS retry_at BIGINT;

-- How many declines in an hour stop the payments of buyers without a key, NULL for none, and until when they are stopped.
ALTER TABLE accounts ADD COLUMN IF NOT EXISTS decline_limit BIGINT DEFAULT 100;

ALTER TABLE accounts ADD COLUMN IF NOT EXISTS payments_paused_until BIGINT;

-- How long a buyer has to confirm a payment at their bank.
ALTER TABLE accounts ADD COLUMN IF NOT EXISTS payment_hold_minutes BIGINT NOT NULL DEFAULT 30;

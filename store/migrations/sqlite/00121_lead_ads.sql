-- +goose Up

-- Whether the forms of sites ask visitors if ad networks may be told of them.
ALTER TABLE accounts ADD COLUMN lead_ads_consent INTEGER NOT NULL DEFAULT 0;

-- What a visitor answered in the form that made the lead. No other lead has been asked.
ALTER TABLE leads ADD COLUMN ads_consent INTEGER NOT NULL DEFAULT 0;

-- Networks are told of leads, too.
CREATE TABLE ad_conversions_new (
    account_id     TEXT NOT NULL,
    id             TEXT NOT NULL,
    destination_id TEXT NOT NULL,
    pixel_id       TEXT NOT NULL, -- of the destination
    kind           TEXT NOT NULL,
    event_id       TEXT NOT NULL,
    happened_at    INTEGER NOT NULL,
    value          INTEGER NOT NULL, -- micros
    currency       TEXT NOT NULL,
    items          TEXT NOT NULL, -- JSON array
    is_offsite     INTEGER NOT NULL,
    source         TEXT NOT NULL CHECK (source IN ('order', 'lead', 'api')),
    status         TEXT NOT NULL CHECK (status IN ('pending', 'sent', 'refused', 'expired')),
    reason         TEXT NOT NULL,
    attempts       INTEGER NOT NULL,
    sent_at        INTEGER,
    customer_id    TEXT, -- the rest is NULL, and user_data empty, once it is not pending any more
    user_data      TEXT NOT NULL, -- JSON
    due_at         INTEGER,
    tried_at       INTEGER,
    expires_at     INTEGER,
    created_at     INTEGER NOT NULL,
    updated_at     INTEGER NOT NULL,
    PRIMARY KEY (account_id, id)
) STRICT;

INSERT INTO ad_conversions_new (account_id, id, destination_id, pixel_id, kind, event_id, happened_at, value, currency, items, is_offsite, source, status, reason, attempts, sent_at,
    customer_id, user_data, due_at, tried_at, expires_at, created_at, updated_at)
SELECT account_id, id, destination_id, pixel_id, kind, event_id, happened_at, value, currency, items, is_offsite, source, status, reason, attempts, sent_at,
    customer_id, user_data, due_at, tried_at, expires_at, created_at, updated_at
FROM ad_conversions;

DROP TABLE ad_conversions;

ALTER TABLE ad_conversions_new RENAME TO ad_conversions;

-- A pixel is told the same event once, whoever names it.
CREATE UNIQUE INDEX ad_conversions_event ON ad_conversions (account_id, pixel_id, kind, event_id);

CREATE INDEX ad_conversions_due ON ad_conversions (account_id, destination_id, due_at) WHERE due_at IS NOT NULL;

CREATE INDEX ad_conversions_expires ON ad_conversions (expires_at) WHERE expires_at IS NOT NULL;

CREATE INDEX ad_conversions_customer ON ad_conversions (account_id, customer_id) WHERE customer_id IS NOT NULL;

-- Lists.
CREATE INDEX ad_conversions_destination ON ad_conversions (account_id, destination_id, id);

CREATE INDEX ad_conversions_status ON ad_conversions (account_id, status, id);

CREATE INDEX ad_conversions_kind ON ad_conversions (account_id, kind, id);

CREATE INDEX ad_conversions_event_id ON ad_conversions (account_id, event_id, id);

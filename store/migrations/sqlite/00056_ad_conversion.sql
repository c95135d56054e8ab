-- +goose Up

-- Pixels that are told what happens in the shop.
CREATE TABLE ad_conversion_destinations (
    account_id    TEXT NOT NULL,
    id            TEXT NOT NULL,
    channel_id    TEXT NOT NULL,
    platform      TEXT NOT NULL,
    ad_account_id TEXT NOT NULL, -- platform id
    pixel_id      TEXT NOT NULL, -- the network's
    name          TEXT NOT NULL,
    events        TEXT NOT NULL, -- JSON array
    product_ids   TEXT, -- JSON array; NULL = all
    token         BLOB, -- sealed; NULL = the channel's
    status        TEXT NOT NULL CHECK (status IN ('active', 'paused', 'error')),
    last_error    TEXT NOT NULL,
    created_at    INTEGER NOT NULL,
    updated_at    INTEGER NOT NULL,
    PRIMARY KEY (account_id, id)
) STRICT;

CREATE INDEX ad_conversion_destinations_channel ON ad_conversion_destinations (account_id, channel_id, id);

-- Who may have to be told something, of any account.
CREATE INDEX ad_conversion_destinations_active ON ad_conversion_destinations (account_id, id) WHERE status = 'active';

-- What each of them is told, and was told.
CREATE TABLE ad_conversions (
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
    source         TEXT NOT NULL CHECK (source IN ('order', 'api')),
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

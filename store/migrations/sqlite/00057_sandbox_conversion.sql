-- +goose Up

-- What the sandbox was told happened. It counts an event that it is told again once, for as long as the network would.
CREATE TABLE sandbox_conversions (
    account_id TEXT NOT NULL,
    channel_id TEXT NOT NULL,
    pixel_id   TEXT NOT NULL,
    kind       TEXT NOT NULL,
    event_id   TEXT NOT NULL,
    told       INTEGER NOT NULL, -- how often
    counted    INTEGER NOT NULL, -- how often it was another one to the network
    counted_at INTEGER NOT NULL,
    detail     TEXT NOT NULL, -- as it was told
    PRIMARY KEY (account_id, channel_id, pixel_id, kind, event_id)
) STRICT, WITHOUT ROWID;

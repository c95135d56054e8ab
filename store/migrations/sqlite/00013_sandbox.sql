-- +goose Up

-- The sandbox is an ad network of its own: the far side of ads, committed on its own. Nothing but it looks at these.

-- One connection to it. Its row is locked while anything behind it changes.
CREATE TABLE sandbox_channels (
    account_id TEXT NOT NULL,
    id         TEXT NOT NULL,
    platform   TEXT NOT NULL,
    last_seq   INTEGER NOT NULL,
    limited_at INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (account_id, id)
) STRICT;

-- Campaigns, ad groups and ads. A campaign's campaign_id is its own id.
CREATE TABLE sandbox_entities (
    account_id    TEXT NOT NULL,
    channel_id    TEXT NOT NULL,
    id            TEXT NOT NULL,
    kind          TEXT NOT NULL CHECK (kind IN ('campaign', 'ad_group', 'ad')),
    ad_account_id TEXT NOT NULL,
    campaign_id   TEXT NOT NULL,
    ad_group_id   TEXT NOT NULL,
    seq           INTEGER NOT NULL,
    token         TEXT NOT NULL,
    detail        TEXT NOT NULL,
    created_at    INTEGER NOT NULL,
    updated_at    INTEGER NOT NULL,
    PRIMARY KEY (account_id, channel_id, id)
) STRICT;

CREATE INDEX sandbox_entities_campaign ON sandbox_entities (account_id, channel_id, campaign_id);

CREATE INDEX sandbox_entities_sync ON sandbox_entities (account_id, channel_id, ad_account_id, kind, seq);

CREATE INDEX sandbox_entities_token ON sandbox_entities (account_id, channel_id, token) WHERE token <> '';

-- The stretches of time in which nothing changed about the delivery of one budget. An open one has no end.
CREATE TABLE sandbox_segments (
    account_id    TEXT NOT NULL,
    channel_id    TEXT NOT NULL,
    campaign_id   TEXT NOT NULL,
    owner_id      TEXT NOT NULL,
    ad_account_id TEXT NOT NULL,
    from_at       INTEGER NOT NULL,
    to_at         INTEGER,
    budget        INTEGER NOT NULL,
    lifetime      INTEGER NOT NULL,
    start_at      INTEGER NOT NULL,
    end_at        INTEGER,
    ads           TEXT NOT NULL,
    PRIMARY KEY (account_id, channel_id, campaign_id, owner_id, from_at)
) STRICT;

CREATE TABLE sandbox_audiences (
    account_id    TEXT NOT NULL,
    channel_id    TEXT NOT NULL,
    id            TEXT NOT NULL,
    ad_account_id TEXT NOT NULL,
    seq           INTEGER NOT NULL,
    token         TEXT NOT NULL,
    detail        TEXT NOT NULL,
    members       INTEGER NOT NULL,
    matched       INTEGER NOT NULL,
    uploaded_at   INTEGER,
    deleted_at    INTEGER,
    created_at    INTEGER NOT NULL,
    updated_at    INTEGER NOT NULL,
    PRIMARY KEY (account_id, channel_id, id)
) STRICT;

CREATE INDEX sandbox_audiences_list ON sandbox_audiences (account_id, channel_id, ad_account_id, seq);

CREATE INDEX sandbox_audiences_token ON sandbox_audiences (account_id, channel_id, token) WHERE token <> '';

-- Who was uploaded into an audience, by hash.
CREATE TABLE sandbox_members (
    account_id  TEXT NOT NULL,
    channel_id  TEXT NOT NULL,
    audience_id TEXT NOT NULL,
    hash        TEXT NOT NULL,
    PRIMARY KEY (account_id, channel_id, audience_id, hash)
) STRICT, WITHOUT ROWID;

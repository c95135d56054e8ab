-- +goose NO TRANSACTION
-- +goose Up

-- A channel: an account's connection to one ad network.
CREATE TABLE IF NOT EXISTS social_accounts (
    account_id       TEXT NOT NULL,
    id               TEXT NOT NULL,
    platform         TEXT NOT NULL,
    driver           TEXT NOT NULL,
    platform_id      TEXT NOT NULL,
    username         TEXT NOT NULL,
    display_name     TEXT NOT NULL,
    ads_status       TEXT NOT NULL CHECK (ads_status IN ('inactive', 'active', 'error')),
    ads_activated_at BIGINT,
    ad_account_ids   TEXT NOT NULL, -- JSON array
    token            BYTEA NOT NULL, -- sealed
    created_at       BIGINT NOT NULL,
    updated_at       BIGINT NOT NULL,
    PRIMARY KEY (account_id, id)
);

CREATE TABLE IF NOT EXISTS social_posts (
    account_id   TEXT NOT NULL,
    id           TEXT NOT NULL,
    channel_id   TEXT NOT NULL,
    platform     TEXT NOT NULL,
    platform_id  TEXT NOT NULL,
    status       TEXT NOT NULL,
    text         TEXT NOT NULL,
    link_url     TEXT NOT NULL,
    media_url    TEXT NOT NULL,
    published_at BIGINT,
    created_at   BIGINT NOT NULL,
    updated_at   BIGINT NOT NULL,
    PRIMARY KEY (account_id, id)
);

CREATE UNIQUE INDEX IF NOT EXISTS social_posts_platform_id ON social_posts (account_id, channel_id, platform_id);

CREATE INDEX IF NOT EXISTS social_posts_channel ON social_posts (account_id, channel_id, id);

-- What follows mirrors the networks. Two channels may see the same ad account.
CREATE TABLE IF NOT EXISTS ad_accounts (
    account_id           TEXT NOT NULL,
    id                   TEXT NOT NULL,
    channel_id           TEXT NOT NULL,
    platform             TEXT NOT NULL,
    platform_id          TEXT NOT NULL,
    name                 TEXT NOT NULL,
    currency             TEXT NOT NULL,
    timezone             TEXT NOT NULL,
    status               TEXT NOT NULL CHECK (status IN ('active', 'disabled', 'pending')),
    platform_status      TEXT NOT NULL,
    unusable_reason      TEXT NOT NULL,
    minimum_daily_budget BIGINT NOT NULL, -- amounts are millionths of a whole unit
    amount_spent         BIGINT NOT NULL,
    spend_cap            BIGINT NOT NULL,
    business_center_id   TEXT NOT NULL,
    synced_at            BIGINT NOT NULL,
    created_at           BIGINT NOT NULL,
    updated_at           BIGINT NOT NULL,
    PRIMARY KEY (account_id, id)
);

CREATE UNIQUE INDEX IF NOT EXISTS ad_accounts_platform_id ON ad_accounts (account_id, channel_id, platform_id);

CREATE INDEX IF NOT EXISTS ad_accounts_channel ON ad_accounts (account_id, channel_id, id);

-- Whose turn it is to be mirrored, of any account.
CREATE INDEX IF NOT EXISTS ad_accounts_synced_at ON ad_accounts (synced_at);

CREATE TABLE IF NOT EXISTS ad_business_centers (
    account_id       TEXT NOT NULL,
    id               TEXT NOT NULL,
    channel_id       TEXT NOT NULL,
    platform         TEXT NOT NULL,
    platform_id      TEXT NOT NULL,
    name             TEXT NOT NULL,
    advertiser_count BIGINT,
    created_at       BIGINT NOT NULL,
    updated_at       BIGINT NOT NULL,
    PRIMARY KEY (account_id, id)
);

CREATE UNIQUE INDEX IF NOT EXISTS ad_business_centers_platform_id ON ad_business_centers (account_id, channel_id, platform_id);

CREATE INDEX IF NOT EXISTS ad_business_centers_channel ON ad_business_centers (account_id, channel_id, id);

-- daily_amount is what the campaign's own budget comes to in a day, 0 without one.
CREATE TABLE IF NOT EXISTS ad_campaigns (
    account_id          TEXT NOT NULL,
    id                  TEXT NOT NULL,
    channel_id          TEXT NOT NULL,
    platform            TEXT NOT NULL,
    ad_account_id       TEXT NOT NULL,
    platform_id         TEXT NOT NULL,
    name                TEXT NOT NULL,
    configured_status   TEXT NOT NULL CHECK (configured_status IN ('active', 'paused')),
    status              TEXT NOT NULL,
    review_status       TEXT NOT NULL,
    platform_status     TEXT NOT NULL,
    rejection_reason    TEXT NOT NULL,
    goal                TEXT NOT NULL,
    objective           TEXT NOT NULL,
    budget_level        TEXT NOT NULL CHECK (budget_level IN ('campaign', 'ad_group')),
    budget_amount       BIGINT NOT NULL,
    budget_type         TEXT NOT NULL,
    daily_amount        BIGINT NOT NULL,
    currency            TEXT NOT NULL,
    bid_strategy        TEXT NOT NULL,
    bid_amount          BIGINT NOT NULL,
    roas_floor          BIGINT NOT NULL,
    starts_at           BIGINT,
    ends_at             BIGINT,
    groups_end_at       BIGINT, -- the last end of its ad groups, if each has one
    platform_created_at BIGINT,
    source              TEXT NOT NULL CHECK (source IN ('native', 'external')),
    synced_at           BIGINT NOT NULL,
    deleted_at          BIGINT,
    created_at          BIGINT NOT NULL,
    updated_at          BIGINT NOT NULL,
    PRIMARY KEY (account_id, id)
);

CREATE UNIQUE INDEX IF NOT EXISTS ad_campaigns_platform_id ON ad_campaigns (account_id, platform_id, platform);

CREATE INDEX IF NOT EXISTS ad_campaigns_channel ON ad_campaigns (account_id, channel_id, id);

CREATE INDEX IF NOT EXISTS ad_campaigns_ad_account ON ad_campaigns (account_id, ad_account_id, id);

CREATE INDEX IF NOT EXISTS ad_campaigns_status ON ad_campaigns (account_id, status, id);

-- What may be spent in a day.
CREATE INDEX IF NOT EXISTS ad_campaigns_daily ON ad_campaigns (account_id, currency) WHERE daily_amount > 0 AND configured_status = 'active';

CREATE TABLE IF NOT EXISTS ad_groups (
    account_id          TEXT NOT NULL,
    id                  TEXT NOT NULL,
    channel_id          TEXT NOT NULL,
    platform            TEXT NOT NULL,
    ad_account_id       TEXT NOT NULL,
    platform_id         TEXT NOT NULL,
    campaign_id         TEXT NOT NULL,
    name                TEXT NOT NULL,
    configured_status   TEXT NOT NULL CHECK (configured_status IN ('active', 'paused')),
    status              TEXT NOT NULL,
    review_status       TEXT NOT NULL,
    platform_status     TEXT NOT NULL,
    rejection_reason    TEXT NOT NULL,
    goal                TEXT NOT NULL,
    optimization_goal   TEXT NOT NULL,
    budget_amount       BIGINT NOT NULL,
    budget_type         TEXT NOT NULL,
    daily_amount        BIGINT NOT NULL,
    currency            TEXT NOT NULL,
    bid_strategy        TEXT NOT NULL,
    bid_amount          BIGINT NOT NULL,
    roas_floor          BIGINT NOT NULL,
    targeting           TEXT NOT NULL, -- JSON object
    promoted_object     TEXT NOT NULL, -- JSON object
    starts_at           BIGINT,
    ends_at             BIGINT,
    platform_created_at BIGINT,
    source              TEXT NOT NULL CHECK (source IN ('native', 'external')),
    synced_at           BIGINT NOT NULL,
    deleted_at          BIGINT,
    created_at          BIGINT NOT NULL,
    updated_at          BIGINT NOT NULL,
    PRIMARY KEY (account_id, id)
);

CREATE UNIQUE INDEX IF NOT EXISTS ad_groups_platform_id ON ad_groups (account_id, platform_id, platform);

CREATE INDEX IF NOT EXISTS ad_groups_campaign ON ad_groups (account_id, campaign_id, platform, id);

CREATE INDEX IF NOT EXISTS ad_groups_ad_account ON ad_groups (account_id, ad_account_id, id);

CREATE INDEX IF NOT EXISTS ad_groups_daily ON ad_groups (account_id, currency) WHERE daily_amount > 0 AND configured_status = 'active';

CREATE TABLE IF NOT EXISTS ads (
    account_id          TEXT NOT NULL,
    id                  TEXT NOT NULL,
    channel_id          TEXT NOT NULL,
    platform            TEXT NOT NULL,
    ad_account_id       TEXT NOT NULL,
    platform_id         TEXT NOT NULL,
    campaign_id         TEXT NOT NULL,
    ad_group_id         TEXT NOT NULL,
    name                TEXT NOT NULL,
    configured_status   TEXT NOT NULL CHECK (configured_status IN ('active', 'paused')),
    status              TEXT NOT NULL,
    review_status       TEXT NOT NULL,
    platform_status     TEXT NOT NULL,
    rejection_reason    TEXT NOT NULL,
    ad_type             TEXT NOT NULL CHECK (ad_type IN ('standalone', 'boost')),
    platform_post_id    TEXT NOT NULL,
    creative            TEXT NOT NULL, -- JSON object
    platform_created_at BIGINT,
    goal                TEXT NOT NULL,
    post_id             TEXT NOT NULL,
    extra               TEXT NOT NULL, -- JSON object
    source              TEXT NOT NULL CHECK (source IN ('native', 'external')),
    ends_at             BIGINT, -- of its ad group or its campaign, whichever is first
    synced_at           BIGINT NOT NULL,
    deleted_at          BIGINT,
    created_at          BIGINT NOT NULL,
    updated_at          BIGINT NOT NULL,
    PRIMARY KEY (account_id, id)
);

CREATE UNIQUE INDEX IF NOT EXISTS ads_platform_id ON ads (account_id, platform_id, platform);

CREATE INDEX IF NOT EXISTS ads_channel ON ads (account_id, channel_id, id);

CREATE INDEX IF NOT EXISTS ads_ad_account ON ads (account_id, ad_account_id, id);

CREATE INDEX IF NOT EXISTS ads_campaign ON ads (account_id, campaign_id, platform, id);

CREATE INDEX IF NOT EXISTS ads_group ON ads (account_id, ad_group_id, platform, id);

CREATE INDEX IF NOT EXISTS ads_status ON ads (account_id, status, id);

CREATE TABLE IF NOT EXISTS ad_audiences (
    account_id          TEXT NOT NULL,
    id                  TEXT NOT NULL,
    channel_id          TEXT NOT NULL,
    platform            TEXT NOT NULL,
    ad_account_id       TEXT NOT NULL,
    platform_id         TEXT,
    name                TEXT NOT NULL,
    description         TEXT NOT NULL,
    type                TEXT NOT NULL CHECK (type IN ('customer_list', 'retargeting', 'lookalike')),
    size                BIGINT,
    status              TEXT NOT NULL,
    platform_status     TEXT NOT NULL,
    retention_days      BIGINT NOT NULL,
    pixel_id            TEXT NOT NULL,
    country             TEXT NOT NULL,
    ratio               BIGINT NOT NULL, -- millionths
    platform_created_at BIGINT,
    source_audience_id  TEXT NOT NULL,
    source              TEXT NOT NULL CHECK (source IN ('native', 'external')),
    deleted_at          BIGINT,
    created_at          BIGINT NOT NULL,
    updated_at          BIGINT NOT NULL,
    PRIMARY KEY (account_id, id)
);

CREATE UNIQUE INDEX IF NOT EXISTS ad_audiences_platform_id ON ad_audiences (account_id, platform_id, platform);

CREATE INDEX IF NOT EXISTS ad_audiences_ad_account ON ad_audiences (account_id, channel_id, ad_account_id, id);

-- Identifiers of people, as hashes only. One that was not uploaded yet belongs to the action that is about to.
CREATE TABLE IF NOT EXISTS ad_audience_members (
    account_id  TEXT NOT NULL,
    audience_id TEXT NOT NULL,
    kind        TEXT NOT NULL CHECK (kind IN ('email', 'phone')),
    hash        TEXT NOT NULL,
    user_index  BIGINT NOT NULL,
    action_id   TEXT NOT NULL,
    uploaded_at BIGINT,
    PRIMARY KEY (account_id, audience_id, kind, hash)
);

CREATE INDEX IF NOT EXISTS ad_audience_members_action ON ad_audience_members (account_id, action_id);

-- Every write at a network: the intent before, the line of the audit trail after.
CREATE TABLE IF NOT EXISTS ad_actions (
    account_id    TEXT NOT NULL,
    id            TEXT NOT NULL,
    channel_id    TEXT NOT NULL,
    platform      TEXT NOT NULL,
    ad_account_id TEXT NOT NULL,
    op            TEXT NOT NULL,
    approval      TEXT NOT NULL,
    actor         TEXT NOT NULL,
    request_id    TEXT NOT NULL,
    target_id     TEXT NOT NULL,
    state         TEXT NOT NULL CHECK (state IN ('begun', 'unknown', 'done', 'refused')),
    plan          TEXT NOT NULL, -- JSON object
    before_state  TEXT NOT NULL, -- JSON object
    after_state   TEXT NOT NULL, -- JSON object
    failure       TEXT, -- JSON object
    currency      TEXT NOT NULL,
    daily_amount  BIGINT NOT NULL,
    lease_until   BIGINT NOT NULL, -- by the database's clock
    created_at    BIGINT NOT NULL,
    updated_at    BIGINT NOT NULL,
    PRIMARY KEY (account_id, id)
);

CREATE INDEX IF NOT EXISTS ad_actions_open ON ad_actions (account_id, currency) WHERE state IN ('begun', 'unknown');

-- What the reconciler may have to go on with, of any account.
CREATE INDEX IF NOT EXISTS ad_actions_due ON ad_actions (lease_until) WHERE state IN ('begun', 'unknown');

CREATE INDEX IF NOT EXISTS ad_actions_target ON ad_actions (account_id, target_id, id);

-- The row of an account is locked while a budget is checked.
CREATE TABLE IF NOT EXISTS ad_limits (
    account_id          TEXT NOT NULL,
    currencies          TEXT NOT NULL, -- JSON object
    max_budget_increase BIGINT, -- percent, in millionths; NULL = any
    blocked_operations  TEXT NOT NULL, -- JSON array
    created_at          BIGINT NOT NULL,
    updated_at          BIGINT NOT NULL,
    PRIMARY KEY (account_id)
);

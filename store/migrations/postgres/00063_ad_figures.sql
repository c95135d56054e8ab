-- +goose NO TRANSACTION
-- +goose Up

-- Figures of days that a network tells in a report alone. A month of a level of an ad account is one report, however many ask for it.
CREATE TABLE IF NOT EXISTS ad_figure_months (
    account_id    TEXT NOT NULL,
    channel_id    TEXT NOT NULL,
    ad_account_id TEXT NOT NULL, -- the network's id
    level         TEXT NOT NULL CHECK (level IN ('campaign', 'ad_group', 'ad')),
    month         TEXT NOT NULL, -- 2026-05
    state         TEXT NOT NULL CHECK (state IN ('waiting', 'done', 'failed')),
    first_day     TEXT NOT NULL, -- 2026-05-01, of what is there; '' until it is
    report_id     TEXT NOT NULL, -- the network's; '' while none is being made
    ordered_at    BIGINT, -- when the network was asked for it
    due_at        BIGINT, -- when to go on; NULL once it has ended
    tries         BIGINT NOT NULL, -- that have failed
    reason        TEXT NOT NULL, -- why the last one has
    asked_at      BIGINT NOT NULL, -- since when somebody wants it
    updated_at    BIGINT NOT NULL,
    PRIMARY KEY (account_id, channel_id, ad_account_id, level, month)
);

-- Whose turn it is, of any account.
CREATE INDEX IF NOT EXISTS ad_figure_months_due ON ad_figure_months (due_at) WHERE due_at IS NOT NULL;

-- What came of a campaign, an ad group or an ad on a day of such a month. There is no row for a day on which nothing did.
CREATE TABLE IF NOT EXISTS ad_figure_days (
    account_id     TEXT NOT NULL,
    channel_id     TEXT NOT NULL,
    level          TEXT NOT NULL,
    platform_id    TEXT NOT NULL,
    day            TEXT NOT NULL, -- 2026-05-31
    spend          BIGINT, -- millionths of a whole unit; NULL is what nobody knows
    impressions    BIGINT,
    reach          BIGINT,
    clicks         BIGINT,
    engagement     BIGINT,
    conversions    BIGINT, -- thousandths
    purchase_value BIGINT,
    video_views    BIGINT,
    PRIMARY KEY (account_id, channel_id, level, platform_id, day)
);

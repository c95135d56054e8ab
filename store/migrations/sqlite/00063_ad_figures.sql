-- +goose Up

-- Figures of days that a network tells in a report alone. A month of a level of an ad account is one report, however many ask for it.
CREATE TABLE ad_figure_months (
    account_id    TEXT NOT NULL,
    channel_id    TEXT NOT NULL,
    ad_account_id TEXT NOT NULL, -- the network's id
    level         TEXT NOT NULL CHECK (level IN ('campaign', 'ad_group', 'ad')),
    month         TEXT NOT NULL, -- 2026-05
    state         TEXT NOT NULL CHECK (state IN ('waiting', 'done', 'failed')),
    first_day     TEXT NOT NULL, -- 2026-05-01, of what is there; '' until it is
    report_id     TEXT NOT NULL, -- the network's; '' while none is being made
    ordered_at    INTEGER, -- when the network was asked for it
    due_at        INTEGER, -- when to go on; NULL once it has ended
    tries         INTEGER NOT NULL, -- that have failed
    reason        TEXT NOT NULL, -- why the last one has
    asked_at      INTEGER NOT NULL, -- since when somebody wants it
    updated_at    INTEGER NOT NULL,
    PRIMARY KEY (account_id, channel_id, ad_account_id, level, month)
);

-- Whose turn it is, of any account.
CREATE INDEX ad_figure_months_due ON ad_figure_months (due_at) WHERE due_at IS NOT NULL;

-- What came of a campaign, an ad group or an ad on a day of such a month. There is no row for a day on which nothing did.
CREATE TABLE ad_figure_days (
    account_id     TEXT NOT NULL,
    channel_id     TEXT NOT NULL,
    level          TEXT NOT NULL,
    platform_id    TEXT NOT NULL,
    day            TEXT NOT NULL, -- 2026-05-31
    spend          INTEGER, -- millionths of a whole unit; NULL is what nobody knows
    impressions    INTEGER,
    reach          INTEGER,
    clicks         INTEGER,
    engagement     INTEGER,
    conversions    INTEGER, -- thousandths
    purchase_value INTEGER,
    video_views    INTEGER,
    PRIMARY KEY (account_id, channel_id, level, platform_id, day)
);

-- +goose NO TRANSACTION
-- +goose Up

-- What a subscription counts with in the metrics: what its current period costs, for a month. Null while it is neither active nor past due.
ALTER TABLE subscriptions ADD COLUMN IF NOT EXISTS monthly_amount BIGINT;

UPDATE subscriptions AS s SET monthly_amount = (2 * s.period_amount * CASE s.interval WHEN 'day' THEN 365 WHEN 'week' THEN 52 WHEN 'month' THEN 12 ELSE 1 END + 12 * s.interval_count) / (24 * s.interval_count)
WHERE s.status IN ('active', 'past_due');

-- What happened in each quarter of an hour, from its start: by how much mrr and active changed, and of all others how much there was.
CREATE TABLE IF NOT EXISTS metric_quarters (
    account_id  TEXT NOT NULL,
    currency    TEXT NOT NULL,
    start       BIGINT NOT NULL, -- microseconds
    revenue     BIGINT NOT NULL,
    refunds     BIGINT NOT NULL,
    net_revenue BIGINT NOT NULL,
    orders      BIGINT NOT NULL,
    mrr         BIGINT NOT NULL,
    active      BIGINT NOT NULL,
    started     BIGINT NOT NULL,
    renewed     BIGINT NOT NULL,
    churned     BIGINT NOT NULL,
    checkouts   BIGINT NOT NULL,
    completed   BIGINT NOT NULL,
    PRIMARY KEY (account_id, currency, start)
);

-- The changes of mrr and active again, by stretches of 365 days since 1970, so that what they were does not take adding up all there ever was.
CREATE TABLE IF NOT EXISTS metric_years (
    account_id TEXT NOT NULL,
    currency   TEXT NOT NULL,
    start      BIGINT NOT NULL, -- microseconds
    mrr        BIGINT NOT NULL,
    active     BIGINT NOT NULL,
    PRIMARY KEY (account_id, currency, start)
);

-- What there was. Of a subscription that does not count any more it is known since when it had been paid for, and when that ended.
INSERT INTO metric_quarters (account_id, currency, start, revenue, refunds, net_revenue, orders, mrr, active, started, renewed, churned, checkouts, completed)
SELECT account_id, currency, at - at % 900000000, SUM(revenue), SUM(refunds), SUM(net_revenue), SUM(orders), SUM(mrr), SUM(active), SUM(started), SUM(renewed), SUM(churned), SUM(checkouts), SUM(completed) FROM (
    SELECT account_id, currency, paid_at AS at, total_amount AS revenue, 0 AS refunds, net_amount AS net_revenue, 1 AS orders, 0 AS mrr, 0 AS active, 0 AS started, CASE WHEN billing_reason = 'subscription_cycle' THEN 1 ELSE 0 END AS renewed, 0 AS churned, 0 AS checkouts, 0 AS completed
    FROM orders WHERE paid_at IS NOT NULL
    UNION ALL SELECT account_id, currency, succeeded_at, 0 AS revenue, amount AS refunds, tax_amount - amount AS net_revenue, 0 AS orders, 0 AS mrr, 0 AS active, 0 AS started, 0 AS renewed, 0 AS churned, 0 AS checkouts, 0 AS completed
    FROM refunds WHERE succeeded_at IS NOT NULL
    UNION ALL SELECT account_id, currency, created_at, 0 AS revenue, 0 AS refunds, 0 AS net_revenue, 0 AS orders, 0 AS mrr, 0 AS active, 0 AS started, 0 AS renewed, 0 AS churned, 1 AS checkouts, CASE WHEN status = 'completed' THEN 1 ELSE 0 END AS completed
    FROM checkouts
    UNION ALL SELECT account_id, currency, started_at, 0 AS revenue, 0 AS refunds, 0 AS net_revenue, 0 AS orders, 0 AS mrr, 0 AS active, 1 AS started, 0 AS renewed, 0 AS churned, 0 AS checkouts, 0 AS completed
    FROM subscriptions
    UNION ALL SELECT account_id, currency, ended_at, 0 AS revenue, 0 AS refunds, 0 AS net_revenue, 0 AS orders, 0 AS mrr, 0 AS active, 0 AS started, 0 AS renewed, 1 AS churned, 0 AS checkouts, 0 AS completed
    FROM subscriptions WHERE status = 'canceled'
    UNION ALL SELECT account_id, currency, COALESCE(trial_end, started_at), 0 AS revenue, 0 AS refunds, 0 AS net_revenue, 0 AS orders, monthly_amount AS mrr, 1 AS active, 0 AS started, 0 AS renewed, 0 AS churned, 0 AS checkouts, 0 AS completed
    FROM subscriptions WHERE monthly_amount IS NOT NULL
    UNION ALL SELECT account_id, currency, COALESCE(trial_end, started_at), 0 AS revenue, 0 AS refunds, 0 AS net_revenue, 0 AS orders, (2 * period_amount * CASE interval WHEN 'day' THEN 365 WHEN 'week' THEN 52 WHEN 'month' THEN 12 ELSE 1 END + 12 * interval_count) / (24 * interval_count) AS mrr, 1 AS active, 0 AS started, 0 AS renewed, 0 AS churned, 0 AS checkouts, 0 AS completed
    FROM subscriptions WHERE monthly_amount IS NULL AND cycles_billed > 0 AND status IN ('paused', 'canceled', 'completed')
    UNION ALL SELECT account_id, currency, COALESCE(ended_at, paused_at), 0 AS revenue, 0 AS refunds, 0 AS net_revenue, 0 AS orders, -((2 * period_amount * CASE interval WHEN 'day' THEN 365 WHEN 'week' THEN 52 WHEN 'month' THEN 12 ELSE 1 END + 12 * interval_count) / (24 * interval_count)) AS mrr, -1 AS active, 0 AS started, 0 AS renewed, 0 AS churned, 0 AS checkouts, 0 AS completed
    FROM subscriptions WHERE monthly_amount IS NULL AND cycles_billed > 0 AND status IN ('paused', 'canceled', 'completed')
) AS happened GROUP BY account_id, currency, at - at % 900000000
ON CONFLICT (account_id, currency, start) DO UPDATE SET revenue = excluded.revenue, refunds = excluded.refunds, net_revenue = excluded.net_revenue, orders = excluded.orders, mrr = excluded.mrr, active = excluded.active, started = excluded.started, renewed = excluded.renewed, churned = excluded.churned, checkouts = excluded.checkouts, completed = excluded.completed;

INSERT INTO metric_years (account_id, currency, start, mrr, active)
SELECT account_id, currency, start - start % 31536000000000, SUM(mrr), SUM(active) FROM metric_quarters
WHERE mrr <> 0 OR active <> 0 GROUP BY account_id, currency, start - start % 31536000000000
ON CONFLICT (account_id, currency, start) DO UPDATE SET mrr = excluded.mrr, active = excluded.active;

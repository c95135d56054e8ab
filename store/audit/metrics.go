package audit

import "github.com/tillwright/tillwright/store/internal/db"

// metricsInvariants add up once more, from the rows themselves, what was counted as it happened. What there is too much or too little of has a
// sum that is not 0. The id of a violation is the currency.
var metricsInvariants = []db.Invariant{
	{Promise: "the metrics of a quarter of an hour are what happened in it", Query: `
		SELECT account_id, MIN(currency) AS id FROM (
			SELECT account_id, currency, start, revenue, refunds, net_revenue, orders, started, renewed, churned, checkouts, completed FROM metric_quarters
			UNION ALL SELECT account_id, currency, paid_at - paid_at % 900000000,
				-total_amount, 0, -net_amount, -1, 0, CASE WHEN billing_reason = 'subscription_cycle' THEN -1 ELSE 0 END, 0, 0, 0
			FROM orders WHERE paid_at IS NOT NULL
			UNION ALL SELECT account_id, currency, succeeded_at - succeeded_at % 900000000, 0, -amount, amount - tax_amount, 0, 0, 0, 0, 0, 0
			FROM refunds WHERE succeeded_at IS NOT NULL
			UNION ALL SELECT account_id, currency, created_at - created_at % 900000000, 0, 0, 0, 0, 0, 0, 0, -1, CASE WHEN status = 'completed' THEN -1 ELSE 0 END
			FROM checkouts
			UNION ALL SELECT account_id, currency, started_at - started_at % 900000000, 0, 0, 0, 0, -1, 0, 0, 0, 0 FROM subscriptions
			UNION ALL SELECT account_id, currency, ended_at - ended_at % 900000000, 0, 0, 0, 0, 0, 0, -1, 0, 0 FROM subscriptions WHERE status = 'canceled'
		) AS happened GROUP BY account_id, currency, start HAVING
			SUM(revenue) <> 0 OR SUM(refunds) <> 0 OR SUM(net_revenue) <> 0 OR SUM(orders) <> 0 OR SUM(started) <> 0 OR SUM(renewed) <> 0 OR SUM(churned) <> 0 OR SUM(checkouts) <> 0 OR SUM(completed) <> 0`},
	{Promise: "a subscription counts in the metrics with what it comes to a month, if it is active or past due", Query: `
		SELECT account_id, id FROM subscriptions WHERE COALESCE(monthly_amount, -1) <> CASE WHEN status IN ('active', 'past_due') THEN
			(2 * period_amount * CASE interval WHEN 'day' THEN 365 WHEN 'week' THEN 52 WHEN 'month' THEN 12 ELSE 1 END + 12 * interval_count) / (24 * interval_count) ELSE -1 END`},
	{Promise: "the metrics of subscriptions have changed to what they come to now", Query: `
		SELECT account_id, MIN(currency) AS id FROM (
			SELECT account_id, currency, mrr, active FROM metric_quarters
			UNION ALL SELECT account_id, currency, -monthly_amount, -1 FROM subscriptions WHERE monthly_amount IS NOT NULL
		) AS changes GROUP BY account_id, currency HAVING SUM(mrr) <> 0 OR SUM(active) <> 0`},
	{Promise: "the metrics of a year are the changes in it", Query: `
		SELECT account_id, MIN(currency) AS id FROM (
			SELECT account_id, currency, start, mrr, active FROM metric_years
			UNION ALL SELECT account_id, currency, start - start % 31536000000000, -mrr, -active FROM metric_quarters
		) AS changes GROUP BY account_id, currency, start HAVING SUM(mrr) <> 0 OR SUM(active) <> 0`},
}

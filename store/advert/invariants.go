package advert

import "github.com/tillwright/tillwright/store/internal/db"

// Invariants hold after every transaction.
var Invariants = []db.Invariant{
	{Promise: "an identifier that waits for its upload belongs to one under way", Query: `
		SELECT m.account_id, m.audience_id AS id FROM ad_audience_members m WHERE m.uploaded_at IS NULL AND NOT EXISTS (
			SELECT 1 FROM ad_actions a WHERE a.account_id = m.account_id AND a.id = m.action_id AND a.state IN ('begun', 'unknown'))`},
	{Promise: "a daily budget comes to itself in a day", Query: `
		SELECT account_id, platform_id AS id FROM ad_campaigns WHERE budget_type <> 'lifetime' AND daily_amount <> budget_amount
		UNION ALL SELECT account_id, platform_id AS id FROM ad_groups WHERE budget_type <> 'lifetime' AND daily_amount <> budget_amount`},
	{Promise: "a lifetime budget comes to no more in a day, and to something", Query: `
		SELECT account_id, platform_id AS id FROM ad_campaigns WHERE budget_type = 'lifetime' AND budget_amount > 0 AND (daily_amount > budget_amount OR daily_amount <= 0)
		UNION ALL SELECT account_id, platform_id AS id FROM ad_groups WHERE budget_type = 'lifetime' AND budget_amount > 0 AND (daily_amount > budget_amount OR daily_amount <= 0)`},
	{Promise: "an ad ends with its ad group or its campaign, whichever is first", Query: `
		SELECT a.account_id, a.platform_id AS id FROM ads a
		JOIN ad_groups g ON g.account_id = a.account_id AND g.platform_id = a.ad_group_id AND g.platform = a.platform
		LEFT JOIN ad_campaigns c ON c.account_id = g.account_id AND c.platform_id = g.campaign_id AND c.platform = g.platform
		WHERE a.ends_at IS DISTINCT FROM CASE WHEN g.ends_at IS NULL OR c.ends_at < g.ends_at THEN c.ends_at ELSE g.ends_at END`},
	{Promise: "an ad was made by one action", Query: `
		SELECT account_id, target_id AS id FROM ad_actions WHERE op IN ('create_ad', 'boost_post') AND state = 'done'
		GROUP BY account_id, platform, target_id HAVING COUNT(*) > 1`},
	{Promise: "a conversion that nobody is told of any more says nothing of who it was", Query: `
		SELECT account_id, id FROM ad_conversions WHERE status <> 'pending' AND (user_data <> '{}' OR customer_id IS NOT NULL OR due_at IS NOT NULL OR expires_at IS NOT NULL)`},
	{Promise: "a conversion that waits is told or ends", Query: `
		SELECT account_id, id FROM ad_conversions WHERE status = 'pending' AND (due_at IS NULL OR expires_at IS NULL)`},
}

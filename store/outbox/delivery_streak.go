package outbox

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// streak says what the results of one round change about the number of failures in a row of an endpoint.
type streak struct {
	Account  string `json:"account"`
	Endpoint string `json:"endpoint"`
	Reset    bool   `json:"reset"`    // one of them succeeded
	Failures int    `json:"failures"` // since then
}

// streaksOf makes the streaks of the endpoints from results, in their order. A delivery that was never sent says nothing
// about its endpoint and is passed over.
func streaksOf(results []DeliveryResult) []*streak {
	streaks := map[string]*streak{}
	for _, r := range results {
		if r.Reason == ReasonEndpointInactive || r.Reason == ReasonAborted {
			continue
		}
		s := streaks[r.Endpoint]
		if s == nil {
			s = &streak{Account: r.Account, Endpoint: r.Endpoint}
			streaks[r.Endpoint] = s
		}
		if s.Failures++; r.Reason == "" {
			s.Reset, s.Failures = true, 0
		}
	}
	return slices.Collect(maps.Values(streaks))
}

// countFailures updates the number of failures in a row of the endpoints that failed in this round or before it. Most endpoints are not written
// at all. An endpoint whose row is locked is skipped, because the number is only for people to look at. No round may wait while an owner
// deactivates an endpoint with many deliveries.
func (s *Store) countFailures(ctx context.Context, u *db.Unit, results []DeliveryResult, now core.Time) error {
	streaks := streaksOf(results)
	if len(streaks) == 0 {
		return nil
	}
	_, err := u.Exec(ctx, `
		WITH streaks AS MATERIALIZED (
			SELECT account_id AS streak_account, id AS streak_endpoint, reset, failures
			FROM webhook_endpoints JOIN `+s.db.JSONTable("account text", "endpoint text", "reset boolean", "failures bigint")+` AS r
				ON account_id = account AND id = endpoint
			WHERE failures > 0 OR consecutive_failures > 0
			ORDER BY account_id, id`+u.LockSkip()+`
		)
		UPDATE webhook_endpoints SET
			consecutive_failures = CASE WHEN reset THEN 0 ELSE consecutive_failures END + failures,
			failing_since = CASE WHEN failures = 0 THEN NULL WHEN reset OR failing_since IS NULL THEN CAST(? AS BIGINT) ELSE failing_since END
		FROM streaks WHERE account_id = streak_account AND id = streak_endpoint`,
		core.JSONOf(streaks), now)
	if err != nil {
		return fmt.Errorf("count failures: %w", err)
	}
	return nil
}

package outbox

import (
	"context"
	"fmt"
	"time"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// failingLong is for how long an endpoint takes nothing before its owners are told.
const failingLong = time.Hour

// untold is the condition that nobody was told yet since when an endpoint has been failing. An index has it in the same words.
const untold = `failing_since IS NOT NULL AND (told_since IS NULL OR told_since <> failing_since)`

// ofEnabled is the condition that the account of an endpoint is enabled. Owners of one that is not are told once it is.
const ofEnabled = `EXISTS (SELECT 1 FROM accounts AS a WHERE a.id = webhook_endpoints.account_id AND a.disabled_at IS NULL)`

// FailingEndpoints names active endpoints of enabled accounts that have taken nothing for an hour, of which nobody was told yet, at most limit. It goes
// past those of disabled accounts.
func (s *Store) FailingEndpoints(ctx context.Context, limit int) ([]core.Due, error) {
	return db.Select[core.Due](ctx, s.db, `
		SELECT account_id, id FROM webhook_endpoints WHERE status = 'active' AND `+untold+` AND failing_since <= ? AND `+ofEnabled+` ORDER BY failing_since LIMIT ?`,
		s.Now().Add(-failingLong), limit)
}

// NoteTold notes that owners are told that an endpoint fails, and returns it. It is nil if there is nothing to tell: it works again, they were told,
// or the account is disabled.
func (s *Store) NoteTold(ctx context.Context, u *db.Unit, account, id string) (*WebhookEndpoint, error) {
	rows, err := u.Exec(ctx, `UPDATE webhook_endpoints SET told_since = failing_since WHERE account_id = ? AND id = ? AND `+untold+` AND failing_since <= ? AND `+ofEnabled,
		account, id, s.Now().Add(-failingLong))
	if err != nil {
		return nil, fmt.Errorf("note that owners are told of an endpoint: %w", err)
	}
	if rows == 0 {
		return nil, nil
	}
	return findWebhookEndpoint(ctx, u, account, id, "")
}

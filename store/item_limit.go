package store

import (
	"context"
	"time"

	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/throttle"
)

// mostItems is how many items an account may send in bulk within a minute: ten times as many as one key may send requests. A server that
// writes alone for this account can keep up with it.
const mostItems = 6000

// CountItems counts items that an account sends in bulk. With more than 6,000 a minute it returns CodeRateLimit, and counts none of them.
// Until the transaction ends, other bulk writes of the account wait here. So two with the same items, each in another order, do not wait for each
// other in a circle.
func (s *Store) CountItems(ctx context.Context, account string, items int) error {
	refuse := func(over *throttle.Over) error {
		return over.Refuse("items", "An account may send 6,000 items a minute in bulk. Nothing was written. Try again in")
	}
	return db.Unnoted(ctx, func() error {
		return s.Throttle.Count(ctx, account, refuse, throttle.Limit{Subject: "bulk", Most: mostItems, Window: time.Minute, Times: int64(max(items, 1))})
	})
}

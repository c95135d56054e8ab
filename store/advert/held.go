package advert

import (
	"context"
	"fmt"

	"github.com/tillwright/tillwright/store/internal/db"
)

// HeldAds returns the ads of an ad group that were made through this service and are switched off, oldest first. Those
// that can never be delivered again are left out. The fields that are not columns are not set.
func (s *Store) HeldAds(ctx context.Context, g *Group) ([]Ad, error) {
	rows, err := db.Select[Ad](ctx, s.db, adRows.SelectSQL+`
		WHERE account_id = ? AND ad_group_id = ? AND platform = ? AND source = 'native' AND configured_status = 'paused'
			AND status NOT IN ('rejected', 'completed', 'cancelled') ORDER BY id`, g.AccountID, g.PlatformID, g.Platform)
	if err != nil {
		return nil, fmt.Errorf("read ads that are off: %w", err)
	}
	return rows, nil
}

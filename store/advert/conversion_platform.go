package advert

import (
	"context"

	"github.com/tillwright/tillwright/store/internal/db"
)

// ConversionPlatforms returns the networks that an account's destinations tell of what happens in the shop, each once.
func (s *Store) ConversionPlatforms(ctx context.Context, account string) ([]Platform, error) {
	return db.Select[Platform](ctx, s.db, `
		SELECT DISTINCT platform FROM ad_conversion_destinations WHERE account_id = ? AND status <> 'paused' ORDER BY platform`, account)
}

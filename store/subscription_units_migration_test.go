package store

import (
	"io/fs"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/migrations"
	"github.com/tillwright/tillwright/store/subscription"
)

// TestMigrate_LetsChangesTakePlaceThatWaitedBefore begins with a change that holds nothing, to more than there may be left by now.
func TestMigrate_LetsChangesTakePlaceThatWaitedBefore(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		s.subscribers(t, 3)
		for id, variant := range map[string]string{"sub_1": "price_1", "sub_2": "price_2"} {
			change := subscription.PendingChange{Plan: subscription.Plan{PriceVariantID: variant, Quantity: 5}}
			_, err := s.db.Write.DB.Exec(s.db.Rebind(`UPDATE subscriptions SET pending_change = ? WHERE account_id = ? AND id = ?`), core.JSONText(change), s.account, id)
			require.NoError(t, err)
		}
		_, err := s.db.Write.DB.Exec(`ALTER TABLE subscriptions DROP COLUMN units`)
		require.NoError(t, err)
		files, err := migrations.FS(s.Engine())
		require.NoError(t, err)
		step, err := fs.ReadFile(files, "00159_plan_units.sql")
		require.NoError(t, err)
		_, err = s.db.Write.DB.Exec(string(step))
		require.NoError(t, err)
		for id, want := range map[string][]subscription.PlanUnits{
			"sub_1": {{PriceVariantID: "price_1", Most: 5}},
			"sub_2": {{PriceVariantID: "price_1", Most: 1}, {PriceVariantID: "price_2", Most: 5}},
			"sub_3": nil,
		} {
			sub, err := db.Get[subscription.Subscription](t.Context(), s.db, subscription.Columns.SelectSQL+` WHERE account_id = ? AND id = ?`, s.account, id)
			require.NoError(t, err)
			require.Equal(t, want, sub.Units.V, id)
			require.Empty(t, sub.MoveUnits(false), id)
		}
	})
}

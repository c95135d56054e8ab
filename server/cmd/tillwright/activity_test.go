package main

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/activity"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/tenant"
	"github.com/tillwright/tillwright/tests/harness/database"
)

// What the operator does stands among what was done: an import as one line, and what changes nothing not at all.
func TestActivity_HasWhatTheOperatorDid(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		shop := newShop(t, url)
		sealer, err := core.NewSealer(make([]byte, 32))
		require.NoError(t, err)
		s, err := store.Open(t.Context(), store.Options{URL: url, Sealer: sealer})
		require.NoError(t, err)
		defer s.Close()
		account := shop.account.Account
		i := &importer{store: s, kind: importKinds[0], path: written(t, "people.csv", "email\na@example.com\nb@example.com\n"), meter: newUploadMeter(t.Output())}
		_, err = i.run(activity.As(t.Context(), activity.Actor{Type: activity.ActorCLI}), account)
		require.NoError(t, err)
		for range 2 {
			require.NoError(t, logged(t.Context(), s, func(ctx context.Context) (done, error) {
				a, _, err := s.Tenant.DisableAccount(ctx, account)
				return ofAccount(a, "disableAccount"), err
			}))
		}
		require.Error(t, logged(t.Context(), s, func(ctx context.Context) (done, error) {
			_, _, err := s.Tenant.CreateAPIKey(ctx, account, tenant.Granted{}, tenant.NewAPIKey{Name: "Shop"})
			require.NoError(t, err)
			return done{}, assert.AnError
		}))
		lines, _, err := s.Activity.ListActivities(t.Context(), account, activity.ListActivities{Page: core.Page{Limit: 100}, Actor: "cli"})
		require.NoError(t, err)
		require.Len(t, lines, 2)
		assert.Equal(t, "disableAccount", lines[0].Operation)
		assert.Equal(t, account, *lines[0].TargetID)
		assert.Equal(t, "import", lines[1].Operation)
		assert.Equal(t, "customers", lines[1].TargetObject)
	})
}

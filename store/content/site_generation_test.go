package content

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/dbtest"
	"github.com/tillwright/tillwright/tests/harness/database"
)

func TestBeginGeneration_LetsSoManyPassUntilTheHourIsOver(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		var clock atomic.Int64
		at := func(hour, minute int) { clock.Store(time.Date(2027, 1, 1, hour, minute, 0, 0, time.UTC).Unix()) }
		at(10, 50)
		d := dbtest.Open(t, url, func() time.Time { return time.Unix(clock.Load(), 0) })
		s, account, other := New(d), dbtest.Account(t, d), dbtest.Account(t, d)
		begins := func(account string) error {
			sites, _, err := s.ListAISites(t.Context(), account, ListAISites{Page: core.Page{Limit: 1}})
			require.NoError(t, err)
			_, err = s.BeginGeneration(context.Background(), account, sites[0].ID)
			return err
		}
		for _, whose := range []string{account, other} {
			_, err := s.CreateAISite(t.Context(), whose, AISiteDraft{AISite: &AISite{Name: "Shop front"}})
			require.NoError(t, err)
		}
		for range generationsAnHour {
			require.NoError(t, begins(account))
		}
		for range 2 {
			require.Equal(t, &core.Error{Code: core.CodeRateLimit, Param: "prompt", After: 10 * time.Minute,
				Message: "At most 20 pages are generated within an hour. Try again in the next one."}, begins(account))
		}
		require.NoError(t, begins(other))
		at(11, 0)
		for range generationsAnHour {
			require.NoError(t, begins(account))
		}
		dbtest.RequireCode(t, begins(account), core.CodeRateLimit)
	})
}

package ads_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/core"
)

// seed returns a random number for a test, which TILLWRIGHT_TEST_SEED repeats.
func seed(t *testing.T) uint64 {
	t.Helper()
	number := rand.Uint64()
	if text := os.Getenv("TILLWRIGHT_TEST_SEED"); text != "" {
		var err error
		number, err = strconv.ParseUint(text, 10, 64)
		require.NoError(t, err)
	}
	t.Logf("TILLWRIGHT_TEST_SEED=%d", number)
	return number
}

// TestGuardrails_HoldWhateverIsAskedFor lets several callers create, raise, pause and resume at random, while answers
// of the network get lost. What the network may spend in a day never exceeds the limit.
func TestGuardrails_HoldWhateverIsAskedFor(t *testing.T) {
	number := seed(t)
	each(t, func(t *testing.T, w *world) {
		const callers, turns = 4, 12
		limit := w.seeded() + 200
		w.limit(90, limit)
		var mu sync.Mutex
		var groups, campaigns []string
		one := func(of *[]string, r *rand.Rand) string {
			mu.Lock()
			defer mu.Unlock()
			if len(*of) == 0 {
				return "none"
			}
			return (*of)[r.IntN(len(*of))]
		}
		turn := func(r *rand.Rand) error {
			amount := fmt.Sprint(5 + r.IntN(100))
			switch r.IntN(6) {
			case 0, 1:
				in := w.ad()
				in.BudgetAmount, in.BudgetLevel = amount, []string{"ad_group", "campaign"}[r.IntN(2)]
				out, err := w.CreateAd(t.Context(), w.by, in)
				if err == nil {
					mu.Lock()
					groups, campaigns = append(groups, out.Ad.Row.AdGroupID), append(campaigns, out.Ad.Row.CampaignID)
					mu.Unlock()
				}
				return err
			case 2:
				_, err := w.UpdateAdGroup(t.Context(), w.by, one(&groups, r), budget(amount, "daily"))
				return err
			case 3:
				_, err := w.UpdateCampaign(t.Context(), w.by, one(&campaigns, r), budget(amount, "daily"))
				return err
			case 4:
				_, err := w.BulkPauseCampaigns(t.Context(), w.by, ads.Bulk{Items: []ads.BulkItem{{ID: one(&campaigns, r)}, {ID: one(&campaigns, r)}}})
				return err
			default:
				_, err := w.BulkResumeCampaigns(t.Context(), w.by, ads.Bulk{Items: []ads.BulkItem{{ID: one(&campaigns, r)}, {ID: one(&campaigns, r)}}})
				return err
			}
		}
		var all sync.WaitGroup
		for caller := range callers {
			all.Go(func() {
				r := rand.New(rand.NewPCG(number, uint64(caller)))
				for range turns {
					w.line.lose.Store(r.IntN(5) == 0)
					err := turn(r)
					var answer *core.Error
					if err != nil && !errors.As(err, &answer) && !assert.ErrorContains(t, err, "no known outcome yet") {
						return
					}
				}
			})
		}
		all.Wait()
		w.line.lose.Store(false)
		assert.LessOrEqual(t, w.seeded(), limit, "with what is not known")
		w.giveUp()
		for _, action := range w.actions() {
			assert.True(t, action.IsFinal())
		}
		mirrored := w.seeded()
		w.advance.Store(int64(time.Hour))
		require.NoError(t, w.SyncDue(t.Context()))
		assert.Equal(t, mirrored, w.seeded(), "the network has what we think it has")
		assert.LessOrEqual(t, mirrored, limit)
		assert.NotEmpty(t, w.native())
	})
}

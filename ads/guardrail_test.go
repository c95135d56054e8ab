package ads_test

import (
	"context"
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
					daily, err := w.spend()
					if !assert.NoError(t, err) || !assert.LessOrEqual(t, daily, limit, "while the others go on") {
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
		thought := w.seeded()
		w.looks() // at what is marked, and at nothing else
		mirrored := w.seeded()
		assert.LessOrEqual(t, mirrored, thought, "what is in doubt counts")
		w.advance.Store(int64(time.Hour))
		require.NoError(t, w.SyncDue(t.Context()))
		assert.Equal(t, mirrored, w.seeded(), "the network has what we think it has")
		assert.LessOrEqual(t, mirrored, limit)
		assert.NotEmpty(t, w.native())
	})
}

// meanwhile makes something happen once between the next write at a network and its answer.
func (w *world) meanwhile(do func()) {
	w.line.reply = func() {
		w.line.reply = nil
		do()
	}
}

// spends asserts what may be spent in a day, and that the network has just that.
func (w *world) spends(daily int64, what string) {
	w.t.Helper()
	assert.Equal(w.t, daily, w.seeded(), what)
	w.advance.Add(int64(time.Hour))
	require.NoError(w.t, w.SyncDue(w.t.Context()))
	assert.Equal(w.t, daily, w.seeded(), what+": the network")
}

// newest asks the network what it has, and returns the id of the newest campaign.
func (w *world) newest() string {
	w.t.Helper()
	w.advance.Add(int64(time.Hour))
	require.NoError(w.t, w.SyncDue(w.t.Context()))
	list, err := w.Service.ListCampaigns(w.t.Context(), w.by.Account, ads.ListCampaigns{})
	require.NoError(w.t, err)
	return list.Items[0].Row.PlatformID
}

func TestGuardrails_ALateAnswerUndoesNothing(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		none := w.seeded()
		in := w.ad()
		in.BudgetLevel = "campaign"
		c, g := w.create(in).Row, w.create(w.ad()).Row
		one := ads.Bulk{Items: []ads.BulkItem{{ID: c.CampaignID}}}
		pause := func() {
			_, err := w.BulkPauseCampaigns(t.Context(), w.by, one)
			require.NoError(t, err)
		}
		w.limit(90, none+90)
		w.meanwhile(func() {
			pause()
			w.create(w.ad()) // with what the pause has freed
		})
		_, err := w.UpdateCampaign(t.Context(), w.by, c.CampaignID, budget("70", "daily"))
		require.NoError(t, err)
		w.spends(none+40, "a campaign")

		w.meanwhile(func() {
			_, err := w.PauseAdGroup(t.Context(), w.by, g.AdGroupID, "")
			require.NoError(t, err)
		})
		_, err = w.UpdateAdGroup(t.Context(), w.by, g.AdGroupID, budget("30", "daily"))
		require.NoError(t, err)
		w.spends(none+20, "an ad group")

		w.meanwhile(func() {
			one.Items[0].ID = w.newest()
			pause()
		})
		w.create(w.ad())
		w.spends(none+20, "a new campaign")

		w.limit(90, none+200)
		ad := w.create(w.ad()).Row
		on := w.seeded()
		one.Items[0].ID = ad.CampaignID
		for name, turn := range w.turns(ad) {
			w.meanwhile(func() {
				require.NoError(t, turn.pause())
				require.NoError(t, turn.resume())
			})
			require.NoError(t, turn.pause())
			w.spends(on, name)
		}

		paused, turnedOff, raised := make(chan error, 1), make(chan bool), make(chan bool)
		w.meanwhile(func() {
			w.meanwhile(func() {
				close(turnedOff)
				<-raised
			})
			go func() {
				_, err := w.PauseAdGroup(t.Context(), w.by, ad.AdGroupID, "")
				paused <- err
			}()
			<-turnedOff
		})
		_, err = w.UpdateAdGroup(t.Context(), w.by, ad.AdGroupID, budget("30", "daily"))
		close(raised)
		require.NoError(t, err)
		require.NoError(t, <-paused)
		w.spends(on-20, "a pause whose answer comes after that of an update")

		w.meanwhile(func() {
			one.Items[0].ID = w.newest()
			_, err := w.BulkResumeCampaigns(t.Context(), w.by, one)
			require.NoError(t, err)
		})
		in.Status = "paused"
		w.create(in)
		w.spends(on, "a new campaign")

		w.meanwhile(func() {
			_, err := w.UpdateCampaign(t.Context(), w.by, w.newest(), budget("50", "daily"))
			require.NoError(t, err)
		})
		in.Status = ""
		w.create(in)
		w.spends(on+50, "a new campaign whose budget was raised")

		one.Items[0].ID = w.newest()
		pause()
		w.meanwhile(func() {
			_, err := w.DeleteCampaign(t.Context(), w.by, one.Items[0].ID, "")
			require.NoError(t, err)
		})
		_, err = w.BulkResumeCampaigns(t.Context(), w.by, one)
		require.NoError(t, err)
		w.advance.Add(int64(time.Hour))
		require.NoError(t, w.SyncDue(t.Context()))
		assert.Equal(t, on, w.seeded(), "a resume of what was deleted")

		w.line.first = map[string]ads.Created{}
		again := func(ctx context.Context) (any, error) { return w.CreateAd(ctx, w.by, in) }
		w.line.lose.Store(true)
		_, _, err = w.request("repeated", again)
		require.ErrorContains(t, err, "no known outcome yet")
		w.line.lose.Store(false)
		_, err = w.UpdateCampaign(t.Context(), w.by, w.newest(), budget("50", "daily"))
		require.NoError(t, err)
		_, _, err = w.request("repeated", again)
		require.NoError(t, err)
		w.spends(on+50, "a new campaign whose network repeats its answer")
	})
}

package ads_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/store/core"
)

// due lets the reconciler's pause pass.
func (w *world) due() {
	w.t.Helper()
	for _, action := range w.actions() {
		if !action.IsFinal() {
			require.NoError(w.t, w.Advert.YieldAction(w.t.Context(), action.AccountID, action.ID, -time.Second, action.Failure.V))
		}
	}
}

// giveUp lets the reconciler look until nothing can be on its way any more.
func (w *world) giveUp() {
	w.t.Helper()
	w.advance.Add(int64(2 * time.Minute))
	for range 2 {
		w.due()
		require.NoError(w.t, w.Reconcile(w.t.Context()))
	}
}

func (w *world) keyed(key string) (string, error) {
	body, _, err := w.request(key, func(ctx context.Context) (any, error) { return w.CreateAd(ctx, w.by, w.ad()) })
	return body, err
}

// unknown asserts that an error is no answer: the key stays taken.
func unknown(t *testing.T, err error) {
	t.Helper()
	require.Error(t, err)
	var e *core.Error
	assert.False(t, errors.As(err, &e), "%v", err)
}

func TestReconcile_FindsWhatALostAnswerMade(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.line.lose.Store(true)
		_, err := w.keyed("k1")
		unknown(t, err)
		require.NoError(t, w.Reconcile(t.Context()))
		assert.Zero(t, w.line.of("Find"), "the pause is not over")
		w.due()
		require.NoError(t, w.Reconcile(t.Context()))
		assert.Equal(t, advert.ActionDone, w.actions()[0].State)
		require.Len(t, w.native(), 1)

		body, err := w.keyed("k1")
		require.NoError(t, err, "the request is answered with what was found")
		assert.Contains(t, body, w.native()[0].Row.PlatformID)
		assert.Equal(t, 1, w.line.of("Create"))
	})
}

func TestReconcile_FreesWhatWasNeverMade(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		before := w.seeded()
		w.line.say("Create", ads.ErrIndeterminate)
		_, err := w.keyed("k1")
		unknown(t, err)
		assert.Equal(t, before+20, w.seeded(), "what may have been made counts")
		w.due()
		require.NoError(t, w.Reconcile(t.Context()))
		assert.Equal(t, advert.ActionRefused, w.actions()[0].State)
		assert.Equal(t, before, w.seeded())

		w.line.say("", nil)
		_, err = w.keyed("k1")
		var e *core.Error
		require.ErrorAs(t, err, &e)
		assert.EqualValues(t, "api_error", e.Code)
		_, err = w.keyed("k1")
		require.NoError(t, err, "the key is free again")
		assert.Len(t, w.native(), 1)
	})
}

func TestReconcile_SettlesChangesByWhatTheNetworkHas(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		ad := w.create(w.ad()).Row
		change := ads.UpdateBudget{Budget: &ads.BudgetInput{Amount: "30", Type: "daily"}}
		for _, test := range []struct {
			name string
			do   func() error
			op   advert.Op
		}{
			{"update", func() error {
				_, err := w.UpdateAdGroup(t.Context(), w.by, ad.AdGroupID, change)
				return err
			}, advert.OpUpdateGroup},
			{"pause", func() error { _, err := w.PauseAdGroup(t.Context(), w.by, ad.AdGroupID, ""); return err }, advert.OpPauseGroup},
			{"delete", func() error { _, err := w.DeleteCampaign(t.Context(), w.by, ad.CampaignID, ""); return err }, advert.OpDeleteCampaign},
		} {
			call := map[string]string{"update": "Update", "pause": "SetStatus", "delete": "Delete"}[test.name]
			w.line.say(call, ads.ErrIndeterminate)
			unknown(t, test.do())
			w.due()
			require.NoError(t, w.Reconcile(t.Context()), test.name)
			assert.Equal(t, advert.ActionUnknown, w.actions()[0].State, "%s: it may be on its way", test.name)
			w.giveUp()
			action := w.actions()[0]
			assert.Equal(t, test.op, action.Op)
			assert.Equal(t, advert.ActionRefused, action.State, test.name)

			w.line.say("", nil)
			w.line.lose.Store(true)
			unknown(t, test.do())
			w.line.lose.Store(false)
			w.due()
			writes := w.line.writes()
			require.NoError(t, w.Reconcile(t.Context()), test.name)
			assert.Equal(t, advert.ActionDone, w.actions()[0].State, test.name)
			assert.Equal(t, writes, w.line.writes(), "nothing is sent again")
		}
		group, err := w.Advert.GetGroup(t.Context(), w.by.Account, ad.Platform, ad.AdGroupID)
		require.NoError(t, err)
		assert.Equal(t, 30*advert.AmountUnit, group.BudgetAmount)
		assert.NotNil(t, group.DeletedAt)
	})
}

func TestReconcile_CountsAChangeThatTakesPlaceLate(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		before := w.seeded()
		ad := w.create(w.ad()).Row
		w.line.late.Store(true)
		_, err := w.UpdateAdGroup(t.Context(), w.by, ad.AdGroupID, budget("900", "daily"))
		unknown(t, err)
		for range 3 {
			w.due()
			require.NoError(t, w.Reconcile(t.Context()))
			assert.Equal(t, advert.ActionUnknown, w.actions()[0].State, "it is still on its way")
			assert.Equal(t, before+900, w.seeded())
		}
		w.line.arrive()
		w.due()
		require.NoError(t, w.Reconcile(t.Context()))
		assert.Equal(t, advert.ActionDone, w.actions()[0].State)
		assert.Equal(t, before+900, w.seeded())
	})
}

func TestReconcile_FindsABidThatStandsBelowItsCampaign(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.line.below.Store(true)
		in := w.ad()
		in.BudgetLevel = "campaign"
		ad := w.create(in).Row
		change := ads.UpdateBudget{Bid: ads.BidInput{Strategy: "cost_cap", Amount: "2.50"}}
		update := func() error {
			_, err := w.UpdateCampaign(t.Context(), w.by, ad.CampaignID, change)
			return err
		}
		w.line.say("Update", ads.ErrIndeterminate)
		unknown(t, update())
		w.giveUp()
		assert.Equal(t, advert.ActionRefused, w.actions()[0].State)

		w.line.say("", nil)
		w.line.lose.Store(true)
		unknown(t, update())
		w.line.lose.Store(false)
		w.due()
		require.NoError(t, w.Reconcile(t.Context()))
		assert.Equal(t, advert.ActionDone, w.actions()[0].State)
	})
}

func TestBulk_LeavesASwitchOpenThatMayTakePlaceLate(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		ad := w.create(w.ad()).Row
		w.line.say("SetStatus", ads.ErrIndeterminate)
		out, err := w.BulkPauseCampaigns(t.Context(), w.by, ads.Bulk{Items: []ads.BulkItem{{ID: ad.CampaignID}}})
		require.NoError(t, err)
		assert.Equal(t, 1, out.Failed)
		for range 2 {
			w.advance.Add(int64(40 * time.Second))
			w.due()
			require.NoError(t, w.Reconcile(t.Context()))
			assert.Equal(t, advert.ActionUnknown, w.actions()[0].State)
		}
		w.giveUp()
		assert.Equal(t, advert.ActionRefused, w.actions()[0].State)
	})
}

func TestReconcile_LooksTwiceBeforeItDenies(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		ad := w.create(w.ad()).Row
		w.line.say("SetStatus", ads.ErrIndeterminate)
		_, err := w.PauseAdGroup(t.Context(), w.by, ad.AdGroupID, "")
		unknown(t, err)
		w.advance.Add(int64(time.Hour))
		for _, state := range []advert.ActionState{advert.ActionUnknown, advert.ActionRefused} {
			w.due()
			require.NoError(t, w.Reconcile(t.Context()))
			assert.Equal(t, state, w.actions()[0].State)
		}
	})
}

func TestDelete_SameRequestIsAnsweredAfterTheReconciler(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		ad := w.create(w.ad()).Row
		audience := w.audience("customer_list")
		for key, do := range map[string]func(context.Context) (any, error){
			"campaign": func(ctx context.Context) (any, error) { return w.DeleteCampaign(ctx, w.by, ad.CampaignID, "") },
			"audience": func(ctx context.Context) (any, error) { return w.DeleteAudience(ctx, w.by, audience.ID) },
		} {
			w.line.lose.Store(true)
			_, _, err := w.request(key, do)
			unknown(t, err)
			w.line.lose.Store(false)
			w.due()
			require.NoError(t, w.Reconcile(t.Context()))
			_, _, err = w.request(key, do)
			require.NoError(t, err, key)
			_, _, err = w.request("another "+key, do)
			refused(t, err, core.CodeMissing, "")
		}
		assert.Equal(t, 1, w.line.of("Delete"))
		assert.Equal(t, 1, w.line.of("DeleteAudience"))
	})
}

func TestRun_EndsWithItsContext(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.line.lose.Store(true)
		_, err := w.keyed("k1")
		unknown(t, err)
		w.due()
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			w.Run(ctx)
			close(ended)
		}()
		require.Eventually(t, func() bool { return w.actions()[0].IsFinal() }, time.Minute, 20*time.Millisecond)
		cancel()
		<-ended
	})
}

func TestReconcile_RepeatsUploadsAndFindsAudiences(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		in := ads.CreateAudience{AccountID: w.channel.ID, AdAccountID: w.account.PlatformID, Name: "Buyers", Type: "customer_list"}
		w.line.lose.Store(true)
		_, err := w.Service.CreateAudience(t.Context(), w.by, in)
		unknown(t, err)
		w.line.lose.Store(false)
		w.due()
		require.NoError(t, w.Reconcile(t.Context()))
		id := w.actions()[0].TargetID
		audience, err := w.Service.GetAudience(t.Context(), w.by.Account, id)
		require.NoError(t, err)
		assert.Equal(t, "Buyers", audience.Name)
		assert.Equal(t, advert.SourceNative, audience.Source)

		w.line.say("UploadUsers", ads.ErrIndeterminate)
		_, err = w.UploadAudienceUsers(t.Context(), w.by, id, people(3))
		unknown(t, err)
		w.line.say("", nil)
		w.due()
		require.NoError(t, w.Reconcile(t.Context()))
		assert.Equal(t, advert.ActionDone, w.actions()[0].State)
		again, err := w.UploadAudienceUsers(t.Context(), w.by, id, people(3))
		require.NoError(t, err)
		assert.Equal(t, 3, again.Duplicates)

		w.line.lose.Store(true)
		_, err = w.DeleteAudience(t.Context(), w.by, id)
		unknown(t, err)
		w.line.lose.Store(false)
		w.due()
		require.NoError(t, w.Reconcile(t.Context()))
		_, err = w.Service.GetAudience(t.Context(), w.by.Account, id)
		refused(t, err, core.CodeMissing, "")
	})
}

func TestReconcile_LooksAtAnAdAccountOnce(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		items := w.campaigns(5)
		lost := func(items []ads.BulkItem) int64 {
			w.line.lose.Store(true)
			_, err := w.BulkPauseCampaigns(t.Context(), w.by, ads.Bulk{Items: items})
			require.NoError(t, err)
			w.line.lose.Store(false)
			w.due()
			before := w.line.syncs.Load()
			require.NoError(t, w.Reconcile(t.Context()))
			return w.line.syncs.Load() - before
		}
		one, four := lost(items[:1]), lost(items[1:])
		assert.Positive(t, one)
		assert.Equal(t, one, four, "one walk for all of them")
		for _, action := range w.actions()[:5] {
			assert.Equal(t, advert.ActionDone, action.State)
		}
	})
}

func TestReconcile_OneAccountDoesNotTakeTheWholeRound(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		lost := func(n int) {
			w.line.lose.Store(true)
			for range n {
				_, err := w.CreateAd(t.Context(), w.by, w.ad())
				unknown(t, err)
			}
			w.line.lose.Store(false)
			w.due()
		}
		settled := func() (n int) {
			for _, action := range w.actions() {
				if action.IsFinal() {
					n++
				}
			}
			return n
		}
		lost(5)
		busy := w.by
		w.by = w.newAccount("Bob's shop")
		w.channel = w.activate(advert.PlatformFacebook)
		w.account = w.adAccount(w.channel)
		lost(1)
		w.line.mu.Lock()
		w.line.answer = func(call string) error {
			if call == "Find" {
				w.advance.Add(int64(40 * time.Second))
			}
			return nil
		}
		w.line.mu.Unlock()
		require.NoError(t, w.Reconcile(t.Context()))
		assert.Equal(t, 1, settled())
		w.by = busy
		assert.Positive(t, settled())
		assert.Less(t, settled(), 5)
		for range 5 {
			require.NoError(t, w.Reconcile(t.Context()))
		}
		assert.Equal(t, 5, settled(), "its turn comes again")
	})
}

package ads_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/store/core"
)

func TestSwitchAd_TurnsOnlyIts(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		one := w.create(w.ad()).Row
		second := ads.CreateAd{AccountID: w.channel.ID, AdAccountID: w.account.PlatformID, Name: "Second", AdGroupID: one.AdGroupID, Creative: w.ad().Creative}
		other := w.create(second).Row
		paused, err := w.PauseAd(t.Context(), w.by, one.PlatformID, "facebook")
		require.NoError(t, err)
		assert.Equal(t, &ads.StatusResult{ID: one.PlatformID, Level: advert.LevelAd, Platform: "facebook", Configured: advert.ConfiguredPaused,
			Status: advert.StatusPaused, Changed: true, Updated: 1}, paused)
		writes := w.line.writes()
		paused, err = w.PauseAd(t.Context(), w.by, one.PlatformID, "")
		require.NoError(t, err)
		assert.False(t, paused.Changed)
		assert.Equal(t, writes, w.line.writes(), "no network was asked")
		still, err := w.GetAd(t.Context(), w.by.Account, other.PlatformID, ads.GetAdObject{})
		require.NoError(t, err)
		assert.Equal(t, advert.StatusActive, still.Status)

		_, err = w.PauseAdGroup(t.Context(), w.by, one.AdGroupID, "")
		require.NoError(t, err)
		resumed, err := w.ResumeAd(t.Context(), w.by, one.PlatformID, "")
		require.NoError(t, err)
		assert.Equal(t, advert.StatusPaused, resumed.Status)
		assert.Equal(t, 0, resumed.Updated)
		assert.Contains(t, resumed.Message, "/ads/ad-groups/"+one.AdGroupID+"/resume")
		assert.Equal(t, "allow ask", w.approval(advert.OpPauseAd)+" "+w.approval(advert.OpResumeAd))
	})
}

// approval is the tag of the newest action of an operation.
func (w *world) approval(op advert.Op) string {
	for _, action := range w.actions() {
		if action.Op == op {
			return action.Approval
		}
	}
	return ""
}

func TestResumeAd_KeepsTheLimits(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		ad := w.create(w.ad()).Row
		_, err := w.PauseAd(t.Context(), w.by, ad.PlatformID, "")
		require.NoError(t, err)
		for _, limits := range [][2]int64{{19, 1_000_000}, {100, w.seeded() - 1}} {
			w.limit(limits[0], limits[1])
			writes := w.line.writes()
			_, err = w.ResumeAd(t.Context(), w.by, ad.PlatformID, "")
			refused(t, err, core.CodeSpendLimit, "budget")
			for _, dry := range []bool{true, false} {
				_, err = w.UpdateAd(t.Context(), w.by, ad.PlatformID, ads.UpdateAd{Status: "active", DryRun: dry})
				refused(t, err, core.CodeSpendLimit, "status")
			}
			_, err = w.UpdateAd(t.Context(), w.by, ad.PlatformID, ads.UpdateAd{Name: "Renamed" + limitsName(limits)})
			require.NoError(t, err, "a name spends nothing")
			assert.Equal(t, writes+1, w.line.writes())
		}
		w.limit(100, w.seeded())
		resumed, err := w.ResumeAd(t.Context(), w.by, ad.PlatformID, "")
		require.NoError(t, err)
		assert.Equal(t, advert.StatusActive, resumed.Status)
	})
}

func TestUpdateAd_IsNoWayAroundABlockOfResume(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		ad := w.create(w.ad()).Row
		_, err := w.PauseAd(t.Context(), w.by, ad.PlatformID, "")
		require.NoError(t, err)
		_, err = w.UpdateLimits(t.Context(), w.by, func(l *advert.Limits) { l.BlockedOperations.V = []advert.Op{advert.OpResumeAd} })
		require.NoError(t, err)
		for _, dry := range []bool{true, false} {
			_, err = w.UpdateAd(t.Context(), w.by, ad.PlatformID, ads.UpdateAd{Status: "active", DryRun: dry})
			refused(t, err, core.CodeForbidden, "")
		}
		_, err = w.ResumeAd(t.Context(), w.by, ad.PlatformID, "")
		refused(t, err, core.CodeForbidden, "")
		_, err = w.UpdateAd(t.Context(), w.by, ad.PlatformID, ads.UpdateAd{Name: "Renamed"})
		require.NoError(t, err)
	})
}

func TestUpdateAd_CountsWhatANewCreativeBringsBack(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		before := w.seeded()
		refusedAd := w.ad()
		refusedAd.Creative.Headline = "[reject] Miracle cure"
		ad := w.create(refusedAd).Row
		require.Equal(t, before, w.seeded(), "nobody spends the budget of what was rejected")
		good := w.ad().Creative
		w.limit(100, before+19)
		writes := w.line.writes()
		for _, dry := range []bool{true, false} {
			_, err := w.UpdateAd(t.Context(), w.by, ad.PlatformID, ads.UpdateAd{Creative: &good, DryRun: dry})
			refused(t, err, core.CodeSpendLimit, "creative")
		}
		assert.Equal(t, writes, w.line.writes())
		_, err := w.UpdateAd(t.Context(), w.by, ad.PlatformID, ads.UpdateAd{Name: "Renamed"})
		require.NoError(t, err, "a name brings nothing back")
		assert.Equal(t, before, w.seeded())

		w.limit(100, before+20)
		_, err = w.UpdateAd(t.Context(), w.by, ad.PlatformID, ads.UpdateAd{Creative: &good})
		require.NoError(t, err)
		assert.Equal(t, before+20, w.seeded(), "it counts again")
		_, err = w.CreateAd(t.Context(), w.by, w.ad())
		refused(t, err, core.CodeSpendLimit, "budget_amount")
	})
}

func limitsName(limits [2]int64) string {
	if limits[0] == 19 {
		return " once"
	}
	return " twice"
}

func TestUpdateAd_ChangesNameAndSwitch(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		ad := w.create(w.ad()).Row
		out, err := w.UpdateAd(t.Context(), w.by, ad.PlatformID, ads.UpdateAd{Name: "Summer", Status: "paused"})
		require.NoError(t, err)
		assert.Equal(t, "Summer", out.Ad.Row.Name)
		assert.Equal(t, advert.StatusPaused, out.Ad.Status)
		assert.NotNil(t, out.Ad.Metrics)
		assert.Equal(t, "New course", out.Ad.Row.Creative.V.Headline)
		action := w.actions()[0]
		assert.Equal(t, advert.OpUpdateAd, action.Op)
		assert.Contains(t, action.Before.Text(), `"Spring"`)
		assert.Contains(t, action.After.Text(), `"Summer"`)

		writes := w.line.writes()
		for _, nothing := range []ads.UpdateAd{{}, {Platform: "facebook"}, {Name: "Summer", Status: "paused"}} {
			out, err = w.UpdateAd(t.Context(), w.by, ad.PlatformID, nothing)
			require.NoError(t, err)
			assert.Nil(t, out.Ad.Metrics, "no network was asked")
		}
		plan, err := w.UpdateAd(t.Context(), w.by, ad.PlatformID, ads.UpdateAd{Name: "Winter", Status: "active", DryRun: true})
		require.NoError(t, err)
		assert.Equal(t, []ads.PlannedCall{{Action: "update_ad", ID: ad.PlatformID, Fields: map[string]string{"name": "Winter", "status": "ACTIVE"}}}, plan.Plan.Calls)
		assert.Equal(t, writes, w.line.writes())

		_, err = w.DeleteAd(t.Context(), w.by, ad.PlatformID, "google")
		refused(t, err, core.CodeMissing, "")
		_, err = w.DeleteAd(t.Context(), w.by, ad.PlatformID, "")
		require.NoError(t, err)
		gone, err := w.GetAd(t.Context(), w.by.Account, ad.PlatformID, ads.GetAdObject{})
		require.NoError(t, err)
		assert.Equal(t, advert.StatusCancelled, gone.Status)
		for _, do := range []func() error{
			func() error { _, err := w.DeleteAd(t.Context(), w.by, ad.PlatformID, ""); return err },
			func() error { _, err := w.PauseAd(t.Context(), w.by, ad.PlatformID, ""); return err },
			func() error {
				_, err := w.UpdateAd(t.Context(), w.by, ad.PlatformID, ads.UpdateAd{Name: "x"})
				return err
			},
		} {
			refused(t, do(), core.CodeMissing, "")
		}
	})
}

// A group's resume switches on what was made off, but not what somebody has switched off since.
func TestResumeAdGroup_LeavesAnAdThatWasPaused(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		draft := w.ad()
		draft.Status = "paused"
		for name, pause := range map[string]func(id string) error{
			"pause": func(id string) error { _, err := w.PauseAd(t.Context(), w.by, id, ""); return err },
			"update": func(id string) error {
				_, err := w.UpdateAd(t.Context(), w.by, id, ads.UpdateAd{Status: "paused"})
				return err
			},
		} {
			ad := w.create(draft).Row
			_, err := w.ResumeAdGroup(t.Context(), w.by, ad.AdGroupID, "")
			require.NoError(t, err)
			_, err = w.PauseAdGroup(t.Context(), w.by, ad.AdGroupID, "")
			require.NoError(t, err)
			require.NoError(t, pause(ad.PlatformID))
			_, err = w.ResumeAdGroup(t.Context(), w.by, ad.AdGroupID, "")
			require.NoError(t, err)
			is, err := w.GetAd(t.Context(), w.by.Account, ad.PlatformID, ads.GetAdObject{})
			require.NoError(t, err)
			assert.Equal(t, advert.ConfiguredPaused, is.Row.ConfiguredStatus, name)
		}
	})
}

func TestOneAd_IsSettledWhenItsAnswerGotLost(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		ad := w.create(w.ad()).Row
		w.settles("pause", func(ctx context.Context) (any, error) { return w.PauseAd(ctx, w.by, ad.PlatformID, "") })
		w.settles("resume", func(ctx context.Context) (any, error) { return w.ResumeAd(ctx, w.by, ad.PlatformID, "") })
		w.settles("update", func(ctx context.Context) (any, error) {
			return w.UpdateAd(ctx, w.by, ad.PlatformID, ads.UpdateAd{Name: "Other", Status: "paused"})
		})
		w.settles("delete", func(ctx context.Context) (any, error) { return w.DeleteAd(ctx, w.by, ad.PlatformID, "") })
	})
}

// settles loses the answer to a write, and lets the reconciler find out that it was done.
func (w *world) settles(name string, do func(context.Context) (any, error)) {
	w.t.Helper()
	w.line.lose.Store(true)
	_, _, err := w.request(name, do)
	require.Error(w.t, err, name)
	w.line.lose.Store(false)
	require.Equal(w.t, advert.ActionUnknown, w.actions()[0].State, name)
	w.due()
	require.NoError(w.t, w.Reconcile(w.t.Context()))
	assert.Equal(w.t, advert.ActionDone, w.actions()[0].State, name)
	writes := w.line.writes()
	_, _, err = w.request(name, do)
	require.NoError(w.t, err, name)
	assert.Equal(w.t, writes, w.line.writes(), name)
}

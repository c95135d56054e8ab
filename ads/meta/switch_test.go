package meta_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/tests/harness/metafake"
)

func TestSetStatus_TurnsEveryLevelAndSaysWhatMoved(t *testing.T) {
	t.Parallel()
	for _, level := range []advert.Level{advert.LevelCampaign, advert.LevelGroup, advert.LevelAd} {
		w := newWorld(t, advert.PlatformFacebook)
		made := w.create(t, plan(nil))
		ids := map[advert.Level]string{advert.LevelCampaign: made.Campaign.PlatformID, advert.LevelGroup: made.Group.PlatformID, advert.LevelAd: made.Ad.PlatformID}
		ref := ads.Ref{AdAccount: dollars, Level: level, ID: ids[level]}

		results, err := w.net.SetStatus(t.Context(), w.conn, []ads.Ref{ref}, advert.ConfiguredPaused)
		require.NoError(t, err)
		require.Len(t, results, 1)
		require.NoError(t, results[0].Err)
		assert.Equal(t, ref, results[0].Ref)
		assert.Equal(t, "PAUSED", w.fake.Field(ids[level], "status"))
		assert.Equal(t, 1, results[0].Updated)
		assert.Zero(t, results[0].Skipped)
		require.Len(t, results[0].State.Ads, 1)
		assert.Equal(t, advert.StatusPaused, results[0].State.Ads[0].Status)
		assert.Len(t, results[0].State.Campaigns, map[advert.Level]int{advert.LevelCampaign: 1}[level])

		results, err = w.net.SetStatus(t.Context(), w.conn, []ads.Ref{ref}, advert.ConfiguredActive)
		require.NoError(t, err)
		assert.Equal(t, advert.StatusActive, results[0].State.Ads[0].Status)
		assert.Equal(t, "ACTIVE", w.fake.Field(ids[level], "status"))
	}
}

func TestSetStatus_CountsAdsThatDidNotMove(t *testing.T) {
	t.Parallel()
	w := newWorld(t, advert.PlatformFacebook)
	made := w.create(t, plan(nil))
	w.create(t, plan(func(p *ads.Plan) {
		p.CampaignID, p.AdGroupID, p.Configured = made.Campaign.PlatformID, made.Group.PlatformID, advert.ConfiguredPaused
	}))
	results, err := w.net.SetStatus(t.Context(), w.conn, []ads.Ref{ref(made)}, advert.ConfiguredPaused)
	require.NoError(t, err)
	assert.Equal(t, 1, results[0].Updated)
	assert.Equal(t, 1, results[0].Skipped)
	require.Len(t, results[0].Reasons, 1)
	assert.Contains(t, results[0].Reasons[0], "paused")
}

// fifty makes campaigns and returns references to them.
func (w *world) fifty() []ads.Ref {
	var refs []ads.Ref
	for i := range 50 {
		campaign, _, _ := w.external(dollars, fmt.Sprint(i))
		refs = append(refs, ads.Ref{AdAccount: dollars, Level: advert.LevelCampaign, ID: campaign})
	}
	return refs
}

func TestSetStatus_HasAResultForEachOfFifty(t *testing.T) {
	t.Parallel()
	w := newWorld(t, advert.PlatformFacebook)
	refs := w.fifty()
	refs[7].ID = "999"
	results, err := w.net.SetStatus(t.Context(), w.conn, refs, advert.ConfiguredPaused)
	require.NoError(t, err)
	require.Len(t, results, 50)
	for i, r := range results {
		assert.Equal(t, refs[i], r.Ref)
		if i == 7 {
			require.ErrorIs(t, r.Err, ads.ErrNotFound)
			continue
		}
		require.NoError(t, r.Err)
		require.Len(t, r.State.Campaigns, 1)
		assert.Equal(t, refs[i].ID, r.State.Campaigns[0].PlatformID)
		assert.Equal(t, advert.StatusPaused, r.State.Campaigns[0].Status)
		assert.Equal(t, 50*advert.AmountUnit, r.State.Campaigns[0].BudgetAmount)
		assert.Len(t, r.State.Groups, 1)
	}
}

func TestSetStatus_FailsAsAWholeIfNothingIsTaken(t *testing.T) {
	t.Parallel()
	w := newWorld(t, advert.PlatformFacebook)
	refs := w.fifty()
	w.fake.Fail(metafake.Fault{Kind: metafake.FaultRateLimit, Method: "POST", Code: 80004, Minutes: 3, Times: -1})
	_, err := w.net.SetStatus(t.Context(), w.conn, refs, advert.ConfiguredPaused)
	var limited *ads.RateLimited
	require.ErrorAs(t, err, &limited)
	assert.Len(t, w.calls("POST", "."), 0)
}

func TestSetStatus_StopsWhenMetaTakesNoMore(t *testing.T) {
	t.Parallel()
	w := newWorld(t, advert.PlatformFacebook)
	refs := w.fifty()
	w.fake.Fail(metafake.Fault{Kind: metafake.FaultRateLimit, Method: "POST", Code: 17, Skip: 10, Times: -1})
	results, err := w.net.SetStatus(t.Context(), w.conn, refs, advert.ConfiguredPaused)
	require.NoError(t, err)
	var done, limited int
	for _, r := range results {
		var l *ads.RateLimited
		switch {
		case r.Err == nil:
			done++
			assert.Equal(t, "PAUSED", w.fake.Field(r.Ref.ID, "status"))
		default:
			require.ErrorAs(t, r.Err, &l)
			limited++
			assert.Equal(t, "ACTIVE", w.fake.Field(r.Ref.ID, "status"))
		}
	}
	assert.Equal(t, 10, done)
	assert.Equal(t, 40, limited)
}

func TestSetStatus_DoesNotKnowWhatATimeoutDid(t *testing.T) {
	t.Parallel()
	w := newWorld(t, advert.PlatformFacebook)
	made := w.create(t, plan(nil))
	w.fake.Fail(metafake.Fault{Kind: metafake.FaultTimeoutAfter, Method: "POST"})
	results, err := w.net.SetStatus(t.Context(), w.conn, []ads.Ref{ref(made)}, advert.ConfiguredPaused)
	require.NoError(t, err)
	require.ErrorIs(t, results[0].Err, ads.ErrIndeterminate)

	results, err = w.net.SetStatus(t.Context(), w.conn, []ads.Ref{ref(made)}, advert.ConfiguredPaused)
	require.NoError(t, err)
	require.NoError(t, results[0].Err, "it may be repeated")
}

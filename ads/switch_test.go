package ads_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store"
)

func TestSwitch_CountsWhatIsOnThoughItsStateIsUnread(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		before := w.seeded()
		ad := w.create(w.ad()).Row
		w.line.mute.Store(true)
		paused, err := w.PauseAdGroup(t.Context(), w.by, ad.AdGroupID, "")
		require.NoError(t, err)
		assert.Equal(t, store.AdStatusPaused, paused.Status)
		assert.Equal(t, before, w.seeded())
		resumed, err := w.ResumeAdGroup(t.Context(), w.by, ad.AdGroupID, "")
		require.NoError(t, err)
		assert.True(t, resumed.Changed)
		assert.Equal(t, before+20, w.seeded())
		group, err := w.Store.GetAdGroup(t.Context(), w.by.Account, ad.Platform, ad.AdGroupID)
		require.NoError(t, err)
		assert.Equal(t, store.AdConfiguredActive, group.ConfiguredStatus)

		all := ads.Bulk{Items: []ads.BulkItem{{ID: ad.CampaignID}}}
		out, err := w.BulkPauseCampaigns(t.Context(), w.by, all)
		require.NoError(t, err)
		assert.Equal(t, 1, out.Updated)
		assert.Equal(t, store.AdStatusPaused, out.Results[0].Status)
		assert.Equal(t, before, w.seeded())
		_, err = w.BulkResumeCampaigns(t.Context(), w.by, all)
		require.NoError(t, err)
		assert.Equal(t, before+20, w.seeded())
	})
}

func TestResumeAdGroup_KnowsItsAdsThoughTheirStateIsUnread(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		in := w.ad()
		in.Status = "paused"
		ad := w.create(in).Row
		w.line.mute.Store(true)
		_, err := w.ResumeAdGroup(t.Context(), w.by, ad.AdGroupID, "")
		require.NoError(t, err)
		switches := w.line.of("SetStatus")
		again, err := w.ResumeAdGroup(t.Context(), w.by, ad.AdGroupID, "")
		require.NoError(t, err)
		assert.False(t, again.Changed)
		assert.Equal(t, switches, w.line.of("SetStatus"), "nothing is left to be switched on")
	})
}

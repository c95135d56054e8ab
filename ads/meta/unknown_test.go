package meta_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/tests/harness/metafake"
)

// The seven ways in which a create can end so that nobody knows what became of it, and whether it took place.
var unknown = []struct {
	kind metafake.FaultKind
	took bool
}{
	{metafake.FaultTimeoutBefore, false},
	{metafake.FaultTimeoutAfter, true},
	{metafake.FaultCutBefore, false},
	{metafake.FaultCutAfter, true},
	{metafake.FaultServerError, false},
	{metafake.FaultErrorAfter, true},
	{metafake.FaultGarbageAfter, true},
}

var steps = []string{"campaigns", "adsets", "adcreatives", "ads"}

func TestUnknownOutcome_IsSettledByTheTokenAndNeverSpendsTwice(t *testing.T) {
	t.Parallel()
	for _, platform := range platforms {
		for _, u := range unknown {
			for i, step := range steps {
				w := newWorld(t, platform)
				w.fake.Fail(metafake.Fault{Kind: u.kind, Method: "POST", Edge: step})
				_, err := w.net.Create(t.Context(), w.conn, plan(nil))
				require.ErrorIs(t, err, ads.ErrIndeterminate, "%s at %s", u.kind, step)
				for _, later := range steps[i+1:] {
					assert.Empty(t, w.calls("POST", later), "nothing follows an unknown outcome")
				}

				made, found, err := w.net.Find(t.Context(), w.conn, dollars, plan(nil).Token)
				require.NoError(t, err)
				require.Equal(t, u.took && step == "ads", found, "%s at %s", u.kind, step)
				if !found {
					assert.Empty(t, w.fake.Live("Campaign"), "%s at %s: nothing that could spend is left", u.kind, step)
					made = w.create(t, plan(nil))
				}
				assert.Equal(t, []string{made.Ad.PlatformID}, w.fake.Live("Ad"), "%s at %s: one ad", u.kind, step)
				assert.Equal(t, []string{made.Campaign.PlatformID}, w.fake.Live("Campaign"))
				assert.Equal(t, []string{made.Group.PlatformID}, w.fake.Live("AdSet"))
				assert.Equal(t, 20*advert.AmountUnit, made.Group.BudgetAmount)
			}
		}
	}
}

func TestUnknownOutcome_OfAnAdInAnExistingGroup(t *testing.T) {
	t.Parallel()
	for _, u := range unknown {
		w := newWorld(t, advert.PlatformFacebook)
		first := w.create(t, plan(func(p *ads.Plan) { p.Token = "adact_first" }))
		join := plan(func(p *ads.Plan) {
			p.Token, p.CampaignID, p.AdGroupID = "adact_second", first.Campaign.PlatformID, first.Group.PlatformID
		})
		w.fake.Fail(metafake.Fault{Kind: u.kind, Method: "POST", Edge: "ads"})
		_, err := w.net.Create(t.Context(), w.conn, join)
		require.ErrorIs(t, err, ads.ErrIndeterminate, u.kind)
		made, found, err := w.net.Find(t.Context(), w.conn, dollars, join.Token)
		require.NoError(t, err)
		require.Equal(t, u.took, found, u.kind)
		if found {
			assert.Nil(t, made.Campaign, "it was there before")
			assert.Nil(t, made.Group, "it was there before")
			assert.Equal(t, first.Group.PlatformID, made.Ad.AdGroupID)
		}
		assert.Len(t, w.fake.Live("Campaign"), 1, "the campaign that was joined stays")
	}
}

func TestFind_DoesNotTakeAnotherActionForIts(t *testing.T) {
	t.Parallel()
	w := newWorld(t, advert.PlatformFacebook)
	w.external(dollars, "adact_second")
	w.create(t, plan(func(p *ads.Plan) { p.Token, p.Name = "adact_first", "adact_second" }))
	_, found, err := w.net.Find(t.Context(), w.conn, dollars, "adact_second")
	require.NoError(t, err)
	assert.False(t, found)
	assert.Len(t, w.fake.Live("Campaign"), 2, "nothing of theirs is removed")
}

// Meta's lists refuse to be asked for what is deleted, so that nobody can tell it from what was never made.
func TestFind_DoesNotSeeWhatSomebodyDeletedMeanwhile(t *testing.T) {
	t.Parallel()
	w := newWorld(t, advert.PlatformFacebook)
	made := w.create(t, plan(nil))
	_, err := w.net.Delete(t.Context(), w.conn, ref(made))
	require.NoError(t, err)
	_, found, err := w.net.Find(t.Context(), w.conn, dollars, plan(nil).Token)
	require.NoError(t, err)
	assert.False(t, found)
}

func TestFind_KeepsTheAdAndRemovesWhatAnotherTryLeft(t *testing.T) {
	t.Parallel()
	w := newWorld(t, advert.PlatformFacebook)
	whole := w.create(t, plan(nil))
	w.fake.Fail(metafake.Fault{Kind: metafake.FaultTimeoutAfter, Method: "POST", Edge: "adsets"})
	_, err := w.net.Create(t.Context(), w.conn, plan(nil))
	require.ErrorIs(t, err, ads.ErrIndeterminate)
	require.Len(t, w.fake.Live("Campaign"), 2)

	made, found, err := w.net.Find(t.Context(), w.conn, dollars, plan(nil).Token)
	require.NoError(t, err)
	require.True(t, found)
	assert.Equal(t, whole.Ad.PlatformID, made.Ad.PlatformID)
	assert.Equal(t, whole.Campaign.PlatformID, made.Campaign.PlatformID)
	assert.Equal(t, whole.Group.PlatformID, made.Group.PlatformID)
	assert.Equal(t, []string{whole.Campaign.PlatformID}, w.fake.Live("Campaign"))
}

func TestFind_SaysNothingWhenItCannotLook(t *testing.T) {
	t.Parallel()
	for _, edge := range []string{"campaigns", "adsets", "ads", "customaudiences"} {
		w := newWorld(t, advert.PlatformFacebook)
		w.create(t, plan(nil))
		w.fake.Fail(metafake.Fault{Kind: metafake.FaultServerError, Method: "GET", Edge: edge, Times: -1})
		_, found, err := w.net.Find(t.Context(), w.conn, dollars, plan(nil).Token)
		require.ErrorIs(t, err, ads.ErrUnavailable, edge)
		assert.False(t, found)
		assert.Len(t, w.fake.Live("Campaign"), 1)
	}
}

func TestFind_SaysNothingWhileSomethingIsLeft(t *testing.T) {
	t.Parallel()
	w := newWorld(t, advert.PlatformFacebook)
	w.fake.Fail(metafake.Fault{Kind: metafake.FaultTimeoutAfter, Method: "POST", Edge: "adsets"})
	_, err := w.net.Create(t.Context(), w.conn, plan(nil))
	require.ErrorIs(t, err, ads.ErrIndeterminate)
	w.fake.Fail(metafake.Fault{Kind: metafake.FaultServerError, Method: "DELETE", Times: -1})
	_, _, err = w.net.Find(t.Context(), w.conn, dollars, plan(nil).Token)
	require.Error(t, err)
}

package pinterest_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/tests/harness/pinterestfake"
)

// campaigns makes a campaign for each reference.
func (w *world) campaigns(t *testing.T, n int) []ads.Ref {
	t.Helper()
	refs := make([]ads.Ref, n)
	for i := range refs {
		made := w.create(t, w.boost(fmt.Sprint("c", i)))
		refs[i] = ads.Ref{AdAccount: w.account.ID, Level: advert.LevelCampaign, ID: made.Campaign.PlatformID}
	}
	w.net.Forget()
	return refs
}

func TestSetStatus_TakesThirtyWithARequest(t *testing.T) {
	t.Parallel()
	w := newWorld("USD", nil)
	refs := w.campaigns(t, 65)
	refs[40].ID = "404"
	results, err := w.driver.SetStatus(t.Context(), w.conn, refs, advert.ConfiguredPaused)
	require.NoError(t, err)
	assert.Equal(t, 3, count(w.net.Calls(), "campaigns/update"))
	require.Len(t, results, len(refs))
	for i, r := range results {
		assert.Equal(t, refs[i], r.Ref)
		if i == 40 {
			var refused *ads.Rejected
			require.ErrorAs(t, r.Err, &refused)
			continue
		}
		require.NoError(t, r.Err)
		assert.Equal(t, advert.StatusPaused, r.State.Campaigns[0].Status)
		assert.Equal(t, advert.ConfiguredPaused, r.State.Campaigns[0].ConfiguredStatus)
		assert.Equal(t, advert.StatusPaused, r.State.Ads[0].Status, "what is below a paused campaign is paused")
		assert.Equal(t, advert.ConfiguredActive, r.State.Ads[0].ConfiguredStatus)
		assert.Equal(t, 1, r.Updated)
	}
	for i, c := range w.net.Campaigns(w.account) {
		assert.Equal(t, i != 40, c.Text("status") == "PAUSED")
	}
}

func TestSetStatus_TellsWhichAdsItMoves(t *testing.T) {
	t.Parallel()
	w := newWorld("USD", nil)
	home := w.create(t, w.boost("home"))
	joins := w.boost("joins")
	joins.AdGroupID, joins.CampaignID = home.Group.PlatformID, home.Campaign.PlatformID
	joins.Configured = advert.ConfiguredPaused
	w.create(t, joins)
	joins.Configured = advert.ConfiguredActive
	rejected := w.create(t, joins)
	w.net.Review(w.account, rejected.Ad.PlatformID, "REJECTED", "NUDITY")

	group := ads.Ref{AdAccount: w.account.ID, Level: advert.LevelGroup, ID: home.Group.PlatformID, CampaignID: home.Campaign.PlatformID}
	campaign := ads.Ref{AdAccount: w.account.ID, Level: advert.LevelCampaign, ID: home.Campaign.PlatformID}
	set := func(ref ads.Ref, to advert.Configured) ads.ItemResult {
		results, err := w.driver.SetStatus(t.Context(), w.conn, []ads.Ref{ref}, to)
		require.NoError(t, err)
		require.NoError(t, results[0].Err)
		return results[0]
	}
	for _, to := range []advert.Configured{advert.ConfiguredPaused, advert.ConfiguredActive} {
		r := set(group, to)
		assert.Equal(t, 1, r.Updated)
		assert.Equal(t, 2, r.Skipped)
		assert.ElementsMatch(t, []string{"paused", "rejected"}, r.Reasons)
	}
	set(campaign, advert.ConfiguredPaused)
	r := set(group, advert.ConfiguredPaused)
	assert.Zero(t, r.Updated, "the campaign had paused them all before")
	assert.Equal(t, 3, r.Skipped)
}

func TestSetStatus_MovesNoAdThatHasEnded(t *testing.T) {
	t.Parallel()
	w := newWorld("USD", nil)
	plan := w.boost("over")
	plan.StartsAt, plan.EndsAt = at(noon.AddDate(0, 0, -9)), at(noon.AddDate(0, 0, -2))
	made := w.create(t, plan)
	ref := ads.Ref{AdAccount: w.account.ID, Level: advert.LevelGroup, ID: made.Group.PlatformID, CampaignID: made.Campaign.PlatformID}
	results, err := w.driver.SetStatus(t.Context(), w.conn, []ads.Ref{ref}, advert.ConfiguredPaused)
	require.NoError(t, err)
	assert.Zero(t, results[0].Updated)
	assert.Equal(t, []string{"completed"}, results[0].Reasons)
}

func TestSetStatus_KeepsALateFaultWithItsItems(t *testing.T) {
	t.Parallel()
	w := newWorld("USD", nil)
	refs := w.campaigns(t, 31)
	w.net.Break("campaigns/update", 0, pinterestfake.FaultRateLimit)
	_, err := w.driver.SetStatus(t.Context(), w.conn, refs, advert.ConfiguredPaused)
	require.ErrorAs(t, err, new(*ads.RateLimited), "nothing was changed: it is the request's")

	w.net.Break("campaigns/update", 1, pinterestfake.FaultDropAfter)
	results, err := w.driver.SetStatus(t.Context(), w.conn, refs, advert.ConfiguredPaused)
	require.NoError(t, err)
	require.NoError(t, results[29].Err)
	require.ErrorIs(t, results[30].Err, ads.ErrIndeterminate)

	results, err = w.driver.SetStatus(t.Context(), w.conn, refs, advert.ConfiguredPaused)
	require.NoError(t, err, "it may be repeated")
	require.NoError(t, results[30].Err)
}

func TestUpdate_ChangesWhatItNamesAndNothingElse(t *testing.T) {
	t.Parallel()
	for currency, micros := range map[string]int64{"USD": 2000_500_000, "JPY": 2000_000_000} {
		w := newWorld(currency, nil)
		plan := w.boost("mug")
		plan.BidStrategy, plan.BidAmount = advert.BidStrategyBidCap, 3*advert.AmountUnit
		made := w.create(t, plan)
		ref := ads.Ref{AdAccount: w.account.ID, Level: advert.LevelGroup, ID: made.Group.PlatformID, CampaignID: made.Campaign.PlatformID}
		patch := ads.Patch{Currency: w.ad.Currency, Budget: &ads.Budget{Amount: advert.Amount(micros), Type: advert.BudgetTypeDaily}}
		changed, err := w.driver.Update(t.Context(), w.conn, ref, patch)
		require.NoError(t, err)
		assert.Equal(t, advert.Amount(micros), changed.Group.BudgetAmount)
		assert.Equal(t, 3*advert.AmountUnit, changed.Group.BidAmount)
		assert.Equal(t, micros, w.net.Groups(w.account)[0].Number("budget_in_micro_currency"))

		lowest := ads.Patch{Currency: w.ad.Currency, BidStrategy: pointer(advert.BidStrategyLowestCost)}
		changed, err = w.driver.Update(t.Context(), w.conn, ref, lowest)
		require.NoError(t, err)
		assert.Zero(t, changed.Group.BidAmount, "a bid that is not used any more is removed")
		assert.Equal(t, advert.BidStrategyLowestCost, changed.Group.BidStrategy)
		assert.Equal(t, advert.Amount(micros), changed.Group.BudgetAmount)
	}
}

func TestUpdate_RefusesWhatPinterestCannotDo(t *testing.T) {
	t.Parallel()
	w := newWorld("JPY", nil)
	campaign := ads.Ref{AdAccount: w.account.ID, Level: advert.LevelCampaign, ID: "1"}
	var refused *ads.Rejected
	_, err := w.driver.Update(t.Context(), w.conn, campaign, ads.Patch{BidStrategy: pointer(advert.BidStrategyCostCap)})
	require.ErrorAs(t, err, &refused)
	assert.Equal(t, "bid_strategy", refused.Field)
	half := ads.Patch{Currency: "jpy", Budget: &ads.Budget{Amount: 20*advert.AmountUnit + 1, Type: advert.BudgetTypeDaily}}
	_, err = w.driver.Update(t.Context(), w.conn, campaign, half)
	require.ErrorAs(t, err, &refused)
	assert.Equal(t, "budget.amount", refused.Field)
	group := ads.Ref{AdAccount: w.account.ID, Level: advert.LevelGroup, ID: "1"}
	for _, patch := range []ads.Patch{{RoasFloor: pointer(advert.RatioOne)}, {BidStrategy: pointer(advert.BidStrategyMinROAS)}} {
		_, err = w.driver.Update(t.Context(), w.conn, group, patch)
		require.ErrorIs(t, err, ads.ErrUnsupported)
	}
	assert.Empty(t, w.net.Calls())
}

func TestDelete_ArchivesForGood(t *testing.T) {
	t.Parallel()
	w := newWorld("USD", nil)
	ref := w.campaigns(t, 1)[0]
	gone, err := w.driver.Delete(t.Context(), w.conn, ref)
	require.NoError(t, err)
	assert.Equal(t, ads.Deleted{AdGroups: 1, Ads: 1}, gone)
	assert.Zero(t, w.running())
	whole, err := w.walk(t.Context())
	require.NoError(t, err)
	assert.Equal(t, advert.StatusCancelled, whole.Campaigns[0].Status)
	assert.Equal(t, advert.StatusCancelled, whole.Ads[0].Status, "so is what was in it")

	_, err = w.driver.Delete(t.Context(), w.conn, ref)
	require.ErrorIs(t, err, ads.ErrNotFound)
	results, err := w.driver.SetStatus(t.Context(), w.conn, []ads.Ref{ref}, advert.ConfiguredActive)
	require.NoError(t, err)
	require.Error(t, results[0].Err)
}

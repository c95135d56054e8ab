package tiktok_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/tests/harness/tiktokfake"
)

func (w *world) campaignRef(made ads.Created) ads.Ref {
	return ads.Ref{AdAccount: w.account.ID, Level: advert.LevelCampaign, ID: made.Campaign.PlatformID}
}

func TestSetStatus_TakesTwentyWithARequest(t *testing.T) {
	t.Parallel()
	w := newWorld(nil)
	var refs []ads.Ref
	for i := range 45 {
		refs = append(refs, w.campaignRef(w.create(t, w.plan(t, fmt.Sprint("c", i)))))
	}
	refs[25].ID = "404"
	results, err := w.driver.SetStatus(t.Context(), w.conn, refs, advert.ConfiguredPaused)
	require.NoError(t, err)
	assert.Equal(t, 3+20, count(w.net.Calls(), "POST campaign/status/update"), "a request that is refused is sent one by one")
	for i, r := range results {
		assert.Equal(t, refs[i], r.Ref)
		if i == 25 {
			rejection(t, r.Err, "")
			continue
		}
		require.NoError(t, r.Err)
		assert.Equal(t, advert.ConfiguredPaused, r.State.Campaigns[0].ConfiguredStatus)
		assert.Equal(t, advert.StatusPaused, r.State.Ads[0].Status, "what is below a paused campaign is paused")
		assert.Equal(t, advert.ConfiguredActive, r.State.Ads[0].ConfiguredStatus)
		assert.Equal(t, 1, r.Updated)
	}
	w.net.Break("POST campaign/status/update", 0, tiktokfake.FaultRateLimit)
	_, err = w.driver.SetStatus(t.Context(), w.conn, refs, advert.ConfiguredActive)
	require.ErrorAs(t, err, new(*ads.RateLimited))
}

func TestSetStatus_TellsWhichAdsItMoves(t *testing.T) {
	t.Parallel()
	w := newWorld(nil)
	home := w.create(t, w.plan(t, "home"))
	joins := w.plan(t, "joins")
	joins.AdGroupID, joins.CampaignID, joins.Configured = home.Group.PlatformID, home.Campaign.PlatformID, advert.ConfiguredPaused
	w.create(t, joins)
	joins.Configured = advert.ConfiguredActive
	rejected := w.create(t, joins)
	w.net.Review(w.account, rejected.Ad.PlatformID, "AUDIT_DENY")
	group := ads.Ref{AdAccount: w.account.ID, Level: advert.LevelGroup, ID: home.Group.PlatformID, CampaignID: home.Campaign.PlatformID}
	for _, ref := range []ads.Ref{group, w.campaignRef(home)} {
		for _, to := range []advert.Configured{advert.ConfiguredActive, advert.ConfiguredPaused, advert.ConfiguredActive} {
			results, err := w.driver.SetStatus(t.Context(), w.conn, []ads.Ref{ref}, to)
			require.NoError(t, err)
			r := results[0]
			require.NoError(t, r.Err)
			if to == advert.ConfiguredPaused { // TikTok has one word for an ad, and says then that what is above it is off
				assert.Equal(t, []any{2, 1, []string{"paused"}}, []any{r.Updated, r.Skipped, r.Reasons})
				continue
			}
			assert.Equal(t, []int{1, 2}, []int{r.Updated, r.Skipped})
			assert.ElementsMatch(t, []string{"paused", "rejected"}, r.Reasons)
		}
	}
}

func TestDelete_EndsACampaignWithEverythingInIt(t *testing.T) {
	t.Parallel()
	for _, kind := range []tiktokfake.FaultKind{"", tiktokfake.FaultCutAfter, tiktokfake.FaultSystemDone, tiktokfake.FaultCutBefore} {
		w := newWorld(nil)
		made := w.create(t, w.plan(t, "gone"))
		if kind != "" {
			w.net.Break("POST campaign/status/update", 0, kind)
		}
		gone, err := w.driver.Delete(t.Context(), w.conn, w.campaignRef(made))
		require.NoError(t, err, kind)
		assert.Equal(t, ads.Deleted{AdGroups: 1, Ads: 1}, gone)
		_, _, live := w.net.Live(w.account)
		assert.Zero(t, live)
		_, err = w.driver.Delete(t.Context(), w.conn, w.campaignRef(made))
		require.ErrorIs(t, err, ads.ErrNotFound)
	}
}

func TestUpdate_ChangesOnlyWhatItIsTold(t *testing.T) {
	t.Parallel()
	w := newWorld(nil)
	p := w.plan(t, "changing")
	p.BudgetLevel, p.BudgetAmount = advert.BudgetLevelCampaign, 60*advert.AmountUnit
	made := w.create(t, p)
	budget := func(amount advert.Amount) ads.Patch {
		return ads.Patch{Currency: "usd", Budget: &ads.Budget{Amount: amount * advert.AmountUnit, Type: advert.BudgetTypeDaily}}
	}
	_, err := w.driver.Update(t.Context(), w.conn, w.campaignRef(made), budget(49))
	rejection(t, err, "budget.amount")
	_, err = w.driver.Update(t.Context(), w.conn, w.campaignRef(made), ads.Patch{BidAmount: new(advert.AmountUnit)})
	rejection(t, err, "bid_strategy")
	end := at(noon.AddDate(0, 0, 30))
	patch := budget(75)
	patch.EndsAt = end
	entity, err := w.driver.Update(t.Context(), w.conn, w.campaignRef(made), patch)
	require.NoError(t, err)
	assert.Equal(t, 75*advert.AmountUnit, entity.Campaign.BudgetAmount)
	assert.Equal(t, "2026-12-21 12:00:00", w.net.Groups(w.account)[0].Text("schedule_end_time"), "a campaign ends when its ad groups do")

	ref := ads.Ref{AdAccount: w.account.ID, Level: advert.LevelAd, ID: made.Ad.PlatformID}
	w.net.Review(w.account, made.Ad.PlatformID, "DELIVERY_OK")
	other := creative()
	other.Body = "It holds coffee."
	changed, err := w.driver.Update(t.Context(), w.conn, ref, ads.Patch{Name: new("New"), Creative: &other, Media: p.Media})
	require.NoError(t, err)
	assert.Equal(t, []string{"New", "It holds coffee."}, []string{changed.Ad.Name, changed.Ad.Creative.V.Body})
	assert.Equal(t, "https://shop.example/mug", w.net.Ads(w.account)[0].Text("landing_page_url"))
	assert.Contains(t, w.net.Ads(w.account)[0].Text("ad_name"), p.Token, "until TidyNames takes it off")
	for _, ref := range []ads.Ref{{Level: advert.LevelCampaign, ID: "404"}, {Level: advert.LevelGroup, ID: "404"}, {Level: advert.LevelAd, ID: "404"}} {
		ref.AdAccount = w.account.ID
		_, err = w.driver.Update(t.Context(), w.conn, ref, ads.Patch{EndsAt: end, Name: new("x")})
		require.ErrorIs(t, err, ads.ErrNotFound)
	}
	w.net.Break("GET ad/get", 1, tiktokfake.FaultForbid)
	_, err = w.driver.Update(t.Context(), w.conn, ref, ads.Patch{Name: new("Newer")})
	require.ErrorIs(t, err, ads.ErrIndeterminate, "it was changed, and nobody knows how it stands")
}

package ads_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/ads/sandbox"
	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/store/core"
)

func budget(amount, kind string) ads.UpdateBudget {
	return ads.UpdateBudget{Budget: &ads.BudgetInput{Amount: amount, Type: kind}}
}

func TestUpdateAdGroup_ChangesItsBudget(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		ad := w.create(w.ad()).Row
		out, err := w.UpdateAdGroup(t.Context(), w.by, ad.AdGroupID, budget("35.50", "daily"))
		require.NoError(t, err)
		assert.Equal(t, advert.Amount(35_500_000), out.Group.Row.BudgetAmount)
		assert.NotNil(t, out.Group.Metrics)
		action := w.actions()[0]
		assert.Equal(t, advert.OpUpdateGroup, action.Op)
		assert.Contains(t, action.Before.Text(), `"amount":20000000`)
		assert.Contains(t, action.After.Text(), `"amount":35500000`)

		writes := w.line.writes()
		for _, nothing := range []ads.UpdateBudget{{}, {Platform: "facebook"}, budget("35.5", "daily")} {
			out, err = w.UpdateAdGroup(t.Context(), w.by, ad.AdGroupID, nothing)
			require.NoError(t, err)
			assert.Nil(t, out.Group.Metrics, "no network was asked")
		}
		assert.Equal(t, writes, w.line.writes())
	})
}

func TestUpdate_SaysWhatIsWrong(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.limit(100, w.seeded()+500)
		ad := w.create(w.ad()).Row
		writes := w.line.writes()
		for name, test := range map[string]struct {
			id    string
			in    ads.UpdateBudget
			code  core.Code
			param string
		}{
			"unknown":          {"nobody's", budget("5", "daily"), core.CodeMissing, ""},
			"other network":    {ad.AdGroupID, ads.UpdateBudget{Platform: "google"}, core.CodeMissing, ""},
			"no network":       {ad.AdGroupID, ads.UpdateBudget{Platform: "myspace"}, core.CodeInvalid, "platform"},
			"no amount":        {ad.AdGroupID, budget("", "daily"), core.CodeParameterMissing, "budget.amount"},
			"no type":          {ad.AdGroupID, budget("5", ""), core.CodeParameterMissing, "budget.type"},
			"another type":     {ad.AdGroupID, budget("5", "lifetime"), core.CodeInvalid, "budget.type"},
			"no type at all":   {ad.AdGroupID, budget("5", "weekly"), core.CodeInvalid, "budget.type"},
			"too little":       {ad.AdGroupID, budget("0.1", "daily"), core.CodeInvalid, "budget.amount"},
			"too much":         {ad.AdGroupID, budget("100.01", "daily"), core.CodeSpendLimit, "budget.amount"},
			"bid of no amount": {ad.AdGroupID, ads.UpdateBudget{Bid: ads.BidInput{Strategy: "cost_cap"}}, core.CodeInvalid, "bid_amount"},
			"unknown bid":      {ad.AdGroupID, ads.UpdateBudget{Bid: ads.BidInput{Strategy: "cheap"}}, core.CodeInvalid, "bid_strategy"},
			"other currency":   {ad.AdGroupID, ads.UpdateBudget{Currency: "eur"}, core.CodeInvalid, "currency"},
		} {
			for _, dry := range []bool{false, true} {
				test.in.DryRun = dry
				_, err := w.UpdateAdGroup(t.Context(), w.by, test.id, test.in)
				t.Log(name)
				refused(t, err, test.code, test.param)
			}
		}
		_, err := w.UpdateCampaign(t.Context(), w.by, ad.CampaignID, budget("5", "daily"))
		assert.Contains(t, refused(t, err, core.CodeInvalid, "budget").Message, "/ads/ad-groups/")
		campaign := w.ad()
		campaign.BudgetLevel = "campaign"
		cbo := w.create(campaign).Row
		_, err = w.UpdateAdGroup(t.Context(), w.by, cbo.AdGroupID, budget("5", "daily"))
		assert.Contains(t, refused(t, err, core.CodeInvalid, "budget").Message, "/ads/campaigns/")
		assert.Equal(t, writes+1, w.line.writes())

		out, err := w.UpdateCampaign(t.Context(), w.by, cbo.CampaignID, budget("100", "daily"))
		require.NoError(t, err)
		assert.Equal(t, 100*advert.AmountUnit, out.Campaign.Row.BudgetAmount)
	})
}

func TestUpdateCampaign_DryRunShowsTheBill(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		in := w.ad()
		in.BudgetLevel = "campaign"
		ad := w.create(in).Row
		before := w.seeded()
		change := budget("50", "daily")
		change.DryRun = true
		out, err := w.UpdateCampaign(t.Context(), w.by, ad.CampaignID, change)
		require.NoError(t, err)
		assert.Nil(t, out.Campaign)
		require.Len(t, out.Plan.Calls, 1)
		assert.Equal(t, "5000", out.Plan.Calls[0].Fields["budget_sent"])
		assert.Equal(t, advert.Amount(before+30)*advert.AmountUnit, out.Plan.Figures[0].TotalAfter)
		assert.Zero(t, w.line.of("Update"))
	})
}

func TestUpdateAdGroup_BidsFromNowOn(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		ad := w.create(w.ad()).Row
		out, err := w.UpdateAdGroup(t.Context(), w.by, ad.AdGroupID, ads.UpdateBudget{Bid: ads.BidInput{Strategy: "cost_cap", Amount: "3.25"}})
		require.NoError(t, err)
		assert.Equal(t, advert.BidStrategyCostCap, out.Group.Row.BidStrategy)
		assert.Equal(t, advert.Amount(3_250_000), out.Group.Row.BidAmount)
		out, err = w.UpdateAdGroup(t.Context(), w.by, ad.AdGroupID, ads.UpdateBudget{Bid: ads.BidInput{Strategy: "LOWEST_COST_WITH_BID_CAP"}})
		require.NoError(t, err, "the amount stays")
		assert.Equal(t, advert.Amount(3_250_000), out.Group.Row.BidAmount)
		out, err = w.UpdateAdGroup(t.Context(), w.by, ad.AdGroupID, ads.UpdateBudget{Bid: ads.BidInput{Strategy: "lowest_cost_without_cap"}})
		require.NoError(t, err)
		assert.Zero(t, out.Group.Row.BidAmount)
	})
}

func TestUpdateAdGroup_LimitsABidThatStaysUnderAnotherStrategy(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		ad := w.create(w.ad()).Row
		_, err := w.UpdateAdGroup(t.Context(), w.by, ad.AdGroupID, ads.UpdateBudget{Bid: ads.BidInput{Strategy: "COST_CAP", Amount: "100"}})
		require.NoError(t, err)
		_, err = w.UpdateLimits(t.Context(), w.by, func(l *advert.Limits) {
			limit := l.Of("usd")
			limit.MaxBid = new(5 * advert.AmountUnit)
			l.Currencies.V = map[string]advert.Limit{"usd": limit}
		})
		require.NoError(t, err)
		for _, dry := range []bool{false, true} {
			_, err = w.UpdateAdGroup(t.Context(), w.by, ad.AdGroupID, ads.UpdateBudget{Bid: ads.BidInput{Strategy: "LOWEST_COST_WITH_BID_CAP"}, DryRun: dry})
			refused(t, err, core.CodeSpendLimit, "bid_amount")
		}
		_, err = w.UpdateAdGroup(t.Context(), w.by, ad.AdGroupID, budget("25", "daily"))
		require.NoError(t, err, "how it bids stays")
	})
}

func TestPauseAdGroup_CountsWhatIsBelow(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		ad := w.create(w.ad()).Row
		paused, err := w.PauseAdGroup(t.Context(), w.by, ad.AdGroupID, "facebook")
		require.NoError(t, err)
		assert.True(t, paused.Changed)
		assert.Equal(t, advert.StatusPaused, paused.Status)
		assert.Equal(t, 1, paused.Updated)
		assert.Equal(t, "allow", w.actions()[0].Approval)
		calls := w.line.of("SetStatus")
		again, err := w.PauseAdGroup(t.Context(), w.by, ad.AdGroupID, "")
		require.NoError(t, err)
		assert.False(t, again.Changed)
		assert.Equal(t, calls, w.line.of("SetStatus"))

		_, err = w.BulkPauseCampaigns(t.Context(), w.by, ads.Bulk{Items: []ads.BulkItem{{ID: ad.CampaignID}}})
		require.NoError(t, err)
		resumed, err := w.ResumeAdGroup(t.Context(), w.by, ad.AdGroupID, "")
		require.NoError(t, err)
		assert.True(t, resumed.Changed)
		assert.Equal(t, advert.ConfiguredActive, resumed.Configured)
		assert.Equal(t, advert.StatusPaused, resumed.Status)
		assert.Contains(t, resumed.Message, "campaign is paused")
	})
}

func TestResumeAdGroup_SpendsToo(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		ad := w.create(w.ad()).Row
		_, err := w.PauseAdGroup(t.Context(), w.by, ad.AdGroupID, "")
		require.NoError(t, err)
		w.limit(100, w.seeded()+19)
		_, err = w.ResumeAdGroup(t.Context(), w.by, ad.AdGroupID, "")
		refused(t, err, core.CodeSpendLimit, "budget")
		w.limit(100, w.seeded()+20)
		_, err = w.ResumeAdGroup(t.Context(), w.by, ad.AdGroupID, "")
		require.NoError(t, err)
	})
}

func TestDeleteCampaign_TakesAllWithIt(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		ad := w.create(w.ad()).Row
		deleted, err := w.DeleteCampaign(t.Context(), w.by, ad.CampaignID, "")
		require.NoError(t, err)
		assert.Equal(t, 1, deleted.AdGroupCount)
		assert.Equal(t, 1, deleted.AdCount)
		shown, err := w.Service.GetCampaign(t.Context(), w.by.Account, ad.CampaignID, ads.GetAdObject{})
		require.NoError(t, err)
		assert.Equal(t, advert.StatusCancelled, shown.Status)
		for _, do := range []func() error{
			func() error { _, err := w.DeleteCampaign(t.Context(), w.by, ad.CampaignID, ""); return err },
			func() error {
				_, err := w.UpdateCampaign(t.Context(), w.by, ad.CampaignID, ads.UpdateBudget{})
				return err
			},
			func() error { _, err := w.PauseAdGroup(t.Context(), w.by, ad.AdGroupID, ""); return err },
			func() error {
				_, err := w.UpdateAdGroup(t.Context(), w.by, ad.AdGroupID, budget("5", "daily"))
				return err
			},
		} {
			refused(t, do(), core.CodeMissing, "")
		}
	})
}

func TestUpdate_WaitsForWhatIsNotKnownOfItsCampaign(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		ad, other := w.create(w.ad()).Row, w.create(w.ad()).Row
		w.line.say("Update", ads.ErrIndeterminate)
		_, err := w.UpdateAdGroup(t.Context(), w.by, ad.AdGroupID, budget("90", "daily"))
		unknown(t, err)
		w.line.say("", nil)
		_, err = w.UpdateAdGroup(t.Context(), w.by, other.AdGroupID, budget("30", "daily"))
		require.NoError(t, err, "another campaign")

		paused, err := w.PauseAdGroup(t.Context(), w.by, ad.AdGroupID, "")
		require.NoError(t, err, "what is on can be switched off at any time")
		assert.True(t, paused.Changed)
		calls := w.line.of("SetStatus")
		_, err = w.PauseAdGroup(t.Context(), w.by, ad.AdGroupID, "")
		require.NoError(t, err)
		assert.Equal(t, calls+1, w.line.of("SetStatus"), "the mirror may not know what the network is about to do")
		bulk, err := w.BulkPauseCampaigns(t.Context(), w.by, ads.Bulk{Items: []ads.BulkItem{{ID: ad.CampaignID}}})
		require.NoError(t, err)
		assert.Equal(t, 1, bulk.Updated)

		for name, do := range map[string]func() error{
			"update": func() error {
				_, err := w.UpdateAdGroup(t.Context(), w.by, ad.AdGroupID, budget("30", "daily"))
				return err
			},
			"resume": func() error { _, err := w.ResumeAdGroup(t.Context(), w.by, ad.AdGroupID, ""); return err },
		} {
			t.Log(name)
			assert.Greater(t, refused(t, do(), core.CodeInProgress, "").After, 80*time.Second, "what is unknown may still take place")
		}
		dry := budget("30", "daily")
		dry.DryRun = true
		_, err = w.UpdateAdGroup(t.Context(), w.by, ad.AdGroupID, dry)
		refused(t, err, core.CodeInProgress, "")
		plan, err := w.BulkResumeCampaigns(t.Context(), w.by, ads.Bulk{Items: []ads.BulkItem{{ID: ad.CampaignID}}, DryRun: true})
		require.NoError(t, err)
		require.Len(t, plan.Plan.Warnings, 1)
		assert.Contains(t, plan.Plan.Warnings[0], "would fail: Another change of this campaign is under way")
		bulk, err = w.BulkResumeCampaigns(t.Context(), w.by, ads.Bulk{Items: []ads.BulkItem{{ID: ad.CampaignID}}})
		require.NoError(t, err)
		require.NotNil(t, bulk.Results[0].Error)
		assert.True(t, bulk.Results[0].Error.Retryable)

		w.giveUp()
		_, err = w.UpdateAdGroup(t.Context(), w.by, ad.AdGroupID, budget("30", "daily"))
		require.NoError(t, err)
	})
}

func TestUpdateAdGroup_SentAgainIsTheChangeOfTheFirstTime(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		ad := w.create(w.ad()).Row
		in := budget("35", "daily")
		in.Bid = ads.BidInput{Strategy: "cost_cap", Amount: "2.50"}
		update := func(ctx context.Context) (any, error) { return w.UpdateAdGroup(ctx, w.by, ad.AdGroupID, in) }
		w.line.say("Update", ads.ErrIndeterminate)
		_, _, err := w.request("k1", update)
		unknown(t, err)
		w.line.say("", nil)

		half := ads.Patch{Currency: "usd", Budget: &ads.Budget{Amount: 35 * advert.AmountUnit, Type: advert.BudgetTypeDaily}}
		_, err = sandbox.New(w.Advert, ad.Platform, sandbox.Options{}).Update(t.Context(),
			ads.Conn{Account: w.by.Account, Channel: w.channel.ID, Platform: ad.Platform, Now: time.Now},
			ads.Ref{AdAccount: w.account.PlatformID, Level: advert.LevelGroup, ID: ad.AdGroupID, CampaignID: ad.CampaignID}, half)
		require.NoError(t, err)
		_, err = w.SyncSocialAccount(t.Context(), w.by.Account, w.channel.ID)
		require.NoError(t, err)
		_, _, err = w.request("k1", update)
		require.NoError(t, err)
		action := w.actions()[0]
		assert.Equal(t, advert.ActionDone, action.State)
		var sent, planned ads.Patch
		require.NoError(t, action.After.Decode(&sent))
		require.NoError(t, action.Plan.Decode(&planned))
		assert.Equal(t, action.ID, sent.Token)
		sent.Token = ""
		assert.Equal(t, planned, sent)
		assert.NotNil(t, sent.Budget)
	})
}

func TestResumeAdGroup_SwitchesOnWhatWasCreatedOff(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		in := w.ad()
		in.Status = "paused"
		ad := w.create(in).Row
		resumed, err := w.ResumeAdGroup(t.Context(), w.by, ad.AdGroupID, "")
		require.NoError(t, err)
		assert.True(t, resumed.Changed)
		_, err = w.BulkResumeCampaigns(t.Context(), w.by, ads.Bulk{Items: []ads.BulkItem{{ID: ad.CampaignID}}})
		require.NoError(t, err)
		assert.Equal(t, advert.StatusActive, w.native()[0].Status)

		in.AdGroupID, in.Goal, in.BudgetAmount, in.BudgetType = ad.AdGroupID, "", "", ""
		w.create(in)
		resumed, err = w.ResumeAdGroup(t.Context(), w.by, ad.AdGroupID, "")
		require.NoError(t, err)
		assert.True(t, resumed.Changed, "the ad group was on, and the ad off")
		for _, one := range w.native() {
			assert.Equal(t, advert.StatusActive, one.Status)
		}
		calls := w.line.of("SetStatus")
		resumed, err = w.ResumeAdGroup(t.Context(), w.by, ad.AdGroupID, "")
		require.NoError(t, err)
		assert.False(t, resumed.Changed)
		assert.Equal(t, calls, w.line.of("SetStatus"))
	})
}

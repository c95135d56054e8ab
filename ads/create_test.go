package ads_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/store/core"
)

func TestCreateAd_MakesACampaignWithItsBudget(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		in := w.ad()
		in.Extra = map[string]any{"utm_source": "spring", "daily_budget": 999999}
		shown := w.create(in)
		ad := shown.Row
		assert.Equal(t, advert.SourceNative, ad.Source)
		assert.Equal(t, advert.GoalTraffic, ad.Goal)
		assert.Equal(t, advert.TypeStandalone, ad.Type)
		assert.Equal(t, advert.StatusActive, shown.Status)
		assert.Equal(t, 20*advert.AmountUnit, ad.Group.BudgetAmount)
		assert.Equal(t, advert.BudgetLevelGroup, ad.Campaign.BudgetLevel)
		assert.Equal(t, "usd", ad.AdAccount.Currency)
		assert.JSONEq(t, `{"utm_source": "spring", "daily_budget": 999999}`, ad.Extra.Text())
		assert.Equal(t, advert.Amount(0), *shown.Metrics.Spend)

		action := w.actions()[0]
		assert.Equal(t, advert.OpCreateAd, action.Op)
		assert.Equal(t, advert.ActionDone, action.State)
		assert.Equal(t, ad.PlatformID, action.TargetID)
		assert.Equal(t, w.by.Key, action.Actor)
		assert.Equal(t, "ask", action.Approval)
		assert.Len(t, w.native(), 1)
	})
}

func TestCreateAd_BudgetMayBeTheCampaigns(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		in := w.ad()
		in.BudgetLevel, in.BudgetType, in.BudgetAmount = "campaign", "lifetime", "140.50"
		in.EndDate = time.Now().AddDate(0, 0, 6).UTC().Format(time.DateOnly)
		ad := w.create(in).Row
		assert.Equal(t, advert.BudgetLevelCampaign, ad.Campaign.BudgetLevel)
		assert.Equal(t, advert.Amount(140_500_000), ad.Campaign.BudgetAmount)
		assert.Equal(t, advert.Amount(0), ad.Group.BudgetAmount)
	})
}

func TestCreateAd_JoinsAnAdGroup(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		first := w.create(w.ad()).Row
		second := w.ad()
		second.Goal, second.BudgetAmount, second.BudgetType, second.AdGroupID = "", "", "", first.AdGroupID
		joined := w.create(second).Row
		assert.Equal(t, first.AdGroupID, joined.AdGroupID)
		assert.Equal(t, first.CampaignID, joined.CampaignID)
		assert.Equal(t, advert.GoalTraffic, joined.Goal)

		second.BudgetAmount = "5"
		_, err := w.CreateAd(t.Context(), w.by, second)
		refused(t, err, core.CodeInvalid, "budget_amount")
		second.BudgetAmount, second.AdGroupID = "", "nobody's"
		_, err = w.CreateAd(t.Context(), w.by, second)
		refused(t, err, core.CodeMissing, "ad_group_id")
	})
}

func TestCreateAd_SaysWhatIsWrong(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		disabled := ""
		accounts, err := w.Service.ListAdAccounts(t.Context(), w.by.Account, ads.ListAdAccounts{AccountID: w.channel.ID})
		require.NoError(t, err)
		for _, a := range accounts.Items {
			if !a.IsSelectable() {
				disabled = a.PlatformID
			}
		}
		yesterday, tomorrow := time.Now().AddDate(0, 0, -2).Format(time.DateOnly), time.Now().AddDate(0, 0, 2).Format(time.DateOnly)
		other := w.newAccount("Another shop")
		foreign, inactive := w.connect(other, advert.PlatformFacebook), w.connect(w.by, advert.PlatformPinterest)
		for name, test := range map[string]struct {
			change func(*ads.CreateAd)
			code   core.Code
			param  string
		}{
			"no channel":           {func(in *ads.CreateAd) { in.AccountID = "" }, core.CodeParameterMissing, "account_id"},
			"no ad account":        {func(in *ads.CreateAd) { in.AdAccountID = "" }, core.CodeParameterMissing, "ad_account_id"},
			"no name":              {func(in *ads.CreateAd) { in.Name = "" }, core.CodeParameterMissing, "name"},
			"no goal":              {func(in *ads.CreateAd) { in.Goal = "" }, core.CodeParameterMissing, "goal"},
			"no amount":            {func(in *ads.CreateAd) { in.BudgetAmount = "" }, core.CodeParameterMissing, "budget_amount"},
			"no budget type":       {func(in *ads.CreateAd) { in.BudgetType = "" }, core.CodeParameterMissing, "budget_type"},
			"unknown channel":      {func(in *ads.CreateAd) { in.AccountID = core.NewID(core.KindSocialAccount) }, core.CodeMissing, "account_id"},
			"no id of a channel":   {func(in *ads.CreateAd) { in.AccountID = "facebook" }, core.CodeMissing, "account_id"},
			"somebody's channel":   {func(in *ads.CreateAd) { in.AccountID = foreign.ID }, core.CodeMissing, "account_id"},
			"inactive channel":     {func(in *ads.CreateAd) { in.AccountID = inactive.ID }, core.CodeNotActivated, "account_id"},
			"unknown ad account":   {func(in *ads.CreateAd) { in.AdAccountID = "act_1" }, core.CodeMissing, "ad_account_id"},
			"disabled ad account":  {func(in *ads.CreateAd) { in.AdAccountID = disabled }, core.CodeInvalid, "ad_account_id"},
			"amount of zero":       {func(in *ads.CreateAd) { in.BudgetAmount = "0" }, core.CodeInvalid, "budget_amount"},
			"negative amount":      {func(in *ads.CreateAd) { in.BudgetAmount = "-20" }, core.CodeInvalid, "budget_amount"},
			"three decimals":       {func(in *ads.CreateAd) { in.BudgetAmount = "20.001" }, core.CodeInvalid, "budget_amount"},
			"below the minimum":    {func(in *ads.CreateAd) { in.BudgetAmount = "0.50" }, core.CodeInvalid, "budget_amount"},
			"another budget type":  {func(in *ads.CreateAd) { in.BudgetType = "weekly" }, core.CodeInvalid, "budget_type"},
			"lifetime without end": {func(in *ads.CreateAd) { in.BudgetType = "lifetime" }, core.CodeInvalid, "end_date"},
			"no date":              {func(in *ads.CreateAd) { in.EndDate = "2026-02-30" }, core.CodeInvalid, "end_date"},
			"over already":         {func(in *ads.CreateAd) { in.EndDate = yesterday }, core.CodeInvalid, "end_date"},
			"ends before it starts": {func(in *ads.CreateAd) {
				in.StartDate, in.EndDate = time.Now().AddDate(0, 0, 5).Format(time.DateOnly), tomorrow
			}, core.CodeInvalid, "end_date"},
			"unknown goal":           {func(in *ads.CreateAd) { in.Goal = "fame" }, core.CodeInvalid, "goal"},
			"a goal of others":       {func(in *ads.CreateAd) { in.Goal = "job_applicants" }, core.CodeInvalid, "goal"},
			"another platform":       {func(in *ads.CreateAd) { in.Platform = "google" }, core.CodeInvalid, "platform"},
			"another currency":       {func(in *ads.CreateAd) { in.Currency = "eur" }, core.CodeInvalid, "currency"},
			"another status":         {func(in *ads.CreateAd) { in.Status = "completed" }, core.CodeInvalid, "status"},
			"unknown bid strategy":   {func(in *ads.CreateAd) { in.Bid.Strategy = "cheap" }, core.CodeInvalid, "bid_strategy"},
			"bid cap without amount": {func(in *ads.CreateAd) { in.Bid.Strategy = "cost_cap" }, core.CodeInvalid, "bid_amount"},
			"ROAS without floor": {func(in *ads.CreateAd) {
				in.Goal, in.PromotedObject, in.Bid.Strategy = "conversions", `{"pixel_id":"1"}`, "LOWEST_COST_WITH_MIN_ROAS"
			}, core.CodeInvalid, "roas_average_floor"},
			"ROAS without value": {func(in *ads.CreateAd) { in.Bid = ads.BidInput{Strategy: "LOWEST_COST_WITH_MIN_ROAS", RoasFloor: "2"} }, core.CodeInvalid, "bid_strategy"},
			"no pixel":           {func(in *ads.CreateAd) { in.Goal = "conversions" }, core.CodeInvalid, "promoted_object.pixel_id"},
			"no video":           {func(in *ads.CreateAd) { in.Goal = "video_views" }, core.CodeInvalid, "video_url"},
			"no headline":        {func(in *ads.CreateAd) { in.Creative.Headline = "" }, core.CodeInvalid, "headline"},
			"no link":            {func(in *ads.CreateAd) { in.Creative.LinkURL = "shop" }, core.CodeInvalid, "link_url"},
			"over the limit":     {func(in *ads.CreateAd) { in.BudgetAmount = "10000.01" }, core.CodeSpendLimit, "budget_amount"},
		} {
			in := w.ad()
			test.change(&in)
			for _, dry := range []bool{false, true} {
				in.DryRun = dry
				_, err := w.CreateAd(t.Context(), w.by, in)
				t.Log(name)
				refused(t, err, test.code, test.param)
			}
		}
		assert.Zero(t, w.line.writes())
		assert.Empty(t, w.actions())
	})
}

func TestCreateAd_LinkedInTakesNoBidStrategy(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.channel = w.activate(advert.PlatformLinkedIn)
		w.account = w.adAccount(w.channel)
		in := w.ad()
		in.Bid.Strategy = "LOWEST_COST_WITHOUT_CAP"
		_, err := w.CreateAd(t.Context(), w.by, in)
		refused(t, err, core.CodeInvalid, "bid_strategy")
		in.Bid.Strategy = ""
		w.create(in)
	})
}

func TestCreateAd_NamesWhatANetworkDoesNotShow(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.channel = w.activate(advert.PlatformTwitter)
		w.account = w.adAccount(w.channel)
		shown := w.create(w.ad())
		require.Len(t, shown.Warnings, 3)
		for i, field := range []string{"targeting", "headline", "call_to_action"} {
			assert.True(t, strings.HasPrefix(shown.Warnings[i], field), shown.Warnings[i])
		}
	})
}

func TestCreateAd_DryRunWritesNothing(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		in := w.ad()
		in.DryRun = true
		before := w.seeded()
		out, err := w.CreateAd(t.Context(), w.by, in)
		require.NoError(t, err)
		assert.Nil(t, out.Ad)
		require.Len(t, out.Plan.Calls, 3)
		assert.Equal(t, "OUTCOME_TRAFFIC", out.Plan.Calls[0].Fields["objective"])
		assert.Equal(t, "20.00 USD", out.Plan.Calls[1].Fields["budget_amount"])
		assert.Equal(t, "2000", out.Plan.Calls[1].Fields["budget_sent"])
		figures := out.Plan.Figures[0]
		assert.Equal(t, 20*advert.AmountUnit, figures.Campaign)
		assert.Equal(t, advert.Amount(before+20)*advert.AmountUnit, figures.TotalAfter)
		assert.Zero(t, w.line.writes())
		assert.Empty(t, w.actions())
		assert.Empty(t, w.native())
	})
}

func TestCreateAd_TotalIsLimited(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.limit(100, w.seeded()+50)
		w.create(w.ad())
		w.create(w.ad())
		_, err := w.CreateAd(t.Context(), w.by, w.ad())
		e := refused(t, err, core.CodeSpendLimit, "budget_amount")
		assert.Contains(t, e.Message, "USD")
		paused := w.ad()
		paused.Status = "paused"
		shown := w.create(paused)
		assert.Equal(t, advert.StatusPaused, shown.Status)
		_, err = w.ResumeAdGroup(t.Context(), w.by, shown.Row.AdGroupID, "")
		require.NoError(t, err, "its campaign is off, so nothing is spent yet")
		result, err := w.BulkResumeCampaigns(t.Context(), w.by, ads.Bulk{Items: []ads.BulkItem{{ID: shown.Row.CampaignID}}})
		require.NoError(t, err)
		assert.Equal(t, core.CodeSpendLimit, result.Results[0].Error.Code)
	})
}

func TestCreateAd_ParallelRequestsStayWithinTheLimit(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.limit(100, w.seeded()+100)
		errs := make(chan error, 12)
		for range cap(errs) {
			go func() {
				_, err := w.CreateAd(t.Context(), w.by, w.ad())
				errs <- err
			}()
		}
		made := 0
		for range cap(errs) {
			if err := <-errs; err == nil {
				made++
			} else {
				refused(t, err, core.CodeSpendLimit, "budget_amount")
			}
		}
		assert.Equal(t, 5, made)
		assert.Len(t, w.native(), 5)
	})
}

func TestCreateAd_BlockedOperation(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		_, err := w.UpdateLimits(t.Context(), w.by, func(l *advert.Limits) { l.BlockedOperations.V = []advert.Op{advert.OpCreateAd} })
		require.NoError(t, err)
		_, err = w.CreateAd(t.Context(), w.by, w.ad())
		var e *core.Error
		require.ErrorAs(t, err, &e)
		assert.Zero(t, w.line.writes())
	})
}

func TestBoostPost_BeginsWhenItsStartSays(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		posts, _, err := w.Service.ListSocialPosts(t.Context(), w.by.Account, w.channel.ID, core.Page{Limit: 10})
		require.NoError(t, err)
		boost := ads.BoostPost{
			AccountID: w.channel.ID, AdAccountID: w.account.PlatformID, Name: "Boost", Goal: "engagement",
			Budget: &ads.BudgetInput{Amount: "70", Type: "lifetime"},
		}
		for _, post := range posts {
			if post.Status == advert.SocialPostPublished {
				boost.PostID = post.ID
			}
		}
		start := time.Now().AddDate(0, 0, 20)
		boost.StartDate = start.Format(time.RFC3339)
		out, err := w.Service.BoostPost(t.Context(), w.by, boost)
		require.NoError(t, err)
		runs := out.Ad.Row.Group.EndsAt.Time().Sub(out.Ad.Row.Group.StartsAt.Time())
		assert.InDelta(t, 7*24, runs.Hours(), 1, "a week from its start")

		for _, past := range []string{time.Now().AddDate(0, 0, -3).Format(time.DateOnly), time.Now().AddDate(0, 0, -3).Format(time.RFC3339)} {
			boost.StartDate = past
			_, err = w.Service.BoostPost(t.Context(), w.by, boost)
			refused(t, err, core.CodeInvalid, "start_date")
		}
	})
}

func TestBoostPost_ShowsAPublishedPost(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		posts, _, err := w.Service.ListSocialPosts(t.Context(), w.by.Account, w.channel.ID, core.Page{Limit: 10})
		require.NoError(t, err)
		var published, draft *advert.SocialPost
		for i := range posts {
			if posts[i].Status == advert.SocialPostPublished {
				published = &posts[i]
			} else {
				draft = &posts[i]
			}
		}
		boost := ads.BoostPost{
			AccountID: w.channel.ID, AdAccountID: w.account.PlatformID, PostID: published.ID, Name: "Boost", Goal: "engagement",
			Budget: &ads.BudgetInput{Amount: "70", Type: "lifetime"},
		}
		out, err := w.Service.BoostPost(t.Context(), w.by, boost)
		require.NoError(t, err)
		ad := out.Ad.Row
		assert.Equal(t, advert.TypeBoost, ad.Type)
		assert.Equal(t, published.ID, ad.PostID)
		assert.Equal(t, 70*advert.AmountUnit, ad.Group.BudgetAmount)
		require.NotNil(t, ad.Group.EndsAt, "a lifetime budget without an end is for a week")
		left := time.Until(ad.Group.EndsAt.Time())
		assert.Greater(t, left, 6*24*time.Hour)
		assert.LessOrEqual(t, left, 7*24*time.Hour)
		assert.Equal(t, 10*advert.AmountUnit, w.actions()[0].Daily)

		for name, test := range map[string]struct {
			change func(*ads.BoostPost)
			code   core.Code
			param  string
		}{
			"no post":        {func(in *ads.BoostPost) { in.PostID = "" }, core.CodeParameterMissing, "post_id"},
			"no budget":      {func(in *ads.BoostPost) { in.Budget = nil }, core.CodeParameterMissing, "budget"},
			"no amount":      {func(in *ads.BoostPost) { in.Budget = &ads.BudgetInput{Type: "daily"} }, core.CodeParameterMissing, "budget.amount"},
			"no type":        {func(in *ads.BoostPost) { in.Budget = &ads.BudgetInput{Amount: "5"} }, core.CodeParameterMissing, "budget.type"},
			"other type":     {func(in *ads.BoostPost) { in.Budget = &ads.BudgetInput{Amount: "5", Type: "x"} }, core.CodeInvalid, "budget.type"},
			"unknown post":   {func(in *ads.BoostPost) { in.PostID = "12" }, core.CodeMissing, "post_id"},
			"a draft":        {func(in *ads.BoostPost) { in.PostID = draft.PlatformID }, core.CodeInvalid, "post_id"},
			"too long":       {func(in *ads.BoostPost) { in.DurationDays = new(366) }, core.CodeInvalid, "duration_days"},
			"over the limit": {func(in *ads.BoostPost) { in.Budget = &ads.BudgetInput{Amount: "70001", Type: "lifetime"} }, core.CodeSpendLimit, "budget.amount"},
		} {
			in := boost
			test.change(&in)
			_, err := w.Service.BoostPost(t.Context(), w.by, in)
			t.Log(name)
			refused(t, err, test.code, test.param)
		}
		assert.Equal(t, 1, w.line.of("Create"))
	})
}

func TestCreateAd_SameKeySpendsOnce(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		send := func() (string, bool, error) {
			return w.request("k1", func(ctx context.Context) (any, error) { return w.CreateAd(ctx, w.by, w.ad()) })
		}
		first, replayed, err := send()
		require.NoError(t, err)
		assert.False(t, replayed)
		second, replayed, err := send()
		require.NoError(t, err)
		assert.True(t, replayed)
		assert.Equal(t, first, second)
		assert.Equal(t, 1, w.line.of("Create"))
	})
}

func TestCreateAd_DoesNotBringBackACampaignThatIsOver(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		first := w.create(w.ad()).Row
		require.NoError(t, w.Advert.RecordStates(t.Context(), w.by.Account, advert.PlatformFacebook, advert.LevelCampaign,
			[]advert.State{{PlatformID: first.CampaignID, Status: advert.StatusRejected}}, w.Now()))
		second := w.ad()
		second.Goal, second.BudgetAmount, second.BudgetType, second.AdGroupID = "", "", "", first.AdGroupID
		for _, dry := range []bool{false, true} {
			second.DryRun = dry
			_, err := w.CreateAd(t.Context(), w.by, second)
			refused(t, err, core.CodeInvalid, "ad_group_id")
		}
	})
}

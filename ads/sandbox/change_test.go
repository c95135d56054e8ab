package sandbox

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/store/core"
)

func TestReview_TakesItsTimeAndRefuses(t *testing.T) {
	each(t, advert.PlatformFacebook, Options{ReviewDelay: time.Hour}, func(t *testing.T, n *network) {
		made := n.create(n.plan("adact_1"))
		refused := n.join(made.Group, "This is [reject] it")
		assert.Equal(t, advert.StatusPendingReview, made.Ad.Status)
		assert.Equal(t, advert.ReviewInReview, made.Ad.ReviewStatus)
		assert.Equal(t, advert.StatusPendingReview, made.Campaign.Status)
		assert.Empty(t, refused.RejectionReason, "nobody has looked at it yet")

		n.now = n.now.Add(time.Hour - time.Second)
		early := n.report(advert.LevelCampaign, made.Campaign.PlatformID)
		assert.Equal(t, advert.StatusPendingReview, early.Status)
		assert.Zero(t, *early.Metrics.Spend)

		n.now = n.now.Add(5 * time.Hour)
		late := n.report(advert.LevelAd, made.Ad.PlatformID)
		assert.Equal(t, advert.StatusActive, late.Status)
		assert.Equal(t, advert.ReviewApproved, late.Review)
		assert.Positive(t, *late.Metrics.Spend)
		no := n.report(advert.LevelAd, refused.PlatformID)
		assert.Equal(t, advert.StatusRejected, no.Status)
		assert.Contains(t, no.RejectionReason, "[reject]")
		assert.Zero(t, *no.Metrics.Spend)
		assert.Equal(t, advert.ReviewWithIssues, n.report(advert.LevelGroup, made.Group.PlatformID).Review)
	})
}

func TestCampaign_CompletesAtItsEndAndWhenItsBudgetIsSpent(t *testing.T) {
	each(t, advert.PlatformFacebook, Options{}, func(t *testing.T, n *network) {
		plan := n.planCampaign("adact_1")
		plan.BudgetType, plan.BudgetAmount = advert.BudgetTypeLifetime, 100*advert.AmountUnit
		plan.EndsAt = ref(core.TimeOf(n.now.Add(5 * 24 * time.Hour)))
		ending := n.create(plan).Campaign
		plan.EndsAt = ref(core.TimeOf(n.now.Add(50 * 24 * time.Hour)))
		cut := n.create(plan).Campaign
		assert.Equal(t, advert.StatusActive, ending.Status)
		assert.Equal(t, *plan.EndsAt, *cut.EndsAt)

		n.now = n.now.Add(4 * 24 * time.Hour)
		_, err := n.Update(t.Context(), n.conn, n.campaignRef(cut.PlatformID), ads.Patch{Budget: &ads.Budget{Amount: 1 * advert.AmountUnit, Type: advert.BudgetTypeLifetime}})
		require.NoError(t, err)
		spent := n.report(advert.LevelCampaign, cut.PlatformID)
		assert.Equal(t, advert.StatusCompleted, spent.Status)
		assert.True(t, spent.BudgetSpent)
		n.now = n.now.Add(24 * time.Hour)
		assert.Equal(t, spent.Metrics, n.report(advert.LevelCampaign, cut.PlatformID).Metrics)

		ended := n.report(advert.LevelCampaign, ending.PlatformID)
		assert.Equal(t, advert.StatusCompleted, ended.Status)
		assert.Equal(t, "ACTIVE", ended.PlatformStatus, "as Meta has it")
		assert.Equal(t, 100*advert.AmountUnit, *ended.Metrics.Spend)
	})
}

func TestCreate_RefusesWhatNoNetworkTakes(t *testing.T) {
	each(t, advert.PlatformPinterest, Options{}, func(t *testing.T, n *network) {
		past := core.TimeOf(n.now.Add(-time.Hour))
		for field, spoil := range map[string]func(*ads.Plan){
			"ad_account_id": func(p *ads.Plan) { p.AdAccount = n.accounts(n.conn)[2] },
			"goal":          func(p *ads.Plan) { p.Goal = advert.GoalJobApplicants },
			"budget_amount": func(p *ads.Plan) { p.BudgetAmount = 5*advert.AmountUnit - 1 },
			"end_date":      func(p *ads.Plan) { p.BudgetType = advert.BudgetTypeLifetime },
			"budget_type":   func(p *ads.Plan) { p.BudgetType = "hourly" },
		} {
			plan := n.plan("adact_" + field)
			spoil(&plan)
			_, err := n.Create(t.Context(), n.conn, plan)
			requireRejected(t, err, field)
		}
		plan := n.plan("adact_past")
		plan.EndsAt = &past
		_, err := n.Create(t.Context(), n.conn, plan)
		requireRejected(t, err, "end_date")
		plan = n.plan("adact_group")
		plan.AdGroupID = "626"
		_, err = n.Create(t.Context(), n.conn, plan)
		assert.ErrorIs(t, err, ads.ErrNotFound)
		plan.AdAccount.PlatformID = "549"
		_, err = n.Create(t.Context(), n.conn, plan)
		assert.ErrorIs(t, err, ads.ErrNotFound)
	})
}

func TestCreate_TwiceMakesTwo(t *testing.T) {
	each(t, advert.PlatformFacebook, Options{}, func(t *testing.T, n *network) {
		first, second := n.create(n.plan("adact_1")), n.create(n.plan("adact_1"))
		assert.NotEqual(t, first.Campaign.PlatformID, second.Campaign.PlatformID)
	})
}

func TestSetStatus_CountsTheAdsWhoseDeliveryMoved(t *testing.T) {
	each(t, advert.PlatformFacebook, Options{}, func(t *testing.T, n *network) {
		made := n.create(n.planCampaign("adact_1"))
		n.join(made.Group, "[reject]")
		n.join(made.Group, "third")
		paused := n.turn(n.campaignRef(made.Campaign.PlatformID), advert.ConfiguredPaused)
		assert.Equal(t, []any{2, 1, []string{"rejected"}}, []any{paused.Updated, paused.Skipped, paused.Reasons})
		require.Len(t, paused.State.Ads, 3)
		assert.Equal(t, advert.StatusPaused, paused.State.Campaigns[0].Status)
		assert.Equal(t, "CAMPAIGN_PAUSED", paused.State.Ads[0].PlatformStatus)
		assert.Equal(t, advert.ConfiguredActive, paused.State.Ads[0].ConfiguredStatus)

		again := n.turn(n.groupRef(made.Group), advert.ConfiguredPaused)
		assert.Equal(t, []any{0, 3}, []any{again.Updated, again.Skipped})
		resumed := n.turn(n.campaignRef(made.Campaign.PlatformID), advert.ConfiguredActive)
		assert.Equal(t, 0, resumed.Updated, "their ad group is paused")
		assert.Equal(t, advert.StatusPaused, resumed.State.Campaigns[0].Status)

		results, err := n.SetStatus(t.Context(), n.conn, []ads.Ref{n.campaignRef("1"), n.groupRef(made.Group)}, advert.ConfiguredActive)
		require.NoError(t, err)
		assert.ErrorIs(t, results[0].Err, ads.ErrNotFound)
		assert.Equal(t, 2, results[1].Updated)
	})
}

func TestSetStatus_OfAnAdIsNotThereWhereTheNetworkHasNoSwitch(t *testing.T) {
	each(t, advert.PlatformTwitter, Options{}, func(t *testing.T, n *network) {
		plan := n.plan("adact_1")
		plan.Configured = advert.ConfiguredPaused
		made := n.create(plan)
		assert.Equal(t, advert.ConfiguredPaused, made.Group.ConfiguredStatus)
		assert.Equal(t, advert.ConfiguredActive, made.Ad.ConfiguredStatus)
		assert.Equal(t, advert.StatusPaused, made.Ad.Status)
		results, err := n.SetStatus(t.Context(), n.conn, []ads.Ref{{AdAccount: n.mine().PlatformID, Level: advert.LevelAd, ID: made.Ad.PlatformID}}, advert.ConfiguredActive)
		require.NoError(t, err)
		assert.ErrorIs(t, results[0].Err, ads.ErrUnsupported)
	})
}

func TestUpdate_ChangesWhatThePatchNames(t *testing.T) {
	each(t, advert.PlatformFacebook, Options{}, func(t *testing.T, n *network) {
		made := n.create(n.plan("adact_1"))
		ends := core.TimeOf(n.now.Add(24 * time.Hour))
		changed, err := n.Update(t.Context(), n.conn, n.groupRef(made.Group), ads.Patch{
			Budget: &ads.Budget{Amount: 30 * advert.AmountUnit, Type: advert.BudgetTypeDaily}, EndsAt: &ends,
			BidStrategy: ref(advert.BidStrategyCostCap), BidAmount: ref(2 * advert.AmountUnit),
		})
		require.NoError(t, err)
		want := *made.Group
		want.BudgetAmount, want.EndsAt, want.BidStrategy, want.BidAmount = 30*advert.AmountUnit, &ends, advert.BidStrategyCostCap, 2*advert.AmountUnit
		assert.Equal(t, want, *changed.Group)

		campaign := n.campaignRef(made.Campaign.PlatformID)
		for field, refused := range map[string]struct {
			ref   ads.Ref
			patch ads.Patch
		}{
			"budget":        {campaign, ads.Patch{Budget: &ads.Budget{Amount: 30 * advert.AmountUnit, Type: advert.BudgetTypeDaily}}},
			"end_date":      {campaign, ads.Patch{EndsAt: &ends}},
			"budget.type":   {n.groupRef(made.Group), ads.Patch{Budget: &ads.Budget{Amount: 30 * advert.AmountUnit, Type: advert.BudgetTypeLifetime}}},
			"budget_amount": {n.groupRef(made.Group), ads.Patch{Budget: &ads.Budget{Amount: 1, Type: advert.BudgetTypeDaily}}},
		} {
			_, err := n.Update(t.Context(), n.conn, refused.ref, refused.patch)
			requireRejected(t, err, field)
		}
		assert.Equal(t, 30*advert.AmountUnit, n.walk(n.mine().PlatformID).Groups[6].BudgetAmount, "what was refused changed nothing")
	})
}

func TestDelete_CancelsAllBelowAndKeepsWhatWasSpent(t *testing.T) {
	each(t, advert.PlatformFacebook, Options{}, func(t *testing.T, n *network) {
		made := n.create(n.plan("adact_1"))
		n.join(made.Group, "second")
		n.now = n.now.Add(10 * time.Hour)
		campaign := n.campaignRef(made.Campaign.PlatformID)
		deleted, err := n.Delete(t.Context(), n.conn, campaign)
		require.NoError(t, err)
		assert.Equal(t, ads.Deleted{AdGroups: 1, Ads: 2}, deleted)
		gone := n.report(advert.LevelCampaign, made.Campaign.PlatformID)
		assert.Equal(t, advert.StatusCancelled, gone.Status)
		assert.Equal(t, "DELETED", gone.PlatformStatus)
		assert.Positive(t, *gone.Metrics.Spend)
		n.now = n.now.Add(10 * time.Hour)
		assert.Equal(t, gone.Metrics, n.report(advert.LevelCampaign, made.Campaign.PlatformID).Metrics)
		assert.Len(t, n.walk(n.mine().PlatformID).Campaigns, 3)
		_, err = n.Delete(t.Context(), n.conn, campaign)
		assert.ErrorIs(t, err, ads.ErrNotFound)
		_, err = n.Update(t.Context(), n.conn, n.groupRef(made.Group), ads.Patch{})
		assert.ErrorIs(t, err, ads.ErrNotFound)
	})
}

func TestManage_DriftsFromTheMirror(t *testing.T) {
	each(t, advert.PlatformFacebook, Options{}, func(t *testing.T, n *network) {
		mine := n.mine().PlatformID
		before := n.walk(mine)
		campaign, group := before.Campaigns[0], before.Groups[2]
		require.NoError(t, n.Manage(t.Context(), n.conn, n.campaignRef(campaign.PlatformID), Edit{Name: ref("Renamed"), Configured: ref(advert.ConfiguredPaused)}))
		require.NoError(t, n.Manage(t.Context(), n.conn, n.groupRef(&group), Edit{Delete: true}))
		require.NoError(t, n.Manage(t.Context(), n.conn, n.campaignRef(before.Campaigns[1].PlatformID), Edit{Budget: ref(77 * advert.AmountUnit)}))
		after := n.walk(mine)
		assert.Equal(t, "Renamed", after.Campaigns[0].Name)
		assert.Equal(t, advert.StatusPaused, after.Campaigns[0].Status)
		assert.Equal(t, 77*advert.AmountUnit, after.Campaigns[1].BudgetAmount)
		assert.Len(t, after.Groups, 5)
		assert.Len(t, after.Ads, 10)
		refused := before.Ads[slices.IndexFunc(before.Ads, func(a advert.Ad) bool { return a.Status == advert.StatusRejected })]
		ad := ads.Ref{AdAccount: mine, Level: advert.LevelAd, ID: refused.PlatformID}
		require.NoError(t, n.Manage(t.Context(), n.conn, ad, Edit{Rejection: ref("")}))
		assert.Equal(t, advert.StatusPaused, n.report(advert.LevelAd, refused.PlatformID).Status, "approved, and its campaign is paused")
	})
}

package view

import (
	"cmp"
	"encoding/json"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/store/advert"
)

// AdGroup renders an ad group with what its network reports.
func AdGroup(shown *ads.ShownAdGroup) api.AdGroup {
	g := &shown.Row
	campaign, account := cmp.Or(g.Campaign, &advert.Campaign{}), cmp.Or(g.AdAccount, &advert.Account{})
	return api.AdGroup{
		ID:                g.PlatformID,
		Object:            "ad_group",
		Name:              g.Name,
		Platform:          api.AdPlatform(g.Platform),
		AccountID:         g.ChannelID,
		AdAccountID:       g.AdAccountID,
		AdAccountName:     account.Name,
		CampaignID:        g.CampaignID,
		CampaignName:      campaign.Name,
		Status:            api.AdStatus(shown.Status),
		ConfiguredStatus:  api.AdConfiguredStatus(g.ConfiguredStatus),
		ReviewStatus:      word[api.AdReviewStatus](g.ReviewStatus),
		PlatformStatus:    g.PlatformStatus,
		Goal:              word[api.AdGoal](cmp.Or(g.Goal, campaign.Goal)),
		Objective:         textOrNil(campaign.Objective),
		OptimizationGoal:  textOrNil(g.OptimizationGoal),
		Budget:            budget(g.BudgetAmount, g.BudgetType, account.Currency),
		BudgetLevel:       budgetLevel(campaign),
		Currency:          account.Currency,
		BidStrategy:       textOrNil(cmp.Or(g.BidStrategy, campaign.BidStrategy)),
		BidAmount:         amountOrNull(g.BidAmount),
		ROASFloor:         ratioOrNull(g.RoasFloor),
		Targeting:         adTargeting(g.Targeting),
		PlatformTargeting: json.RawMessage(g.PlatformTargeting.Text()),
		PromotedObject:    json.RawMessage(g.PromotedObject.Text()),
		AdCount:           int64(g.AdCount),
		Source:            api.AdSource(g.Source),
		IsExternal:        g.Source == advert.SourceExternal,
		Schedule:          schedule(latest(g.StartsAt, campaign.StartsAt), earliest(g.EndsAt, campaign.EndsAt), account),
		Metrics:           metrics(shown),
		CreatedAt:         at(g.CreatedAt),
		UpdatedAt:         at(g.UpdatedAt),
		PlatformCreatedAt: atOrNull(g.PlatformCreatedAt),
	}
}

// ListAdGroups reads the query of a list.
func ListAdGroups(q api.ListAdCampaignAdGroupsParams) ads.ListAdGroups {
	return ads.ListAdGroups{Platform: string(value(q.Platform)), From: value(q.From), To: value(q.To), Paging: paging(q.Limit, q.Page, q.Cursor)}
}

// AdObject reads the query of a read of one campaign or ad group.
func AdObject(platform *api.AdPlatform, from, to *string) ads.GetAdObject {
	return ads.GetAdObject{Platform: string(value(platform)), From: value(from), To: value(to)}
}

// AdStatusResult renders what a pause or a resume changed.
func AdStatusResult(r *ads.StatusResult) api.AdStatusResult {
	return api.AdStatusResult{
		Object:           "ad_status_result",
		ID:               r.ID,
		Type:             api.AdStatusResultType(r.Level),
		Platform:         api.AdPlatform(r.Platform),
		Status:           api.AdStatus(r.Status),
		ConfiguredStatus: api.AdConfiguredStatus(r.Configured),
		Changed:          r.Changed,
		Updated:          int64(r.Updated),
		Skipped:          int64(r.Skipped),
		SkippedReasons:   list(r.SkippedReasons),
		Message:          r.Message,
	}
}

package view

import (
	"cmp"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/sdk/wire"
	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/store/core"
)

// AdCampaign renders a campaign with what its network reports.
func AdCampaign(shown *ads.ShownCampaign) api.AdCampaign {
	c := &shown.Row
	account := cmp.Or(c.AdAccount, &advert.Account{})
	return api.AdCampaign{
		ID:                c.PlatformID,
		Object:            "campaign",
		Name:              c.Name,
		Platform:          api.AdPlatform(c.Platform),
		AccountID:         c.ChannelID,
		AdAccountID:       c.AdAccountID,
		AdAccountName:     account.Name,
		Status:            api.AdStatus(shown.Status),
		ConfiguredStatus:  api.AdConfiguredStatus(c.ConfiguredStatus),
		ReviewStatus:      word[api.AdReviewStatus](c.ReviewStatus),
		PlatformStatus:    c.PlatformStatus,
		Goal:              word[api.AdGoal](c.Goal),
		Objective:         textOrNil(c.Objective),
		Budget:            budget(c.BudgetAmount, c.BudgetType, account.Currency),
		BudgetLevel:       budgetLevel(c),
		Currency:          account.Currency,
		BidStrategy:       textOrNil(c.BidStrategy),
		AdGroupCount:      int64(c.AdGroupCount),
		AdCount:           int64(c.AdCount),
		Source:            api.AdSource(c.Source),
		IsExternal:        c.Source == advert.SourceExternal,
		Schedule:          schedule(c.StartsAt, c.EndsAt, account),
		Metrics:           metrics(shown),
		CreatedAt:         at(c.CreatedAt),
		UpdatedAt:         at(c.UpdatedAt),
		PlatformCreatedAt: atOrNull(c.PlatformCreatedAt),
	}
}

// ListAdCampaigns reads the query of a list.
func ListAdCampaigns(q api.ListAdCampaignsParams) ads.ListCampaigns {
	return ads.ListCampaigns{
		AccountID: value(q.AccountID), AdAccountID: value(q.AdAccountID), Platform: string(value(q.Platform)), Status: statuses(q.Status),
		Source: string(value(q.Source)), From: value(q.From), To: value(q.To), Paging: paging(q.Limit, q.Page, q.Cursor),
	}
}

// AdGroupChange reads the body of a PATCH of an ad group.
func AdGroupChange(b *api.AdGroupUpdate, dryRun *bool) ads.UpdateBudget {
	return ads.UpdateBudget{
		Platform: string(value(b.Platform)), Budget: wanted(b.Budget), Bid: bid(b.BidStrategy, b.BidAmount, b.ROASAverageFloor),
		Currency: value(b.Currency), DryRun: value(dryRun),
		Targeting: &ads.TargetingInput{
			Targeting: adWords(b.Targeting), Platform: adObject(b.PlatformTargeting), DSABeneficiary: value(b.DsaBeneficiary), DSAPayor: value(b.DsaPayor),
		},
	}
}

// AdBudgetChange reads the body of a PATCH of a campaign.
func AdBudgetChange(b *api.AdCampaignUpdate, dryRun *bool) ads.UpdateBudget {
	return ads.UpdateBudget{
		Platform: string(value(b.Platform)), Budget: wanted(b.Budget), Bid: bid(b.BidStrategy, b.BidAmount, b.ROASAverageFloor),
		Currency: value(b.Currency), DryRun: value(dryRun),
	}
}

// DeletedAdCampaign confirms a delete.
func DeletedAdCampaign(d *ads.DeletedCampaign) api.DeletedAdCampaign {
	return api.DeletedAdCampaign{
		ID: d.ID, Object: "campaign", Deleted: true, Platform: api.AdPlatform(d.Platform),
		AdGroupCount: int64(d.AdGroupCount), AdCount: int64(d.AdCount),
	}
}

// AdBulk reads the body of a bulk operation.
func AdBulk(b *api.AdCampaignBulk, dryRun *bool) ads.Bulk {
	return ads.Bulk{
		Items:  mapped(b.Campaigns, func(c wire.AdCampaignRef) ads.BulkItem { return ads.BulkItem{ID: c.ID, Platform: c.Platform} }),
		DryRun: value(dryRun),
	}
}

// AdBulkResult renders what became of many campaigns.
func AdBulkResult(r *ads.BulkResult) api.AdBulkResult {
	return api.AdBulkResult{
		Object: "bulk_result",
		Status: api.AdConfiguredStatus(r.Status),
		Totals: api.AdBulkTotals{
			Requested: int64(len(r.Results)), Updated: int64(r.Updated), Skipped: int64(r.Skipped), Failed: int64(r.Failed),
		},
		Results: mapped(r.Results, adBulkItem),
	}
}

// adBulkItem renders what became of one campaign of a bulk operation.
func adBulkItem(r ads.BulkItemResult) api.AdBulkItem {
	return api.AdBulkItem{
		Index:              int64(r.Index),
		ID:                 r.ID,
		PlatformCampaignID: r.ID,
		Platform:           word[api.AdPlatform](r.Platform),
		Outcome:            api.AdBulkItemOutcome(r.Outcome),
		Status:             word[api.AdStatus](r.Status),
		Updated:            int64(r.Updated),
		Skipped:            int64(r.Skipped),
		Reason:             textOrNil(r.Reason),
		Message:            r.Message,
		Error:              adItemError(r.Error),
	}
}

func adItemError(e *ads.ItemError) *api.AdItemError {
	if e == nil {
		return nil
	}
	return &api.AdItemError{Type: errorType(e.Code), Code: string(e.Code), Message: e.Message, Param: textOrNil(e.Param), Retryable: e.Retryable}
}

// errorType returns the type of error that a code belongs to, as in the error of a whole answer.
func errorType(code core.Code) api.AdItemErrorType {
	switch code {
	case core.CodeInvalid, core.CodeSpendLimit:
		return api.AdItemErrorTypeValidationError
	case core.CodeMissing, core.CodeBadRequest, core.CodeParameterMissing, core.CodeNotActivated, core.CodePermission, core.CodeRateLimit, core.CodeForbidden, core.CodeInProgress:
		return api.AdItemErrorTypeInvalidRequestError
	}
	return api.AdItemErrorTypeAPIError
}

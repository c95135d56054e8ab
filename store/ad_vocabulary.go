package store

import "slices"

// AdLevel is a level of the hierarchy that every network is mapped to: a campaign has ad groups, an ad group has ads.
type AdLevel string

// The levels.
const (
	AdLevelCampaign AdLevel = "campaign"
	AdLevelGroup    AdLevel = "ad_group"
	AdLevelAd       AdLevel = "ad"
)

// AdStatus is whether something is delivered, in our words. What a network calls it is kept beside it.
type AdStatus string

// The states of delivery. A network's word that is not known is an error, never active.
const (
	AdStatusActive        AdStatus = "active"
	AdStatusPaused        AdStatus = "paused" // by its own switch or by one above it
	AdStatusPendingReview AdStatus = "pending_review"
	AdStatusRejected      AdStatus = "rejected"
	AdStatusCompleted     AdStatus = "completed" // past its end, or its lifetime budget is spent
	AdStatusCancelled     AdStatus = "cancelled" // archived or deleted
	AdStatusError         AdStatus = "error"
)

// AdStatuses lists the states of delivery, the one that decides over several children first.
var AdStatuses = []AdStatus{
	AdStatusActive, AdStatusPendingReview, AdStatusPaused, AdStatusError, AdStatusCompleted, AdStatusCancelled, AdStatusRejected,
}

// IsKnown reports whether it is one of AdStatuses.
func (s AdStatus) IsKnown() bool { return slices.Contains(AdStatuses, s) }

// IsTerminal reports whether nothing can be delivered any more, whatever is switched on.
func (s AdStatus) IsTerminal() bool {
	return s == AdStatusRejected || s == AdStatusCompleted || s == AdStatusCancelled
}

// Revived returns the state that something may have after a change: all but what is cancelled may go on, up to its end.
func (s AdStatus) Revived() AdStatus {
	if s == AdStatusRejected || s == AdStatusCompleted {
		return AdStatusActive
	}
	return s
}

// AdConfigured is somebody's own switch, whatever is delivered.
type AdConfigured string

// A switch is on or off.
const (
	AdConfiguredActive AdConfigured = "active"
	AdConfiguredPaused AdConfigured = "paused"
)

// AdReview is what the network thinks of the content.
type AdReview string

// The states of review.
const (
	AdReviewInReview   AdReview = "in_review"
	AdReviewApproved   AdReview = "approved"
	AdReviewRejected   AdReview = "rejected"
	AdReviewWithIssues AdReview = "with_issues"
)

// AdGoal is what an ad is for. Each network knows some of them.
type AdGoal string

// The goals. Empty stands for one of an external campaign that has no word here.
const (
	AdGoalEngagement     AdGoal = "engagement"
	AdGoalTraffic        AdGoal = "traffic"
	AdGoalAwareness      AdGoal = "awareness"
	AdGoalVideoViews     AdGoal = "video_views"
	AdGoalLeadGeneration AdGoal = "lead_generation"
	AdGoalLeadConversion AdGoal = "lead_conversion"
	AdGoalConversions    AdGoal = "conversions"
	AdGoalAppPromotion   AdGoal = "app_promotion"
	AdGoalCatalogSales   AdGoal = "catalog_sales"
	AdGoalJobApplicants  AdGoal = "job_applicants"
)

// BudgetType says what an amount is for: a day, or all the time until the end.
type BudgetType string

// The types of budget.
const (
	BudgetTypeDaily    BudgetType = "daily"
	BudgetTypeLifetime BudgetType = "lifetime"
)

// BudgetLevel says who has the budget of a campaign: itself, or each of its ad groups.
type BudgetLevel string

// The levels of a budget.
const (
	BudgetLevelCampaign BudgetLevel = "campaign"
	BudgetLevelGroup    BudgetLevel = "ad_group"
)

// BidStrategy is how a network bids.
type BidStrategy string

// The strategies. Empty stands for one of an external campaign that has no word here, or for none.
const (
	BidStrategyLowestCost BidStrategy = "LOWEST_COST_WITHOUT_CAP"
	BidStrategyBidCap     BidStrategy = "LOWEST_COST_WITH_BID_CAP" // needs a bid amount
	BidStrategyCostCap    BidStrategy = "COST_CAP"                 // needs a bid amount
	BidStrategyMinROAS    BidStrategy = "LOWEST_COST_WITH_MIN_ROAS"
)

// BidStrategies lists the strategies. It is a constant.
var BidStrategies = []BidStrategy{BidStrategyLowestCost, BidStrategyBidCap, BidStrategyCostCap, BidStrategyMinROAS}

// AdSource says where something was made.
type AdSource string

// Native is what was made through this service. What was made elsewhere stays external whatever is added to it.
const (
	AdSourceNative   AdSource = "native"
	AdSourceExternal AdSource = "external"
)

// AdType says what an ad shows.
type AdType string

// A boost shows a post that is published already.
const (
	AdTypeStandalone AdType = "standalone"
	AdTypeBoost      AdType = "boost"
)

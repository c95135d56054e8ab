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

// AdStatus says whether something is delivered, in words that are the same for all networks. The network's own word is
// kept beside it.
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

// AdStatuses lists the states of delivery. Where several ads together give a state to what they are in, the one that
// comes first in this list decides.
var AdStatuses = []AdStatus{
	AdStatusActive, AdStatusPendingReview, AdStatusPaused, AdStatusError, AdStatusCompleted, AdStatusCancelled, AdStatusRejected,
}

// IsKnown reports whether it is one of AdStatuses.
func (s AdStatus) IsKnown() bool { return slices.Contains(AdStatuses, s) }

// IsTerminal reports whether the state is final: nothing is delivered any more, whatever is switched on.
func (s AdStatus) IsTerminal() bool {
	return s == AdStatusRejected || s == AdStatusCompleted || s == AdStatusCancelled
}

// Revived returns the state that something may have after its budget, end or switch is changed: what was rejected or
// completed may be delivered again, what was cancelled never is.
func (s AdStatus) Revived() AdStatus {
	if s == AdStatusRejected || s == AdStatusCompleted {
		return AdStatusActive
	}
	return s
}

// AdConfigured says how the own switch of a campaign, ad group or ad stands, whether or not it is delivered.
type AdConfigured string

// A switch is on or off.
const (
	AdConfiguredActive AdConfigured = "active"
	AdConfiguredPaused AdConfigured = "paused"
)

// AdReview says how far the network's review of the content has come.
type AdReview string

// The states of review.
const (
	AdReviewInReview   AdReview = "in_review"
	AdReviewApproved   AdReview = "approved"
	AdReviewRejected   AdReview = "rejected"
	AdReviewWithIssues AdReview = "with_issues"
)

// AdGoal says what an ad is meant to achieve. No network knows all of them.
type AdGoal string

// The goals. Empty means that an external campaign has a goal which has no word here.
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

// BudgetType says what an amount is for: one day, or the whole time until the end.
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

// BidStrategy says how a network bids in its auctions.
type BidStrategy string

// The strategies. Empty means that there is none, or that an external campaign has one which has no word here.
const (
	BidStrategyLowestCost BidStrategy = "LOWEST_COST_WITHOUT_CAP"
	BidStrategyBidCap     BidStrategy = "LOWEST_COST_WITH_BID_CAP" // needs a bid amount
	BidStrategyCostCap    BidStrategy = "COST_CAP"                 // needs a bid amount
	BidStrategyMinROAS    BidStrategy = "LOWEST_COST_WITH_MIN_ROAS"
)

// BidStrategies lists the strategies. It is never changed.
var BidStrategies = []BidStrategy{BidStrategyLowestCost, BidStrategyBidCap, BidStrategyCostCap, BidStrategyMinROAS}

// AdSource says where something was made.
type AdSource string

// Native means that it was made through this service. What was made elsewhere stays external, whatever is added to it.
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

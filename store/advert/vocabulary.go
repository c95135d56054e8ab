package advert

import "slices"

// Level is a level of the hierarchy that every network is mapped to: a campaign has ad groups, an ad group has ads.
type Level string

// The levels.
const (
	LevelCampaign Level = "campaign"
	LevelGroup    Level = "ad_group"
	LevelAd       Level = "ad"
)

// Status says whether something is delivered, in words that are the same for all networks. The network's own word is
// kept beside it.
type Status string

// The states of delivery. A network's word that is not known is an error, never active.
const (
	StatusActive        Status = "active"
	StatusPaused        Status = "paused" // by its own switch or by one above it
	StatusPendingReview Status = "pending_review"
	StatusRejected      Status = "rejected"
	StatusCompleted     Status = "completed" // past its end, or its lifetime budget is spent
	StatusCancelled     Status = "cancelled" // archived or deleted
	StatusError         Status = "error"
)

// Statuses lists the states of delivery. Where several ads together give a state to what they are in, the one that
// comes first in this list decides.
var Statuses = []Status{
	StatusActive, StatusPendingReview, StatusPaused, StatusError, StatusCompleted, StatusCancelled, StatusRejected,
}

// IsKnown reports whether it is one of Statuses.
func (s Status) IsKnown() bool { return slices.Contains(Statuses, s) }

// IsTerminal reports whether the state is final: nothing is delivered any more, whatever is switched on.
func (s Status) IsTerminal() bool {
	return s == StatusRejected || s == StatusCompleted || s == StatusCancelled
}

// Revived returns the state that something may have after its budget, end or switch is changed. What was rejected or completed may be delivered
// again, what was cancelled never is.
func (s Status) Revived() Status {
	if s == StatusRejected || s == StatusCompleted {
		return StatusActive
	}
	return s
}

// Configured says how the own switch of a campaign, ad group or ad stands, whether or not it is delivered.
type Configured string

// A switch is on or off.
const (
	ConfiguredActive Configured = "active"
	ConfiguredPaused Configured = "paused"
)

// Review says how far the network's review of the content has come.
type Review string

// The states of review.
const (
	ReviewInReview   Review = "in_review"
	ReviewApproved   Review = "approved"
	ReviewRejected   Review = "rejected"
	ReviewWithIssues Review = "with_issues"
)

// Goal says what an ad is meant to achieve. No network knows all of them.
type Goal string

// The goals. Empty means that an external campaign has a goal which has no word here.
const (
	GoalEngagement     Goal = "engagement"
	GoalTraffic        Goal = "traffic"
	GoalAwareness      Goal = "awareness"
	GoalVideoViews     Goal = "video_views"
	GoalLeadGeneration Goal = "lead_generation"
	GoalLeadConversion Goal = "lead_conversion"
	GoalConversions    Goal = "conversions"
	GoalAppPromotion   Goal = "app_promotion"
	GoalCatalogSales   Goal = "catalog_sales"
	GoalJobApplicants  Goal = "job_applicants"
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

// Source says where something was made.
type Source string

// Native means that it was made through this service. What was made elsewhere stays external, whatever is added to it.
const (
	SourceNative   Source = "native"
	SourceExternal Source = "external"
)

// Type says what an ad shows.
type Type string

// A boost shows a post that is published already.
const (
	TypeStandalone Type = "standalone"
	TypeBoost      Type = "boost"
)

package pinterest

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/core"
)

// campaign is a campaign on the wire.
type campaign struct {
	ID          string      `json:"id"`
	Name        string      `json:"name"`
	Status      string      `json:"status"`
	Summary     string      `json:"summary_status"`
	Objective   string      `json:"objective_type"`
	IsOptimized bool        `json:"is_campaign_budget_optimization"` // the campaign has the budget
	DailyCap    json.Number `json:"daily_spend_cap"`
	LifetimeCap json.Number `json:"lifetime_spend_cap"`
	Start       int64       `json:"start_time"`
	End         int64       `json:"end_time"`
	Created     int64       `json:"created_time"`
}

// group is an ad group on the wire.
type group struct {
	ID         string         `json:"id"`
	CampaignID string         `json:"campaign_id"`
	Name       string         `json:"name"`
	Status     string         `json:"status"`
	Summary    string         `json:"summary_status"`
	Billable   string         `json:"billable_event"`
	BudgetType string         `json:"budget_type"`
	Budget     json.Number    `json:"budget_in_micro_currency"`
	Bidding    string         `json:"bid_strategy_type"`
	Bid        json.Number    `json:"bid_in_micro_currency"`
	Targeting  store.AdObject `json:"targeting_spec"`
	Start      int64          `json:"start_time"`
	End        int64          `json:"end_time"`
	Created    int64          `json:"created_time"`
}

// ad is an ad on the wire.
type ad struct {
	ID         string   `json:"id"`
	CampaignID string   `json:"campaign_id"`
	AdGroupID  string   `json:"ad_group_id"`
	PinID      string   `json:"pin_id"`
	Name       string   `json:"name"`
	Status     string   `json:"status"`
	Summary    string   `json:"summary_status"`
	Review     string   `json:"review_status"`
	Reasons    []string `json:"rejected_reasons"`
	Link       string   `json:"destination_url"`
	CTA        string   `json:"customizable_cta_type"`
	Created    int64    `json:"created_time"`
}

// anyCurrency stands for the one that an amount that was read is in: a micro is a millionth of each of them.
const anyCurrency = "usd"

// amount reads an amount; absent and null are 0.
func (d *Driver) amount(wire json.Number) (store.AdAmount, error) {
	if wire == "" {
		return 0, nil
	}
	return d.caps.Amount(wire.String(), anyCurrency)
}

// moment reads a time in seconds; 0 is none.
func moment(seconds int64) *core.Time {
	if seconds == 0 {
		return nil
	}
	at := core.TimeOf(time.Unix(seconds, 0))
	return &at
}

// delivery returns the state of something below what is in the state above: that decides, unless it is delivered.
func delivery(above store.AdStatus, raw string) store.AdStatus {
	own := ads.StatusOf(store.PlatformPinterest, raw)
	if above == store.AdStatusActive || own.IsTerminal() || own == store.AdStatusPaused && !above.IsTerminal() {
		return own
	}
	return above
}

// campaignRow converts a campaign.
func (d *Driver) campaignRow(w campaign) (store.AdCampaign, error) {
	row := store.AdCampaign{
		PlatformID: w.ID, Name: unmark(w.Name), ConfiguredStatus: d.caps.Configured(w.Status),
		Status: delivery(store.AdStatusActive, w.Summary), ReviewStatus: store.AdReviewApproved, PlatformStatus: w.Summary,
		Goal: d.caps.GoalOf(w.Objective), Objective: w.Objective, BudgetLevel: store.BudgetLevelGroup,
		StartsAt: moment(w.Start), EndsAt: moment(w.End), PlatformCreatedAt: moment(w.Created),
	}
	if !w.IsOptimized {
		return row, nil
	}
	row.BudgetLevel, row.BudgetType = store.BudgetLevelCampaign, store.BudgetTypeDaily
	amount, err := d.amount(w.DailyCap)
	if err == nil && amount == 0 {
		row.BudgetType = store.BudgetTypeLifetime
		amount, err = d.amount(w.LifetimeCap)
	}
	row.BudgetAmount = amount
	return row, err
}

// budgetTypes are the words for budgets of ad groups; the third one is that the campaign has it.
var budgetTypes = map[string]store.BudgetType{"DAILY": store.BudgetTypeDaily, "LIFETIME": store.BudgetTypeLifetime}

// groupRow converts an ad group of the campaign.
func (d *Driver) groupRow(w group, above store.AdCampaign) (store.AdGroup, error) {
	row := store.AdGroup{
		PlatformID: w.ID, CampaignID: w.CampaignID, Name: unmark(w.Name), ConfiguredStatus: d.caps.Configured(w.Status),
		Status: delivery(above.Status, w.Summary), ReviewStatus: store.AdReviewApproved, PlatformStatus: w.Summary,
		Goal: above.Goal, OptimizationGoal: w.Billable, BudgetType: budgetTypes[w.BudgetType],
		BidStrategy: d.caps.BidStrategyOf(w.Bidding), Targeting: w.Targeting,
		StartsAt: moment(w.Start), EndsAt: moment(w.End), PlatformCreatedAt: moment(w.Created),
	}
	var err error
	if row.BudgetAmount, err = d.amount(w.Budget); err != nil {
		return row, err
	}
	row.BidAmount, err = d.amount(w.Bid)
	return row, err
}

// adRow converts an ad of the ad group. Every ad shows a Pin, so each is a boost as far as Pinterest knows. Of a creative
// it knows less than whoever made the ad here, so it says nothing about that one's.
func (d *Driver) adRow(w ad, above store.AdGroup) store.Ad {
	row := store.Ad{
		PlatformID: w.ID, CampaignID: w.CampaignID, AdGroupID: w.AdGroupID, Name: unmark(w.Name),
		ConfiguredStatus: d.caps.Configured(w.Status), Status: delivery(above.Status, w.Summary), ReviewStatus: review(w),
		PlatformStatus: w.Summary, RejectionReason: strings.Join(w.Reasons, ", "), Type: store.AdTypeBoost,
		PlatformPostID: w.PinID, PlatformCreatedAt: moment(w.Created),
	}
	if !isMarked(w.Name) {
		row.Creative.V = store.AdCreative{CallToAction: w.CTA, LinkURL: w.Link}
	}
	return row
}

func review(w ad) store.AdReview {
	switch w.Review {
	case "APPROVED":
		return store.AdReviewApproved
	case "PENDING":
		return store.AdReviewInReview
	case "REJECTED":
		return store.AdReviewRejected
	}
	return store.AdReviewWithIssues
}

// tree is a part of an ad account with everything above and below that it takes to tell how each thing stands.
type tree struct {
	campaigns []campaign
	groups    []group
	ads       []ad
}

// batch converts the tree. What stands in it without what is above it is left out: it was made while this was read.
func (d *Driver) batch(t tree) (store.AdBatch, error) {
	var b store.AdBatch
	campaigns, groups := map[string]store.AdCampaign{}, map[string]store.AdGroup{}
	for _, w := range t.campaigns {
		row, err := d.campaignRow(w)
		if err != nil {
			return b, err
		}
		campaigns[w.ID] = row
		b.Campaigns = append(b.Campaigns, row)
	}
	for _, w := range t.groups {
		above, known := campaigns[w.CampaignID]
		if !known {
			continue
		}
		row, err := d.groupRow(w, above)
		if err != nil {
			return b, err
		}
		groups[w.ID] = row
		b.Groups = append(b.Groups, row)
	}
	for _, w := range t.ads {
		if above, known := groups[w.AdGroupID]; known {
			b.Ads = append(b.Ads, d.adRow(w, above))
		}
	}
	return b, nil
}

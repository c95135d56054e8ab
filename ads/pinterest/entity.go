package pinterest

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/store/core"
)

// campaign is a campaign as the network writes it.
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

// group is an ad group as the network writes it.
type group struct {
	ID         string        `json:"id"`
	CampaignID string        `json:"campaign_id"`
	Name       string        `json:"name"`
	Status     string        `json:"status"`
	Summary    string        `json:"summary_status"`
	Billable   string        `json:"billable_event"`
	BudgetType string        `json:"budget_type"`
	Budget     json.Number   `json:"budget_in_micro_currency"`
	Bidding    string        `json:"bid_strategy_type"`
	Bid        json.Number   `json:"bid_in_micro_currency"`
	Targeting  advert.Object `json:"targeting_spec"`
	Widens     bool          `json:"auto_targeting_enabled"`
	Placement  string        `json:"placement_group"`
	Start      int64         `json:"start_time"`
	End        int64         `json:"end_time"`
	Created    int64         `json:"created_time"`
	Goal       *goalMetadata `json:"optimization_goal_metadata"`
}

// ad is an ad as the network writes it.
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

// anyCurrency stands for the currency of an amount that is read. It does not matter which one that is, because a micro
// is a millionth of any of them.
const anyCurrency = "usd"

// amount reads an amount. One that is missing is 0.
func (d *Driver) amount(wire json.Number) (advert.Amount, error) {
	if wire == "" {
		return 0, nil
	}
	return d.caps.Amount(wire.String(), anyCurrency)
}

// moment reads a time in Unix seconds, or returns nil for 0.
func moment(seconds int64) *core.Time {
	if seconds == 0 {
		return nil
	}
	at := core.TimeOf(time.Unix(seconds, 0))
	return &at
}

// delivery returns the state of a thing from its own word and the state of what it is in. If what it is in is not active,
// that state decides. There are two exceptions: the thing's own state is final, or it is paused while the one above is
// not final.
func delivery(above advert.Status, raw string) advert.Status {
	own := ads.StatusOf(advert.PlatformPinterest, raw)
	if above == advert.StatusActive || own.IsTerminal() || own == advert.StatusPaused && !above.IsTerminal() {
		return own
	}
	return above
}

// campaignRow converts a campaign to a row of the mirror.
func (d *Driver) campaignRow(w campaign) (advert.Campaign, error) {
	row := advert.Campaign{
		PlatformID: w.ID, Name: unmark(w.Name), ConfiguredStatus: d.caps.Configured(w.Status),
		Status: delivery(advert.StatusActive, w.Summary), ReviewStatus: advert.ReviewApproved, PlatformStatus: w.Summary,
		Goal: d.caps.GoalOf(w.Objective), Objective: w.Objective, BudgetLevel: advert.BudgetLevelGroup,
		StartsAt: moment(w.Start), EndsAt: moment(w.End), PlatformCreatedAt: moment(w.Created),
	}
	if !w.IsOptimized {
		return row, nil
	}
	row.BudgetLevel, row.BudgetType = advert.BudgetLevelCampaign, advert.BudgetTypeDaily
	amount, err := d.amount(w.DailyCap)
	if err == nil && amount == 0 {
		row.BudgetType = advert.BudgetTypeLifetime
		amount, err = d.amount(w.LifetimeCap)
	}
	row.BudgetAmount = amount
	return row, err
}

// budgetTypes are the network's words for the budget types of an ad group. A third word means that the campaign has the
// budget.
var budgetTypes = map[string]advert.BudgetType{"DAILY": advert.BudgetTypeDaily, "LIFETIME": advert.BudgetTypeLifetime}

// groupRow converts an ad group in a campaign to a row of the mirror.
func (d *Driver) groupRow(w group, above advert.Campaign) (advert.Group, error) {
	row := advert.Group{
		PlatformID: w.ID, CampaignID: w.CampaignID, Name: unmark(w.Name), ConfiguredStatus: d.caps.Configured(w.Status),
		Status: delivery(above.Status, w.Summary), ReviewStatus: advert.ReviewApproved, PlatformStatus: w.Summary,
		Goal: above.Goal, OptimizationGoal: w.Billable, BudgetType: budgetTypes[w.BudgetType],
		PromotedObject: w.Goal.promoted(),
		BidStrategy:    d.caps.BidStrategyOf(w.Bidding), Targeting: targetingOf(w), PlatformTargeting: w.Targeting,
		StartsAt: moment(w.Start), EndsAt: moment(w.End), PlatformCreatedAt: moment(w.Created),
	}
	var err error
	if row.BudgetAmount, err = d.amount(w.Budget); err != nil {
		return row, err
	}
	row.BidAmount, err = d.amount(w.Bid)
	return row, err
}

// adRow converts an ad in an ad group to a row of the mirror. At Pinterest every ad shows a Pin, so each is read as a
// boost. Pinterest tells no more about a creative than where it leads.
func (d *Driver) adRow(w ad, above advert.Group) advert.Ad {
	return advert.Ad{
		PlatformID: w.ID, CampaignID: w.CampaignID, AdGroupID: w.AdGroupID, Name: unmark(w.Name),
		ConfiguredStatus: d.caps.Configured(w.Status), Status: delivery(above.Status, w.Summary), ReviewStatus: review(w),
		PlatformStatus: w.Summary, RejectionReason: strings.Join(w.Reasons, ", "), Type: advert.TypeBoost,
		PlatformPostID: w.PinID, PlatformCreatedAt: moment(w.Created),
		Creative: core.JSONOf(advert.Creative{CallToAction: w.CTA, LinkURL: w.Link}),
	}
}

// review returns the state of an ad's review. A word that is not known counts as issues.
func review(w ad) advert.Review {
	switch w.Review {
	case "APPROVED":
		return advert.ReviewApproved
	case "PENDING":
		return advert.ReviewInReview
	case "REJECTED":
		return advert.ReviewRejected
	}
	return advert.ReviewWithIssues
}

// tree is a part of an ad account, with everything above that decides the state of what is in it.
type tree struct {
	campaigns []campaign
	groups    []group
	ads       []ad
}

// batch converts a tree. A thing whose parent is missing is left out: it was made while the lists were being read.
func (d *Driver) batch(t tree) (advert.Batch, error) {
	var b advert.Batch
	campaigns, groups := map[string]advert.Campaign{}, map[string]advert.Group{}
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

package tiktok

import (
	"encoding/json"
	"time"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/store/core"
)

// campaign is a campaign as the network writes it.
type campaign struct {
	ID          string      `json:"campaign_id"`
	Name        string      `json:"campaign_name"`
	Operation   string      `json:"operation_status"` // its own switch
	Secondary   string      `json:"secondary_status"` // its delivery; "" in TikTok's sandbox, which delivers nothing
	Objective   string      `json:"objective_type"`
	IsOptimized bool        `json:"budget_optimize_on"` // the campaign has the budget
	BudgetMode  string      `json:"budget_mode"`
	Budget      json.Number `json:"budget"`
	Created     string      `json:"create_time"`
}

// group is an ad group as the network writes it.
type group struct {
	ID            string      `json:"adgroup_id"`
	CampaignID    string      `json:"campaign_id"`
	Name          string      `json:"adgroup_name"`
	Operation     string      `json:"operation_status"`
	Secondary     string      `json:"secondary_status"`
	Optimization  string      `json:"optimization_goal"`
	Billing       string      `json:"billing_event"`
	BudgetMode    string      `json:"budget_mode"`
	Budget        json.Number `json:"budget"`
	Bidding       string      `json:"bid_type"`
	DeepBidding   string      `json:"deep_bid_type"`
	Bid           json.Number `json:"bid_price"`
	ConversionBid json.Number `json:"conversion_bid_price"`
	Roas          json.Number `json:"roas_bid"`
	PixelID       string      `json:"pixel_id"`
	Event         string      `json:"optimization_event"`
	AppID         string      `json:"app_id"`
	PlacementType string      `json:"placement_type"`
	Placements    []string    `json:"placements"`
	Search        bool        `json:"search_result_enabled"`
	ScheduleType  string      `json:"schedule_type"`
	Start         string      `json:"schedule_start_time"`
	End           string      `json:"schedule_end_time"`
	Created       string      `json:"create_time"`
	spec
}

// ad is an ad as the network writes it.
type ad struct {
	ID         string      `json:"ad_id"`
	CampaignID string      `json:"campaign_id"`
	AdGroupID  string      `json:"adgroup_id"`
	Name       string      `json:"ad_name"`
	Operation  string      `json:"operation_status"`
	Secondary  string      `json:"secondary_status"`
	Text       string      `json:"ad_text"`
	CTA        string      `json:"call_to_action"`
	Link       string      `json:"landing_page_url"`
	ItemID     string      `json:"tiktok_item_id"`
	PageID     json.Number `json:"page_id"`
	Created    string      `json:"create_time"`
}

// deliveryWord is the word that says how a thing is delivered.
func deliveryWord(secondary, operation string) string {
	if secondary == "" {
		return operation
	}
	return secondary
}

func (w campaign) isDeleted() bool { return isDeleted(w.Secondary, w.Operation) }
func (w group) isDeleted() bool    { return isDeleted(w.Secondary, w.Operation) }
func (w ad) isDeleted() bool       { return isDeleted(w.Secondary, w.Operation) }

func isDeleted(secondary, operation string) bool {
	return ads.StatusOf(advert.PlatformTikTok, deliveryWord(secondary, operation)) == advert.StatusCancelled
}

// anyCurrency stands for the currency of an amount that is read. It does not matter which one that is: TikTok writes whole units of any.
const anyCurrency = "usd"

// amount reads an amount. One that is missing is 0.
func (d *Driver) amount(wire json.Number) (advert.Amount, error) {
	if wire == "" {
		return 0, nil
	}
	return d.caps.Amount(wire.String(), anyCurrency)
}

// moment reads a time of TikTok's, or returns nil for one that is none.
func moment(text string) *core.Time {
	at, err := time.Parse(stampLayout, text)
	if err != nil {
		return nil
	}
	t := core.TimeOf(at)
	return &t
}

// delivery returns the state of a thing from its own word and the state of what it is in. If what it is in is not active,
// that state decides. There are two exceptions: the thing's own state is final, or it is paused while the one above is
// not final.
func delivery(above advert.Status, raw string) advert.Status {
	own := ads.StatusOf(advert.PlatformTikTok, raw)
	if above == advert.StatusActive || own.IsTerminal() || own == advert.StatusPaused && !above.IsTerminal() {
		return own
	}
	return above
}

// campaignRow converts a campaign to a row of the mirror.
func (d *Driver) campaignRow(w campaign) (advert.Campaign, error) {
	word := deliveryWord(w.Secondary, w.Operation)
	row := advert.Campaign{
		PlatformID: w.ID, Name: unmark(w.Name), ConfiguredStatus: d.caps.Configured(w.Operation),
		Status: delivery(advert.StatusActive, word), ReviewStatus: advert.ReviewApproved, PlatformStatus: word,
		Goal: d.caps.GoalOf(w.Objective), Objective: w.Objective, BudgetLevel: advert.BudgetLevelGroup, PlatformCreatedAt: moment(w.Created),
	}
	if !w.IsOptimized && budgetTypes[w.BudgetMode] == "" {
		return row, nil
	}
	row.BudgetLevel, row.BudgetType = advert.BudgetLevelCampaign, budgetTypes[w.BudgetMode]
	var err error
	row.BudgetAmount, err = d.amount(w.Budget)
	return row, err
}

// groupRow converts an ad group in a campaign to a row of the mirror.
func (d *Driver) groupRow(w group, above advert.Campaign) (advert.Group, error) {
	word := deliveryWord(w.Secondary, w.Operation)
	row := advert.Group{
		PlatformID: w.ID, CampaignID: w.CampaignID, Name: unmark(w.Name), ConfiguredStatus: d.caps.Configured(w.Operation),
		Status: delivery(above.Status, word), PlatformStatus: word, Goal: above.Goal, OptimizationGoal: w.Optimization,
		BidStrategy: d.caps.BidStrategyOf(w.Bidding), StartsAt: moment(w.Start), PlatformCreatedAt: moment(w.Created),
	}
	row.ReviewStatus = ads.ReviewOf(ads.StatusOf(advert.PlatformTikTok, word))
	row.Targeting, row.PlatformTargeting = targetingOf(w)
	if p := (promoted{PixelID: w.PixelID, Event: w.Event, AppID: w.AppID}); p != (promoted{}) {
		row.PromotedObject = advert.NewObject(p)
	}
	if w.ScheduleType == "SCHEDULE_START_END" { // else the end is ten years off
		row.EndsAt = moment(w.End)
	}
	var err error
	if above.BudgetLevel != advert.BudgetLevelCampaign {
		row.BudgetType = budgetTypes[w.BudgetMode]
		if row.BudgetAmount, err = d.amount(w.Budget); err != nil {
			return row, err
		}
	}
	if strategy := d.caps.BidStrategyOf(w.DeepBidding); strategy != "" && w.DeepBidding != "" {
		row.BidStrategy = strategy
		row.RoasFloor, err = advert.ParseRatio(orDefault(w.Roas.String(), "0"))
		return row, err
	}
	bid := w.Bid
	if bidField(w.Billing) != "bid_price" {
		bid = w.ConversionBid
	}
	row.BidAmount, err = d.amount(bid)
	return row, err
}

// adRow converts an ad in an ad group to a row of the mirror.
func (d *Driver) adRow(w ad, above advert.Group) advert.Ad {
	word := deliveryWord(w.Secondary, w.Operation)
	row := advert.Ad{
		PlatformID: w.ID, CampaignID: w.CampaignID, AdGroupID: w.AdGroupID, Name: unmark(w.Name),
		ConfiguredStatus: d.caps.Configured(w.Operation), Status: delivery(above.Status, word), PlatformStatus: word,
		ReviewStatus: ads.ReviewOf(ads.StatusOf(advert.PlatformTikTok, word)), Type: advert.TypeStandalone, PlatformPostID: w.ItemID,
		PlatformCreatedAt: moment(w.Created), Creative: core.JSONOf(advert.Creative{Body: w.Text, CallToAction: w.CTA, LinkURL: w.Link}),
	}
	if w.ItemID != "" {
		row.Type = advert.TypeBoost
	}
	return row
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

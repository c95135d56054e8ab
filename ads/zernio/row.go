package zernio

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/store/core"
)

// campaign is a campaign as Zernio writes it, with what is in it. Its state is made of those of its ads.
type campaign struct {
	ID        string         `json:"platformCampaignId"`
	AdAccount string         `json:"platformAdAccountId"`
	Platform  string         `json:"platform"`
	Name      string         `json:"campaignName"`
	Status    string         `json:"status"`
	Review    string         `json:"reviewStatus"`
	Raw       string         `json:"platformCampaignStatus"` // Meta's word
	Budget    *readBudget    `json:"campaignBudget"`         // if the campaign has it
	Effective *readBudget    `json:"budget"`                 // the same, or that of an ad group
	Level     string         `json:"budgetLevel"`
	Objective string         `json:"platformObjective"`
	Strategy  string         `json:"bidStrategy"`
	AdSets    []adSet        `json:"adSets"`
	Metrics   metrics        `json:"metrics"`
	Daily     []dailyMetrics `json:"daily"`
}

// adSet is an ad group as Zernio writes it. It tells neither its own switch nor its days, but those of its ads.
type adSet struct {
	ID           string         `json:"platformAdSetId"`
	Name         string         `json:"adSetName"`
	Status       string         `json:"status"`
	AdCount      int            `json:"adCount"`
	Budget       *readBudget    `json:"adSetBudget"`
	Effective    *readBudget    `json:"budget"`
	Optimization string         `json:"optimizationGoal"`
	Strategy     string         `json:"bidStrategy"`
	Bid          json.Number    `json:"bidAmount"`
	Floor        json.Number    `json:"roasAverageFloor"`
	Promoted     advert.Object  `json:"promotedObject"`
	Ads          []ad           `json:"ads"` // the first hundred
	Metrics      metrics        `json:"metrics"`
	Daily        []dailyMetrics `json:"daily"`
}

// ad is an ad as Zernio writes it.
type ad struct {
	Own          string         `json:"_id"` // Zernio's id, which is what its paths take
	ID           string         `json:"platformAdId"`
	CampaignID   string         `json:"platformCampaignId"`
	CampaignName string         `json:"campaignName"`
	AdSetID      string         `json:"platformAdSetId"`
	AdSetName    string         `json:"adSetName"`
	Name         string         `json:"name"`
	Status       string         `json:"status"`
	Configured   string         `json:"configuredStatus"` // of Meta's
	Review       string         `json:"reviewStatus"`
	Reason       string         `json:"rejectionReason"`
	Type         string         `json:"adType"`
	Goal         string         `json:"goal"`
	Objective    string         `json:"platformObjective"`
	Optimization string         `json:"optimizationGoal"`
	Targeting    advert.Object  `json:"targeting"`
	Creative     wireCreative   `json:"creative"`
	Schedule     *readSchedule  `json:"schedule"`
	Created      *time.Time     `json:"platformCreatedAt"`
	Metrics      metrics        `json:"metrics"`
	Daily        []dailyMetrics `json:"daily"`
}

// wireCreative is what Zernio tells of a creative.
type wireCreative struct {
	Body     string `json:"body"`
	LinkURL  string `json:"linkUrl"`
	ImageURL string `json:"imageUrl"`
	VideoURL string `json:"videoUrl"`
}

type readBudget struct {
	Amount json.Number `json:"amount"`
	Type   string      `json:"type"`
}

type readSchedule struct {
	Start *time.Time `json:"startDate"`
	End   *time.Time `json:"endDate"`
}

// pages says how far a list goes.
type pages struct {
	Pages int `json:"pages"`
}

// statusOf returns the state of delivery for Zernio's word, which is ours. One that is not known is an error.
func statusOf(word string) advert.Status {
	if s := advert.Status(word); slices.Contains(advert.Statuses, s) {
		return s
	}
	return advert.StatusError
}

// reviewOf returns the state of a review. Where the network says nothing of one it follows from the state of delivery.
func reviewOf(word string, status advert.Status) advert.Review {
	switch r := advert.Review(word); r {
	case advert.ReviewApproved, advert.ReviewInReview, advert.ReviewRejected, advert.ReviewWithIssues:
		return r
	case "":
		return ads.ReviewOf(status)
	}
	return advert.ReviewWithIssues
}

// switchOf returns how a switch stands of which Zernio tells nothing but what follows from it.
func switchOf(status advert.Status) advert.Configured {
	if status == advert.StatusPaused {
		return advert.ConfiguredPaused
	}
	return advert.ConfiguredActive
}

// campaignRow converts a campaign to a row of the mirror. Its goal and its days are those of its first ad.
func (d *Driver) campaignRow(w campaign) advert.Campaign {
	row := advert.Campaign{
		PlatformID: w.ID, Name: orDefault(w.Name, w.ID), Status: statusOf(w.Status), PlatformStatus: orDefault(w.Raw, w.Status),
		Objective: w.Objective, BudgetLevel: advert.BudgetLevelGroup, BidStrategy: d.caps.BidStrategyOf(w.Strategy),
	}
	row.ReviewStatus = reviewOf(w.Review, row.Status)
	if row.ConfiguredStatus = switchOf(row.Status); w.Raw != "" {
		row.ConfiguredStatus = d.caps.Configured(orDefault(map[string]string{"PAUSED": "PAUSED"}[w.Raw], d.caps.Switch.Active))
	}
	if first := w.first(); first != nil {
		row.Goal, row.PlatformCreatedAt = advert.Goal(first.Goal), timeOf(first.Created)
		row.StartsAt, row.EndsAt = first.days()
	}
	row.Objective = orDefault(row.Objective, string(row.Goal))
	if w.Level == "campaign" || d.caps.BudgetLevels[0] == advert.BudgetLevelCampaign {
		row.BudgetLevel = advert.BudgetLevelCampaign
		budget := w.Budget
		if budget == nil {
			budget = w.Effective
		}
		row.BudgetAmount, row.BudgetType = budget.read()
	}
	return row
}

// first returns an ad of the campaign, nil if it has none.
func (w *campaign) first() *ad {
	for _, set := range w.AdSets {
		if len(set.Ads) > 0 {
			return &set.Ads[0]
		}
	}
	return nil
}

// days returns when an ad begins and ends.
func (w *ad) days() (start, end *core.Time) {
	if w.Schedule == nil {
		return nil, nil
	}
	return timeOf(w.Schedule.Start), timeOf(w.Schedule.End)
}

func timeOf(at *time.Time) *core.Time {
	if at == nil {
		return nil
	}
	moment := core.TimeOf(*at)
	return &moment
}

// read returns a budget; none is 0.
func (b *readBudget) read() (advert.Amount, advert.BudgetType) {
	if b == nil {
		return 0, ""
	}
	amount := scaled[advert.Amount](b.Amount, int64(advert.AmountUnit))
	if amount == nil {
		return 0, ""
	}
	return *amount, advert.BudgetType(b.Type)
}

// groupRow converts an ad group to a row of the mirror. It counts as off only if its campaign is on.
func (d *Driver) groupRow(w adSet, above advert.Campaign) advert.Group {
	row := advert.Group{
		PlatformID: w.ID, CampaignID: above.PlatformID, Name: orDefault(w.Name, w.ID), ConfiguredStatus: advert.ConfiguredActive, Status: statusOf(w.Status),
		PlatformStatus: w.Status, Goal: above.Goal, OptimizationGoal: w.Optimization, BidStrategy: d.caps.BidStrategyOf(w.Strategy), PromotedObject: w.Promoted,
	}
	row.ReviewStatus = ads.ReviewOf(row.Status)
	if above.ConfiguredStatus == advert.ConfiguredActive {
		row.ConfiguredStatus = switchOf(row.Status)
	}
	if above.BudgetLevel == advert.BudgetLevelGroup {
		budget := w.Budget
		if budget == nil {
			budget = w.Effective
		}
		row.BudgetAmount, row.BudgetType = budget.read()
	}
	if bid := scaled[advert.Amount](w.Bid, int64(advert.AmountUnit)); bid != nil {
		row.BidAmount = *bid
	}
	if floor := scaled[advert.Ratio](w.Floor, int64(advert.RatioOne)); floor != nil {
		row.RoasFloor = *floor
	}
	if len(w.Ads) > 0 {
		first := w.Ads[0]
		row.PlatformTargeting, row.Targeting, row.PlatformCreatedAt = first.Targeting, targetingOf(first.Targeting), timeOf(first.Created)
		row.StartsAt, row.EndsAt = first.days()
	}
	return row
}

// adRow converts an ad to a row of the mirror.
func (d *Driver) adRow(w ad) advert.Ad {
	row := advert.Ad{
		PlatformID: w.ID, CampaignID: w.CampaignID, AdGroupID: w.AdSetID, Name: orDefault(w.Name, w.ID), Status: statusOf(w.Status), PlatformStatus: w.Status,
		RejectionReason: w.Reason, Type: advert.TypeStandalone, PlatformCreatedAt: timeOf(w.Created), Goal: advert.Goal(w.Goal),
		Creative: core.JSONOf(advert.Creative{Body: w.Creative.Body, LinkURL: w.Creative.LinkURL, ImageURL: w.Creative.ImageURL, VideoURL: w.Creative.VideoURL}),
	}
	if w.Type == "boost" {
		row.Type = advert.TypeBoost
	}
	row.ReviewStatus = reviewOf(w.Review, row.Status)
	if row.ConfiguredStatus = switchOf(row.Status); w.Configured != "" {
		row.ConfiguredStatus = d.caps.Configured(w.Configured)
	}
	return row
}

// batch converts campaigns with all that is in them. What Zernio has put into a heap because it is in no campaign is left out.
func (d *Driver) batch(all []campaign) advert.Batch {
	var b advert.Batch
	for _, w := range all {
		if w.ID == "" {
			continue
		}
		above := d.campaignRow(w)
		b.Campaigns = append(b.Campaigns, above)
		for _, set := range w.AdSets {
			if set.ID == "" {
				continue
			}
			b.Groups = append(b.Groups, d.groupRow(set, above))
			for _, one := range set.Ads {
				if one.ID == "" {
					continue
				}
				one.CampaignID, one.AdSetID = w.ID, set.ID
				b.Ads = append(b.Ads, d.adRow(one))
			}
		}
	}
	return b
}

package meta

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/store/core"
)

// The fields that are read of each node.
const (
	campaignFields = "id,name,status,effective_status,objective,bid_strategy,daily_budget,lifetime_budget,start_time,stop_time,created_time"
	groupFields    = "id,name,campaign_id,campaign{objective},status,effective_status,optimization_goal,bid_strategy,bid_amount,bid_constraints," +
		"daily_budget,lifetime_budget,targeting,promoted_object,start_time,end_time,created_time"
	adFields = "id,name,campaign_id,adset_id,status,effective_status,ad_review_feedback,created_time," +
		"creative{id,object_story_id,source_instagram_media_id,object_story_spec,adlabels{name}}"
)

// state holds the fields that campaigns, ad sets and ads have in common.
type state struct {
	ID, Name, Status string
	Effective        string  `json:"effective_status"`
	CreatedTime      string  `json:"created_time"`
	Labels           []label `json:"adlabels"`
}

// budget holds what a campaign or an ad set may spend. Meta has one of the two amounts, at one of the two levels.
type budget struct {
	Daily     string `json:"daily_budget"`
	Lifetime  string `json:"lifetime_budget"`
	Remaining string `json:"budget_remaining"`
}

type campaignNode struct {
	state
	budget
	Objective   string
	BidStrategy string `json:"bid_strategy"`
	StartTime   string `json:"start_time"`
	StopTime    string `json:"stop_time"`
}

type groupNode struct {
	state
	budget
	CampaignID   string `json:"campaign_id"`
	Campaign     struct{ Objective string }
	Optimization string      `json:"optimization_goal"`
	BidStrategy  string      `json:"bid_strategy"`
	BidAmount    json.Number `json:"bid_amount"`
	Constraints  struct {
		Floor json.Number `json:"roas_average_floor"`
	} `json:"bid_constraints"`
	Targeting advert.Object
	Promoted  advert.Object `json:"promoted_object"`
	StartTime string        `json:"start_time"`
	EndTime   string        `json:"end_time"`
}

type adNode struct {
	state
	CampaignID string                             `json:"campaign_id"`
	GroupID    string                             `json:"adset_id"`
	Feedback   struct{ Global map[string]string } `json:"ad_review_feedback"`
	Creative   creativeNode
	Group      struct {
		budget
		aimed
	} `json:"adset"`
	Campaign struct{ budget }
}

type creativeNode struct {
	StoryID string    `json:"object_story_id"`
	MediaID string    `json:"source_instagram_media_id"`
	Spec    storySpec `json:"object_story_spec"`
	Labels  []label   `json:"adlabels"`
}

// carries reports whether the creative was made for an action.
func (c creativeNode) carries(token string) bool { return slices.Contains(c.Labels, label{token}) }

// timeOf reads a time as Meta writes it, or returns nil if it is none.
func timeOf(text string) *core.Time {
	for _, layout := range []string{"2006-01-02T15:04:05-0700", time.RFC3339} {
		if t, err := time.Parse(layout, text); err == nil {
			at := core.TimeOf(t)
			return &at
		}
	}
	return nil
}

// textOf writes a time for Meta.
func textOf(t core.Time) string { return t.Time().Format("2006-01-02T15:04:05-0700") }

func (n *Network) status(s state) advert.Status { return ads.StatusOf(n.caps.Platform, s.Effective) }

// of returns the amount of a budget and its type, or 0 and "" if the other level has it.
func (b budget) of(n *Network, currency string) (advert.Amount, advert.BudgetType) {
	if amount := n.amount(b.Lifetime, currency); amount > 0 {
		return amount, advert.BudgetTypeLifetime
	}
	if amount := n.amount(b.Daily, currency); amount > 0 {
		return amount, advert.BudgetTypeDaily
	}
	return 0, ""
}

// isSpent reports whether a lifetime budget is used up.
func (b budget) isSpent() bool {
	return b.Lifetime != "" && b.Lifetime != "0" && b.Remaining == "0"
}

// campaign converts a campaign to a row of the mirror.
func (n *Network) campaign(node campaignNode, currency string) advert.Campaign {
	c := advert.Campaign{PlatformID: node.ID, Name: node.Name, ConfiguredStatus: n.caps.Configured(node.Status),
		Status: n.status(node.state), ReviewStatus: ads.ReviewOf(n.status(node.state)), PlatformStatus: node.Effective,
		Goal: n.caps.GoalOf(node.Objective), Objective: node.Objective, BudgetLevel: advert.BudgetLevelGroup,
		BidStrategy: n.caps.BidStrategyOf(node.BidStrategy), StartsAt: timeOf(node.StartTime), EndsAt: timeOf(node.StopTime),
		PlatformCreatedAt: timeOf(node.CreatedTime)}
	if c.BudgetAmount, c.BudgetType = node.of(n, currency); c.BudgetAmount > 0 {
		c.BudgetLevel = advert.BudgetLevelCampaign
	}
	return c
}

// group converts an ad set to a row of the mirror.
func (n *Network) group(node groupNode, currency string) advert.Group {
	g := advert.Group{PlatformID: node.ID, CampaignID: node.CampaignID, Name: node.Name,
		ConfiguredStatus: n.caps.Configured(node.Status), Status: n.status(node.state), ReviewStatus: ads.ReviewOf(n.status(node.state)),
		PlatformStatus: node.Effective, Goal: n.goalOf(node.Campaign.Objective, node.Optimization), OptimizationGoal: node.Optimization,
		BidStrategy: n.caps.BidStrategyOf(node.BidStrategy), BidAmount: n.amount(node.BidAmount.String(), currency),
		RoasFloor: floorOf(node.Constraints.Floor), Targeting: n.targetingOf(node.Targeting), PlatformTargeting: node.Targeting, PromotedObject: node.Promoted,
		StartsAt: timeOf(node.StartTime), EndsAt: timeOf(node.EndTime), PlatformCreatedAt: timeOf(node.CreatedTime)}
	g.BudgetAmount, g.BudgetType = node.of(n, currency)
	return g
}

// ad converts an ad to a row of the mirror. It is a boost if it shows a post that was not made for it.
func (n *Network) ad(node adNode) advert.Ad {
	a := advert.Ad{PlatformID: node.ID, CampaignID: node.CampaignID, AdGroupID: node.GroupID, Name: node.Name,
		ConfiguredStatus: n.caps.Configured(node.Status), Status: n.status(node.state), ReviewStatus: ads.ReviewOf(n.status(node.state)),
		PlatformStatus: node.Effective, RejectionReason: node.rejection(), Type: advert.TypeStandalone,
		Creative: core.JSONOf(node.Creative.Spec.creative()), PlatformCreatedAt: timeOf(node.CreatedTime)}
	if post := node.Creative.StoryID + node.Creative.MediaID; post != "" && node.Creative.Spec.Page == "" {
		a.Type, a.PlatformPostID = advert.TypeBoost, post
	}
	if node.Creative.Spec.showsVideo() && node.Creative.isOurs() {
		a.Creative = core.JSONOf(advert.Creative{}) // so that the mirror keeps where the video came from
	}
	return a
}

// rejection returns why an ad was disapproved, or "" if it was not.
func (a adNode) rejection() string {
	if a.Effective != "DISAPPROVED" {
		return ""
	}
	return strings.Join(slices.Sorted(maps.Values(a.Feedback.Global)), " ")
}

// floorUnit is what Meta counts a ROAS floor in, ten thousandths: 2.5 is 25000.
const floorUnit = advert.RatioOne / 10_000

// floorOf reads a ROAS floor; one that cannot be read is 0.
func floorOf(wire json.Number) advert.Ratio {
	n, err := wire.Int64()
	if err != nil {
		return 0
	}
	return advert.Ratio(n) * floorUnit
}

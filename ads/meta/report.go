package meta

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"strconv"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/store/core"
)

// stateFields are the fields that a report reads to tell the state of things of a level.
var stateFields = map[advert.Level]string{
	advert.LevelCampaign: "id,status,effective_status,lifetime_budget,budget_remaining",
	advert.LevelGroup:    "id,status,effective_status,lifetime_budget,budget_remaining",
	advert.LevelAd: "id,status,effective_status,ad_review_feedback,adset{lifetime_budget,budget_remaining}," +
		"campaign{lifetime_budget,budget_remaining}",
}

// anyNode is a campaign, an ad set or an ad of the Graph API.
type anyNode struct {
	budget
	adNode
}

const insightFields = "spend,impressions,reach,clicks,inline_post_engagement,actions,action_values"

// insight is one row of figures. Meta writes every number as text.
type insight struct {
	CampaignID string `json:"campaign_id"`
	GroupID    string `json:"adset_id"`
	AdID       string `json:"ad_id"`

	Spend, Impressions, Reach, Clicks string
	Engagement                        string `json:"inline_post_engagement"`
	Actions                           []action
	Values                            []action `json:"action_values"`
}

type action struct {
	Type  string `json:"action_type"`
	Value string
}

func (i insight) id() string { return i.CampaignID + i.GroupID + i.AdID } // only one of them is asked for

// Report implements ads.Network. It asks for the states and then for the figures, a hundred ids at a time.
func (n *Network) Report(
	ctx context.Context, c ads.Conn, adAccount string, of advert.Level, ids []string, from, to ads.Date,
) (map[string]ads.Report, error) {
	ctx, cancel := n.bounded(ctx)
	defer cancel()
	reports := map[string]ads.Report{}
	now := core.TimeOf(c.Now())
	nodes, err := n.nodes(ctx, c, adAccount, of, ids)
	if err != nil {
		return nil, err
	}
	for _, node := range nodes {
		none := int64(0)
		r := n.stateReport(node)
		r.SyncedAt, r.Metrics.Reach = now, &none
		reports[node.ID] = r
	}
	rows, err := n.insights(ctx, c, adAccount, of, ids, from, to)
	if err != nil {
		return nil, err
	}
	for _, row := range rows {
		r := reports[row.id()]
		r.Metrics, r.SyncedAt = row.metrics(), now
		reports[row.id()] = r
	}
	return reports, nil
}

// nodes reads the states of things, those in Meta's lists first, and then one by one those that are in none: they are deleted, or
// are not known to Meta at all.
func (n *Network) nodes(ctx context.Context, c ads.Conn, adAccount string, of advert.Level, ids []string) ([]anyNode, error) {
	nodes, err := lookup[anyNode](ctx, n, c, adAccount, of, of, ids, stateFields[of])
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		if slices.ContainsFunc(nodes, func(node anyNode) bool { return node.ID == id }) {
			continue
		}
		var node anyNode
		err := n.graph.get(ctx, c.Token, place{id: id}, url.Values{"fields": {stateFields[of]}}, &node)
		if errors.Is(err, ads.ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		nodes = append(nodes, node)
	}
	return nodes, nil
}

// stateReport returns a report with the state of a thing, without figures.
func (n *Network) stateReport(node anyNode) ads.Report {
	status := n.status(node.state)
	return ads.Report{Status: status, Configured: n.caps.Configured(node.adNode.Status), Review: ads.ReviewOf(status), PlatformStatus: node.Effective,
		RejectionReason: node.rejection(), BudgetSpent: node.isSpent() || node.Group.isSpent() || node.Campaign.isSpent()}
}

// insights asks for the figures of things, deleted ones included. What had none in these days has no row.
func (n *Network) insights(ctx context.Context, c ads.Conn, adAccount string, of advert.Level, ids []string, from, to ads.Date) ([]insight, error) {
	name := levels[of].name
	var rows []insight
	for chunk := range slices.Chunk(ids, idsPerCall) {
		params := url.Values{"level": {name}, "fields": {name + "_id," + insightFields},
			"time_range": {jsonText(map[string]string{"since": from.String(), "until": to.String()})},
			"filtering":  {jsonText([]filter{{name + ".id", "IN", chunk}, {name + ".effective_status", "IN", levels[of].everything()}})}}
		some, err := list[insight](ctx, n.graph, c.Token, place{adAccount, "insights"}, params)
		if err != nil {
			return nil, err
		}
		rows = append(rows, some...)
	}
	return rows, nil
}

// conversions lists the events that count as conversions. Meta reports the same event under several names, for different
// sets of places where it can happen. Of each group only the first name that is there counts, which is the widest one.
var conversions = [][]string{
	purchases,
	{"lead", "onsite_conversion.lead_grouped", "offsite_conversion.fb_pixel_lead"},
	{"omni_complete_registration", "complete_registration", "offsite_conversion.fb_pixel_complete_registration"},
	{"omni_app_install", "mobile_app_install"},
}

var purchases = []string{"omni_purchase", "purchase", "offsite_conversion.fb_pixel_purchase"}

// metrics converts a row of figures. A number that cannot be read counts as 0.
func (i insight) metrics() advert.Metrics {
	spend, _ := advert.ParseSpend(i.Spend) // a number that cannot be read is 0: the rest is still worth showing
	reach := count(i.Reach)
	m := advert.Metrics{Spend: spend, Impressions: count(i.Impressions), Reach: &reach, Clicks: count(i.Clicks),
		Engagement: count(i.Engagement), Actions: map[string]int64{}}
	for _, a := range i.Actions {
		m.Actions[a.Type] = thousandths(a.Value)
	}
	for _, names := range conversions {
		m.Conversions += m.Actions[firstOf(names, i.Actions)]
	}
	m.VideoViews = m.Actions["video_view"] / 1000
	if best := firstOf(purchases, i.Values); best != "" {
		m.PurchaseValue, _ = advert.ParseSpend(valueOf(best, i.Values))
	}
	return m
}

// firstOf returns the first of the names that is among the actions, or "".
func firstOf(names []string, actions []action) string {
	for _, name := range names {
		if slices.ContainsFunc(actions, func(a action) bool { return a.Type == name }) {
			return name
		}
	}
	return ""
}

// valueOf returns the value of the action with a name, which must be among them.
func valueOf(name string, actions []action) string {
	return actions[slices.IndexFunc(actions, func(a action) bool { return a.Type == name })].Value
}

// count reads a whole number; what is none counts as 0.
func count(text string) int64 {
	n, _ := strconv.ParseInt(text, 10, 64)
	return n
}

// thousandths reads a number of events in thousandths. Attribution can make it a fraction.
func thousandths(text string) int64 {
	n, _ := advert.ParseRatio(text)
	return int64(n) * 1000 / int64(advert.RatioOne)
}

package meta

import (
	"cmp"
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
	advert.LevelGroup:    "id,status,effective_status,lifetime_budget,budget_remaining," + eventFields,
	advert.LevelAd: "id,status,effective_status,ad_review_feedback,adset{lifetime_budget,budget_remaining," + eventFields + "}," +
		"campaign{lifetime_budget,budget_remaining}",
}

// anyNode is a campaign, an ad set or an ad of the Graph API.
type anyNode struct {
	budget
	aimed // an ad set
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
	from, to, counts := n.caps.Figures.Counted(from, to, c.Now())
	for _, node := range nodes {
		r := n.stateReport(node)
		if r.SyncedAt = now; counts {
			r.Metrics = advert.NoMetrics()
		}
		reports[node.ID] = r
	}
	if !counts {
		return reports, nil
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
	return reports, n.convert(ctx, c, adAccount, of, nodes, reports)
}

// convert sets the conversions in reports: how often happened what each thing is for.
func (n *Network) convert(ctx context.Context, c ads.Conn, adAccount string, of advert.Level, nodes []anyNode, reports map[string]ads.Report) error {
	wanted, err := n.wanted(ctx, c, adAccount, of, nodes)
	if err != nil {
		return err
	}
	for id, r := range reports {
		r.Metrics.Conversions = wanted[id].among(r.Metrics.Actions)
		reports[id] = r
	}
	return nil
}

// nodes reads the states of things, first from Meta's lists, and then one by one for those that are in none. They are deleted, or Meta does not know
// them at all.
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
		params := insightParams(of, chunk)
		params.Set("fields", name+"_id,"+insightFields)
		params.Set("time_range", jsonText(map[string]string{"since": from.String(), "until": to.String()}))
		some, err := list[insight](ctx, n.graph, c.Token, place{adAccount, "insights"}, params)
		if err != nil {
			return nil, err
		}
		rows = append(rows, some...)
	}
	return rows, nil
}

// insightParams are the parameters of insights about things of a level, whatever became of them. Conversions are attributed as the
// manager of ads shows them.
func insightParams(of advert.Level, ids []string) url.Values {
	name := levels[of].name
	return url.Values{
		"level": {name}, "use_unified_attribution_setting": {"true"},
		"filtering": {jsonText([]filter{{name + ".id", "IN", ids}, {name + ".effective_status", "IN", levels[of].everything()}})},
	}
}

var purchases = []string{"omni_purchase", "purchase", "offsite_conversion.fb_pixel_purchase"}

// metrics converts a row of figures. A number that is missing or cannot be read is unknown; but Meta leaves out the counts of
// what nobody did. Which of the actions are conversions is not known here.
func (i insight) metrics() advert.Metrics {
	m := advert.Metrics{Spend: money(i.Spend), Impressions: count(i.Impressions), Reach: count(i.Reach), Clicks: count(i.Clicks),
		Engagement: count(cmp.Or(i.Engagement, "0")), PurchaseValue: new(advert.Amount(0)), Actions: map[string]int64{}}
	for _, a := range i.Actions {
		m.Actions[a.Type] = thousandths(a.Value)
	}
	m.VideoViews = new(m.Actions["video_view"] / 1000)
	for _, name := range purchases {
		if at := slices.IndexFunc(i.Values, func(a action) bool { return a.Type == name }); at >= 0 {
			m.PurchaseValue = money(i.Values[at].Value)
			break
		}
	}
	return m
}

// money reads an amount; what is none is unknown.
func money(text string) *advert.Amount {
	amount, err := advert.ParseSpend(text)
	if err != nil {
		return nil
	}
	return &amount
}

// count reads a whole number; what is none is unknown.
func count(text string) *int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return nil
	}
	return &n
}

// thousandths reads a number of events in thousandths. Attribution can make it a fraction.
func thousandths(text string) int64 {
	n, _ := advert.ParseRatio(text)
	return int64(n) * 1000 / int64(advert.RatioOne)
}

package dashboard

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/server/ui"
	"github.com/tillwright/tillwright/store/core"
)

// thing is a campaign, an ad group or an ad, with what the pages of all three show.
type thing struct {
	kind, word         string // in its address; what people call it
	id, name           string
	platform           sdk.AdPlatform
	channel, adAccount string
	currency           string
	status             sdk.AdStatus
	configured         sdk.AdConfiguredStatus
	budget             *sdk.AdBudget
	schedule           sdk.AdSchedule
	metrics            *sdk.AdMetrics
	campaign           string // the id of the one that it is in, or is
	terms              []ui.Term
	up                 ui.Link
}

func (t *thing) address() string { return thingPage(t.kind, t.id, t.platform) }

// under returns the address of a page about what can be done to it.
func (t *thing) under(what string) string {
	return adsPage + "/" + t.kind + "/" + url.PathEscape(t.id) + "/" + what + "?platform=" + url.QueryEscape(string(t.platform))
}

// ofThing returns the handler of a page about a kind of thing.
func ofThing(kind string, serve func(*visit, string) error) func(*visit) error {
	return func(v *visit) error { return serve(v, kind) }
}

// getThing returns what an address names, with what came of it from a day on.
func (d *Dashboard) getThing(v *visit, kind, from string) (*thing, error) {
	id := v.Param("id")
	switch kind {
	case "campaigns":
		c, err := d.api.AdCampaigns.Get(v.ctx(), id, &sdk.GetAdCampaignParams{Platform: v.platform(), From: &from})
		if err != nil {
			return nil, err
		}
		return &thing{
			kind: kind, word: "campaign", id: c.ID, name: c.Name, platform: c.Platform, channel: c.AccountID, adAccount: c.AdAccountID, currency: c.Currency, campaign: c.ID,
			status: c.Status, configured: c.ConfiguredStatus, budget: c.Budget, schedule: c.Schedule, metrics: c.Metrics, up: ui.Link{Text: "Ads", Address: adsPage},
			terms: []ui.Term{{Name: "Ad account", Value: ui.Cell{Text: c.AdAccountName}}, {Name: "Goal", Value: goalCell(c.Goal)}, {Name: "Bidding", Value: textCell(c.BidStrategy)}},
		}, nil
	case "ad-groups":
		g, err := d.api.AdGroups.Get(v.ctx(), id, &sdk.GetAdGroupParams{Platform: v.platform(), From: &from})
		if err != nil {
			return nil, err
		}
		return &thing{
			kind: kind, word: "ad group", id: g.ID, name: g.Name, platform: g.Platform, channel: g.AccountID, adAccount: g.AdAccountID, currency: g.Currency, campaign: g.CampaignID,
			status: g.Status, configured: g.ConfiguredStatus, budget: g.Budget, schedule: g.Schedule, metrics: g.Metrics,
			up:    ui.Link{Text: g.CampaignName, Address: thingPage("campaigns", g.CampaignID, g.Platform)},
			terms: []ui.Term{{Name: "Ad account", Value: ui.Cell{Text: g.AdAccountName}}, {Name: "Goal", Value: goalCell(g.Goal)}, {Name: "Bidding", Value: textCell(g.BidStrategy)}, {Name: "Shown to", Value: ui.Cell{Text: targetText(&g.Targeting)}}},
		}, nil
	}
	a, err := d.api.Ads.Get(v.ctx(), id, &sdk.GetAdParams{Platform: v.platform(), From: &from})
	if err != nil {
		return nil, err
	}
	return &thing{
		kind: kind, word: "ad", id: a.ID, name: a.Name, platform: a.Platform, channel: a.AccountID, adAccount: a.AdAccountID, currency: a.Currency, campaign: a.CampaignID,
		status: a.Status, configured: a.ConfiguredStatus, budget: a.Budget, schedule: a.Schedule, metrics: a.Metrics,
		up: ui.Link{Text: a.CampaignName, Address: thingPage("campaigns", a.CampaignID, a.Platform)},
		terms: []ui.Term{
			{Name: "Ad group", Value: ui.Cell{Text: a.AdGroupName, Address: thingPage("ad-groups", a.AdGroupID, a.Platform)}},
			{Name: "Refused because", Value: textCell(a.RejectionReason)},
			{Name: "Headline", Value: textCell(a.Creative.Headline)}, {Name: "Text", Value: textCell(a.Creative.Body)}, {Name: "Leads to", Value: textCell(a.Creative.LinkURL)},
		},
	}, nil
}

// snakeWords returns a word of the API as people read it: "video_views" as "Video views".
func snakeWords(s string) string { return wordsOf(strings.ReplaceAll(s, "_", " ")) }

func goalCell(g *sdk.AdGoal) ui.Cell {
	if g == nil {
		return ui.Cell{}
	}
	return ui.Cell{Text: snakeWords(string(*g))}
}

// targetText says whom an ad group is shown to, as far as a line can.
func targetText(t *sdk.AdTargeting) string {
	words := "As the network sees fit"
	if len(t.Countries) > 0 {
		words = strings.Join(t.Countries, ", ")
	}
	if t.AgeMin != nil {
		words += ", from " + strconv.FormatInt(*t.AgeMin, 10) + " years on"
	}
	if t.AgeMax != nil {
		words += ", up to " + strconv.FormatInt(*t.AgeMax, 10) + " years"
	}
	return words
}

// adThing shows what a campaign, an ad group or an ad is, and what came of it.
func (d *Dashboard) adThing(v *visit, kind string) error {
	days, interval, from, choice := d.spanOf(v)
	t, err := d.getThing(v, kind, from)
	if err != nil {
		return err
	}
	periods, err := d.periods(v, t, from, sdk.AdMetricsInterval(interval))
	if err != nil {
		return err
	}
	p := ui.Page{Heading: t.name, Badge: adBadge(t.status), Up: &t.up, Stats: resultStats(t.metrics, t.currency), Lead: "What came of it in " + strconv.Itoa(days) + " days.", Filter: &ui.Form{
		Get: true, Inline: true, Submit: "Show", Controls: []ui.Control{{Kind: "hidden", Name: "platform", Value: string(t.platform)}, choice},
	}}
	if t.metrics != nil {
		for _, warning := range t.metrics.Warnings {
			p.Lead += " " + warning
		}
	}
	if len(periods) > 0 {
		p.Sections = append(p.Sections, spendCharts(periods, t.currency, interval)...)
	}
	budget := budgetText(t.budget, t.currency)
	if t.budget == nil {
		budget = map[string]string{"campaigns": "At its ad groups", "ad-groups": "At its campaign"}[kind]
	}
	p.Sections = append(p.Sections, ui.Section{Title: "Facts", Terms: slices.Concat([]ui.Term{
		{Name: "Network", Value: platformCell(t.platform)}, {Name: "Its own switch", Value: switchCell(t.configured)}, {Name: "Budget", Value: ui.Cell{Text: budget}},
		{Name: "Begins", Value: textCell(t.schedule.StartDate)}, {Name: "Ends", Value: ui.Cell{Text: cmp.Or(core.Deref(t.schedule.EndDate), "Not by itself")}},
	}, t.terms, []ui.Term{{Name: "Id", Value: ui.Cell{Text: t.id, Code: true}}, {Name: "What was done to it", Value: ui.Cell{Text: "Log", Address: adLogPage + "?target=" + t.id}}})})
	if kind == "campaigns" {
		inside, err := d.insideOf(v, t, from)
		if err != nil {
			return err
		}
		p.Sections = append(p.Sections, inside...)
	}
	if v.may("ads:write") && t.status != sdk.AdStatusCancelled && t.status != sdk.AdStatusCompleted {
		if t.configured == sdk.AdConfiguredStatusActive {
			p.Sections = append([]ui.Section{{Forms: []ui.Form{{Action: t.under("pause"), Submit: "Pause", Inline: true, Once: newOnce()}}}}, p.Sections...)
		} else {
			p.Actions = []ui.Link{{Text: "Resume", Address: t.under("resume"), Primary: true}}
		}
	}
	return v.show(http.StatusOK, p)
}

func switchCell(s sdk.AdConfiguredStatus) ui.Cell {
	if s == sdk.AdConfiguredStatusActive {
		return ui.Cell{Text: "On"}
	}
	return ui.Cell{Text: "Off"}
}

// resultStats returns the figures of something. What the network does not tell is said to be that.
func resultStats(m *sdk.AdMetrics, currency string) []ui.Stat {
	if m == nil {
		m = &sdk.AdMetrics{}
	}
	cells, names := resultCells(m, currency), resultColumns
	stats := make([]ui.Stat, len(cells))
	for i := range cells {
		stats[i] = ui.Stat{Name: names[i], Figure: cmp.Or(cells[i].Text, "Not told")}
	}
	if m.CPM != nil {
		stats[1].Change = spendCell(m.CPM, currency).Text + " for a thousand"
	}
	if m.CPC != nil {
		stats[2].Change = spendCell(m.CPC, currency).Text + " each"
	}
	if m.CostPerConversion != nil {
		stats[3].Change = spendCell(m.CostPerConversion, currency).Text + " each"
	}
	if m.ROAS != nil {
		stats = append(stats, ui.Stat{Name: "Bought for", Figure: spendCell(m.PurchaseValue, currency).Text, Change: string(*m.ROAS) + " times what was spent"})
	}
	return stats
}

// periods returns what came of something over time, at most 100 stretches of it.
func (d *Dashboard) periods(v *visit, t *thing, from string, interval sdk.AdMetricsInterval) ([]sdk.AdMetricsPeriod, error) {
	var list *sdk.AdMetricsPeriodList
	var err error
	switch t.kind {
	case "campaigns":
		list, err = d.api.AdCampaigns.ListMetrics(v.ctx(), t.id, &sdk.ListAdCampaignMetricsParams{Platform: &t.platform, From: &from, Interval: &interval})
	case "ad-groups":
		list, err = d.api.AdGroups.ListMetrics(v.ctx(), t.id, &sdk.ListAdGroupMetricsParams{Platform: &t.platform, From: &from, Interval: &interval})
	default:
		list, err = d.api.Ads.ListMetrics(v.ctx(), t.id, &sdk.ListAdMetricsParams{Platform: &t.platform, From: &from, Interval: &interval})
	}
	if err != nil {
		return nil, err
	}
	return list.Data, nil
}

// spendCharts draws what was spent, and how often people clicked.
func spendCharts(periods []sdk.AdMetricsPeriod, currency, interval string) []ui.Section {
	money := func(amount int64) string { return core.FormatAmount(amount, currency) }
	count := func(n int64) string { return strconv.FormatInt(n, 10) }
	var spent, clicks []ui.Point
	for i := range periods {
		name, m := periods[i].DateStart, &periods[i].Metrics
		if day, err := time.Parse(time.DateOnly, name); err == nil {
			name = day.Format("2 Jan 2006")
		}
		spend := ui.Point{Name: name, Shown: "Not told"}
		if m.Spend != nil {
			spend.Value = units(*m.Spend, currency)
			spend.Shown = money(spend.Value)
		}
		click := ui.Point{Name: name, Shown: "Not told"}
		if m.Clicks != nil {
			click.Value, click.Shown = *m.Clicks, count(*m.Clicks)
		}
		spent, clicks = append(spent, spend), append(clicks, click)
	}
	return []ui.Section{
		{Title: "Spent each " + interval + ", " + upper(currency), Chart: ui.NewChart("Spent each "+interval, "Spent", spent, money)},
		{Title: "Clicks each " + interval, Chart: ui.NewChart("Clicks each "+interval, "Clicks", clicks, count)},
	}
}

// insideOf lists the ad groups and the ads of a campaign.
func (d *Dashboard) insideOf(v *visit, c *thing, from string) ([]ui.Section, error) {
	groups := &ui.Table{Label: "Ad groups", Columns: slices.Concat([]string{"Name", "State", "Budget"}, resultColumns), Empty: &ui.Empty{Text: "It has no ad group."}}
	for g, err := range sdk.All(v.ctx(), d.groupsOf(c), &sdk.ListAdCampaignAdGroupsParams{Platform: &c.platform, From: &from, Limit: new(int64(100))}) {
		if err != nil {
			return nil, err
		}
		groups.Rows = append(groups.Rows, slices.Concat([]ui.Cell{{Text: g.Name, Address: thingPage("ad-groups", g.ID, g.Platform)}, {Badge: adBadge(g.Status)}, {Text: budgetText(g.Budget, g.Currency)}}, resultCells(g.Metrics, g.Currency)))
	}
	list, err := d.api.Ads.List(v.ctx(), &sdk.ListAdsParams{AccountID: &c.channel, Platform: &c.platform, CampaignID: &c.id, From: &from, Page: new(v.pageNumber()), Limit: new(onPage)})
	if err != nil {
		return nil, err
	}
	ads := &ui.Table{Label: "Ads", Columns: slices.Concat([]string{"Name", "Ad group", "State"}, resultColumns), Empty: &ui.Empty{Text: "It has no ad."}}
	for i := range list.Data {
		a := &list.Data[i]
		ads.Rows = append(ads.Rows, slices.Concat([]ui.Cell{{Text: a.Name, Address: thingPage("ads", a.ID, a.Platform)}, {Text: a.AdGroupName}, {Badge: adBadge(a.Status)}}, resultCells(a.Metrics, a.Currency)))
	}
	v.turnPages(ads, v.pageNumber(), list.HasMore)
	return []ui.Section{{Title: "Ad groups", Table: groups}, {Title: "Ads", Table: ads}}, nil
}

// groupsOf returns the list of a campaign's ad groups.
func (d *Dashboard) groupsOf(c *thing) func(context.Context, *sdk.ListAdCampaignAdGroupsParams, ...sdk.Option) (*sdk.AdGroupList, error) {
	return func(ctx context.Context, in *sdk.ListAdCampaignAdGroupsParams, options ...sdk.Option) (*sdk.AdGroupList, error) {
		return d.api.AdCampaigns.ListAdGroups(ctx, c.campaign, in, options...)
	}
}

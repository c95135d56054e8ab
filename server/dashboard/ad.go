package dashboard

import (
	"cmp"
	"encoding/json"
	"math/big"
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

const adsPage = "/app/ads"

// platforms are the networks, by what people call them.
var platforms = []string{
	"facebook", "Facebook", "instagram", "Instagram", "google", "Google", "linkedin", "LinkedIn", "pinterest", "Pinterest", "tiktok", "TikTok", "twitter", "X (Twitter)",
}

// adStatuses are the states of what is advertised.
var adStatuses = []string{
	"active", "Running", "paused", "Paused", "pending_review", "In review", "rejected", "Rejected", "completed", "Over", "cancelled", "Deleted", "error", "Not delivered",
}

func platformCell(p sdk.AdPlatform) ui.Cell { return ui.Cell{Text: platformName(p)} }

func platformName(p sdk.AdPlatform) string { return optionText(string(p), platforms...) }

func adBadge(s sdk.AdStatus) *ui.Badge {
	b := &ui.Badge{Text: optionText(string(s), adStatuses...)}
	switch s {
	case sdk.AdStatusActive:
		b.Tone, b.Icon = "good", "check"
	case sdk.AdStatusPaused:
		b.Icon = "lock"
	case sdk.AdStatusPendingReview:
		b.Tone, b.Icon = "warn", "clock"
	case sdk.AdStatusRejected, sdk.AdStatusError:
		b.Tone, b.Icon = "bad", "alert"
	case sdk.AdStatusCompleted, sdk.AdStatusCancelled:
		b.Tone, b.Icon = "void", "cross"
	}
	return b
}

// adTabs are the parts of what is about ads.
func adTabs(current string) []ui.MenuItem {
	tabs := []ui.MenuItem{
		{Text: "Campaigns", Address: adsPage}, {Text: "Channels", Address: channelsPage}, {Text: "Audiences", Address: audiencesPage},
		{Text: "Limits", Address: adLimitsPage}, {Text: "Log", Address: adLogPage},
	}
	for i := range tabs {
		tabs[i].Current = tabs[i].Address == current
	}
	return tabs
}

// units returns an amount of the API for ads, which is in whole units of its currency, in minor ones, rounded half up.
func units(amount json.Number, currency string) int64 {
	exact, ok := new(big.Rat).SetString(string(amount))
	if !ok {
		return 0
	}
	digits := exact.FloatString(core.ExponentOf(currency))
	minor, err := strconv.ParseInt(strings.Replace(digits, ".", "", 1), 10, 64)
	if err != nil {
		return 0
	}
	return minor
}

// spendCell returns an amount of the API for ads; what the network does not tell is a dash.
func spendCell(amount *json.Number, currency string) ui.Cell {
	if amount == nil {
		return ui.Cell{Number: true}
	}
	return money(units(*amount, currency), currency)
}

// countCell returns a count; what the network does not tell is a dash.
func countCell(n *int64) ui.Cell {
	if n == nil {
		return ui.Cell{Number: true}
	}
	return ui.Cell{Text: strconv.FormatInt(*n, 10), Number: true}
}

// resultCells returns what came of something, in the order of resultColumns.
func resultCells(m *sdk.AdMetrics, currency string) []ui.Cell {
	if m == nil {
		m = &sdk.AdMetrics{}
	}
	conversions := ui.Cell{Number: true}
	if m.Conversions != nil {
		conversions.Text = string(*m.Conversions)
	}
	return []ui.Cell{spendCell(m.Spend, currency), countCell(m.Impressions), countCell(m.Clicks), conversions}
}

var resultColumns = []string{"Spent", "Shown", "Clicks", "Conversions"}

func budgetText(b *sdk.AdBudget, currency string) string {
	if b == nil {
		return ""
	}
	return core.FormatAmount(units(b.Amount, currency), currency) + map[sdk.AdBudgetType]string{sdk.AdBudgetTypeDaily: " a day", sdk.AdBudgetTypeLifetime: " in all"}[b.Type]
}

// turnPages gives a table of a list that has pages by number the addresses of those beside it.
func (v *visit) turnPages(t *ui.Table, at int64, hasMore bool) {
	address := func(page int64) string {
		query := url.Values{}
		for key, values := range v.QueryParams() {
			if values[0] != "" {
				query[key] = values
			}
		}
		query.Set("page", strconv.FormatInt(page, 10))
		return "?" + query.Encode()
	}
	if at > 1 {
		t.Newer = address(at - 1)
	}
	if hasMore {
		t.Older = address(at + 1)
	}
}

// pageNumber returns which page of a list is asked for, from 1 on.
func (v *visit) pageNumber() int64 {
	n, err := strconv.ParseInt(v.QueryParam("page"), 10, 32)
	if err != nil || n < 1 {
		return 1
	}
	return n
}

// spanOf returns the stretch of time that the address asks for, and its first day.
func (d *Dashboard) spanOf(v *visit) (days int, interval string, from string, choice ui.Control) {
	span := spans[0]
	choice = ui.Control{Kind: "select", Name: "days", Label: "Time"}
	for _, s := range spans {
		if s.value == v.QueryParam("days") {
			span = s
		}
	}
	for _, s := range spans {
		choice.Options = append(choice.Options, ui.Option{Value: s.value, Text: s.text, Chosen: s.value == span.value})
	}
	return span.days, string(span.interval), d.store.Now().Time().In(v.zone).AddDate(0, 0, 1-span.days).Format(time.DateOnly), choice
}

// channels returns the channels of the account, and whether ads can be seen through one of them.
func (d *Dashboard) channels(v *visit) (all []sdk.SocialAccount, usable bool, err error) {
	for c, err := range sdk.All(v.ctx(), d.api.Socials.List, &sdk.ListSocialAccountsParams{Limit: new(int64(100))}) {
		if err != nil {
			return nil, false, err
		}
		all = append(all, c)
		usable = usable || c.AdsStatus != sdk.SocialAdsStatusInactive
	}
	return all, usable, nil
}

// noChannel says how ads come here.
func noChannel(v *visit) *ui.Empty {
	e := &ui.Empty{Text: "Ads are seen here through a channel: your profile or page at a network, connected and activated. There is none yet."}
	if v.may("ads:write") {
		e.Action = &ui.Link{Text: "Connect a channel", Address: channelsPage + "/new"}
	}
	return e
}

func channelName(c *sdk.SocialAccount) string {
	return platformName(c.Platform) + ", " + cmp.Or(c.DisplayName, c.Username, c.ID)
}

// thingPage returns the address of a campaign, an ad group or an ad. Two networks may have given the same id, so the network is in it.
func thingPage(kind, id string, p sdk.AdPlatform) string {
	return adsPage + "/" + kind + "/" + url.PathEscape(id) + "?platform=" + url.QueryEscape(string(p))
}

// platform returns the network that an address names, nil for none.
func (v *visit) platform() *sdk.AdPlatform {
	if p := v.QueryParam("platform"); p != "" {
		return new(sdk.AdPlatform(p))
	}
	return nil
}

// campaigns lists what runs at the networks, and what came of it.
func (d *Dashboard) campaigns(v *visit) error {
	all, usable, err := d.channels(v)
	if err != nil {
		return err
	}
	p := ui.Page{Heading: "Ads", Tabs: adTabs(adsPage)}
	if !usable {
		p.Table = &ui.Table{Label: "Campaigns", Empty: noChannel(v)}
		return v.show(http.StatusOK, p)
	}
	days, _, from, choice := d.spanOf(v)
	in := &sdk.ListAdCampaignsParams{From: &from, Page: new(v.pageNumber()), Limit: new(onPage), AccountID: query(v, "channel")}
	if status := v.QueryParam("status"); status != "" {
		in.Status = sdk.AdStatusFilter{sdk.AdStatus(status)}
	}
	list, err := d.api.AdCampaigns.List(v.ctx(), in)
	if err != nil {
		return err
	}
	t := &ui.Table{Label: "Campaigns", Columns: slices.Concat([]string{"Name", "Network", "State", "Budget"}, resultColumns), Empty: v.nothing(&ui.Empty{
		Text: "A campaign shows ads at a network. There is none yet: make one with your program, or in the network's own ad manager.",
		Curl: "curl " + d.publicURL + `/v1/ads -H "Authorization: Bearer sk_..." -d '{"account_id": "sacct_...", ...}'`,
	})}
	for i := range list.Data {
		c := &list.Data[i]
		budget := budgetText(c.Budget, c.Currency)
		if c.Budget == nil {
			budget = "At its ad groups"
		}
		t.Rows = append(t.Rows, slices.Concat([]ui.Cell{{Text: c.Name, Address: thingPage("campaigns", c.ID, c.Platform)}, platformCell(c.Platform), {Badge: adBadge(c.Status)}, {Text: budget}}, resultCells(c.Metrics, c.Currency)))
	}
	v.turnPages(t, v.pageNumber(), list.HasMore)
	names := []string{"", "All"}
	for i := range all {
		if all[i].AdsStatus != sdk.SocialAdsStatusInactive {
			names = append(names, all[i].ID, channelName(&all[i]))
		}
	}
	p.Lead = "What was spent, and what came of it, in " + strconv.Itoa(days) + " days."
	p.Table, p.Filter = t, &ui.Form{Get: true, Inline: true, Submit: "Show", Controls: []ui.Control{
		{Kind: "select", Name: "status", Label: "State", Options: chosen(v.QueryParam("status"), slices.Concat([]string{"", "All"}, adStatuses)...)},
		{Kind: "select", Name: "channel", Label: "Channel", Options: chosen(v.QueryParam("channel"), names...)},
		choice,
	}}
	return v.show(http.StatusOK, p)
}

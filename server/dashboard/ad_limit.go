package dashboard

import (
	"cmp"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/server/ui"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/person"
)

const adLimitsPage = adsPage + "/limits"

// adLimits shows what may be spent on ads, whoever asks for it.
func (d *Dashboard) adLimits(v *visit) error {
	l, err := d.api.AdLimits.Get(v.ctx())
	if err != nil {
		return err
	}
	t := &ui.Table{Label: "Limits", Columns: []string{"Currency", "A campaign, a day", "All that runs, a day", "A bid"}}
	row := func(name ui.Cell, limit sdk.AdLimit, currency string) {
		bid := ui.Cell{Text: "Any", Number: true}
		if limit.MaxBidAmount != nil {
			bid = spendCell(limit.MaxBidAmount, currency)
		}
		t.Rows = append(t.Rows, []ui.Cell{name, spendCell(&limit.MaxDailyBudgetPerCampaign, currency), spendCell(&limit.MaxTotalDailyBudget, currency), bid})
	}
	for _, currency := range sortedKeys(l.Currencies) {
		name := ui.Cell{Text: upper(currency)}
		if v.may("ad_limits:write") {
			name.Address = adLimitsPage + "/edit?currency=" + currency
		}
		row(name, l.Currencies[currency], currency)
	}
	row(ui.Cell{Text: "Every other, worth"}, l.Default, "usd")
	blocked := make([]string, len(l.BlockedOperations))
	for i, operation := range l.BlockedOperations {
		blocked[i] = snakeWords(string(operation))
	}
	raise := "By any share"
	if l.MaxDailyBudgetIncreasePct != nil {
		raise = "By " + string(*l.MaxDailyBudgetIncreasePct) + " % at most"
	}
	p := ui.Page{Heading: "Limits", Up: &ui.Link{Text: "Ads", Address: adsPage}, Tabs: adTabs(adLimitsPage), Table: t,
		Lead: "Nobody spends more than this through Tillwright: no person, no program. It holds for new ads, higher budgets and what is resumed.",
		Sections: []ui.Section{{Terms: []ui.Term{
			{Name: "One change may raise a daily budget", Value: ui.Cell{Text: raise}},
			{Name: "What nobody may do", Value: ui.Cell{Text: cmp.Or(strings.Join(blocked, ", "), "Nothing is blocked")}},
			{Name: "Changed", Value: v.when(l.UpdatedAt)},
		}}},
	}
	if v.may("ad_limits:write") {
		p.Actions = []ui.Link{{Text: "Set a limit", Address: adLimitsPage + "/edit", Primary: true}}
	}
	return v.show(http.StatusOK, p)
}

// adLimitOf returns the form for the limits of a currency, with those that hold now.
func (d *Dashboard) adLimitOf(v *visit) (*ui.Form, error) {
	l, err := d.api.AdLimits.Get(v.ctx())
	if err != nil {
		return nil, err
	}
	currency := cmp.Or(v.FormValue("currency"), v.shop.DefaultCurrency)
	limit := l.Currencies[currency]
	bid, raise := core.Deref(limit.MaxBidAmount), core.Deref(l.MaxDailyBudgetIncreasePct)
	if v.Request().Method == http.MethodPost {
		limit.MaxDailyBudgetPerCampaign, limit.MaxTotalDailyBudget = json.Number(v.field("max_daily_budget_per_campaign")), json.Number(v.field("max_total_daily_budget"))
		bid, raise = json.Number(v.field("max_bid_amount")), json.Number(v.field("max_daily_budget_increase_pct"))
	}
	return &ui.Form{Submit: "Save limits", Cancel: adLimitsPage, Once: newOnce(), Controls: []ui.Control{
		{Kind: "select", Name: "currency", Label: "Currency", Hint: "Of the ad account, which may be another one than your shop's.", Options: currencyOptions(currency)},
		{Name: "max_daily_budget_per_campaign", Label: "A campaign with its ad groups, a day", Hint: "Empty leaves it as it is.", Value: string(limit.MaxDailyBudgetPerCampaign), InputMode: "decimal", Longest: 20, Optional: true},
		{Name: "max_total_daily_budget", Label: "All that runs, a day", Hint: "Empty leaves it as it is.", Value: string(limit.MaxTotalDailyBudget), InputMode: "decimal", Longest: 20, Optional: true},
		{Name: "max_bid_amount", Label: "One bid", Hint: "Empty for any.", Value: string(bid), InputMode: "decimal", Longest: 20, Optional: true},
		{Name: "max_daily_budget_increase_pct", Label: "One change may raise a daily budget by so many percent", Hint: "Empty for any. It holds for all currencies.", Value: string(raise), InputMode: "decimal", Longest: 10, Optional: true},
	}}, nil
}

func adLimitPage(f *ui.Form) ui.Page {
	return ui.Page{Heading: "Set a limit", Up: &ui.Link{Text: "Limits", Address: adLimitsPage}, Form: f}
}

// adLimitForm shows it.
func (d *Dashboard) adLimitForm(v *visit) error {
	f, err := d.adLimitOf(v)
	if err != nil {
		return err
	}
	return v.show(http.StatusOK, adLimitPage(f))
}

// saveAdLimit changes what may be spent in a currency.
func (d *Dashboard) saveAdLimit(v *visit) error {
	f, err := d.adLimitOf(v)
	if err != nil {
		return err
	}
	var p core.Problems
	typed := func(name string) *json.Number {
		text := strings.ReplaceAll(v.field(name), ",", ".")
		if text == "" {
			return nil
		}
		_, problem := core.ReadAmount(text, "usd") // amounts of ads have two decimals whatever their currency
		p.Check(problem == "", name, "Type an amount like 50.00.")
		return new(json.Number(text))
	}
	one := &sdk.AdLimitUpdate{MaxDailyBudgetPerCampaign: typed("max_daily_budget_per_campaign"), MaxTotalDailyBudget: typed("max_total_daily_budget"), MaxBidAmount: sdk.Null[json.Number]()}
	if bid := typed("max_bid_amount"); bid != nil {
		one.MaxBidAmount = sdk.Set(*bid)
	}
	in := &sdk.AdLimitsUpdate{Currencies: map[string]*sdk.AdLimitUpdate{v.field("currency"): one}, MaxDailyBudgetIncreasePct: sdk.Null[json.Number]()}
	if raise := typed("max_daily_budget_increase_pct"); raise != nil {
		in.MaxDailyBudgetIncreasePct = sdk.Set(*raise)
	}
	if err = p.Err(); err == nil {
		_, err = d.api.AdLimits.Update(v.ctx(), in, v.once())
	}
	if wrong, ok := problems(leafs(err), f); ok {
		return v.show(http.StatusUnprocessableEntity, adLimitPage(f), wrong...)
	}
	if err != nil {
		return err
	}
	return v.done(adLimitsPage, person.Notice{Text: "The limits were changed."})
}

package dashboard

import (
	"net/http"
	"strings"
	"time"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/server/ui"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/person"
)

// pauseThing stops a campaign, an ad group or an ad, which spends nothing any more.
func (d *Dashboard) pauseThing(v *visit, kind string) error {
	t, err := d.getThing(v, kind, d.lately())
	if err != nil {
		return err
	}
	said, err := d.turn(v, t, false)
	if refused, ok := problems(err, &ui.Form{}); ok {
		return v.done(t.address(), person.Notice{Text: "It was not paused. " + refused[0].Text, Bad: true})
	}
	if err != nil {
		return err
	}
	return v.done(t.address(), person.Notice{Text: strings.TrimSpace("The " + t.word + " is paused. " + said)})
}

// lately is a day from which figures are asked for by pages that show none. It is the day before yesterday, which is over in every time zone.
func (d *Dashboard) lately() string {
	return d.store.Now().Time().AddDate(0, 0, -2).Format(time.DateOnly)
}

// turn moves the switch of something, and returns what else there is to say. What the network or a limit refuses is CodeInvalid.
func (d *Dashboard) turn(v *visit, t *thing, on bool) (said string, err error) {
	var result *sdk.AdStatusResult
	which := &sdk.AdPlatformBody{Platform: &t.platform}
	switch {
	case t.kind == "campaigns":
		return d.turnCampaign(v, t, on)
	case t.kind == "ad-groups" && on:
		result, err = d.api.AdGroups.Resume(v.ctx(), t.id, which, v.once())
	case t.kind == "ad-groups":
		result, err = d.api.AdGroups.Pause(v.ctx(), t.id, which, v.once())
	case on:
		result, err = d.api.Ads.Resume(v.ctx(), t.id, which, v.once())
	default:
		result, err = d.api.Ads.Pause(v.ctx(), t.id, which, v.once())
	}
	if err != nil {
		return "", err
	}
	return result.Message, nil
}

func (d *Dashboard) turnCampaign(v *visit, t *thing, on bool) (said string, err error) {
	send := d.api.AdCampaigns.BulkPause
	if on {
		send = d.api.AdCampaigns.BulkResume
	}
	result, err := send(v.ctx(), t.alone(), v.once())
	if err != nil {
		return "", err
	}
	if failed := result.Results[0].Error; failed != nil {
		return "", core.Invalid("", failed.Message)
	}
	return result.Results[0].Message, nil
}

// alone names a campaign for what is asked of many.
func (t *thing) alone() *sdk.AdCampaignBulk {
	return &sdk.AdCampaignBulk{Campaigns: []sdk.AdCampaignRef{{ID: t.id, Platform: string(t.platform)}}}
}

// most is what something can spend once it is resumed.
type most struct {
	terms   []ui.Term
	refusal string // why it cannot be resumed, empty if it can
}

// seen is what somebody agrees to, so that nothing else is resumed than what they were shown.
func (m *most) seen() string {
	var all []string
	for _, term := range m.terms {
		all = append(all, term.Value.Text)
	}
	return strings.Join(all, "; ")
}

// mostOf returns what something can spend at most: a day as the limits count it, and in all as its budgets and last days say.
func (d *Dashboard) mostOf(v *visit, t *thing) (*most, error) {
	m := &most{}
	plan, err := d.api.AdCampaigns.PlanBulkResume(v.ctx(), (&thing{id: t.campaign, platform: t.platform}).alone())
	if err != nil {
		return nil, err
	}
	if t.kind == "campaigns" && len(plan.Calls) == 0 {
		m.refusal = strings.TrimPrefix(strings.Join(plan.Warnings, " "), t.id+" ")
		return m, nil
	}
	budgets, isKnown, err := d.budgetsOf(v, t)
	if err != nil {
		return nil, err
	}
	today, err := d.todayOf(v, t)
	if err != nil {
		return nil, err
	}
	daily, total, endless := int64(0), int64(0), false
	for _, b := range budgets {
		a, all, ends := b.most(today, t.currency)
		daily, total, endless = daily+a, total+all, endless || !ends
	}
	inAll := core.FormatAmount(total, t.currency)
	switch {
	case !isKnown:
		inAll = "Not known: the network does not tell every budget"
	case len(budgets) == 0:
		inAll += ", as long as its ad groups are off"
	case endless:
		inAll = "No end: it spends this every day until you pause it"
	}
	m.terms = []ui.Term{{Name: "At most a day", Value: ui.Cell{Text: core.FormatAmount(daily, t.currency)}}, {Name: "At most in all", Value: ui.Cell{Text: inAll}}}
	for _, f := range plan.Figures {
		if t.kind == "campaigns" {
			m.terms = append(m.terms,
				ui.Term{Name: "Counted by your limits, a day", Value: ui.Cell{Text: core.FormatAmount(units(f.DailyCampaign, f.Currency), f.Currency)}},
				ui.Term{Name: "All that runs, a day, now", Value: ui.Cell{Text: core.FormatAmount(units(f.DailyTotalBefore, f.Currency), f.Currency)}},
				ui.Term{Name: "All that runs, a day, then", Value: ui.Cell{Text: core.FormatAmount(units(f.DailyTotal, f.Currency), f.Currency)}})
		}
		m.terms = append(m.terms, ui.Term{Name: "Your limit for all, a day", Value: ui.Cell{Text: core.FormatAmount(units(f.Limit.MaxTotalDailyBudget, f.Currency), f.Currency)}})
	}
	return m, nil
}

// budget is what may be spent, and until when.
type budget struct {
	*sdk.AdBudget
	ends string // the last day, empty for none
}

// most returns what it lets the network spend on a day, and in all unless that has no end.
func (b *budget) most(today time.Time, currency string) (daily, total int64, ends bool) {
	amount := units(b.Amount, currency)
	if b.Type == sdk.AdBudgetTypeLifetime {
		return amount, amount, true
	}
	last, err := time.Parse(time.DateOnly, b.ends)
	if err != nil {
		return amount, 0, false
	}
	days := int64(last.Sub(today).Hours()/24) + 1
	return amount, amount * max(0, days), true
}

// budgetsOf returns the budgets that something spends, of a campaign without one those of its ad groups that are on, and whether these are all.
func (d *Dashboard) budgetsOf(v *visit, t *thing) (all []budget, isKnown bool, err error) {
	if t.budget != nil {
		return []budget{{t.budget, core.Deref(t.schedule.EndDate)}}, true, nil
	}
	c, err := d.api.AdCampaigns.Get(v.ctx(), t.campaign, &sdk.GetAdCampaignParams{Platform: &t.platform})
	if err != nil {
		return nil, false, err
	}
	ends := core.Deref(c.Schedule.EndDate)
	if c.Budget != nil {
		return []budget{{c.Budget, ends}}, true, nil
	}
	isKnown = t.kind == "campaigns"
	for g, err := range sdk.All(v.ctx(), d.groupsOf(t), &sdk.ListAdCampaignAdGroupsParams{Platform: &t.platform, Limit: new(int64(100))}) {
		switch {
		case err != nil:
			return nil, false, err
		case g.ConfiguredStatus != sdk.AdConfiguredStatusActive || g.Status == sdk.AdStatusCancelled:
			continue
		case g.Budget == nil:
			isKnown = false
			continue
		}
		last := core.Deref(g.Schedule.EndDate)
		if last == "" || ends != "" && ends < last {
			last = ends
		}
		all = append(all, budget{g.Budget, last})
	}
	return all, isKnown, nil
}

// todayOf returns the day that it is for the ad account of something.
func (d *Dashboard) todayOf(v *visit, t *thing) (time.Time, error) {
	list, err := d.api.AdAccounts.List(v.ctx(), &sdk.ListAdAccountsParams{AccountID: t.channel, AdAccountID: &t.adAccount})
	if err != nil {
		return time.Time{}, err
	}
	zone := v.zone
	if len(list.Data) > 0 {
		if known, err := core.LoadZone(list.Data[0].Timezone); err == nil {
			zone = known
		}
	}
	return time.Parse(time.DateOnly, d.store.Now().Time().In(zone).Format(time.DateOnly))
}

// resumePage says what something can spend once it is resumed, and asks whether that is understood.
func resumePage(t *thing, m *most, f *ui.Form) ui.Page {
	p := ui.Page{Heading: "Resume " + t.name, Up: &ui.Link{Text: t.name, Address: t.address()}}
	if m.refusal != "" {
		p.Sections = []ui.Section{{Text: "It cannot be resumed: it " + m.refusal, Links: []ui.Link{{Text: "Limits", Address: adLimitsPage}}}}
		return p
	}
	p.Lead = "It spends real money of the ad account at " + platformName(t.platform) + " as soon as it is delivered."
	notes := "A network counts a daily budget over a week or a month: on a single day it may spend more, Meta up to 75 % more, and less on others. Of a budget for the whole time it may spend all that is left on one day."
	if t.kind != "campaigns" {
		notes = "If what it is in is paused, it spends nothing until that is resumed as well. It shares its budget with what else spends it. " + notes
	} else {
		notes = "Ad groups and ads that are off themselves stay off. " + notes
	}
	p.Sections = []ui.Section{{Terms: m.terms}, {Text: notes, Form: f}}
	return p
}

func resumeForm(t *thing, m *most) *ui.Form {
	return &ui.Form{Submit: "Resume " + t.word, Cancel: t.address(), Once: newOnce(), Controls: []ui.Control{
		{Kind: "checkbox", Name: "understood", Label: "I understand that it spends up to this, and that this server cannot get it back"},
		{Kind: "hidden", Name: "seen", Value: m.seen()},
	}}
}

// resumeForm asks whether something is to spend money.
func (d *Dashboard) resumeForm(v *visit, kind string) error {
	t, m, err := d.toResume(v, kind)
	if err != nil {
		return err
	}
	return v.show(http.StatusOK, resumePage(t, m, resumeForm(t, m)))
}

func (d *Dashboard) toResume(v *visit, kind string) (*thing, *most, error) {
	t, err := d.getThing(v, kind, d.lately())
	if err != nil {
		return nil, nil, err
	}
	m, err := d.mostOf(v, t)
	return t, m, err
}

// resume lets something spend money: what was shown, and to somebody who ticked that they understand it.
func (d *Dashboard) resume(v *visit, kind string) error {
	t, m, err := d.toResume(v, kind)
	if err != nil {
		return err
	}
	f := resumeForm(t, m)
	var p core.Problems
	isUnderstood := v.field("understood") != ""
	p.Check(isUnderstood, "understood", "Tick that you understand it. Nothing was resumed.")
	p.Check(!isUnderstood || m.refusal != "" || v.field("seen") == m.seen(), "base", "What it can spend has changed since you looked: it is shown anew. Nothing was resumed.")
	var said string
	if err = p.Err(); err == nil {
		said, err = d.turn(v, t, true)
	}
	if wrong, ok := problems(err, f); ok {
		return v.show(http.StatusUnprocessableEntity, resumePage(t, m, f), wrong...)
	}
	if err != nil {
		return err
	}
	return v.done(t.address(), person.Notice{Text: strings.TrimSpace("The " + t.word + " is resumed. " + said)})
}

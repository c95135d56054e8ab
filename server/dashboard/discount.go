package dashboard

import (
	"cmp"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/server/ui"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/person"
)

const discountsPage = "/app/discounts"

func discountBadge(s sdk.DiscountStatus) *ui.Badge {
	switch s {
	case sdk.DiscountStatusActive:
		return &ui.Badge{Text: "Active", Tone: "good", Icon: "check"}
	case sdk.DiscountStatusScheduled:
		return &ui.Badge{Text: "Scheduled", Tone: "warn", Icon: "clock"}
	case sdk.DiscountStatusExhausted:
		return &ui.Badge{Text: "Used up", Tone: "warn", Icon: "alert"}
	case sdk.DiscountStatusExpired:
		return &ui.Badge{Text: "Over", Tone: "void", Icon: "cross"}
	case sdk.DiscountStatusDisabled:
	}
	return &ui.Badge{Text: "Off", Icon: "lock"}
}

// ruleOf returns what a discount takes off, and how long, as a sentence without a full stop.
func ruleOf(d *sdk.Discount) string {
	text := ""
	if d.PercentBps != nil {
		text = strings.TrimSuffix(strings.TrimRight(strconv.FormatFloat(float64(*d.PercentBps)/100, 'f', 2, 64), "0"), ".") + " % off"
	} else if d.Amount != nil && d.Currency != nil {
		text = core.FormatAmount(*d.Amount, *d.Currency) + " off"
	}
	switch d.Duration {
	case sdk.DiscountDurationForever:
		text += ", every payment of a subscription"
	case sdk.DiscountDurationRepeating:
		text += ", for " + strconv.FormatInt(core.Deref(d.DurationInMonths), 10) + " months of a subscription"
	case sdk.DiscountDurationOnce:
	}
	if d.FirstPurchaseOnly {
		text += ", for first purchases"
	}
	if d.MinSubtotalAmount != nil && d.Currency != nil {
		text += ", from " + core.FormatAmount(*d.MinSubtotalAmount, *d.Currency) + " on"
	}
	return text
}

// discounts lists what makes things cheaper.
func (d *Dashboard) discounts(v *visit) error {
	after, before := v.position()
	in := &sdk.ListDiscountsParams{Limit: new(onPage), StartingAfter: after, EndingBefore: before, Q: query(v, "q")}
	status := v.QueryParam("status")
	if status != "" {
		in.Status = new(sdk.DiscountStatus(status))
	}
	list, err := d.api.Discounts.List(v.ctx(), in)
	if err != nil {
		return err
	}
	t := &ui.Table{Label: "Discounts", Columns: []string{"Name", "Code", "What it does", "Used", "State"}}
	for i := range list.Data {
		x := &list.Data[i]
		used := strconv.FormatInt(x.RedemptionsCount, 10)
		if x.MaxRedemptions != nil {
			used += " of " + strconv.FormatInt(*x.MaxRedemptions, 10)
		}
		t.Rows = append(t.Rows, []ui.Cell{{Text: x.Name, Address: discountsPage + "/" + x.ID}, {Text: core.Deref(x.Code), Code: true}, {Text: ruleOf(x)}, {Text: used, Number: true}, {Badge: discountBadge(x.Status)}})
	}
	if n := len(list.Data); n > 0 {
		v.turn(t, list.Data[0].ID, list.Data[n-1].ID, list.HasMore)
	}
	t.Empty = v.nothing(&ui.Empty{Text: "A discount takes something off, for everybody who has its code. There is none yet."})
	p := ui.Page{Heading: "Discounts", Table: t, Filter: &ui.Form{Get: true, Inline: true, Submit: "Show", Controls: []ui.Control{
		{Name: "q", Label: "Search", Value: v.QueryParam("q")},
		{Kind: "select", Name: "status", Label: "State", Options: chosen(status, "", "All", "active", "Active", "scheduled", "Scheduled", "exhausted", "Used up", "expired", "Over", "disabled", "Off")},
	}}}
	if v.may("discounts:write") {
		p.Actions = []ui.Link{{Text: "New discount", Address: discountsPage + "/new", Primary: true}}
	}
	return v.show(http.StatusOK, p)
}

func discountForm(v *visit) *ui.Form {
	return &ui.Form{Submit: "Create discount", Cancel: discountsPage, Once: newOnce(), Controls: []ui.Control{
		{Name: "name", Label: "Name", Hint: "Buyers see it on the checkout.", Value: v.field("name"), Longest: 255, Required: true},
		{Name: "code", Label: "Code", Hint: "What buyers type. Without one only your programs and links give it.", Value: v.field("code"), Longest: 100, Optional: true},
		{Kind: "select", Name: "type", Label: "It takes off", Options: chosen(v.field("type"), "percent", "A share of the price, in percent", "fixed", "An amount")},
		{Name: "amount", Label: "How much", Hint: "Such as 20 for 20 %, or 5.00 for an amount.", Value: v.field("amount"), InputMode: "decimal", Longest: 20, Required: true},
		{Kind: "select", Name: "currency", Label: "Currency of an amount", Options: currencyOptions(cmp.Or(v.field("currency"), v.shop.DefaultCurrency))},
		{Kind: "select", Name: "duration", Label: "Of a subscription", Options: chosen(v.field("duration"), "once", "The first payment", "forever", "Every payment")},
		{Name: "max_redemptions", Label: "How often it can be used", Hint: "Empty for any number.", Value: v.field("max_redemptions"), InputMode: "numeric", Longest: 9, Optional: true},
		{Kind: "date", Name: "ends_at", Label: "Last day", Value: v.field("ends_at"), Optional: true},
		{Kind: "checkbox", Name: "first_purchase_only", Label: "Only for the first purchase of a customer", Checked: v.field("first_purchase_only") != ""},
	}}
}

func discountPage(f *ui.Form) ui.Page {
	return ui.Page{Heading: "New discount", Up: &ui.Link{Text: "Discounts", Address: discountsPage}, Form: f}
}

// newDiscount shows the form for a discount.
func (d *Dashboard) newDiscount(v *visit) error {
	return v.show(http.StatusOK, discountPage(discountForm(v)))
}

// readDiscount reads that form.
func readDiscount(v *visit) (*sdk.DiscountCreate, error) {
	in := &sdk.DiscountCreate{
		Name: new(v.field("name")), Code: v.optional("code"), Type: sdk.DiscountType(v.field("type")), Duration: new(sdk.DiscountDuration(v.field("duration"))),
		FirstPurchaseOnly: new(v.field("first_purchase_only") != ""),
	}
	var p core.Problems
	p.Check(*in.Name != "", "name", "Type a name.")
	if in.Type == sdk.DiscountTypePercent {
		share, err := strconv.ParseFloat(strings.ReplaceAll(strings.TrimSuffix(v.field("amount"), "%"), ",", "."), 64)
		isShare := err == nil && share > 0 && share <= 100
		p.Check(isShare, "amount", "Type a share of up to 100, such as 20.")
		if isShare {
			in.PercentBps = new(int64(math.Round(share * 100)))
		}
	} else {
		amount, problem := core.ReadAmount(v.field("amount"), v.field("currency"))
		p.Check(problem == "", "amount", "Type an amount like 5.00.")
		in.Amount, in.Currency = &amount, new(v.field("currency"))
	}
	if text := v.field("max_redemptions"); text != "" {
		n, err := strconv.ParseInt(text, 10, 64)
		p.Check(err == nil, "max_redemptions", "Type a number, or nothing.")
		in.MaxRedemptions = &n
	}
	if text := v.field("ends_at"); text != "" {
		day, err := time.ParseInLocation(time.DateOnly, text, v.zone)
		p.Check(err == nil, "ends_at", "Type a day like 2027-12-31.")
		in.EndsAt = new(sdk.TimeOf(day.AddDate(0, 0, 1)))
	}
	return in, p.Err()
}

// createDiscount makes a discount.
func (d *Dashboard) createDiscount(v *visit) error {
	f := discountForm(v)
	in, err := readDiscount(v)
	var made *sdk.Discount
	if err == nil {
		made, err = d.api.Discounts.Create(v.ctx(), in, v.once())
	}
	if wrong, ok := problems(renamed(err, map[string]string{"percent_bps": "amount"}), f); ok {
		return v.show(http.StatusUnprocessableEntity, discountPage(f), wrong...)
	}
	if err != nil {
		return err
	}
	return v.done(discountsPage+"/"+made.ID, person.Notice{Text: "The discount was made."})
}

// discount shows a discount, and who used it.
func (d *Dashboard) discount(v *visit) error {
	x, err := d.api.Discounts.Get(v.ctx(), v.Param("id"))
	if err != nil {
		return err
	}
	after, before := v.position()
	used, err := d.api.Discounts.ListRedemptions(v.ctx(), x.ID, &sdk.ListDiscountRedemptionsParams{Limit: new(onPage), StartingAfter: after, EndingBefore: before})
	if err != nil {
		return err
	}
	t := &ui.Table{Label: "Uses", Columns: []string{"Order", "Taken off", "When"}, Empty: &ui.Empty{Text: "Nobody has used it yet."}}
	for i := range used.Data {
		r := &used.Data[i]
		t.Rows = append(t.Rows, []ui.Cell{{Text: r.Order.ID, Code: true, Address: ordersPage + "/" + r.Order.ID}, money(r.DiscountAmount, r.Currency), v.at(r.CreatedAt.Time())})
	}
	if n := len(used.Data); n > 0 {
		v.turn(t, used.Data[0].ID, used.Data[n-1].ID, used.HasMore)
	}
	address := discountsPage + "/" + x.ID
	p := ui.Page{Heading: x.Name, Badge: discountBadge(x.Status), Up: &ui.Link{Text: "Discounts", Address: discountsPage}, Lead: ruleOf(x) + ".", Sections: []ui.Section{
		{Terms: []ui.Term{{Name: "Code", Value: ui.Cell{Text: core.Deref(x.Code), Code: true}}, {Name: "Begins", Value: v.when(x.StartsAt)}, {Name: "Ends", Value: v.when(x.EndsAt)}, {Name: "Used", Value: ui.Cell{Text: strconv.FormatInt(x.RedemptionsCount, 10)}}, {Name: "Id", Value: ui.Cell{Text: x.ID, Code: true}}}},
		{Title: "Uses", Table: t},
	}}
	if v.may("discounts:write") {
		turn := ui.Form{Action: address + "/disable", Submit: "Switch off", Inline: true, Once: newOnce()}
		if x.Status == sdk.DiscountStatusDisabled {
			turn.Action, turn.Submit = address+"/enable", "Switch on"
		}
		p.Sections = append(p.Sections, ui.Section{Forms: []ui.Form{turn}})
	}
	return v.show(http.StatusOK, p)
}

// disableDiscount switches a discount off. Who has it on a subscription keeps it.
func (d *Dashboard) disableDiscount(v *visit) error {
	if _, err := d.api.Discounts.Disable(v.ctx(), v.Param("id"), v.once()); err != nil {
		return err
	}
	return v.done(discountsPage+"/"+v.Param("id"), person.Notice{Text: "The discount is off."})
}

// enableDiscount switches a discount on.
func (d *Dashboard) enableDiscount(v *visit) error {
	if _, err := d.api.Discounts.Enable(v.ctx(), v.Param("id"), v.once()); err != nil {
		return err
	}
	return v.done(discountsPage+"/"+v.Param("id"), person.Notice{Text: "The discount is on."})
}

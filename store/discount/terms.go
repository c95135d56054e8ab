package discount

import (
	"context"
	"fmt"
	"slices"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/lineitem"
	"github.com/tillwright/tillwright/store/pricing"
)

// Terms say what a discount takes off, off what and for how long. A subscription keeps a copy of them, however the
// discount changes or goes later.
type Terms struct {
	DiscountID       string           `json:"discount"`
	Type             Type             `json:"type"`
	PercentBps       int64            `json:"percent_bps"`
	Amounts          map[string]int64 `json:"amounts"` // by currency
	ProductIDs       []string         `json:"products"`
	PriceVariantIDs  []string         `json:"price_variants"`
	Rules            []Rate           `json:"rules"`
	Duration         Duration         `json:"duration"`
	DurationInMonths int64            `json:"duration_in_months"`
	Share            *Share           `json:"share,omitempty"` // nil: all that is taken off is taken off one line
}

// Share is what a discount off several lines of a checkout takes off the one that a subscription is from. Of an amount the
// subscription gets no more than that, whatever becomes of its plan. A part is rounded for all lines together: as long as a period costs
// what the line did, it has the same off.
type Share struct {
	Amount     int64 `json:"amount"`
	PercentBps int64 `json:"percent_bps"` // that Amount comes of; 0 for an amount
	Subtotal   int64 `json:"subtotal"`    // what the line cost before it
}

// Rate is what is taken off one price variant: of a percent discount basis points, of a fixed one an amount.
type Rate struct {
	PriceVariantID string           `json:"price_variant"`
	PercentBps     int64            `json:"percent_bps"`
	Amounts        map[string]int64 `json:"amounts"` // by currency
}

// Terms returns the discount's terms as they are now.
func (d *Discount) Terms() *Terms {
	t := &Terms{
		DiscountID: d.ID, Type: d.Type, PercentBps: core.Deref(d.PercentBps), Amounts: d.inEveryCurrency(d.Amount, d.Amounts.V),
		ProductIDs: d.ProductIDs.V, PriceVariantIDs: d.PriceVariantIDs.V,
		Duration: d.Duration, DurationInMonths: core.Deref(d.DurationInMonths),
	}
	for _, r := range d.Rules.V {
		t.Rules = append(t.Rules, Rate{r.PriceVariantID, core.Deref(r.PercentBps), d.inEveryCurrency(r.Amount, r.Amounts)})
	}
	return t
}

// TermsOf returns the terms of a discount, be it deleted or not. A nil id has none.
func (s *Store) TermsOf(ctx context.Context, r db.Reader, account string, id *string) (*Terms, error) {
	if id == nil {
		return nil, nil
	}
	d, err := db.Get[Discount](ctx, r, columns.SelectSQL+` WHERE account_id = ? AND id = ?`, account, *id)
	if err != nil || d == nil {
		return nil, err
	}
	return d.Terms(), nil
}

// inEveryCurrency returns an amount in the discount's own currency together with those in further ones, by currency.
func (d *Discount) inEveryCurrency(amount *int64, further map[string]int64) map[string]int64 {
	amounts := map[string]int64{}
	for code, amount := range further {
		amounts[code] = amount
	}
	if amount != nil && d.Currency != nil {
		amounts[*d.Currency] = *amount
	}
	return amounts
}

// Refuses says in a sentence why the discount cannot be used at a moment for these lines in a currency. It returns nothing if it can. It does not
// look at the buyer: RefusesBuyer does.
func (d *Discount) Refuses(items []lineitem.Item, currency string, now core.Time) string {
	switch d.statusAt(now) {
	case StatusDisabled:
		return "This discount is disabled."
	case StatusExpired:
		return "This discount has expired."
	case StatusScheduled:
		return fmt.Sprintf("This discount begins on %s.", *d.StartsAt)
	case StatusExhausted:
		return "This discount has been used as often as it can be."
	case StatusActive:
	}
	if problem := d.Lacks(items, currency); problem != "" {
		return problem
	}
	return d.Terms().refuses(items, currency)
}

// Lacks says in a sentence why these lines do not come to the subtotal that the discount needs in a currency. It returns nothing if they do.
func (d *Discount) Lacks(items []lineitem.Item, currency string) string {
	least := d.inEveryCurrency(d.MinSubtotalAmount, d.MinSubtotalAmounts.V)
	if amount, known := least[currency]; len(least) > 0 && !known {
		return fmt.Sprintf("This discount cannot be used in %s.", currency)
	} else if subtotalOf(items) < amount {
		return fmt.Sprintf("This discount needs a subtotal of at least %d.", amount)
	}
	return ""
}

// subtotalOf returns what the lines cost without tax and discount. If that is too much to count, it is core.MaxAmount.
func subtotalOf(items []lineitem.Item) int64 {
	lines := make([]pricing.Line, len(items))
	for i, item := range items {
		lines[i] = pricing.Line{UnitAmount: item.UnitAmount, Quantity: item.Quantity}
	}
	totals, err := pricing.Totals(lines)
	if err != nil {
		return core.MaxAmount
	}
	return totals.Subtotal
}

// Refuses says in a sentence why nothing can be taken off the lines, and returns nothing if something can.
func (t *Terms) refuses(items []lineitem.Item, currency string) string {
	if t.Type == TypeFixed {
		if _, known := t.Amounts[currency]; !known {
			return fmt.Sprintf("This discount has no amount in %s.", currency)
		}
	}
	if !slices.ContainsFunc(items, func(item lineitem.Item) bool { return t.Rate(item) != nil }) {
		return "This discount is for none of the lines."
	}
	return ""
}

// Pricing returns what the terms take off these lines in a currency, in the form that pricing.Totals takes. Lines with the same percentage are
// discounted together, so that they are rounded once. Each fixed amount is shared by the lines that it is for. In a currency that has no amount
// nothing is taken off.
func (t *Terms) Pricing(items []lineitem.Item, currency string) []pricing.Discount {
	var discounts []pricing.Discount
	lines := map[string][]int{} // by rate
	for i, item := range items {
		rate := t.Rate(item)
		if rate == nil {
			continue
		}
		key := rate.PriceVariantID
		if t.Type == TypePercent {
			key = fmt.Sprint(rate.PercentBps)
		}
		if lines[key] = append(lines[key], i); len(lines[key]) > 1 {
			continue
		}
		discount := t.Share.of(pricing.Discount{Bps: rate.PercentBps, Amount: rate.Amounts[currency]}, item)
		// Eligible is asked when lines is complete, so that it knows the lines that follow too.
		discount.Eligible = func(line int) bool { return slices.Contains(lines[key], line) }
		discounts = append(discounts, discount)
	}
	return discounts
}

// of returns the share of a discount that is taken off a line, which is all of it if there is no share.
func (s *Share) of(d pricing.Discount, item lineitem.Item) pricing.Discount {
	switch {
	case s == nil:
	case d.Bps == 0:
		d.Amount = min(d.Amount, s.Amount)
	case d.Bps == s.PercentBps && item.UnitAmount*item.Quantity == s.Subtotal:
		d = pricing.Discount{Amount: s.Amount}
	}
	return d
}

// ShareOf returns the terms that the subscription keeps which is made of a priced line. They are for the line, and have its share if the discount
// is off other lines too. It returns nil if the line gets nothing of an amount, because the others have all of it.
func (t *Terms) ShareOf(line lineitem.Item, lines []lineitem.Item) *Terms {
	others := slices.ContainsFunc(lines, func(other lineitem.Item) bool { return other.Position != line.Position && t.Rate(other) != nil })
	switch {
	case !others:
		return t
	case t.Type == TypeFixed && line.DiscountAmount == 0:
		return nil
	}
	shared := *t
	shared.Share = &Share{line.DiscountAmount, t.Rate(line).PercentBps, line.SubtotalAmount}
	return &shared
}

// Rate returns what is taken off a line, nil if the discount is not for it. A rule for its price variant comes before everything
// else. A set-up fee is never discounted, nor is a proration after a change of plan.
func (t *Terms) Rate(item lineitem.Item) *Rate {
	if item.Kind == lineitem.KindSetupFee || item.Kind == lineitem.KindProration {
		return nil
	}
	for i := range t.Rules {
		if names(item.PriceVariantID, t.Rules[i].PriceVariantID) {
			return &t.Rules[i]
		}
	}
	everything := len(t.ProductIDs) == 0 && len(t.PriceVariantIDs) == 0
	if everything || names(item.ProductID, t.ProductIDs...) || names(item.PriceVariantID, t.PriceVariantIDs...) {
		return &Rate{PercentBps: t.PercentBps, Amounts: t.Amounts}
	}
	return nil
}

// names reports whether id is one of the ids.
func names(id *string, ids ...string) bool { return id != nil && slices.Contains(ids, *id) }

// EndsAt returns when a subscription loses a repeating discount whose months begin with the period that starts at start. They are counted on the
// day of the month on which the subscription's periods begin. It is nil for the others. A discount for ever stays, and one for once is used up by
// the first period that it takes something off.
func (t *Terms) EndsAt(start core.Time, anchorDay int64) *core.Time {
	if t.Duration != DurationRepeating {
		return nil
	}
	return MonthsAfter(start, t.DurationInMonths, anchorDay)
}

// MonthsAfter returns the moment so many months after a start, on the anchor day: pricing.Interval.Next says how.
func MonthsAfter(start core.Time, months, anchorDay int64) *core.Time {
	end, err := pricing.Interval{Unit: pricing.IntervalUnitMonth, Count: months}.Next(start.Time(), int(anchorDay))
	if err != nil {
		return &start
	}
	at := core.TimeOf(end)
	return &at
}

// LeavesTooLittle returns a message if the discount leaves an amount of the line that is above 0 but too little to be charged,
// else "".
func (t *Terms) LeavesTooLittle(item lineitem.Item) string {
	items := []lineitem.Item{item}
	amounts, err := lineitem.Price(items, t.Pricing(items, item.Currency)...)
	if least := core.CurrencyOf(item.Currency).Minimum; err == nil && amounts.Total > 0 && amounts.Total < least {
		return fmt.Sprintf("This discount leaves %d to pay. Less than %d %s cannot be charged.", amounts.Total, least, item.Currency)
	}
	return ""
}

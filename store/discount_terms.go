package store

import (
	"fmt"
	"slices"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/pricing"
)

// DiscountTerms are what a discount takes off, and off what. They are the part of a discount that a subscription
// keeps, however the discount changes or goes.
type DiscountTerms struct {
	DiscountID       string           `json:"discount"`
	Type             DiscountType     `json:"type"`
	PercentBps       int64            `json:"percent_bps"`
	Amounts          map[string]int64 `json:"amounts"` // by currency
	ProductIDs       []string         `json:"products"`
	PriceVariantIDs  []string         `json:"price_variants"`
	Rules            []DiscountRate   `json:"rules"`
	Duration         DiscountDuration `json:"duration"`
	DurationInMonths int64            `json:"duration_in_months"`
}

// DiscountRate is what is taken off one price variant.
type DiscountRate struct {
	PriceVariantID string           `json:"price_variant"`
	PercentBps     int64            `json:"percent_bps"`
	Amounts        map[string]int64 `json:"amounts"` // by currency
}

// terms are the discount's terms as they are now.
func (d *Discount) terms() *DiscountTerms {
	t := &DiscountTerms{
		DiscountID: d.ID, Type: d.Type, PercentBps: core.Deref(d.PercentBps), Amounts: d.inEveryCurrency(d.Amount, d.Amounts.V),
		ProductIDs: d.ProductIDs.V, PriceVariantIDs: d.PriceVariantIDs.V,
		Duration: d.Duration, DurationInMonths: core.Deref(d.DurationInMonths),
	}
	for _, r := range d.Rules.V {
		t.Rules = append(t.Rules, DiscountRate{r.PriceVariantID, core.Deref(r.PercentBps), d.inEveryCurrency(r.Amount, r.Amounts)})
	}
	return t
}

// inEveryCurrency joins an amount in the discount's currency with those in further ones.
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

// refuses says why the discount cannot be used at a moment for lines in a currency; empty if it can. It does not know
// the buyer: refusesBuyer does.
func (d *Discount) refuses(items []LineItem, currency string, now core.Time) string {
	switch d.statusAt(now) {
	case DiscountStatusDisabled:
		return "This discount is disabled."
	case DiscountStatusExpired:
		return "This discount has expired."
	case DiscountStatusScheduled:
		return fmt.Sprintf("This discount begins on %s.", *d.StartsAt)
	case DiscountStatusExhausted:
		return "This discount has been used as often as it can be."
	case DiscountStatusActive:
	}
	if least := d.inEveryCurrency(d.MinSubtotalAmount, d.MinSubtotalAmounts.V); len(least) > 0 {
		amount, known := least[currency]
		switch {
		case !known:
			return fmt.Sprintf("This discount cannot be used in %s.", currency)
		case subtotalOf(items) < amount:
			return fmt.Sprintf("This discount needs a subtotal of at least %d.", amount)
		}
	}
	return d.terms().refuses(items, currency)
}

// subtotalOf is what lines cost without tax and discount. Lines that nobody can pay cost the most there is.
func subtotalOf(items []LineItem) int64 {
	lines := make([]pricing.Line, len(items))
	for i, item := range items {
		lines[i] = pricing.Line{UnitAmount: item.UnitAmount, Quantity: item.Quantity}
	}
	totals, err := pricing.Totals(lines)
	if err != nil {
		return MaxAmount
	}
	return totals.Subtotal
}

// refuses says why nothing can be taken off the lines; empty if something can.
func (t *DiscountTerms) refuses(items []LineItem, currency string) string {
	if t.Type == DiscountTypeFixed {
		if _, known := t.Amounts[currency]; !known {
			return fmt.Sprintf("This discount has no amount in %s.", currency)
		}
	}
	if !slices.ContainsFunc(items, func(item LineItem) bool { return t.rate(item) != nil }) {
		return "This discount is for none of the lines."
	}
	return ""
}

// pricing is what the terms take off lines in a currency, as pricing.Totals wants it. Lines with one percentage are
// discounted together, so that they are rounded once; each fixed amount is shared by the lines that it is for. In a
// currency that has no amount nothing is taken off.
func (t *DiscountTerms) pricing(items []LineItem, currency string) []pricing.Discount {
	var discounts []pricing.Discount
	lines := map[string][]int{} // by rate
	for i, item := range items {
		rate := t.rate(item)
		if rate == nil {
			continue
		}
		key := rate.PriceVariantID
		if t.Type == DiscountTypePercent {
			key = fmt.Sprint(rate.PercentBps)
		}
		if lines[key] = append(lines[key], i); len(lines[key]) > 1 {
			continue
		}
		discounts = append(discounts, pricing.Discount{
			Bps: rate.PercentBps, Amount: rate.Amounts[currency],
			Eligible: func(line int) bool { return slices.Contains(lines[key], line) },
		})
	}
	return discounts
}

// rate is what is taken off a line, nil if the discount is not for it. A rule comes before what the discount is for. A
// set-up fee is never discounted, nor is what a change of plan brings.
func (t *DiscountTerms) rate(item LineItem) *DiscountRate {
	if item.Kind == LineItemKindSetupFee || item.Kind == LineItemKindProration {
		return nil
	}
	for i := range t.Rules {
		if names(item.PriceVariantID, t.Rules[i].PriceVariantID) {
			return &t.Rules[i]
		}
	}
	everything := len(t.ProductIDs) == 0 && len(t.PriceVariantIDs) == 0
	if everything || names(item.ProductID, t.ProductIDs...) || names(item.PriceVariantID, t.PriceVariantIDs...) {
		return &DiscountRate{PercentBps: t.PercentBps, Amounts: t.Amounts}
	}
	return nil
}

// names reports whether id is one of the ids.
func names(id *string, ids ...string) bool { return id != nil && slices.Contains(ids, *id) }

// endsAt is when a subscription that begins at start loses the discount, nil if time does not take it. A once discount
// is used up by the first invoice that it takes something off.
func (t *DiscountTerms) endsAt(start core.Time) *core.Time {
	if t.Duration != DiscountDurationRepeating {
		return nil
	}
	from := start.Time()
	end, err := pricing.Interval{Unit: pricing.IntervalUnitMonth, Count: t.DurationInMonths}.Next(from, from.Day())
	if err != nil {
		return &start
	}
	at := core.TimeOf(end)
	return &at
}

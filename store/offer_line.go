package store

import (
	"cmp"

	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/lineitem"
	"github.com/tillwright/tillwright/store/tenant"
)

// NewLineItem asks for a line of a checkout: a quantity of a price variant. CustomAmount is what the buyer chooses to pay for
// one unit, if the price variant lets them. TrialEnd is until when a recurring one costs nothing, in place of its own trial.
type NewLineItem struct {
	PriceVariant string
	Quantity     int64
	CustomAmount *int64
	TrialEnd     *core.Time
}

// lines makes the lines that are asked for, without their totals: one for each, and one more for its set-up fee. An empty
// currency is the first line's. What cannot be sold is CodeInvalid on line_items; what is not sold in a currency that was asked
// for is CodeInvalid on currency.
func (l lineup) lines(currency string, asked bool, tax *tenant.TaxSettings) ([]lineitem.Item, error) {
	inCurrency := "line_items"
	if asked {
		inCurrency = "currency"
	}
	if currency == "" && len(l.offers) > 0 {
		currency = l.offers[0].variant.Currency
	}
	var problems core.Problems
	problems.Check(len(l.wanted) > 0, "line_items", "A checkout has at least one line.")
	problems.Check(!l.isMixed(), "line_items", "Recurring price variants in one checkout have the same interval.")
	var items []lineitem.Item
	pieces := l.pieces()
	for i, o := range l.offers {
		wanted, foreign := l.wanted[i], o.foreign(currency)
		amount, problem := o.unitAmount(currency, wanted.CustomAmount)
		if foreign != "" {
			problems.Add(inCurrency, foreign)
			// Without a price in the currency, what is wrong with the amount says nothing.
			problem = ""
		}
		problem = cmp.Or(o.unsellable(pieces[o.variant.ID]), o.allowed(pieces[o.variant.ID]), problem)
		problems.Check(problem == "", "line_items", problem)
		line := o.line(lineitem.KindPrice, currency, amount, tax)
		line.Quantity, line.CustomAmount, line.TrialDays = wanted.Quantity, wanted.CustomAmount, o.variant.TrialDays
		line.TryUntil(wanted.TrialEnd, l.now)
		if items = append(items, line); o.variant.SetupFeeAmount > 0 {
			items = append(items, o.setupFee(currency, tax))
		}
	}
	return items, problems.Err()
}

// line returns a line of one piece of the offer.
func (o offer) line(kind lineitem.Kind, currency string, amount int64, tax *tenant.TaxSettings) lineitem.Item {
	return lineitem.Item{
		Kind: kind, ProductID: &o.product.ID, PriceVariantID: &o.variant.ID, ProductName: o.product.Name, PriceVariantName: o.variant.Name,
		Quantity: 1, UnitAmount: amount, Currency: currency, TaxInclusive: tax.IsInclusive(o.variant.TaxBehavior),
		Gives: kind == lineitem.KindPrice && o.product.Type != catalog.ProductTypeTip, Licensed: kind == lineitem.KindPrice && o.mayLicense(), Licensing: o.licensing,
	}
}

// setupFee returns the line for the offer's set-up fee. It is paid once, however many pieces there are.
func (o offer) setupFee(currency string, tax *tenant.TaxSettings) lineitem.Item {
	line := o.line(lineitem.KindSetupFee, currency, o.variant.SetupFeeAmount, tax)
	line.Description = new(line.Describe() + ", set-up fee")
	return line
}

// isMixed reports whether there are recurring lines with different intervals.
func (l lineup) isMixed() bool {
	var interval string
	for _, o := range l.offers {
		if o.variant.Type != catalog.PriceVariantTypeRecurring {
			continue
		}
		this := core.JSONText([]any{o.variant.Interval, o.variant.IntervalCount})
		if interval != "" && this != interval {
			return true
		}
		interval = this
	}
	return false
}

// pieces returns how many of each price variant are asked for. The limits of a price variant are for that sum, so that two lines
// do not get around them.
func (l lineup) pieces() map[string]int64 {
	pieces := map[string]int64{}
	for i, o := range l.offers {
		pieces[o.variant.ID] += l.wanted[i].Quantity
	}
	return pieces
}

package offer

import (
	"cmp"

	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/lineitem"
	"github.com/tillwright/tillwright/store/tenant"
)

// Lineup is what a buyer or a seller asks for, line by line, with the offer that each line is about.
type Lineup struct {
	Offers []Offer
	Wanted []NewLine
	Now    core.Time
}

// NewLine asks for a line of a checkout: a quantity of a price variant. CustomAmount is what the buyer chooses to pay for
// one unit, if the price variant lets them. TrialEnd is until when a recurring one costs nothing, in place of its own trial.
type NewLine struct {
	PriceVariant string
	Quantity     int64
	CustomAmount *int64
	TrialEnd     *core.Time
}

// Lines makes the lines that are asked for, without their totals: one for each, and one more for its set-up fee. An empty
// currency is the first line's. What cannot be sold is CodeInvalid on line_items; what is not sold in a currency that was asked
// for is CodeInvalid on currency.
func (l Lineup) Lines(currency string, asked bool, tax *tenant.TaxSettings) ([]lineitem.Item, error) {
	inCurrency := "line_items"
	if asked {
		inCurrency = "currency"
	}
	if currency == "" && len(l.Offers) > 0 {
		currency = l.Offers[0].Variant.Currency
	}
	var problems core.Problems
	problems.Check(len(l.Wanted) > 0, "line_items", "A checkout has at least one line.")
	problems.Check(!l.IsMixed(), "line_items", "Recurring price variants in one checkout have the same interval.")
	var items []lineitem.Item
	pieces := l.Pieces()
	for i, o := range l.Offers {
		wanted, foreign := l.Wanted[i], o.Foreign(currency)
		amount, problem := o.UnitAmount(currency, wanted.CustomAmount)
		if foreign != "" {
			problems.Add(inCurrency, foreign)
			// Without a price in the currency, what is wrong with the amount says nothing.
			problem = ""
		}
		problem = cmp.Or(o.Unsellable(pieces[o.Variant.ID]), o.Allowed(pieces[o.Variant.ID]), problem)
		problems.Check(problem == "", "line_items", problem)
		line := o.line(lineitem.KindPrice, currency, amount, tax)
		line.Quantity, line.CustomAmount, line.TrialDays = wanted.Quantity, wanted.CustomAmount, o.Variant.TrialDays
		line.TryUntil(wanted.TrialEnd, l.Now)
		if items = append(items, line); o.Variant.SetupFeeAmount > 0 {
			items = append(items, o.setupFee(currency, tax))
		}
	}
	return items, problems.Err()
}

// line returns a line of one piece of the offer.
func (o Offer) line(kind lineitem.Kind, currency string, amount int64, tax *tenant.TaxSettings) lineitem.Item {
	return lineitem.Item{
		Kind: kind, ProductID: &o.Product.ID, PriceVariantID: &o.Variant.ID, ProductName: o.Product.Name, PriceVariantName: o.Variant.Name,
		Quantity: 1, UnitAmount: amount, Currency: currency, TaxInclusive: tax.IsInclusive(o.Variant.TaxBehavior),
		Gives: kind == lineitem.KindPrice && o.Product.Type != catalog.ProductTypeTip, Licensed: kind == lineitem.KindPrice && o.MayLicense(), Licensing: o.licensing,
	}
}

// setupFee returns the line for the offer's set-up fee. It is paid once, however many pieces there are.
func (o Offer) setupFee(currency string, tax *tenant.TaxSettings) lineitem.Item {
	line := o.line(lineitem.KindSetupFee, currency, o.Variant.SetupFeeAmount, tax)
	line.DescribeSetupFee()
	return line
}

// IsMixed reports whether there are recurring lines with different intervals.
func (l Lineup) IsMixed() bool {
	var interval string
	for _, o := range l.Offers {
		if o.Variant.Type != catalog.PriceVariantTypeRecurring {
			continue
		}
		this := core.JSONText([]any{o.Variant.Interval, o.Variant.IntervalCount})
		if interval != "" && this != interval {
			return true
		}
		interval = this
	}
	return false
}

// Pieces returns how many of each price variant are asked for. The limits of a price variant are for that sum, so that two lines
// do not get around them.
func (l Lineup) Pieces() map[string]int64 {
	pieces := map[string]int64{}
	for i, o := range l.Offers {
		pieces[o.Variant.ID] += l.Wanted[i].Quantity
	}
	return pieces
}

package lineitem

import (
	"fmt"

	"github.com/tillwright/tillwright/store/pricing"
)

// TaxBreakdown is the tax that an order's lines of one rate come to.
type TaxBreakdown struct {
	Name          string `json:"name"`
	RateBps       int64  `json:"rate_bps"`
	TaxableAmount int64  `json:"taxable_amount"`
	TaxAmount     int64  `json:"tax_amount"`
	Inclusive     bool   `json:"inclusive"`
}

// Breakdown adds up the tax of the lines, for each rate by itself.
func Breakdown(items []Item) ([]TaxBreakdown, error) {
	taxes, amounts := make([]pricing.Tax, len(items)), make([]pricing.Amounts, len(items))
	for i, item := range items {
		taxes[i] = item.Tax()
		amounts[i] = pricing.Amounts{Net: item.NetAmount, Tax: item.TaxAmount}
	}
	totals, err := pricing.Breakdown(taxes, amounts)
	if err != nil {
		return nil, fmt.Errorf("add up taxes: %w", err)
	}
	breakdown := make([]TaxBreakdown, len(totals))
	for i, t := range totals {
		breakdown[i] = TaxBreakdown{Name: t.Name, RateBps: t.Bps, Inclusive: t.Inclusive, TaxableAmount: t.Taxable, TaxAmount: t.Amount}
	}
	return breakdown, nil
}

package lineitem

import (
	"errors"
	"fmt"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/pricing"
)

// Tax returns the line's tax rate in the form that the arithmetic takes.
func (l *Item) Tax() pricing.Tax {
	tax := pricing.Tax{Bps: l.TaxRateBps, Inclusive: l.TaxInclusive}
	if l.TaxName != nil {
		tax.Name = *l.TaxName
	}
	return tax
}

// PriceError returns CodeInvalid on a field for a subtotal or a total that is too large. Whole says of what, as in "an order". Any other error
// of the arithmetic is a mistake of ours, and is returned as such.
func PriceError(field, whole string, err error, totals pricing.Amounts) error {
	if err != nil && !errors.Is(err, pricing.ErrRange) {
		return fmt.Errorf("price %s: %w", field, err)
	}
	if err != nil || totals.Subtotal > core.MaxAmount || totals.Total > core.MaxAmount {
		return core.Invalid(field, fmt.Sprintf("The total, or the subtotal before discounts, exceeds %d, which is the most that %s can come to.", core.MaxAmount, whole)).Because("large")
	}
	return nil
}

// Price works out the amounts of lines, with discounts and the tax rates that the lines have, and returns their sums. A total
// that is too large for an order is CodeInvalid on line_items.
func Price(items []Item, discounts ...pricing.Discount) (pricing.Amounts, error) {
	totals, err := Totals(items, discounts...)
	return totals, PriceError("line_items", "an order", err, totals)
}

// Totals does what Price does, but returns the error of the arithmetic as it is, and does not look at core.MaxAmount.
func Totals(items []Item, discounts ...pricing.Discount) (pricing.Amounts, error) {
	priced := make([]pricing.Line, len(items))
	for i, item := range items {
		priced[i] = pricing.Line{UnitAmount: item.UnitAmount, Quantity: item.Quantity, Tax: item.Tax()}
	}
	totals, err := pricing.Totals(priced, discounts...)
	if err != nil {
		return pricing.Amounts{}, err
	}
	for i, amounts := range totals.Lines {
		item := &items[i]
		item.SubtotalAmount, item.DiscountAmount, item.NetAmount = amounts.Subtotal, amounts.Discount, amounts.Net
		item.TaxAmount, item.TotalAmount = amounts.Tax, amounts.Total
	}
	return totals.Amounts, nil
}

// Sales returns the lines that sell something. In a checkout the others are set-up fees, which are not discounted.
func Sales(items []Item) []Item {
	var sales []Item
	for _, item := range items {
		if item.Kind == KindPrice {
			sales = append(sales, item)
		}
	}
	return sales
}

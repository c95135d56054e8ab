// Package pricing is the arithmetic of money: what lines cost, how a discount is split over them, and what tax they and refunds carry. It also
// says when periods end and what a part of one costs. It is pure, knows only integers of minor units, and imports nothing of ours.
//
// Every step rounds half up exactly once, and no step wraps: an amount that does not fit an int64 is ErrRange.
package pricing

import "errors"

// ErrRange says that an input is negative or that an amount leaves the range of int64.
var ErrRange = errors.New("pricing: amount out of range")

// Line is one thing that is bought: Quantity pieces at UnitAmount.
type Line struct {
	UnitAmount int64
	Quantity   int64
	Tax        Tax
}

// Discount is taken off the eligible lines together: Bps, in basis points, of what they cost, or else Amount, at most what they
// cost. The zero value takes nothing off.
type Discount struct {
	Bps      int64
	Amount   int64
	Eligible func(line int) bool // nil: every line
}

// Amounts are the figures of a line, or of a whole order. Net + Tax = Total always; Total is
// Subtotal - Discount, plus the tax where it is exclusive.
type Amounts struct {
	Subtotal, Discount, Net, Tax, Total int64
}

// Order holds the figures of an order and of its lines, in the order of the lines. Each figure of the order is
// the sum of that figure over the lines.
type Order struct {
	Amounts
	Lines []Amounts
}

// Totals prices the lines. Of several discounts a line gets the first that it is eligible for, also when that one takes nothing off. To give some
// lines a rate of their own, put the discount for these first, and the one for the rest behind it. It returns ErrRange for a negative input, a
// discount over 10000 basis points, or a sum that does not fit.
func Totals(lines []Line, discounts ...Discount) (Order, error) {
	subtotals, err := subtotalsOf(lines)
	if err != nil {
		return Order{}, err
	}
	parts, err := split(discounts, subtotals)
	if err != nil {
		return Order{}, err
	}
	order := Order{Lines: make([]Amounts, len(lines))}
	for i, line := range lines {
		amounts, err := line.Tax.amounts(subtotals[i], parts[i])
		if err != nil {
			return Order{}, err
		}
		order.Lines[i] = amounts
		if err := order.add(amounts); err != nil {
			return Order{}, err
		}
	}
	return order, nil
}

// subtotalsOf returns the unit amount times the quantity of each line.
func subtotalsOf(lines []Line) ([]int64, error) {
	subtotals := make([]int64, len(lines))
	for i, line := range lines {
		subtotal, err := mulDiv(line.UnitAmount, line.Quantity, 1, down)
		if err != nil {
			return nil, err
		}
		subtotals[i] = subtotal
	}
	return subtotals, nil
}

// add adds the figures of a line. Discount, net and tax are parts of the subtotal or of the total, so they fit when those do.
func (a *Amounts) add(line Amounts) error {
	var err error
	if a.Subtotal, err = add(a.Subtotal, line.Subtotal); err != nil {
		return err
	}
	if a.Total, err = add(a.Total, line.Total); err != nil {
		return err
	}
	a.Discount += line.Discount
	a.Net += line.Net
	a.Tax += line.Tax
	return nil
}

package pricing

// Refundable is an order of which money is given back. It has its total, the tax in that, and how much of both was given back so far.
type Refundable struct {
	Total, Tax            int64
	Refunded, RefundedTax int64
}

// TaxOf returns the tax in a refund of amount. It is cumulative. The tax in all refunds so far is the share of the order's tax that falls on what
// was refunded so far, rounded once. So the roundings of many small refunds do not add up. No refund has more tax than its amount or than is left
// of the order's, and none leaves more tax than amount. Refunds of a whole order give back its whole tax. It returns ErrRange for an amount below
// 1 or over what is left, and for figures that no order has.
func (r Refundable) TaxOf(amount int64) (int64, error) {
	if r.Refunded < 0 || r.RefundedTax < 0 || r.Refunded > r.Total || r.RefundedTax > r.Tax || r.Tax > r.Total {
		return 0, ErrRange
	}
	rest, left := r.Total-r.Refunded, r.Tax-r.RefundedTax
	if amount < 1 || amount > rest {
		return 0, ErrRange
	}
	soFar, err := mulDiv(r.Tax, r.Refunded+amount, r.Total, nearest)
	// A refund that has failed took tax of its own with it, so that what is left need not be what rounding would have left.
	return min(max(soFar-r.RefundedTax, left-(rest-amount), 0), amount, left), err
}

package pricing

// Refundable is an order of which money is given back: its total, the tax in that, and how much of both was given back so far.
type Refundable struct {
	Total, Tax            int64
	Refunded, RefundedTax int64
}

// TaxOf returns the tax in a refund of amount: its share of the order's tax, at most what is left of that. The refund that
// gives back the rest of the total takes exactly the rest of the tax, so that refunds of a whole order give back its whole tax.
// It returns ErrRange for an amount below 1 or over what is left, and for figures that no order has.
func (r Refundable) TaxOf(amount int64) (int64, error) {
	if r.Refunded < 0 || r.RefundedTax < 0 || r.Refunded > r.Total || r.RefundedTax > r.Tax || r.Tax > r.Total {
		return 0, ErrRange
	}
	left := r.Tax - r.RefundedTax
	switch rest := r.Total - r.Refunded; {
	case amount < 1 || amount > rest:
		return 0, ErrRange
	case amount == rest:
		return left, nil
	}
	share, err := mulDiv(r.Tax, amount, r.Total, nearest)
	return min(share, left), err
}

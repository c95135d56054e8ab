package pricing

// Tax is the rate of one line in basis points, and what it is called. An inclusive tax is inside the price, an
// exclusive one comes on top. The zero value is no tax.
type Tax struct {
	Name      string
	Bps       int64
	Inclusive bool
}

// TaxTotal is the sum over the lines of one rate: Amount is the tax on Taxable, their net amount.
type TaxTotal struct {
	Tax
	Taxable, Amount int64
}

// Breakdown adds up lines by name, rate and inclusiveness, in the order in which these first occur: taxes holds the
// rate of each line. The amounts add up to the tax of the order, because each line's tax is rounded once and never
// again. Lines without a tax are left out; one of 0 basis points that has a name, such as a reverse charge, is not.
// It returns ErrRange for a negative figure or a sum that does not fit.
func Breakdown(taxes []Tax, lines []Amounts) ([]TaxTotal, error) {
	var totals []TaxTotal
	at := map[Tax]int{}
	for i, line := range lines {
		tax := taxes[i]
		if tax.Bps == 0 && tax.Name == "" {
			continue
		}
		group, known := at[tax]
		if !known {
			group, at[tax] = len(totals), len(totals)
			totals = append(totals, TaxTotal{Tax: tax})
		}
		if err := totals[group].add(line); err != nil {
			return nil, err
		}
	}
	return totals, nil
}

// add adds the net amount and the tax of a line.
func (t *TaxTotal) add(line Amounts) error {
	if line.Net < 0 || line.Tax < 0 {
		return ErrRange
	}
	var err error
	if t.Taxable, err = add(t.Taxable, line.Net); err != nil {
		return err
	}
	t.Amount, err = add(t.Amount, line.Tax)
	return err
}

// Including returns the tax and the price of one line that comes to gross, tax included. A tax on top stays on top where a price comes to
// gross with it. To some sums none does, because of the rounding: there the tax is inside.
func (t Tax) Including(gross int64) (Tax, int64, error) {
	if t.Inclusive || t.Bps == 0 {
		return t, gross, nil
	}
	inside := Tax{Name: t.Name, Bps: t.Bps, Inclusive: true}
	within, err := inside.amounts(gross, 0)
	if err != nil {
		return t, 0, err
	}
	onTop, err := t.amounts(within.Net, 0)
	if err != nil || onTop.Total == gross {
		return t, within.Net, err
	}
	return inside, gross, nil
}

// amounts returns the figures of a line, from its subtotal and the discount that it gets. Only the tax is rounded, and the net
// amount is the rest: rounding both would lose or invent a minor unit.
func (t Tax) amounts(subtotal, discount int64) (Amounts, error) {
	rest := subtotal - discount
	a := Amounts{Subtotal: subtotal, Discount: discount, Net: rest, Total: rest}
	var err error
	if t.Inclusive {
		if a.Tax, err = mulDiv(rest, t.Bps, basis+t.Bps, nearest); err != nil {
			return Amounts{}, err
		}
		a.Net = rest - a.Tax
		return a, nil
	}
	if a.Tax, err = mulDiv(rest, t.Bps, basis, nearest); err != nil {
		return Amounts{}, err
	}
	a.Total, err = add(rest, a.Tax)
	return a, err
}

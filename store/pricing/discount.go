package pricing

import (
	"cmp"
	"slices"
)

// split gives each line its part of the discount. The parts add up to the discount exactly: what rounding down
// leaves over goes, one unit each, to the lines that lost most by it, the first of them first.
func (d Discount) split(subtotals []int64) ([]int64, error) {
	parts := make([]int64, len(subtotals))
	eligible, sum, err := d.eligible(subtotals)
	if err != nil {
		return nil, err
	}
	total, err := d.of(sum)
	if err != nil || total == 0 {
		return parts, err
	}
	rest := total
	remainders := make([]uint64, len(subtotals))
	for _, i := range eligible {
		if parts[i], remainders[i], err = divide(total, subtotals[i], sum); err != nil {
			return nil, err
		}
		rest -= parts[i]
	}
	slices.SortStableFunc(eligible, func(a, b int) int { return cmp.Compare(remainders[b], remainders[a]) })
	for _, i := range eligible[:rest] {
		parts[i]++
	}
	return parts, nil
}

// eligible lists the lines that the discount is for, and what they cost together.
func (d Discount) eligible(subtotals []int64) (lines []int, sum int64, err error) {
	for i, subtotal := range subtotals {
		if d.Eligible != nil && !d.Eligible(i) {
			continue
		}
		lines = append(lines, i)
		if sum, err = add(sum, subtotal); err != nil {
			return nil, 0, err
		}
	}
	return lines, sum, nil
}

// of is the discount on a subtotal, never more than that.
func (d Discount) of(subtotal int64) (int64, error) {
	if d.Bps < 0 || d.Bps > basis || d.Amount < 0 {
		return 0, ErrRange
	}
	if d.Bps > 0 {
		return mulDiv(subtotal, d.Bps, basis, nearest)
	}
	return min(d.Amount, subtotal), nil
}

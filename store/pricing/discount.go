package pricing

import (
	"cmp"
	"slices"
)

// split returns how much each line gets off. A line takes part in the first discount that it is eligible for, and in no other.
func split(discounts []Discount, subtotals []int64) ([]int64, error) {
	parts := make([]int64, len(subtotals))
	taken := make([]bool, len(subtotals))
	for _, d := range discounts {
		lines, sum, err := d.eligible(subtotals, taken)
		if err != nil {
			return nil, err
		}
		total, err := d.of(sum)
		if err != nil {
			return nil, err
		}
		if err := share(total, sum, subtotals, lines, parts); err != nil {
			return nil, err
		}
	}
	return parts, nil
}

// share divides total, which is taken off lines that cost sum together, among these lines, and writes each one's part into
// parts. The parts add up to the total exactly. First each is rounded down. What is left over goes, one unit each, to the lines that lost most by
// the rounding, the first of them first.
func share(total, sum int64, subtotals []int64, lines []int, parts []int64) error {
	if total == 0 {
		return nil
	}
	rest := total
	remainders := make([]uint64, len(subtotals))
	var err error
	for _, i := range lines {
		if parts[i], remainders[i], err = divide(total, subtotals[i], sum); err != nil {
			return err
		}
		rest -= parts[i]
	}
	slices.SortStableFunc(lines, func(a, b int) int { return cmp.Compare(remainders[b], remainders[a]) })
	for _, i := range lines[:rest] {
		parts[i]++
	}
	return nil
}

// eligible returns the lines that the discount is for and that no discount before it has taken, with what they cost together.
// It marks them as taken.
func (d Discount) eligible(subtotals []int64, taken []bool) (lines []int, sum int64, err error) {
	for i, subtotal := range subtotals {
		if taken[i] || d.Eligible != nil && !d.Eligible(i) {
			continue
		}
		taken[i] = true
		lines = append(lines, i)
		if sum, err = add(sum, subtotal); err != nil {
			return nil, 0, err
		}
	}
	return lines, sum, nil
}

// of returns what the discount takes off a subtotal, at most all of it.
func (d Discount) of(subtotal int64) (int64, error) {
	if d.Bps < 0 || d.Bps > basis || d.Amount < 0 {
		return 0, ErrRange
	}
	if d.Bps > 0 {
		return mulDiv(subtotal, d.Bps, basis, nearest)
	}
	return min(d.Amount, subtotal), nil
}

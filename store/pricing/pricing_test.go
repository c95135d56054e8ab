package pricing_test

import (
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tillwright/tillwright/store/pricing"
)

func TestTotals_WorkedExamples(t *testing.T) {
	t.Parallel()
	one := func(amount int64, tax pricing.Tax) []pricing.Line {
		return []pricing.Line{{UnitAmount: amount, Quantity: 1, Tax: tax}}
	}
	tests := map[string]struct {
		lines     []pricing.Line
		discount  pricing.Discount
		want      pricing.Amounts
		discounts []int64
	}{
		"the whole off": {
			[]pricing.Line{{UnitAmount: 1999, Quantity: 1, Tax: pricing.Tax{Bps: 1900}}, {UnitAmount: 1, Quantity: 1}}, pricing.Discount{Bps: 10_000},
			pricing.Amounts{Subtotal: 2000, Discount: 2000}, []int64{1999, 1},
		},
		"ties go to the first lines: 5 over three of 7": {
			[]pricing.Line{{UnitAmount: 7, Quantity: 1}, {UnitAmount: 7, Quantity: 1}, {UnitAmount: 7, Quantity: 1}}, pricing.Discount{Amount: 5},
			pricing.Amounts{Subtotal: 21, Discount: 5, Net: 16, Total: 16}, []int64{2, 2, 1},
		},
		"no decimals: 10 % of 99 yen is 9.9": {
			one(99, pricing.Tax{Bps: 1000, Inclusive: true}), pricing.Discount{Bps: 1000},
			pricing.Amounts{Subtotal: 99, Discount: 10, Net: 81, Tax: 8, Total: 89}, []int64{10}, // 89 x 10 / 110 = 8.09
		},
		"three decimals: 33.33 % of 1.005 dinar is 0.3349": {
			one(1005, pricing.Tax{Bps: 1000}), pricing.Discount{Bps: 3333},
			pricing.Amounts{Subtotal: 1005, Discount: 335, Net: 670, Tax: 67, Total: 737}, []int64{335},
		},
		"unit times quantity": {
			[]pricing.Line{{UnitAmount: 1900, Quantity: 3}, {UnitAmount: 500, Quantity: 1}}, pricing.Discount{},
			pricing.Amounts{Subtotal: 6200, Net: 6200, Total: 6200}, []int64{0, 0},
		},
		"nothing is bought": {nil, pricing.Discount{Bps: 5000}, pricing.Amounts{}, []int64{}},
		"3333 bps of two equal lines is 67, the odd unit on the first": {
			[]pricing.Line{{UnitAmount: 100, Quantity: 1}, {UnitAmount: 100, Quantity: 1}}, pricing.Discount{Bps: 3333},
			pricing.Amounts{Subtotal: 200, Discount: 67, Net: 133, Total: 133}, []int64{34, 33},
		},
		"the largest remainder wins over the first line": {
			[]pricing.Line{{UnitAmount: 10, Quantity: 1}, {UnitAmount: 15, Quantity: 1}}, pricing.Discount{Amount: 11},
			pricing.Amounts{Subtotal: 25, Discount: 11, Net: 14, Total: 14}, []int64{4, 7}, // 4.4 and 6.6
		},
		"a discount leaves other lines alone": {
			[]pricing.Line{{UnitAmount: 1000, Quantity: 1}, {UnitAmount: 500, Quantity: 2}},
			pricing.Discount{Bps: 1000, Eligible: func(line int) bool { return line == 1 }},
			pricing.Amounts{Subtotal: 2000, Discount: 100, Net: 1900, Total: 1900}, []int64{0, 100},
		},
		"a fixed discount stops at what is there": {
			one(300, pricing.Tax{}), pricing.Discount{Amount: 1000},
			pricing.Amounts{Subtotal: 300, Discount: 300}, []int64{300},
		},
		"inclusive tax rounds once: 17925 at 20 % is 2987.5 inside": {
			one(17925, pricing.Tax{Bps: 2000, Inclusive: true}), pricing.Discount{},
			pricing.Amounts{Subtotal: 17925, Net: 14937, Tax: 2988, Total: 17925}, []int64{0},
		},
		"exclusive tax rounds half up": {
			one(50, pricing.Tax{Bps: 1900}), pricing.Discount{}, // 9.5
			pricing.Amounts{Subtotal: 50, Net: 50, Tax: 10, Total: 60}, []int64{0},
		},
		"tax comes after the discount": {
			one(10000, pricing.Tax{Bps: 1000}), pricing.Discount{Bps: 2500},
			pricing.Amounts{Subtotal: 10000, Discount: 2500, Net: 7500, Tax: 750, Total: 8250}, []int64{2500},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			order, err := pricing.Totals(test.lines, test.discount)
			require.NoError(t, err)
			assert.Equal(t, test.want, order.Amounts)
			discounts := make([]int64, len(order.Lines))
			for i, line := range order.Lines {
				discounts[i] = line.Discount
			}
			assert.Equal(t, test.discounts, discounts)
		})
	}
}

// A discount with rates of its own for some lines: each group rounds once, and a rate of 0 shields its lines. A line counts for the first
// discount that names it.
func TestTotals_SeveralDiscountsOnOneOrder(t *testing.T) {
	t.Parallel()
	only := func(lines ...int) func(int) bool {
		return func(line int) bool { return slices.Contains(lines, line) }
	}
	lines := make([]pricing.Line, 6)
	for i := range lines {
		lines[i] = pricing.Line{UnitAmount: 100, Quantity: 1}
	}
	order, err := pricing.Totals(lines,
		pricing.Discount{Bps: 3333, Eligible: only(0, 1)},
		pricing.Discount{Eligible: only(2)},
		pricing.Discount{Amount: 150, Eligible: only(1, 3, 4)},
		pricing.Discount{Bps: 1000},
	)
	require.NoError(t, err)
	got := make([]int64, len(lines))
	for i, line := range order.Lines {
		got[i] = line.Discount
	}
	assert.Equal(t, []int64{34, 33, 0, 75, 75, 10}, got)
	assert.EqualValues(t, 227, order.Discount)
}

func TestTotals_RefusesWhatDoesNotFit(t *testing.T) {
	t.Parallel()
	line := func(amount, quantity, bps int64) pricing.Line {
		return pricing.Line{UnitAmount: amount, Quantity: quantity, Tax: pricing.Tax{Bps: bps}}
	}
	tests := map[string]struct {
		lines    []pricing.Line
		discount pricing.Discount
	}{
		"unit times quantity":       {[]pricing.Line{line(math.MaxInt64/2, 3, 0)}, pricing.Discount{}},
		"sum of the lines":          {[]pricing.Line{line(math.MaxInt64, 1, 0), line(1, 1, 0)}, pricing.Discount{}},
		"tax on top":                {[]pricing.Line{line(math.MaxInt64, 1, 1)}, pricing.Discount{}},
		"tax on top of the sum":     {[]pricing.Line{line(math.MaxInt64-10, 1, 0), line(9, 1, 5000)}, pricing.Discount{}},
		"negative amount":           {[]pricing.Line{line(-1, 1, 0)}, pricing.Discount{}},
		"negative quantity":         {[]pricing.Line{line(1, -1, 0)}, pricing.Discount{}},
		"negative rate":             {[]pricing.Line{line(100, 1, -1)}, pricing.Discount{}},
		"more than the whole off":   {[]pricing.Line{line(100, 1, 0)}, pricing.Discount{Bps: 10001}},
		"negative fixed discount":   {[]pricing.Line{line(100, 1, 0)}, pricing.Discount{Amount: -1}},
		"negative percent discount": {[]pricing.Line{line(100, 1, 0)}, pricing.Discount{Bps: -1}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := pricing.Totals(test.lines, test.discount)
			assert.ErrorIs(t, err, pricing.ErrRange)
		})
	}
}

func TestTotals_LargestOrderIsExact(t *testing.T) {
	t.Parallel()
	order, err := pricing.Totals([]pricing.Line{
		{UnitAmount: math.MaxInt64 - 2, Quantity: 1, Tax: pricing.Tax{Bps: 2000, Inclusive: true}}, {UnitAmount: 1, Quantity: 2},
	}, pricing.Discount{Bps: 5000})
	require.NoError(t, err)
	assert.EqualValues(t, math.MaxInt64, order.Subtotal)
	assert.EqualValues(t, math.MaxInt64/2+1, order.Discount)
}

// An order of any size keeps the promises of its figures. Each line adds up, the order is the sum of its lines, nothing is negative, and rounding
// is off by at most half a unit.
func TestTotals_Invariants(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		lines := rapid.SliceOfN(line(), 0, 50).Draw(t, "lines")
		mask := rapid.Uint64().Draw(t, "eligible")
		discount := pricing.Discount{
			Bps:      rapid.Int64Range(0, 10_000).Draw(t, "bps"),
			Amount:   rapid.Int64Range(0, 1<<40).Draw(t, "amount"),
			Eligible: func(line int) bool { return mask>>line&1 == 1 },
		}
		order, err := pricing.Totals(lines, discount)
		require.NoError(t, err)

		var sum pricing.Amounts
		var eligible int64
		for i, got := range order.Lines {
			assert.Equal(t, lines[i].UnitAmount*lines[i].Quantity, got.Subtotal)
			adds(t, got)
			taxed(t, lines[i].Tax, got)
			if discount.Eligible(i) {
				eligible += got.Subtotal
			} else {
				assert.Zero(t, got.Discount)
			}
			sum.Subtotal += got.Subtotal
			sum.Discount += got.Discount
			sum.Net += got.Net
			sum.Tax += got.Tax
			sum.Total += got.Total
		}
		assert.Equal(t, sum, order.Amounts)
		assert.Equal(t, wanted(discount, eligible), order.Discount)
		for i, got := range order.Lines {
			if discount.Eligible(i) {
				fair(t, got, order.Discount, eligible)
			}
		}
	})
}

// Several discounts do what each does alone on the lines that none before it is for.
func TestTotals_DiscountsShareNoLine(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		lines := rapid.SliceOfN(line(), 1, 50).Draw(t, "lines")
		first, second := rapid.Uint64().Draw(t, "first"), rapid.Uint64().Draw(t, "second")
		percent := pricing.Discount{Bps: rapid.Int64Range(0, 10_000).Draw(t, "bps"), Eligible: func(line int) bool { return first>>line&1 == 1 }}
		fixed := pricing.Discount{Amount: rapid.Int64Range(0, 1<<40).Draw(t, "amount"), Eligible: func(line int) bool { return second>>line&1 == 1 }}
		both, err := pricing.Totals(lines, percent, fixed)
		require.NoError(t, err)
		fixed.Eligible = func(line int) bool { return second&^first>>line&1 == 1 }
		one, err := pricing.Totals(lines, percent)
		require.NoError(t, err)
		other, err := pricing.Totals(lines, fixed)
		require.NoError(t, err)
		assert.Equal(t, one.Discount+other.Discount, both.Discount)
		for i := range lines {
			assert.Equal(t, one.Lines[i].Discount+other.Lines[i].Discount, both.Lines[i].Discount)
		}
	})
}

func line() *rapid.Generator[pricing.Line] {
	return rapid.Custom(func(t *rapid.T) pricing.Line {
		return pricing.Line{
			UnitAmount: rapid.Int64Range(0, 1<<35).Draw(t, "unit"),
			Quantity:   rapid.Int64Range(0, 1000).Draw(t, "quantity"),
			Tax: pricing.Tax{
				Bps:       rapid.Int64Range(0, 10_000).Draw(t, "rate"),
				Inclusive: rapid.Bool().Draw(t, "inclusive"),
			},
		}
	})
}

func adds(t require.TestingT, a pricing.Amounts) {
	for _, amount := range []int64{a.Subtotal, a.Discount, a.Net, a.Tax, a.Total} {
		assert.GreaterOrEqual(t, amount, int64(0))
	}
	assert.LessOrEqual(t, a.Discount, a.Subtotal)
	assert.Equal(t, a.Total, a.Net+a.Tax)
}

func taxed(t require.TestingT, tax pricing.Tax, a pricing.Amounts) {
	rest := a.Subtotal - a.Discount
	if tax.Inclusive {
		assert.Equal(t, rest, a.Total)
		assert.Equal(t, round(rest, tax.Bps, 10_000+tax.Bps), a.Tax)
		return
	}
	assert.Equal(t, rest+a.Tax, a.Total)
	assert.Equal(t, round(rest, tax.Bps, 10_000), a.Tax)
}

func wanted(d pricing.Discount, eligible int64) int64 {
	if d.Bps > 0 {
		return round(eligible, d.Bps, 10_000)
	}
	return min(d.Amount, eligible)
}

// fair says that a line's part is its exact share, rounded down or up.
func fair(t require.TestingT, a pricing.Amounts, discount, eligible int64) {
	if eligible == 0 {
		assert.Zero(t, a.Discount)
		return
	}
	share, rest := new(big.Int).QuoRem(product(a.Subtotal, discount), big.NewInt(eligible), new(big.Int))
	assert.GreaterOrEqual(t, a.Discount, share.Int64())
	if rest.Sign() == 0 {
		assert.Equal(t, share.Int64(), a.Discount)
		return
	}
	assert.LessOrEqual(t, a.Discount, share.Int64()+1)
}

// round is a * b / c, half up, computed another way than the code under test does.
func round(a, b, c int64) int64 {
	doubled := new(big.Int).Mul(product(a, b), big.NewInt(2))
	return doubled.Add(doubled, big.NewInt(c)).Div(doubled, big.NewInt(2*c)).Int64()
}

func product(a, b int64) *big.Int { return new(big.Int).Mul(big.NewInt(a), big.NewInt(b)) }

package pricing_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tillwright/tillwright/store/pricing"
)

func TestBreakdown_GroupsByNameRateAndInclusiveness(t *testing.T) {
	t.Parallel()
	vat, reduced := pricing.Tax{Name: "VAT", Bps: 2000}, pricing.Tax{Name: "VAT", Bps: 700}
	inside, other := pricing.Tax{Name: "VAT", Bps: 2000, Inclusive: true}, pricing.Tax{Name: "PST", Bps: 2000}
	reverse := pricing.Tax{Name: "Reverse charge"}
	taxes := []pricing.Tax{vat, reduced, vat, inside, other, {}, reverse}
	lines := make([]pricing.Line, len(taxes))
	for i, tax := range taxes {
		lines[i] = pricing.Line{UnitAmount: 1003, Quantity: 1, Tax: tax}
	}
	order, err := pricing.Totals(lines)
	require.NoError(t, err)
	got, err := pricing.Breakdown(taxes, order.Lines)
	require.NoError(t, err)
	assert.Equal(t, []pricing.TaxTotal{
		{Tax: vat, Taxable: 2006, Amount: 402}, // 200.6 twice, each rounded for itself
		{Tax: reduced, Taxable: 1003, Amount: 70},
		{Tax: inside, Taxable: 836, Amount: 167},
		{Tax: other, Taxable: 1003, Amount: 201},
		{Tax: reverse, Taxable: 1003},
	}, got)
}

func TestBreakdown_RefusesWhatDoesNotFit(t *testing.T) {
	t.Parallel()
	vat := pricing.Tax{Name: "VAT", Bps: 2000}
	for name, lines := range map[string][]pricing.Amounts{
		"the sum of the net amounts": {{Net: math.MaxInt64}, {Net: 1}},
		"the sum of the taxes":       {{Tax: math.MaxInt64}, {Tax: 1}},
		"a negative net amount":      {{Net: -1}, {Net: 1}},
		"a negative tax":             {{Tax: 1}, {Tax: -1}},
	} {
		_, err := pricing.Breakdown([]pricing.Tax{vat, vat}, lines)
		assert.ErrorIs(t, err, pricing.ErrRange, name)
	}
}

// Whatever the lines, the breakdown adds up to the order's tax, and names no rate twice.
func TestBreakdown_AddsUpToTheOrder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		lines := rapid.SliceOfN(line(), 0, 50).Draw(t, "lines")
		taxes := make([]pricing.Tax, len(lines))
		for i := range lines {
			taxes[i] = rapid.SampledFrom([]pricing.Tax{{}, {Name: "VAT", Bps: 1900}, {Name: "VAT", Bps: 1900, Inclusive: true}, {Name: "PST", Bps: 700}}).Draw(t, "tax")
			lines[i].Tax = taxes[i]
		}
		order, err := pricing.Totals(lines, pricing.Discount{Bps: rapid.Int64Range(0, 10_000).Draw(t, "bps")})
		require.NoError(t, err)
		totals, err := pricing.Breakdown(taxes, order.Lines)
		require.NoError(t, err)
		seen := map[pricing.Tax]bool{}
		var tax int64
		for _, total := range totals {
			assert.False(t, seen[total.Tax])
			seen[total.Tax] = true
			tax += total.Amount
		}
		assert.Equal(t, order.Tax, tax)
	})
}

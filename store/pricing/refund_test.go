package pricing_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tillwright/tillwright/store/pricing"
)

func TestTaxOf_WorkedExamples(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		order  pricing.Refundable
		amount int64
		want   int64
	}{
		"the share rounds half up: 1667 x 50 / 10000 is 8.3": {pricing.Refundable{Total: 10000, Tax: 1667}, 50, 8},
		"a half rounds up": {pricing.Refundable{Total: 1000, Tax: 500}, 1, 1},
		"the whole order":  {pricing.Refundable{Total: 17925, Tax: 2988}, 17925, 2988},
		"a first third":    {pricing.Refundable{Total: 100, Tax: 17}, 33, 6}, // 5.61
		"a second third takes what 66 are short of": {pricing.Refundable{Total: 100, Tax: 17, Refunded: 33, RefundedTax: 6}, 33, 5}, // 11.22 less 6
		"the last third takes what is left":         {pricing.Refundable{Total: 100, Tax: 17, Refunded: 66, RefundedTax: 11}, 34, 6},
		"never more tax than is left":               {pricing.Refundable{Total: 1000, Tax: 500, Refunded: 998, RefundedTax: 500}, 1, 0},
		"never more tax than the refund":            {pricing.Refundable{Total: 62, Tax: 10, Refunded: 60, RefundedTax: 8}, 1, 1},
		"no more tax stays than amount":             {pricing.Refundable{Total: 100, Tax: 90, Refunded: 90, RefundedTax: 80}, 5, 5},
		"no tax":                                    {pricing.Refundable{Total: 4900}, 1200, 0},
		"an order of the largest amount is exact":   {pricing.Refundable{Total: math.MaxInt64, Tax: math.MaxInt64 - 1}, math.MaxInt64 - 1, math.MaxInt64 - 2},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := test.order.TaxOf(test.amount)
			require.NoError(t, err)
			assert.Equal(t, test.want, got)
		})
	}
}

func TestTaxOf_RefusesWhatCannotBe(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		order  pricing.Refundable
		amount int64
	}{
		"nothing":                   {pricing.Refundable{Total: 100}, 0},
		"less than nothing":         {pricing.Refundable{Total: 100}, -1},
		"more than is left":         {pricing.Refundable{Total: 100, Refunded: 60}, 41},
		"an order of nothing":       {pricing.Refundable{}, 1},
		"more tax than the total":   {pricing.Refundable{Total: 100, Tax: 101}, 1},
		"more refunded than paid":   {pricing.Refundable{Total: 100, Refunded: 101}, 1},
		"more tax back than paid":   {pricing.Refundable{Total: 100, Tax: 10, RefundedTax: 11}, 1},
		"a negative refund so far":  {pricing.Refundable{Total: 100, Refunded: -1}, 1},
		"a negative tax so far":     {pricing.Refundable{Total: 100, RefundedTax: -1}, 1},
		"the least int64 as amount": {pricing.Refundable{Total: 100}, math.MinInt64},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := test.order.TaxOf(test.amount)
			assert.ErrorIs(t, err, pricing.ErrRange)
		})
	}
}

// However an order is given back, its tax goes back with it to the last unit, and never more than that.
func TestTaxOf_RefundsOfTheWholeOrderReturnTheWholeTax(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		order := pricing.Refundable{Total: rapid.Int64Range(1, 1<<40).Draw(t, "total")}
		order.Tax = rapid.Int64Range(0, order.Total).Draw(t, "tax")
		for order.Refunded < order.Total {
			rest := order.Total - order.Refunded
			amount := rapid.Int64Range(1, rest).Draw(t, "amount")
			tax, err := order.TaxOf(amount)
			require.NoError(t, err)
			order.Refunded += amount
			order.RefundedTax += tax
			assert.Equal(t, round(order.Tax, order.Refunded, order.Total), order.RefundedTax, "of all refunds so far")
			assert.GreaterOrEqual(t, tax, int64(0))
			assert.LessOrEqual(t, tax, amount)
		}
		assert.Equal(t, order.Tax, order.RefundedTax)
	})
}

// 52 and 19 % of tax, in seven parts: share by share, the last part would be 1 with a tax of 2.
func TestTaxOf_SmallRefundsAddUpNoRounding(t *testing.T) {
	t.Parallel()
	order := pricing.Refundable{Total: 62, Tax: 10}
	var taxes []int64
	for _, amount := range []int64{32, 9, 8, 3, 6, 3, 1} {
		tax, err := order.TaxOf(amount)
		require.NoError(t, err)
		order.Refunded, order.RefundedTax = order.Refunded+amount, order.RefundedTax+tax
		taxes = append(taxes, tax)
	}
	assert.Equal(t, []int64{5, 2, 1, 0, 1, 1, 0}, taxes)
}

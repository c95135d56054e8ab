package advert

import (
	"maps"
	"math"
	"math/bits"
)

// Metrics are the figures of some days. All of them are sums: a ratio is made from sums, and ratios are never
// averaged. A figure that the network does not give is nil, and so is what is made of it: nobody knows whether it is 0.
type Metrics struct {
	Spend         *Amount
	Impressions   *int64
	Reach         *int64 // people; nil where nobody knows: those of two ads may be the same
	Clicks        *int64
	Engagement    *int64
	Conversions   *int64 // thousandths
	PurchaseValue *Amount
	VideoViews    *int64
	Actions       map[string]int64 // thousandths, by the network's name for them
}

// NoMetrics returns the figures of what nobody saw.
func NoMetrics() Metrics {
	return Metrics{
		Spend: new(Amount(0)), Impressions: new(int64(0)), Reach: new(int64(0)), Clicks: new(int64(0)), Engagement: new(int64(0)),
		Conversions: new(int64(0)), PurchaseValue: new(Amount(0)), VideoViews: new(int64(0)), Actions: map[string]int64{},
	}
}

// Add adds other figures to these. What is unknown of one of them is unknown of both. So is the reach, because the same
// people may be in both.
func (m *Metrics) Add(other Metrics) {
	m.Spend = sum(m.Spend, other.Spend)
	m.Impressions = sum(m.Impressions, other.Impressions)
	m.Reach = nil
	m.Clicks = sum(m.Clicks, other.Clicks)
	m.Engagement = sum(m.Engagement, other.Engagement)
	m.Conversions = sum(m.Conversions, other.Conversions)
	m.PurchaseValue = sum(m.PurchaseValue, other.PurchaseValue)
	m.VideoViews = sum(m.VideoViews, other.VideoViews)
	if m.Actions == nil || other.Actions == nil {
		m.Actions = nil
		return
	}
	m.Actions = maps.Clone(m.Actions)
	for name, count := range other.Actions {
		m.Actions[name] += count
	}
}

// sum adds two figures. If one is unknown, so is the sum.
func sum[N ~int64](a, b *N) *N {
	if a == nil || b == nil {
		return nil
	}
	return new(*a + *b)
}

// CTR returns the percentage of impressions that were clicked. It is nil, as every ratio below, if one of the two figures is
// unknown, or if it would be divided by nothing.
func (m *Metrics) CTR() *Ratio { return per[Ratio](m.Clicks, 100*1_000_000, m.Impressions) }

// CPC returns what a click cost.
func (m *Metrics) CPC() *Amount { return per[Amount](m.Spend, 1, m.Clicks) }

// CPM returns what a thousand impressions cost.
func (m *Metrics) CPM() *Amount { return per[Amount](m.Spend, 1000, m.Impressions) }

// CostPerConversion returns what a conversion cost.
func (m *Metrics) CostPerConversion() *Amount { return per[Amount](m.Spend, 1000, m.Conversions) }

// ROAS returns how much was sold for one unit of money spent.
func (m *Metrics) ROAS() *Ratio { return per[Ratio](m.PurchaseValue, 1_000_000, m.Spend) }

// per returns a*factor/b, nil if one of them is unknown or b is 0.
func per[R, A, B ~int64](a *A, factor int64, b *B) *R {
	if a == nil || b == nil || *b == 0 {
		return nil
	}
	return new(R(ratio(int64(*a), factor, int64(*b))))
}

// ratio returns a*factor/b, rounded half up, or 0 if a or b is not above 0. The product may be larger than 64 bits; a
// result that is becomes the largest number.
func ratio(a, factor, b int64) int64 {
	if a <= 0 || b <= 0 {
		return 0
	}
	high, low := bits.Mul64(uint64(a), uint64(factor))
	low, carry := bits.Add64(low, uint64(b)/2, 0)
	if high += carry; high >= uint64(b) {
		return math.MaxInt64
	}
	quotient, _ := bits.Div64(high, low, uint64(b))
	return int64(min(quotient, math.MaxInt64))
}

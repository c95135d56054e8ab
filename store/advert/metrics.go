package advert

import (
	"math"
	"math/bits"
)

// Metrics are the figures of some days. All of them are sums: a ratio is made from sums, and ratios are never
// averaged.
type Metrics struct {
	Spend         Amount
	Impressions   int64
	Reach         *int64 // people; nil where nobody knows: those of two ads may be the same
	Clicks        int64
	Engagement    int64
	Conversions   int64 // thousandths
	PurchaseValue Amount
	VideoViews    int64
	Actions       map[string]int64 // thousandths, by the network's name for them
}

// Add adds other figures to these. The reach is unknown afterwards, because the same people may be in both.
func (m *Metrics) Add(other Metrics) {
	m.Spend += other.Spend
	m.Impressions += other.Impressions
	m.Reach = nil
	m.Clicks += other.Clicks
	m.Engagement += other.Engagement
	m.Conversions += other.Conversions
	m.PurchaseValue += other.PurchaseValue
	m.VideoViews += other.VideoViews
	for name, count := range other.Actions {
		if m.Actions == nil {
			m.Actions = map[string]int64{}
		}
		m.Actions[name] += count
	}
}

// CTR returns the percentage of impressions that were clicked. Without impressions it is 0, and so is every ratio below
// that would be divided by nothing.
func (m *Metrics) CTR() Ratio { return Ratio(ratio(m.Clicks, 100*1_000_000, m.Impressions)) }

// CPC returns what a click cost.
func (m *Metrics) CPC() Amount { return Amount(ratio(int64(m.Spend), 1, m.Clicks)) }

// CPM returns what a thousand impressions cost.
func (m *Metrics) CPM() Amount { return Amount(ratio(int64(m.Spend), 1000, m.Impressions)) }

// CostPerConversion returns what a conversion cost.
func (m *Metrics) CostPerConversion() Amount {
	return Amount(ratio(int64(m.Spend), 1000, m.Conversions))
}

// ROAS returns how much was sold for one unit of money spent.
func (m *Metrics) ROAS() Ratio {
	return Ratio(ratio(int64(m.PurchaseValue), 1_000_000, int64(m.Spend)))
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

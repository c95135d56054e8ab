package lineitem

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestPlanChange_IsReadAsItWasWritten(t *testing.T) {
	t.Parallel()
	until := time.Date(2026, 12, 29, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		product, from, to string
		read              bool
	}{
		{"Pro", "Basic (monthly)", "Pro", true},
		{"Later", "Basic", "Pro", true}, // it waited, and the plan changed once more
		{"Road to Rome", "Guide to Paris", "Road to Rome", false},
		{"Max", "Basic", "Pro to Max", false},
		{"Later", "Guide to Paris", "Pro", false},
		{"Pro", "Basic, until 2025-01-01", "Pro", true},
	} {
		item := Item{Kind: KindProration, ProductName: c.product}
		said := PlanChange{From: c.from, To: c.to, Until: until}
		item.DescribeChange(said)
		change, read := item.PlanChange()
		assert.Equal(t, c.read, read, *item.Description)
		if c.read {
			assert.Equal(t, said, change)
		}
		item.Kind = KindCustom // which says what the seller wrote
		_, read = item.PlanChange()
		assert.False(t, read)
	}
	for _, text := range []string{"", "Change from A to B", "Change from A to B, until soon", "Pro, until 2026-12-29"} {
		_, read := (&Item{Kind: KindProration, Description: &text}).PlanChange()
		assert.False(t, read, text)
	}
}

// Plans of one name have their prices beside it, which are read again for other languages. What is no price of ours belongs to the name.
func TestPlanChange_TellsNamesakesByTheirPrices(t *testing.T) {
	t.Parallel()
	said := PlanChange{
		From: "2 × Pro, USD 5.00 every month", FromPrice: &PlanPrice{Amount: 190_000, Currency: "jpy", Interval: "year", IntervalCount: 1},
		To: "3 × Pro, USD 5.00 every month", ToPrice: &PlanPrice{Amount: 123_456_789, Currency: "usd", Interval: "week", IntervalCount: 3},
		Until: time.Date(2026, 12, 29, 0, 0, 0, 0, time.UTC),
	}
	item := Item{Kind: KindProration, ProductName: "Pro"}
	item.DescribeChange(said)
	assert.Equal(t, "Change from 2 × Pro, USD 5.00 every month, JPY\u00a0190,000 every year to 3 × Pro, USD 5.00 every month, USD\u00a01,234,567.89 every 3 weeks, until 2026-12-29", *item.Description)
	change, read := item.PlanChange()
	assert.True(t, read)
	assert.Equal(t, said, change)
	for _, name := range []string{"Pro, USD\u00a09999999999999999 every month", "Pro, USD\u00a01.999 every month", "Pro, USD\u00a01 every 99999999999999999999 days", "USD\u00a01 every day"} {
		item.DescribeChange(PlanChange{From: name, To: "Pro", Until: said.Until})
		change, read := item.PlanChange()
		assert.True(t, read, name)
		assert.Equal(t, name, change.From)
		assert.Nil(t, change.FromPrice, name)
	}
}

func TestTrial_IsReadAsItWasWritten(t *testing.T) {
	t.Parallel()
	item := Item{Kind: KindPrice, ProductName: "Pro", PriceVariantName: new("monthly")}
	_, read := item.Trial()
	assert.False(t, read)
	item.DescribeTrial(time.Date(2026, 12, 9, 23, 0, 0, 0, time.UTC))
	assert.Equal(t, "Pro (monthly), trial until 2026-12-09", item.Describe())
	end, read := item.Trial()
	assert.True(t, read)
	assert.Equal(t, time.Date(2026, 12, 9, 0, 0, 0, 0, time.UTC), end)
	item.Kind = KindCustom
	_, read = item.Trial()
	assert.False(t, read)
}

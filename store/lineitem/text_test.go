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
		item.DescribeChange(PlanChange{c.from, c.to, until})
		change, read := item.PlanChange()
		assert.Equal(t, c.read, read, *item.Description)
		if c.read {
			assert.Equal(t, PlanChange{c.from, c.to, until}, change)
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

package store

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// lifetime is a campaign of 30 days that ends in one.
func (a *advertiser) lifetime(t *testing.T, id string, units AdAmount) AdBatch {
	t.Helper()
	b := hierarchyOf(id, units*AdUnit)
	c := &b.Campaigns[0]
	c.BudgetType = BudgetTypeLifetime
	c.StartsAt, c.EndsAt = new(a.Now().Add(-29*24*time.Hour+time.Minute)), new(a.Now().Add(24*time.Hour))
	require.NoError(t, a.PutAdBatch(t.Context(), a.in, b, a.Now()))
	return b
}

func (a *advertiser) setLifetime(id string, units AdAmount) BeginAdAction {
	in := a.setBudget(id, units)
	in.Change.BudgetType = BudgetTypeLifetime
	return in
}

func TestBeginAdAction_SpreadsARiseOverTheDaysLeft(t *testing.T) {
	eachAdvertiser(t, func(t *testing.T, a *advertiser) {
		b := a.lifetime(t, "c1", 3_000)
		_, err := a.BeginAdAction(t.Context(), a.account, a.setLifetime("c1", 300_000))
		requireCode(t, err, CodeSpendLimit)
		assert.Contains(t, err.Error(), "297100.00 USD a day")
		begun, err := a.BeginAdAction(t.Context(), a.account, a.setLifetime("c1", 12_900))
		require.NoError(t, err, "100 a day as before, and 9,900 on the last day")
		assert.Equal(t, 9_900*AdUnit, begun.Action.Daily)
		b.Campaigns[0].BudgetAmount = 12_900 * AdUnit
		_, err = a.SettleAdAction(t.Context(), a.account, begun.Action.ID, AdOutcome{State: AdActionDone, Changed: b})
		require.NoError(t, err)
		require.NoError(t, a.PutAdBatch(t.Context(), a.in, b, a.Now()))
		total, err := a.committedDaily(t.Context(), a.account, "usd")
		require.NoError(t, err)
		assert.Equal(t, 10_000*AdUnit, total, "it still counts when the network is asked again")
		_, err = a.BeginAdAction(t.Context(), a.account, a.setLifetime("c1", 13_000))
		requireCode(t, err, CodeSpendLimit)
	})
}

func TestBeginAdAction_SpreadsARiseOfAnAdGroupOverTheDaysLeft(t *testing.T) {
	eachAdvertiser(t, func(t *testing.T, a *advertiser) {
		b := hierarchyOf("c1", 0)
		b.Campaigns[0].BudgetLevel = BudgetLevelGroup
		g := &b.Groups[0]
		g.BudgetAmount, g.BudgetType = 3_000*AdUnit, BudgetTypeLifetime
		g.StartsAt, g.EndsAt = new(a.Now().Add(-29*24*time.Hour+time.Minute)), new(a.Now().Add(24*time.Hour))
		require.NoError(t, a.PutAdBatch(t.Context(), a.in, b, a.Now()))
		in := a.setLifetime("c1g", 300_000)
		in.Op, in.Change.Level = AdOpUpdateGroup, AdLevelGroup
		_, err := a.BeginAdAction(t.Context(), a.account, in)
		requireCode(t, err, CodeSpendLimit)
		g.BudgetAmount = 12_900 * AdUnit
		require.NoError(t, a.PutAdBatch(t.Context(), a.in, b, a.Now()))
		total, err := a.committedDaily(t.Context(), a.account, "usd")
		require.NoError(t, err)
		assert.Equal(t, 10_000*AdUnit, total)
	})
}

func TestPace_GainsNothingByStepsDownAndUp(t *testing.T) {
	t.Parallel()
	const day = Time(24 * time.Hour / time.Microsecond)
	at := func(amount, daily AdAmount) pace { return pace{amount, BudgetTypeLifetime, 0, new(30 * day), daily} }
	now := 29 * day
	assert.Equal(t, AdAmount(1_000), at(3_000, 100).to(at(3_900, 0), now))
	assert.Equal(t, AdAmount(999), at(3_900, 1_000).to(at(3_899, 0), now))
	assert.Equal(t, AdAmount(1_000), at(3_900, 1_000).to(at(3_900, 0), now))
	assert.Equal(t, AdAmount(84), at(3_000, 100).to(at(2_500, 0), now), "never less than evenly")
	assert.Equal(t, AdAmount(10), at(3_000, 3_000).to(at(10, 0), now), "never more than there is")
	assert.Equal(t, AdAmount(130), at(3_000, 100).to(at(3_900, 0), -5*day), "it has not begun")
	assert.Positive(t, dailyAmount(math.MaxInt64, BudgetTypeLifetime, 0, new(30*day)))
}

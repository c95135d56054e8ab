package store

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tillwright/tillwright/store/core"
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
		requireCode(t, err, core.CodeSpendLimit)
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
		requireCode(t, err, core.CodeSpendLimit)
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
		requireCode(t, err, core.CodeSpendLimit)
		g.BudgetAmount = 12_900 * AdUnit
		require.NoError(t, a.PutAdBatch(t.Context(), a.in, b, a.Now()))
		total, err := a.committedDaily(t.Context(), a.account, "usd")
		require.NoError(t, err)
		assert.Equal(t, 10_000*AdUnit, total)
	})
}

func TestPace_GainsNothingByStepsDownAndUp(t *testing.T) {
	t.Parallel()
	const day = core.Time(24 * time.Hour / time.Microsecond)
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

// switched mirrors a batch with its campaign, or its ad group, on or off as of some days from now.
func (a *advertiser) switched(t *testing.T, b AdBatch, level AdLevel, to AdConfigured, days int) {
	t.Helper()
	if level == AdLevelCampaign {
		b.Campaigns[0].ConfiguredStatus = to
	} else {
		b.Groups[0].ConfiguredStatus = to
	}
	require.NoError(t, a.PutAdBatch(t.Context(), a.in, b, a.Now().Add(time.Duration(days)*24*time.Hour)))
}

// lifetimeOf is a campaign of 3,000 dollars and of 30 days that ends in one, whose budget stands at a level.
func (a *advertiser) lifetimeOf(level AdLevel) AdBatch {
	b := hierarchyOf("c1", 3_000*AdUnit)
	starts, ends := new(a.Now().Add(-29*24*time.Hour+time.Minute)), new(a.Now().Add(24*time.Hour))
	c, g := &b.Campaigns[0], &b.Groups[0]
	c.StartsAt, c.EndsAt, g.StartsAt, g.EndsAt = starts, ends, starts, ends
	c.BudgetType = BudgetTypeLifetime
	if level == AdLevelGroup {
		g.BudgetAmount, g.BudgetType, c.BudgetAmount, c.BudgetType = c.BudgetAmount, c.BudgetType, 0, ""
		c.BudgetLevel = BudgetLevelGroup
	}
	return b
}

func (a *advertiser) committed(t *testing.T) AdAmount {
	t.Helper()
	total, err := a.committedDaily(t.Context(), a.account, "usd")
	require.NoError(t, err)
	return total / AdUnit
}

func TestResume_CountsWhatIsLeftOverTheDaysLeft(t *testing.T) {
	eachAdvertiser(t, func(t *testing.T, a *advertiser) {
		for _, test := range []struct {
			name          string
			budget, level AdLevel // where the budget stands, and what is switched
			on            []int   // days from now on which it was seen on, and then off
			want          AdAmount
		}{
			{"a campaign that never ran", AdLevelCampaign, AdLevelCampaign, nil, 3_000},
			{"a campaign that ran for ten days", AdLevelCampaign, AdLevelCampaign, []int{-29, -19}, 2_000},
			{"a campaign that was off for a moment", AdLevelCampaign, AdLevelCampaign, []int{-29, 0}, 100},
			{"an ad group that never ran", AdLevelGroup, AdLevelGroup, nil, 3_000},
			{"an ad group that ran for ten days", AdLevelGroup, AdLevelGroup, []int{-29, -19}, 2_000},
			{"an ad group whose campaign was off", AdLevelGroup, AdLevelCampaign, []int{-29, -19}, 2_000},
		} {
			b := a.lifetimeOf(test.budget)
			b.Campaigns[0].PlatformID, b.Groups[0].PlatformID, b.Ads[0].PlatformID = test.name, test.name+"g", test.name+"a"
			b.Groups[0].CampaignID, b.Ads[0].CampaignID, b.Ads[0].AdGroupID = test.name, test.name, test.name+"g"
			if test.on == nil {
				a.switched(t, b, test.level, AdConfiguredPaused, 0)
			} else {
				a.switched(t, b, test.level, AdConfiguredActive, test.on[0])
				a.switched(t, b, test.level, AdConfiguredPaused, test.on[1])
			}
			require.Zero(t, a.committed(t), test.name)
			resume := a.resume(test.level, b.Campaigns[0].PlatformID)
			if test.level == AdLevelGroup {
				resume = a.resume(test.level, b.Groups[0].PlatformID)
			}
			a.limit(t, 10_000, test.want-1)
			_, err := a.BeginAdAction(t.Context(), a.account, resume)
			requireCode(t, err, core.CodeSpendLimit)
			_, err = a.setLimits(t, func(l *AdLimits) {
				l.MaxIncrease = new(AdRatio)
				l.Currencies = core.JSONOf(map[string]AdLimit{"usd": {MaxDailyPerCampaign: test.want * AdUnit, MaxDailyTotal: test.want * AdUnit}})
			})
			require.NoError(t, err)
			begun, err := a.BeginAdAction(t.Context(), a.account, resume)
			require.NoError(t, err, "%s: a resume raises no budget", test.name)
			assert.Equal(t, test.want, a.committed(t), test.name)

			on := AdBatch{Campaigns: []AdCampaign{{PlatformID: resume.Change.PlatformID, ConfiguredStatus: AdConfiguredActive}}}
			if test.level == AdLevelGroup {
				on = AdBatch{Groups: []AdGroup{{PlatformID: resume.Change.PlatformID, ConfiguredStatus: AdConfiguredActive}}}
			}
			_, err = a.SettleAdAction(t.Context(), a.account, begun.Action.ID, AdOutcome{State: AdActionDone, Changed: on})
			require.NoError(t, err)
			assert.Equal(t, test.want, a.committed(t), "%s: it counts as much once it is done", test.name)
			a.switched(t, b, test.level, AdConfiguredActive, 0)
			assert.Equal(t, test.want, a.committed(t), "%s: and when the network is asked again", test.name)
			a.switched(t, b, test.level, AdConfiguredPaused, 0)
			a.switched(t, b, test.level, AdConfiguredActive, 0)
			assert.Equal(t, test.want, a.committed(t), "%s: somebody switched it elsewhere", test.name)
			a.switched(t, b, test.level, AdConfiguredPaused, 0)
		}
	})
}

func TestPace_ResumesWithNoMoreThanThereIs(t *testing.T) {
	t.Parallel()
	const day = core.Time(24 * time.Hour / time.Microsecond)
	at := func(amount, daily AdAmount) pace { return pace{amount, BudgetTypeLifetime, 0, new(30 * day), daily} }
	assert.Equal(t, AdAmount(200), at(3_000, 100).resumed(new(10*day), 20*day))
	assert.Equal(t, AdAmount(100), at(3_000, 100).resumed(new(-5*day), 0), "it has not begun")
	assert.Equal(t, AdAmount(3_000), at(3_000, 100).resumed(new(-5*day), 29*day))
	assert.Equal(t, AdAmount(math.MaxInt64), at(math.MaxInt64, math.MaxInt64/2).resumed(new(5*day), 29*day))
	assert.Equal(t, AdAmount(7), pace{amount: 7, kind: BudgetTypeDaily, daily: 7}.resumed(nil, day))
}

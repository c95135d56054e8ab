package advert

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/dbtest"
)

// lifetime is a campaign of 30 days that ends in one.
func (a *advertiser) lifetime(t *testing.T, id string, units Amount) Batch {
	t.Helper()
	b := hierarchyOf(id, units*AmountUnit)
	c := &b.Campaigns[0]
	c.BudgetType = BudgetTypeLifetime
	c.StartsAt, c.EndsAt = new(a.Now().Add(-29*24*time.Hour+time.Minute)), new(a.Now().Add(24*time.Hour))
	require.NoError(t, a.PutBatch(t.Context(), a.in, b, a.Now()))
	return b
}

func (a *advertiser) setLifetime(id string, units Amount) BeginAction {
	in := a.setBudget(id, units)
	in.Change.BudgetType = BudgetTypeLifetime
	return in
}

func TestBeginAction_SpreadsARiseOverTheDaysLeft(t *testing.T) {
	eachAdvertiser(t, func(t *testing.T, a *advertiser) {
		b := a.lifetime(t, "c1", 3_000)
		_, err := a.BeginAction(t.Context(), a.account, a.setLifetime("c1", 300_000))
		dbtest.RequireCode(t, err, core.CodeSpendLimit)
		assert.Contains(t, err.Error(), "297100.00 USD a day")
		begun, err := a.BeginAction(t.Context(), a.account, a.setLifetime("c1", 12_900))
		require.NoError(t, err, "100 a day as before, and 9,900 on the last day")
		assert.Equal(t, 9_900*AmountUnit, begun.Action.Daily)
		b.Campaigns[0].BudgetAmount = 12_900 * AmountUnit
		_, err = a.SettleAction(t.Context(), a.account, begun.Action.ID, Outcome{State: ActionDone, Changed: b})
		require.NoError(t, err)
		require.NoError(t, a.PutBatch(t.Context(), a.in, b, a.Now()))
		total, err := a.committedDaily(t.Context(), a.db, a.account, "usd")
		require.NoError(t, err)
		assert.Equal(t, 10_000*AmountUnit, total, "it still counts when the network is asked again")
		_, err = a.BeginAction(t.Context(), a.account, a.setLifetime("c1", 13_000))
		dbtest.RequireCode(t, err, core.CodeSpendLimit)
	})
}

func TestBeginAction_SpreadsARiseOfAnAdGroupOverTheDaysLeft(t *testing.T) {
	eachAdvertiser(t, func(t *testing.T, a *advertiser) {
		b := hierarchyOf("c1", 0)
		b.Campaigns[0].BudgetLevel = BudgetLevelGroup
		g := &b.Groups[0]
		g.BudgetAmount, g.BudgetType = 3_000*AmountUnit, BudgetTypeLifetime
		g.StartsAt, g.EndsAt = new(a.Now().Add(-29*24*time.Hour+time.Minute)), new(a.Now().Add(24*time.Hour))
		require.NoError(t, a.PutBatch(t.Context(), a.in, b, a.Now()))
		in := a.setLifetime("c1g", 300_000)
		in.Op, in.Change.Level = OpUpdateGroup, LevelGroup
		_, err := a.BeginAction(t.Context(), a.account, in)
		dbtest.RequireCode(t, err, core.CodeSpendLimit)
		g.BudgetAmount = 12_900 * AmountUnit
		require.NoError(t, a.PutBatch(t.Context(), a.in, b, a.Now()))
		total, err := a.committedDaily(t.Context(), a.db, a.account, "usd")
		require.NoError(t, err)
		assert.Equal(t, 10_000*AmountUnit, total)
	})
}

func TestPace_GainsNothingByStepsDownAndUp(t *testing.T) {
	t.Parallel()
	const day = core.Time(24 * time.Hour / time.Microsecond)
	at := func(amount, daily Amount) pace { return pace{amount, BudgetTypeLifetime, 0, new(30 * day), daily} }
	now := 29 * day
	assert.Equal(t, Amount(1_000), at(3_000, 100).to(at(3_900, 0), now))
	assert.Equal(t, Amount(999), at(3_900, 1_000).to(at(3_899, 0), now))
	assert.Equal(t, Amount(1_000), at(3_900, 1_000).to(at(3_900, 0), now))
	assert.Equal(t, Amount(84), at(3_000, 100).to(at(2_500, 0), now), "never less than evenly")
	assert.Equal(t, Amount(10), at(3_000, 3_000).to(at(10, 0), now), "never more than there is")
	assert.Equal(t, Amount(130), at(3_000, 100).to(at(3_900, 0), -5*day), "it has not begun")
	assert.Positive(t, dailyAmount(math.MaxInt64, BudgetTypeLifetime, 0, new(30*day)))
}

// switched mirrors a batch with its campaign, or its ad group, on or off as of some days from now.
func (a *advertiser) switched(t *testing.T, b Batch, level Level, to Configured, days int) {
	t.Helper()
	if level == LevelCampaign {
		b.Campaigns[0].ConfiguredStatus = to
	} else {
		b.Groups[0].ConfiguredStatus = to
	}
	require.NoError(t, a.PutBatch(t.Context(), a.in, b, a.Now().Add(time.Duration(days)*24*time.Hour)))
}

// lifetimeOf is a campaign of 3,000 dollars and of 30 days that ends in one, whose budget stands at a level.
func (a *advertiser) lifetimeOf(level Level) Batch {
	b := hierarchyOf("c1", 3_000*AmountUnit)
	starts, ends := new(a.Now().Add(-29*24*time.Hour+time.Minute)), new(a.Now().Add(24*time.Hour))
	c, g := &b.Campaigns[0], &b.Groups[0]
	c.StartsAt, c.EndsAt, g.StartsAt, g.EndsAt = starts, ends, starts, ends
	c.BudgetType = BudgetTypeLifetime
	if level == LevelGroup {
		g.BudgetAmount, g.BudgetType, c.BudgetAmount, c.BudgetType = c.BudgetAmount, c.BudgetType, 0, ""
		c.BudgetLevel = BudgetLevelGroup
	}
	return b
}

func (a *advertiser) committed(t *testing.T) Amount {
	t.Helper()
	total, err := a.committedDaily(t.Context(), a.db, a.account, "usd")
	require.NoError(t, err)
	return total / AmountUnit
}

func TestResume_CountsWhatIsLeftOverTheDaysLeft(t *testing.T) {
	eachAdvertiser(t, func(t *testing.T, a *advertiser) {
		for _, test := range []struct {
			name          string
			budget, level Level // where the budget stands, and what is switched
			on            []int // days from now on which it was seen on, and then off
			want          Amount
		}{
			{"a campaign that never ran", LevelCampaign, LevelCampaign, nil, 3_000},
			{"a campaign that ran for ten days", LevelCampaign, LevelCampaign, []int{-29, -19}, 2_000},
			{"a campaign that was off for a moment", LevelCampaign, LevelCampaign, []int{-29, 0}, 100},
			{"an ad group that never ran", LevelGroup, LevelGroup, nil, 3_000},
			{"an ad group that ran for ten days", LevelGroup, LevelGroup, []int{-29, -19}, 2_000},
			{"an ad group whose campaign was off", LevelGroup, LevelCampaign, []int{-29, -19}, 2_000},
		} {
			b := a.lifetimeOf(test.budget)
			b.Campaigns[0].PlatformID, b.Groups[0].PlatformID, b.Ads[0].PlatformID = test.name, test.name+"g", test.name+"a"
			b.Groups[0].CampaignID, b.Ads[0].CampaignID, b.Ads[0].AdGroupID = test.name, test.name, test.name+"g"
			if test.on == nil {
				a.switched(t, b, test.level, ConfiguredPaused, 0)
			} else {
				a.switched(t, b, test.level, ConfiguredActive, test.on[0])
				a.switched(t, b, test.level, ConfiguredPaused, test.on[1])
			}
			require.Zero(t, a.committed(t), test.name)
			resume := a.resume(test.level, b.Campaigns[0].PlatformID)
			if test.level == LevelGroup {
				resume = a.resume(test.level, b.Groups[0].PlatformID)
			}
			a.limit(t, 10_000, test.want-1)
			_, err := a.BeginAction(t.Context(), a.account, resume)
			dbtest.RequireCode(t, err, core.CodeSpendLimit)
			_, err = a.setLimits(t, func(l *Limits) {
				l.MaxIncrease = new(Ratio)
				l.Currencies = core.JSONOf(map[string]Limit{"usd": {MaxDailyPerCampaign: test.want * AmountUnit, MaxDailyTotal: test.want * AmountUnit}})
			})
			require.NoError(t, err)
			begun, err := a.BeginAction(t.Context(), a.account, resume)
			require.NoError(t, err, "%s: a resume raises no budget", test.name)
			assert.Equal(t, test.want, a.committed(t), test.name)

			on := Batch{Campaigns: []Campaign{{PlatformID: resume.Change.PlatformID, ConfiguredStatus: ConfiguredActive}}}
			if test.level == LevelGroup {
				on = Batch{Groups: []Group{{PlatformID: resume.Change.PlatformID, ConfiguredStatus: ConfiguredActive}}}
			}
			_, err = a.SettleAction(t.Context(), a.account, begun.Action.ID, Outcome{State: ActionDone, Changed: on})
			require.NoError(t, err)
			assert.Equal(t, test.want, a.committed(t), "%s: it counts as much once it is done", test.name)
			a.switched(t, b, test.level, ConfiguredActive, 0)
			assert.Equal(t, test.want, a.committed(t), "%s: and when the network is asked again", test.name)
			a.switched(t, b, test.level, ConfiguredPaused, 0)
			a.switched(t, b, test.level, ConfiguredActive, 0)
			assert.Equal(t, test.want, a.committed(t), "%s: somebody switched it elsewhere", test.name)
			a.switched(t, b, test.level, ConfiguredPaused, 0)
		}
	})
}

func TestPace_ResumesWithNoMoreThanThereIs(t *testing.T) {
	t.Parallel()
	const day = core.Time(24 * time.Hour / time.Microsecond)
	at := func(amount, daily Amount) pace { return pace{amount, BudgetTypeLifetime, 0, new(30 * day), daily} }
	assert.Equal(t, Amount(200), at(3_000, 100).resumed(new(10*day), 20*day))
	assert.Equal(t, Amount(100), at(3_000, 100).resumed(new(-5*day), 0), "it has not begun")
	assert.Equal(t, Amount(3_000), at(3_000, 100).resumed(new(-5*day), 29*day))
	assert.Equal(t, Amount(math.MaxInt64), at(math.MaxInt64, math.MaxInt64/2).resumed(new(5*day), 29*day))
	assert.Equal(t, Amount(7), pace{amount: 7, kind: BudgetTypeDaily, daily: 7}.resumed(nil, day))
}

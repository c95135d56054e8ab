package store

import (
	"context"
	"math"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tillwright/tillwright/store/core"
)

func (a *advertiser) resume(level AdLevel, id string) BeginAdAction {
	return BeginAdAction{
		Op: AdOpResumeCampaign, AdAccount: a.in, TargetID: id,
		Change: AdChange{Level: level, PlatformID: id, Platform: PlatformFacebook, Resume: true},
	}
}

func (a *advertiser) setBudget(id string, units AdAmount) BeginAdAction {
	return BeginAdAction{
		Op: AdOpUpdateCampaign, AdAccount: a.in, TargetID: id,
		Change: AdChange{Level: AdLevelCampaign, PlatformID: id, Platform: PlatformFacebook, BudgetAmount: units * AdUnit, BudgetType: BudgetTypeDaily},
	}
}

func (a *advertiser) limit(t *testing.T, perCampaign, total AdAmount) {
	t.Helper()
	_, err := a.setLimits(t, func(l *AdLimits) {
		l.Currencies = core.JSONOf(map[string]AdLimit{"usd": {MaxDailyPerCampaign: perCampaign * AdUnit, MaxDailyTotal: total * AdUnit}})
	})
	require.NoError(t, err)
}

// setLimits changes the limits as a key of the account.
func (a *advertiser) setLimits(t *testing.T, change func(*AdLimits)) (*AdLimits, error) {
	t.Helper()
	return a.UpdateAdLimits(t.Context(), a.account, UpdateAdLimits{Actor: "key_1", RequestID: "req_1", Approval: "ask", Change: change})
}

func TestBeginAdAction_StaysWithinTheTotalWhenManyBeginAtOnce(t *testing.T) {
	eachAdvertiser(t, func(t *testing.T, a *advertiser) {
		a.campaign(t, "c1", 5_000)
		var begun atomic.Int64
		var all sync.WaitGroup
		for range 12 {
			all.Go(func() {
				_, err := a.BeginAdAction(t.Context(), a.account, a.begin(9_000))
				if err == nil {
					begun.Add(1)
					return
				}
				requireCode(t, err, core.CodeSpendLimit)
			})
		}
		all.Wait()
		assert.EqualValues(t, 5, begun.Load(), "5 * 9,000 + 5,000 is what 50,000 has room for")
		total, err := a.committedDaily(t.Context(), a.account, "usd")
		require.NoError(t, err)
		assert.Equal(t, 50_000*AdUnit, total)
	})
}

func TestBeginAdAction_WaitsForABudgetThatIsBeingChecked(t *testing.T) {
	eachAdvertiser(t, func(t *testing.T, a *advertiser) {
		checked, first := make(chan struct{}), make(chan error)
		a.limit(t, 100, 100)
		go func() {
			_, err := tx(t.Context(), a.Store, func(ctx context.Context, u *unit) (*BegunAdAction, error) {
				begun, err := u.beginAdAction(ctx, a.account, a.begin(60))
				close(checked)
				time.Sleep(200 * time.Millisecond) // the second one is there by then
				return begun, err
			})
			first <- err
		}()
		<-checked
		_, err := a.BeginAdAction(t.Context(), a.account, a.begin(60))
		requireCode(t, err, core.CodeSpendLimit)
		require.NoError(t, <-first)
	})
}

func TestBeginAdAction_LimitsACampaignByDay(t *testing.T) {
	eachAdvertiser(t, func(t *testing.T, a *advertiser) {
		_, err := a.BeginAdAction(t.Context(), a.account, a.begin(10_001))
		requireCode(t, err, core.CodeSpendLimit)
		assert.Contains(t, asError(err).Fields, "budget_amount")
		assert.Contains(t, err.Error(), "10001.00 USD")
		assert.Contains(t, err.Error(), "10000.00 USD")
		in := a.begin(70_000)
		in.Change.BudgetType, in.Change.EndsAt = BudgetTypeLifetime, new(a.Now().Add(7*24*time.Hour))
		begun, err := a.BeginAdAction(t.Context(), a.account, in)
		require.NoError(t, err, "a week of 10,000")
		assert.Equal(t, 10_000*AdUnit, begun.Action.Daily)
		in.Change.EndsAt = new(a.Now().Add(6 * 24 * time.Hour))
		_, err = a.BeginAdAction(t.Context(), a.account, in)
		requireCode(t, err, core.CodeSpendLimit)
		in.Change.EndsAt = nil
		_, err = a.CheckAdSpend(t.Context(), a.account, in.Op, a.in, in.Change)
		requireCode(t, err, core.CodeSpendLimit)
	})
}

func TestBeginAdAction_CountsWhatIsSwitchedOn(t *testing.T) {
	eachAdvertiser(t, func(t *testing.T, a *advertiser) {
		a.limit(t, 100, 100)
		off := hierarchyOf("c1", 60*AdUnit)
		off.Campaigns[0].ConfiguredStatus = AdConfiguredPaused
		require.NoError(t, a.PutAdBatch(t.Context(), a.in, off, a.Now()))
		a.campaign(t, "c2", 50)
		_, err := a.BeginAdAction(t.Context(), a.account, a.resume(AdLevelCampaign, "c1"))
		requireCode(t, err, core.CodeSpendLimit)
		raised, err := a.BeginAdAction(t.Context(), a.account, a.setBudget("c1", 90))
		require.NoError(t, err, "it is off")
		_, err = a.BeginAdAction(t.Context(), a.account, a.resume(AdLevelCampaign, "c1"))
		requireCode(t, err, core.CodeInProgress)
		_, err = a.SettleAdAction(t.Context(), a.account, raised.Action.ID, AdOutcome{State: AdActionRefused, Failure: &AdFailure{Code: core.CodeInvalid, Message: "No."}})
		require.NoError(t, err)
		_, err = a.BeginAdAction(t.Context(), a.account, a.setBudget("c2", 101))
		requireCode(t, err, core.CodeSpendLimit)
		begun, err := a.BeginAdAction(t.Context(), a.account, a.setBudget("c2", 40))
		require.NoError(t, err)
		assert.Zero(t, begun.Action.Daily, "nothing is freed before it is done")
		lower := hierarchyOf("c2", 40*AdUnit)
		_, err = a.SettleAdAction(t.Context(), a.account, begun.Action.ID, AdOutcome{State: AdActionDone, Changed: lower})
		require.NoError(t, err)
		begun, err = a.BeginAdAction(t.Context(), a.account, a.resume(AdLevelCampaign, "c1"))
		require.NoError(t, err)
		assert.Equal(t, 60*AdUnit, begun.Action.Daily)
		_, err = a.BeginAdAction(t.Context(), a.account, a.begin(1))
		requireCode(t, err, core.CodeSpendLimit)
		_, err = a.SettleAdAction(t.Context(), a.account, begun.Action.ID, AdOutcome{State: AdActionRefused, Failure: &AdFailure{Code: core.CodeInvalid, Message: "No."}})
		require.NoError(t, err)
		_, err = a.BeginAdAction(t.Context(), a.account, a.begin(60))
		require.NoError(t, err, "what was refused is not spent")
	})
}

func TestBeginAdActions_CountOneAfterTheOther(t *testing.T) {
	eachAdvertiser(t, func(t *testing.T, a *advertiser) {
		a.limit(t, 100, 100)
		var ins []BeginAdAction
		for i := range 3 {
			b := hierarchyOf(nth("c", i), 0)
			b.Campaigns[0].ConfiguredStatus, b.Campaigns[0].BudgetLevel = AdConfiguredPaused, BudgetLevelGroup
			b.Groups[0].BudgetAmount, b.Groups[0].BudgetType = 40*AdUnit, BudgetTypeDaily
			require.NoError(t, a.PutAdBatch(t.Context(), a.in, b, a.Now()))
			in := a.resume(AdLevelCampaign, nth("c", i))
			in.Index = i
			ins = append(ins, in)
		}
		all, err := a.BeginAdActions(t.Context(), a.account, ins)
		require.NoError(t, err)
		require.NoError(t, all[0].Err)
		require.NoError(t, all[1].Err)
		requireCode(t, all[2].Err, core.CodeSpendLimit)
		assert.Nil(t, all[2].Action)
	})
}

func TestBeginAdAction_HoldsTheOtherGuardrails(t *testing.T) {
	eachAdvertiser(t, func(t *testing.T, a *advertiser) {
		a.campaign(t, "c1", 100)
		_, err := a.setLimits(t, func(l *AdLimits) {
			l.MaxIncrease = new(20 * AdRatioOne)
			l.BlockedOperations = core.JSONOf([]AdOp{AdOpDeleteCampaign})
			l.Currencies = core.JSONOf(map[string]AdLimit{"usd": {MaxDailyPerCampaign: 1000 * AdUnit, MaxDailyTotal: 1000 * AdUnit, MaxBid: new(3 * AdUnit)}})
		})
		require.NoError(t, err)
		_, err = a.BeginAdAction(t.Context(), a.account, a.setBudget("c1", 121))
		requireCode(t, err, core.CodeSpendLimit)
		_, err = a.BeginAdAction(t.Context(), a.account, a.setBudget("c1", 120))
		require.NoError(t, err)
		in := a.begin(1)
		in.Change.BidAmount = 4 * AdUnit
		_, err = a.BeginAdAction(t.Context(), a.account, in)
		requireCode(t, err, core.CodeSpendLimit)
		assert.Contains(t, asError(err).Fields, "bid_amount")
		_, err = a.BeginAdAction(t.Context(), a.account, BeginAdAction{Op: AdOpDeleteCampaign, AdAccount: a.in, TargetID: "c1"})
		requireCode(t, err, core.CodeForbidden)
		_, err = a.setLimits(t, func(l *AdLimits) { l.BlockedOperations = core.JSONOf([]AdOp{"paint"}) })
		requireInvalid(t, err, "blocked_operations")
		limits, err := a.GetAdLimits(t.Context(), a.account)
		require.NoError(t, err)
		assert.Equal(t, []AdOp{AdOpDeleteCampaign}, limits.BlockedOperations.V)
		assert.Equal(t, DefaultAdLimit("eur"), limits.Of("eur"))
		assert.Equal(t, 1_500_000*AdUnit, limits.Of("jpy").MaxDailyPerCampaign)
	})
}

func TestBeginAdAction_NoneIsNotAny(t *testing.T) {
	eachAdvertiser(t, func(t *testing.T, a *advertiser) {
		a.campaign(t, "c1", 100)
		set := func(increase *AdRatio, bid *AdAmount) {
			_, err := a.setLimits(t, func(l *AdLimits) {
				l.MaxIncrease = increase
				l.Currencies = core.JSONOf(map[string]AdLimit{"usd": {MaxDailyPerCampaign: 1000 * AdUnit, MaxDailyTotal: 1000 * AdUnit, MaxBid: bid}})
			})
			require.NoError(t, err)
		}
		bid := a.begin(1)
		bid.Change.BidAmount = AdUnit
		set(new(AdRatio(0)), new(AdAmount(0)))
		_, err := a.BeginAdAction(t.Context(), a.account, a.setBudget("c1", 101))
		requireCode(t, err, core.CodeSpendLimit)
		_, err = a.BeginAdAction(t.Context(), a.account, bid)
		requireCode(t, err, core.CodeSpendLimit)
		assert.Contains(t, asError(err).Fields, "bid_amount")
		set(nil, nil)
		_, err = a.BeginAdAction(t.Context(), a.account, a.setBudget("c1", 900))
		require.NoError(t, err)
		_, err = a.BeginAdAction(t.Context(), a.account, bid)
		require.NoError(t, err)
	})
}

func TestCommittedDaily_IsTheLargestAmountRatherThanNone(t *testing.T) {
	eachAdvertiser(t, func(t *testing.T, a *advertiser) {
		a.campaign(t, "c1", 1)
		require.NoError(t, a.PutAdBatch(t.Context(), a.in, hierarchyOf("c2", 7), a.Now()))
		total, err := a.committedDaily(t.Context(), a.account, "usd")
		require.NoError(t, err)
		assert.Equal(t, AdUnit+7, total)
		for _, id := range []string{"c3", "c4", "c5"} {
			require.NoError(t, a.PutAdBatch(t.Context(), a.in, hierarchyOf(id, math.MaxInt64), a.Now()))
		}
		total, err = a.committedDaily(t.Context(), a.account, "usd")
		require.NoError(t, err)
		assert.EqualValues(t, math.MaxInt64, total)
		_, err = a.BeginAdAction(t.Context(), a.account, a.begin(1))
		requireCode(t, err, core.CodeSpendLimit)
	})
}

func TestDailyAmount_SpreadsALifetimeOverItsDays(t *testing.T) {
	t.Parallel()
	start := core.Time(0)
	for hours, want := range map[int]AdAmount{1: 100, 24: 100, 25: 50, 72: 34, -5: 100} {
		assert.Equal(t, want, dailyAmount(100, BudgetTypeLifetime, start, new(start.Add(time.Duration(hours)*time.Hour))), hours)
	}
	assert.Equal(t, AdAmount(100), dailyAmount(100, BudgetTypeLifetime, start, nil), "an end that is not known is today")
	assert.Equal(t, AdAmount(100), dailyAmount(100, BudgetTypeDaily, start, new(start.Add(72*time.Hour))))
}

func TestUpdateAdLimits_IsOnTheAuditTrail(t *testing.T) {
	eachAdvertiser(t, func(t *testing.T, a *advertiser) {
		set := func(l *AdLimits) {
			l.Currencies = core.JSONOf(map[string]AdLimit{"usd": {MaxDailyPerCampaign: 99_500_000, MaxDailyTotal: 200 * AdUnit}})
			l.BlockedOperations = core.JSONOf([]AdOp{AdOpDeleteCampaign})
		}
		for range 2 { // the second one changes nothing
			_, err := a.setLimits(t, set)
			require.NoError(t, err)
		}
		_, err := a.setLimits(t, func(l *AdLimits) { l.BlockedOperations = core.JSONOf([]AdOp{AdOpUpdateLimits}) })
		requireInvalid(t, err, "blocked_operations")
		trail, more, err := a.ListAdActions(t.Context(), a.account, ListAdActions{Page: core.Page{Limit: 10}, Op: AdOpUpdateLimits})
		require.NoError(t, err)
		assert.False(t, more)
		require.Len(t, trail, 1)
		line := trail[0]
		assert.Equal(t, []string{"key_1", "req_1", "ask", string(AdActionDone)}, []string{line.Actor, line.RequestID, line.Approval, string(line.State)})
		assert.JSONEq(t, `{"currencies": {}, "max_daily_budget_increase_pct": null, "blocked_operations": []}`, line.Before.Text())
		assert.JSONEq(t, `{"currencies": {"usd": {"max_daily_budget_per_campaign": 99.50, "max_total_daily_budget": 200.00, "max_bid_amount": null}},
			"max_daily_budget_increase_pct": null, "blocked_operations": ["delete_campaign"]}`, line.After.Text())
		due, err := a.DueAdActions(t.Context(), 10)
		require.NoError(t, err)
		assert.Empty(t, due)
	})
}

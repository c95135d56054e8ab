package advert

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
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/internal/dbtest"
)

func (a *advertiser) resume(level Level, id string) BeginAction {
	op := map[Level]Op{LevelCampaign: OpResumeCampaign, LevelGroup: OpResumeGroup}[level]
	return BeginAction{
		Op: op, AdAccount: a.in, TargetID: id,
		Change: Change{Level: level, PlatformID: id, Platform: PlatformFacebook, Resume: true},
	}
}

func (a *advertiser) setBudget(id string, units Amount) BeginAction {
	return BeginAction{
		Op: OpUpdateCampaign, AdAccount: a.in, TargetID: id,
		Change: Change{Level: LevelCampaign, PlatformID: id, Platform: PlatformFacebook, BudgetAmount: units * AmountUnit, BudgetType: BudgetTypeDaily},
	}
}

func (a *advertiser) limit(t *testing.T, perCampaign, total Amount) {
	t.Helper()
	_, err := a.setLimits(t, func(l *Limits) {
		l.Currencies = core.JSONOf(map[string]Limit{"usd": {MaxDailyPerCampaign: perCampaign * AmountUnit, MaxDailyTotal: total * AmountUnit}})
	})
	require.NoError(t, err)
}

// setLimits changes the limits as a key of the account.
func (a *advertiser) setLimits(t *testing.T, change func(*Limits)) (*Limits, error) {
	t.Helper()
	return a.UpdateLimits(t.Context(), a.account, UpdateLimits{Actor: "key_1", RequestID: "req_1", Approval: "ask", Change: change})
}

func TestBeginAction_StaysWithinTheTotalWhenManyBeginAtOnce(t *testing.T) {
	eachAdvertiser(t, func(t *testing.T, a *advertiser) {
		a.campaign(t, "c1", 5_000)
		var begun atomic.Int64
		var all sync.WaitGroup
		for range 12 {
			all.Go(func() {
				_, err := a.BeginAction(t.Context(), a.account, a.begin(9_000))
				if err == nil {
					begun.Add(1)
					return
				}
				dbtest.RequireCode(t, err, core.CodeSpendLimit)
			})
		}
		all.Wait()
		assert.EqualValues(t, 5, begun.Load(), "5 * 9,000 + 5,000 is what 50,000 has room for")
		total, err := a.committedDaily(t.Context(), a.db, a.account, "usd")
		require.NoError(t, err)
		assert.Equal(t, 50_000*AmountUnit, total)
	})
}

func TestBeginAction_WaitsForABudgetThatIsBeingChecked(t *testing.T) {
	eachAdvertiser(t, func(t *testing.T, a *advertiser) {
		checked, first := make(chan struct{}), make(chan error)
		a.limit(t, 100, 100)
		go func() {
			_, err := db.Tx(t.Context(), a.db, func(ctx context.Context, u *db.Unit) (*BegunAction, error) {
				begun, err := a.beginAction(ctx, u, a.account, a.begin(60))
				await := dbtest.Waiter(t, a.db)
				close(checked)
				await() // the second one
				return begun, err
			})
			first <- err
		}()
		<-checked
		_, err := a.BeginAction(t.Context(), a.account, a.begin(60))
		dbtest.RequireCode(t, err, core.CodeSpendLimit)
		require.NoError(t, <-first)
	})
}

func TestBeginAction_LimitsACampaignByDay(t *testing.T) {
	eachAdvertiser(t, func(t *testing.T, a *advertiser) {
		_, err := a.BeginAction(t.Context(), a.account, a.begin(10_001))
		dbtest.RequireCode(t, err, core.CodeSpendLimit)
		assert.Contains(t, dbtest.AsError(err).Fields, "budget_amount")
		assert.Contains(t, err.Error(), "10001.00 USD")
		assert.Contains(t, err.Error(), "10000.00 USD")
		in := a.begin(70_000)
		in.Change.BudgetType, in.Change.EndsAt = BudgetTypeLifetime, new(a.Now().Add(7*24*time.Hour))
		begun, err := a.BeginAction(t.Context(), a.account, in)
		require.NoError(t, err, "a week of 10,000")
		assert.Equal(t, 10_000*AmountUnit, begun.Action.Daily)
		in.Change.EndsAt = new(a.Now().Add(6 * 24 * time.Hour))
		_, err = a.BeginAction(t.Context(), a.account, in)
		dbtest.RequireCode(t, err, core.CodeSpendLimit)
		in.Change.EndsAt = nil
		_, err = a.CheckSpend(t.Context(), a.account, in.Op, a.in, in.Change)
		dbtest.RequireCode(t, err, core.CodeSpendLimit)
	})
}

func TestBeginAction_CountsWhatIsSwitchedOn(t *testing.T) {
	eachAdvertiser(t, func(t *testing.T, a *advertiser) {
		a.limit(t, 100, 100)
		off := hierarchyOf("c1", 60*AmountUnit)
		off.Campaigns[0].ConfiguredStatus = ConfiguredPaused
		require.NoError(t, a.PutBatch(t.Context(), a.in, off, a.Now()))
		a.campaign(t, "c2", 50)
		_, err := a.BeginAction(t.Context(), a.account, a.resume(LevelCampaign, "c1"))
		dbtest.RequireCode(t, err, core.CodeSpendLimit)
		raised, err := a.BeginAction(t.Context(), a.account, a.setBudget("c1", 90))
		require.NoError(t, err, "it is off")
		_, err = a.BeginAction(t.Context(), a.account, a.resume(LevelCampaign, "c1"))
		dbtest.RequireCode(t, err, core.CodeInProgress)
		_, err = a.SettleAction(t.Context(), a.account, raised.Action.ID, Outcome{State: ActionRefused, Failure: &Failure{Code: core.CodeInvalid, Message: "No."}})
		require.NoError(t, err)
		_, err = a.BeginAction(t.Context(), a.account, a.setBudget("c2", 101))
		dbtest.RequireCode(t, err, core.CodeSpendLimit)
		begun, err := a.BeginAction(t.Context(), a.account, a.setBudget("c2", 40))
		require.NoError(t, err)
		assert.Zero(t, begun.Action.Daily, "nothing is freed before it is done")
		lower := hierarchyOf("c2", 40*AmountUnit)
		_, err = a.SettleAction(t.Context(), a.account, begun.Action.ID, Outcome{State: ActionDone, Changed: lower})
		require.NoError(t, err)
		begun, err = a.BeginAction(t.Context(), a.account, a.resume(LevelCampaign, "c1"))
		require.NoError(t, err)
		assert.Equal(t, 60*AmountUnit, begun.Action.Daily)
		_, err = a.BeginAction(t.Context(), a.account, a.begin(1))
		dbtest.RequireCode(t, err, core.CodeSpendLimit)
		_, err = a.SettleAction(t.Context(), a.account, begun.Action.ID, Outcome{State: ActionRefused, Failure: &Failure{Code: core.CodeInvalid, Message: "No."}})
		require.NoError(t, err)
		_, err = a.BeginAction(t.Context(), a.account, a.begin(60))
		require.NoError(t, err, "what was refused is not spent")
	})
}

func TestBeginActions_CountOneAfterTheOther(t *testing.T) {
	eachAdvertiser(t, func(t *testing.T, a *advertiser) {
		a.limit(t, 100, 100)
		var ins []BeginAction
		for i := range 3 {
			b := hierarchyOf(nth("c", i), 0)
			b.Campaigns[0].ConfiguredStatus, b.Campaigns[0].BudgetLevel = ConfiguredPaused, BudgetLevelGroup
			b.Groups[0].BudgetAmount, b.Groups[0].BudgetType = 40*AmountUnit, BudgetTypeDaily
			require.NoError(t, a.PutBatch(t.Context(), a.in, b, a.Now()))
			in := a.resume(LevelCampaign, nth("c", i))
			in.Index = i
			ins = append(ins, in)
		}
		all, err := a.BeginActions(t.Context(), a.account, ins)
		require.NoError(t, err)
		require.NoError(t, all[0].Err)
		require.NoError(t, all[1].Err)
		dbtest.RequireCode(t, all[2].Err, core.CodeSpendLimit)
		assert.Nil(t, all[2].Action)
	})
}

func TestBeginAction_HoldsTheOtherGuardrails(t *testing.T) {
	eachAdvertiser(t, func(t *testing.T, a *advertiser) {
		a.campaign(t, "c1", 100)
		_, err := a.setLimits(t, func(l *Limits) {
			l.MaxIncrease = new(20 * RatioOne)
			l.BlockedOperations = core.JSONOf([]Op{OpDeleteCampaign})
			l.Currencies = core.JSONOf(map[string]Limit{"usd": {MaxDailyPerCampaign: 1000 * AmountUnit, MaxDailyTotal: 1000 * AmountUnit, MaxBid: new(3 * AmountUnit)}})
		})
		require.NoError(t, err)
		_, err = a.BeginAction(t.Context(), a.account, a.setBudget("c1", 121))
		dbtest.RequireCode(t, err, core.CodeSpendLimit)
		_, err = a.BeginAction(t.Context(), a.account, a.setBudget("c1", 120))
		require.NoError(t, err)
		in := a.begin(1)
		in.Change.BidAmount = 4 * AmountUnit
		_, err = a.BeginAction(t.Context(), a.account, in)
		dbtest.RequireCode(t, err, core.CodeSpendLimit)
		assert.Contains(t, dbtest.AsError(err).Fields, "bid_amount")
		_, err = a.BeginAction(t.Context(), a.account, BeginAction{Op: OpDeleteCampaign, AdAccount: a.in, TargetID: "c1"})
		dbtest.RequireCode(t, err, core.CodeForbidden)
		_, err = a.setLimits(t, func(l *Limits) { l.BlockedOperations = core.JSONOf([]Op{"paint"}) })
		dbtest.RequireInvalid(t, err, "blocked_operations")
		limits, err := a.GetLimits(t.Context(), a.account)
		require.NoError(t, err)
		assert.Equal(t, []Op{OpDeleteCampaign}, limits.BlockedOperations.V)
		assert.Equal(t, DefaultLimit("eur"), limits.Of("eur"))
		assert.Equal(t, 1_500_000*AmountUnit, limits.Of("jpy").MaxDailyPerCampaign)
	})
}

func TestBeginAction_NoneIsNotAny(t *testing.T) {
	eachAdvertiser(t, func(t *testing.T, a *advertiser) {
		a.campaign(t, "c1", 100)
		set := func(increase *Ratio, bid *Amount) {
			_, err := a.setLimits(t, func(l *Limits) {
				l.MaxIncrease = increase
				l.Currencies = core.JSONOf(map[string]Limit{"usd": {MaxDailyPerCampaign: 1000 * AmountUnit, MaxDailyTotal: 1000 * AmountUnit, MaxBid: bid}})
			})
			require.NoError(t, err)
		}
		bid := a.begin(1)
		bid.Change.BidAmount = AmountUnit
		set(new(Ratio(0)), new(Amount(0)))
		_, err := a.BeginAction(t.Context(), a.account, a.setBudget("c1", 101))
		dbtest.RequireCode(t, err, core.CodeSpendLimit)
		_, err = a.BeginAction(t.Context(), a.account, bid)
		dbtest.RequireCode(t, err, core.CodeSpendLimit)
		assert.Contains(t, dbtest.AsError(err).Fields, "bid_amount")
		set(nil, nil)
		_, err = a.BeginAction(t.Context(), a.account, a.setBudget("c1", 900))
		require.NoError(t, err)
		_, err = a.BeginAction(t.Context(), a.account, bid)
		require.NoError(t, err)
	})
}

func TestCommittedDaily_IsTheLargestAmountRatherThanNone(t *testing.T) {
	eachAdvertiser(t, func(t *testing.T, a *advertiser) {
		a.campaign(t, "c1", 1)
		require.NoError(t, a.PutBatch(t.Context(), a.in, hierarchyOf("c2", 7), a.Now()))
		total, err := a.committedDaily(t.Context(), a.db, a.account, "usd")
		require.NoError(t, err)
		assert.Equal(t, AmountUnit+7, total)
		for _, id := range []string{"c3", "c4", "c5"} {
			require.NoError(t, a.PutBatch(t.Context(), a.in, hierarchyOf(id, math.MaxInt64), a.Now()))
		}
		total, err = a.committedDaily(t.Context(), a.db, a.account, "usd")
		require.NoError(t, err)
		assert.EqualValues(t, math.MaxInt64, total)
		_, err = a.BeginAction(t.Context(), a.account, a.begin(1))
		dbtest.RequireCode(t, err, core.CodeSpendLimit)
	})
}

func TestDailyAmount_SpreadsALifetimeOverItsDays(t *testing.T) {
	t.Parallel()
	start := core.Time(0)
	for hours, want := range map[int]Amount{1: 100, 24: 100, 25: 50, 72: 34, -5: 100} {
		assert.Equal(t, want, dailyAmount(100, BudgetTypeLifetime, start, new(start.Add(time.Duration(hours)*time.Hour))), hours)
	}
	assert.Equal(t, Amount(100), dailyAmount(100, BudgetTypeLifetime, start, nil), "an end that is not known is today")
	assert.Equal(t, Amount(100), dailyAmount(100, BudgetTypeDaily, start, new(start.Add(72*time.Hour))))
}

func TestUpdateLimits_IsOnTheAuditTrail(t *testing.T) {
	eachAdvertiser(t, func(t *testing.T, a *advertiser) {
		set := func(l *Limits) {
			l.Currencies = core.JSONOf(map[string]Limit{"usd": {MaxDailyPerCampaign: 99_500_000, MaxDailyTotal: 200 * AmountUnit}})
			l.BlockedOperations = core.JSONOf([]Op{OpDeleteCampaign})
		}
		for range 2 { // the second one changes nothing
			_, err := a.setLimits(t, set)
			require.NoError(t, err)
		}
		_, err := a.setLimits(t, func(l *Limits) { l.BlockedOperations = core.JSONOf([]Op{OpUpdateLimits}) })
		dbtest.RequireInvalid(t, err, "blocked_operations")
		trail, more, err := a.ListActions(t.Context(), a.account, ListActions{Page: core.Page{Limit: 10}, Op: OpUpdateLimits})
		require.NoError(t, err)
		assert.False(t, more)
		require.Len(t, trail, 1)
		line := trail[0]
		assert.Equal(t, []string{"key_1", "req_1", "ask", string(ActionDone)}, []string{line.Actor, line.RequestID, line.Approval, string(line.State)})
		assert.JSONEq(t, `{"currencies": {}, "max_daily_budget_increase_pct": null, "blocked_operations": []}`, line.Before.Text())
		assert.JSONEq(t, `{"currencies": {"usd": {"max_daily_budget_per_campaign": 99.50, "max_total_daily_budget": 200.00, "max_bid_amount": null}},
			"max_daily_budget_increase_pct": null, "blocked_operations": ["delete_campaign"]}`, line.After.Text())
		due, err := a.DueActions(t.Context(), 10)
		require.NoError(t, err)
		assert.Empty(t, due)
	})
}

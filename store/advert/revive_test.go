package advert

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/dbtest"
)

// over mirrors a campaign that a network does not deliver any more, though it is on and its end is ahead.
func (a *advertiser) over(t *testing.T, id string, daily Amount, status Status, level BudgetLevel) Batch {
	t.Helper()
	b := hierarchyOf(id, daily*AmountUnit)
	c, g := &b.Campaigns[0], &b.Groups[0]
	c.Status, g.Status, c.EndsAt = status, status, new(a.Now().Add(240*time.Hour))
	if level == BudgetLevelGroup {
		c.BudgetLevel, c.BudgetAmount, g.BudgetAmount, g.BudgetType = level, 0, daily*AmountUnit, BudgetTypeDaily
	}
	require.NoError(t, a.PutBatch(t.Context(), a.in, b, a.Now()))
	return b
}

func TestBeginAction_CountsWhatItBringsBack(t *testing.T) {
	eachAdvertiser(t, func(t *testing.T, a *advertiser) {
		a.limit(t, 100, 100)
		a.campaign(t, "on", 50)
		a.over(t, "completed", 20, StatusCompleted, BudgetLevelCampaign)
		a.over(t, "rejected", 20, StatusRejected, BudgetLevelGroup)
		group := a.setBudget("rejectedg", 51)
		group.Op, group.Change.Level = OpUpdateGroup, LevelGroup
		for name, in := range map[string]BeginAction{
			"completed campaign": a.setBudget("completed", 51),
			"rejected ad group":  group,
		} {
			_, err := a.BeginAction(t.Context(), a.account, in)
			dbtest.RequireCode(t, err, core.CodeSpendLimit)
			assert.Contains(t, err.Error(), "max_total_daily_budget", name)
			_, err = a.CheckSpend(t.Context(), a.account, in.Op, a.in, in.Change)
			dbtest.RequireCode(t, err, core.CodeSpendLimit)
		}
		begun, err := a.BeginAction(t.Context(), a.account, a.setBudget("completed", 50))
		require.NoError(t, err)
		assert.Equal(t, 50*AmountUnit, begun.Action.Daily, "all of it is new")
	})
}

func TestUpdateAd_CountsWhateverANetworkWasAskedBefore(t *testing.T) {
	eachAdvertiser(t, func(t *testing.T, a *advertiser) {
		counted := Amount(0)
		for id, status := range map[string]Status{"known": StatusRejected, "news": StatusActive} { // in the mirror, while its ad is rejected
			b := a.over(t, id, 20, status, BudgetLevelCampaign)
			row, err := a.GetCampaign(t.Context(), a.account, PlatformFacebook, id)
			require.NoError(t, err)
			asked := a.Now()
			begun, err := a.BeginAction(t.Context(), a.account, BeginAction{Op: OpUpdateAd, AdAccount: a.in, TargetID: id + "a"})
			require.NoError(t, err)
			b.Ads[0].Status = StatusPendingReview
			_, err = a.SettleAction(t.Context(), a.account, begun.Action.ID, Outcome{State: ActionDone, Changed: Batch{Ads: b.Ads}})
			require.NoError(t, err)
			counted += 20 * AmountUnit
			counts := func(what string) {
				figures, err := a.CheckSpend(t.Context(), a.account, OpCreateAd, a.in, a.begin(1).Change)
				require.NoError(t, err)
				assert.Equal(t, counted, figures.TotalBefore, "%s: %s", id, what)
			}
			counts("the ad is reviewed again")
			old := State{PlatformID: id, Status: StatusRejected, Seen: row.SyncedAt}
			require.NoError(t, a.RecordStates(t.Context(), a.account, PlatformFacebook, LevelCampaign, []State{old}, asked))
			counts("a list was asked before")
			b.Campaigns[0].Status, b.Groups[0].Status = StatusRejected, StatusRejected
			require.NoError(t, a.PutBatch(t.Context(), a.in, Batch{Campaigns: b.Campaigns, Groups: b.Groups}, asked))
			counts("a stretch was asked before")
		}
	})
}

func TestBeginAction_WhatHasEndedStaysOff(t *testing.T) {
	eachAdvertiser(t, func(t *testing.T, a *advertiser) {
		a.limit(t, 100, 100)
		a.campaign(t, "on", 90)
		b := a.over(t, "ended", 20, StatusCompleted, BudgetLevelCampaign)
		b.Campaigns[0].EndsAt = new(a.Now().Add(-time.Hour))
		require.NoError(t, a.PutBatch(t.Context(), a.in, b, a.Now()))
		begun, err := a.BeginAction(t.Context(), a.account, a.setBudget("ended", 60))
		require.NoError(t, err)
		assert.Zero(t, begun.Action.Daily)
	})
}

func TestBeginAction_ChangesOneThingOfACampaignAtATime(t *testing.T) {
	eachAdvertiser(t, func(t *testing.T, a *advertiser) {
		a.limit(t, 1_000, 1_000)
		b := a.over(t, "c1", 10, StatusActive, BudgetLevelGroup)
		second := b.Groups[0]
		second.PlatformID, second.ConfiguredStatus = "c1h", ConfiguredPaused
		b.Groups = append(b.Groups, second)
		b.Campaigns[0].ConfiguredStatus = ConfiguredPaused
		require.NoError(t, a.PutBatch(t.Context(), a.in, b, a.Now()))
		a.campaign(t, "other", 10)
		raise := func(id string) BeginAction {
			in := a.setBudget(id, 900)
			in.Op, in.Change.Level = OpUpdateGroup, LevelGroup
			return in
		}
		changes := map[string]BeginAction{
			"raise one ad group": raise("c1g"), "raise the other": raise("c1h"), "switch an ad group on": a.resume(LevelGroup, "c1h"),
			"switch the campaign on": a.resume(LevelCampaign, "c1"),
		}
		for name, first := range changes {
			begun, err := a.BeginAction(t.Context(), a.account, first)
			require.NoError(t, err, name)
			for _, state := range []ActionState{ActionBegun, ActionUnknown} {
				if state == ActionUnknown {
					require.NoError(t, a.YieldAction(t.Context(), a.account, begun.Action.ID, time.Minute, nil))
				}
				for _, next := range changes {
					_, err := a.BeginAction(t.Context(), a.account, next)
					dbtest.RequireCode(t, err, core.CodeInProgress)
					_, err = a.CheckSpend(t.Context(), a.account, next.Op, a.in, next.Change)
					dbtest.RequireCode(t, err, core.CodeInProgress)
				}
				all, err := a.BeginActions(t.Context(), a.account, []BeginAction{a.resume(LevelCampaign, "c1")})
				require.NoError(t, err)
				dbtest.RequireCode(t, all[0].Err, core.CodeInProgress)
			}
			_, err = a.CheckSpend(t.Context(), a.account, OpUpdateCampaign, a.in, a.setBudget("other", 20).Change)
			require.NoError(t, err, "another campaign")
			_, err = a.SettleAction(t.Context(), a.account, begun.Action.ID, Outcome{State: ActionRefused, Failure: &Failure{Code: core.CodeInvalid, Message: "No."}})
			require.NoError(t, err)
		}
	})
}

func TestBeginAction_SaysWhenAnotherChangeMayBeOver(t *testing.T) {
	eachAdvertiser(t, func(t *testing.T, a *advertiser) {
		a.campaign(t, "c1", 10)
		begun, err := a.BeginAction(t.Context(), a.account, a.setBudget("c1", 20))
		require.NoError(t, err)
		wait := func() time.Duration {
			_, err := a.BeginAction(t.Context(), a.account, a.setBudget("c1", 30))
			dbtest.RequireCode(t, err, core.CodeInProgress)
			return dbtest.AsError(err).After
		}
		assert.Equal(t, time.Second, wait(), "its network is being asked")
		for _, test := range []struct {
			pause, open time.Duration
			least, most time.Duration
		}{
			{-time.Minute, -time.Minute, time.Second, 10 * time.Second},
			{10 * time.Second, 90 * time.Second, 60 * time.Second, 100 * time.Second},
			{200 * time.Second, 10 * time.Second, 150 * time.Second, 210 * time.Second},
		} {
			failure := &Failure{Code: "api_error", OpenUntil: a.Now().Add(test.open)}
			require.NoError(t, a.YieldAction(t.Context(), a.account, begun.Action.ID, test.pause, failure))
			after := wait()
			assert.GreaterOrEqual(t, after, test.least)
			assert.LessOrEqual(t, after, test.most)
		}
	})
}

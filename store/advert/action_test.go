package advert

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/internal/dbtest"
)

var errOutside = errors.New("the network did not answer")

// request runs a write request with a key, whose handler is fn.
func (a *advertiser) request(t *testing.T, key string, fn func(context.Context) error) error {
	t.Helper()
	_, _, err := a.db.Request(t.Context(), &core.Key{Account: a.account, Key: key, External: true}, func(ctx context.Context) (*core.Answer, error) {
		if err := fn(ctx); err != nil {
			return nil, err
		}
		return &core.Answer{Status: 201, Body: []byte(`{}`)}, nil
	})
	return err
}

func (a *advertiser) endLease(t *testing.T) {
	t.Helper()
	_, err := db.Tx(t.Context(), a.db, func(ctx context.Context, u *db.Unit) (int64, error) {
		return u.Exec(ctx, `UPDATE ad_actions SET lease_until = 0 WHERE account_id = ?`, a.account)
	})
	require.NoError(t, err)
}

func TestBeginAction_IsTheSameWhenTheRequestIsSentAgain(t *testing.T) {
	eachAdvertiser(t, func(t *testing.T, a *advertiser) {
		var tokens []string
		attempt := func(outcome error) error {
			return a.request(t, "k1", func(ctx context.Context) error {
				begun, err := a.BeginAction(ctx, a.account, a.begin(5))
				if err != nil {
					return err
				}
				require.False(t, db.InTx(ctx), "the network is asked with no transaction open")
				require.Equal(t, len(tokens) > 0, begun.Resumed)
				tokens = append(tokens, begun.Action.ID)
				if outcome != nil {
					require.NoError(t, a.YieldAction(ctx, a.account, begun.Action.ID, time.Hour, nil))
					return outcome
				}
				_, err = a.SettleAction(ctx, a.account, begun.Action.ID, Outcome{State: ActionDone, Made: hierarchyOf("c1", 5*AmountUnit), TargetID: "c1a"})
				return err
			})
		}
		require.ErrorIs(t, attempt(errOutside), errOutside)
		due, err := a.DueActions(t.Context(), 1)
		require.NoError(t, err)
		require.Empty(t, due)
		require.NoError(t, attempt(nil), "the reconciler has an hour, the request need not wait")
		require.Len(t, tokens, 2)
		assert.Equal(t, tokens[0], tokens[1])
		assert.Equal(t, 1, a.count(t, `SELECT count(*) FROM ad_actions`))
		action, err := a.GetAction(t.Context(), a.account, tokens[0])
		require.NoError(t, err)
		assert.Equal(t, ActionDone, action.State)
		assert.Equal(t, "c1a", action.TargetID)
	})
}

func TestBeginAction_WaitsForWhoeverIsAtIt(t *testing.T) {
	eachAdvertiser(t, func(t *testing.T, a *advertiser) {
		attempt := func() error {
			return a.request(t, "k1", func(ctx context.Context) error {
				_, err := a.BeginAction(ctx, a.account, a.begin(5))
				if err == nil {
					err = errOutside // and the process ends before it can say so
				}
				return err
			})
		}
		require.ErrorIs(t, attempt(), errOutside)
		dbtest.RequireCode(t, attempt(), core.CodeInProgress)
		dbtest.RequireCode(t, attempt(), core.CodeInProgress) // and the key is still this request's
		a.endLease(t)
		require.ErrorIs(t, attempt(), errOutside)
		assert.Equal(t, 1, a.count(t, `SELECT count(*) FROM ad_actions`))
	})
}

func TestBeginAction_ARefusalFreesTheKey(t *testing.T) {
	eachAdvertiser(t, func(t *testing.T, a *advertiser) {
		var tokens []string
		attempt := func() error {
			return a.request(t, "k1", func(ctx context.Context) error {
				begun, err := a.BeginAction(ctx, a.account, a.begin(5))
				require.NoError(t, err)
				require.False(t, begun.Resumed)
				tokens = append(tokens, begun.Action.ID)
				failure := &Failure{Code: core.CodeInvalid, Param: "platform", Message: "No."}
				_, err = a.SettleAction(ctx, a.account, begun.Action.ID, Outcome{State: ActionRefused, Failure: failure})
				require.NoError(t, err)
				return failure.Err()
			})
		}
		dbtest.RequireCode(t, attempt(), core.CodeInvalid)
		dbtest.RequireCode(t, attempt(), core.CodeInvalid)
		assert.NotEqual(t, tokens[0], tokens[1])
		actions, more, err := a.ListActions(t.Context(), a.account, ListActions{Page: core.Page{Limit: 10}, State: ActionRefused})
		require.NoError(t, err)
		assert.False(t, more)
		assert.Len(t, actions, 2, "the trail keeps both")
	})
}

func TestBeginActions_KeepTheirTokensApart(t *testing.T) {
	eachAdvertiser(t, func(t *testing.T, a *advertiser) {
		var rounds [2][]string
		for round := range rounds {
			_ = a.request(t, "k1", func(ctx context.Context) error {
				ins := []BeginAction{a.begin(1), a.begin(1), a.begin(1)}
				for i := range ins {
					ins[i].Index = i
				}
				all, err := a.BeginActions(ctx, a.account, ins)
				require.NoError(t, err)
				for _, begun := range all {
					rounds[round] = append(rounds[round], begun.Action.ID)
					id, ok := core.ParseID(core.KindAdAction, begun.Action.ID)
					require.True(t, ok, id)
				}
				return errOutside
			})
			a.endLease(t)
		}
		assert.Equal(t, rounds[0], rounds[1])
		assert.Len(t, core.Distinct(rounds[0]), 3)
	})
}

func TestLeaseAction_IsForOne(t *testing.T) {
	eachAdvertiser(t, func(t *testing.T, a *advertiser) {
		begun, err := a.BeginAction(t.Context(), a.account, a.begin(5))
		require.NoError(t, err)
		id := begun.Action.ID
		due, err := a.DueActions(t.Context(), 10)
		require.NoError(t, err)
		assert.Empty(t, due, "somebody is at it")
		require.NoError(t, a.YieldAction(t.Context(), a.account, id, -time.Second, &Failure{Code: "api_error", Message: "It did not answer."}))
		due, err = a.DueActions(t.Context(), 10)
		require.NoError(t, err)
		require.Equal(t, []DueAction{{a.account, id, OpCreateAd, a.channel.ID, "act_1"}}, due)
		first, err := a.LeaseAction(t.Context(), a.account, id)
		require.NoError(t, err)
		second, err := a.LeaseAction(t.Context(), a.account, id)
		require.NoError(t, err)
		assert.True(t, first)
		assert.False(t, second)

		_, err = a.SettleAction(t.Context(), a.account, id, Outcome{State: ActionDone, Made: hierarchyOf("c1", 5*AmountUnit)})
		require.NoError(t, err)
		late, err := a.SettleAction(t.Context(), a.account, id, Outcome{State: ActionRefused, Failure: &Failure{Code: core.CodeInvalid}})
		require.NoError(t, err)
		assert.Equal(t, ActionDone, late.State, "an outcome is kept")
		require.NoError(t, a.YieldAction(t.Context(), a.account, id, -time.Second, nil))
		due, err = a.DueActions(t.Context(), 10)
		require.NoError(t, err)
		assert.Empty(t, due)
	})
}

func TestDueActions_TakesTurnsBetweenAccounts(t *testing.T) {
	eachAdvertiser(t, func(t *testing.T, a *advertiser) {
		other := newAdvertiser(t, a.Store, dbtest.Account(t, a.db), PlatformGoogle)
		var ids []string
		for _, one := range []*advertiser{a, a, a, other} { // the other one's is the youngest
			begun, err := one.BeginAction(t.Context(), one.account, one.begin(1))
			require.NoError(t, err)
			pause := time.Duration(len(ids)-10) * time.Second
			require.NoError(t, one.YieldAction(t.Context(), one.account, begun.Action.ID, pause, nil))
			ids = append(ids, begun.Action.ID)
		}
		due, err := a.DueActions(t.Context(), 3)
		require.NoError(t, err)
		var got []string
		for _, one := range due {
			got = append(got, one.ID)
		}
		assert.Equal(t, []string{ids[0], ids[3], ids[1]}, got)
	})
}

func TestSettleAction_CancelsACampaignWithItsHierarchy(t *testing.T) {
	eachAdvertiser(t, func(t *testing.T, a *advertiser) {
		a.campaign(t, "c1", 5)
		a.campaign(t, "c2", 5)
		begun, err := a.BeginAction(t.Context(), a.account, BeginAction{Op: OpDeleteCampaign, AdAccount: a.in, TargetID: "c1"})
		require.NoError(t, err)
		_, err = a.SettleAction(t.Context(), a.account, begun.Action.ID, Outcome{State: ActionDone, CancelledCampaign: "c1"})
		require.NoError(t, err)
		ads, err := a.ListAds(t.Context(), a.account, ListAds{Page: Page{Limit: 10}, Statuses: []Status{StatusCancelled}})
		require.NoError(t, err)
		require.Len(t, ads.Items, 1)
		assert.Equal(t, StatusCancelled, ads.Items[0].Group.Status)
		assert.Equal(t, StatusCancelled, ads.Items[0].Campaign.Status)
		total, err := a.committedDaily(t.Context(), a.db, a.account, "usd")
		require.NoError(t, err)
		assert.Equal(t, 5*AmountUnit, total)
	})
}

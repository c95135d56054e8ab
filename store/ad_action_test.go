package store

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
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
	_, err := tx(t.Context(), a.Store, func(ctx context.Context, u *unit) (int64, error) {
		return u.Exec(ctx, `UPDATE ad_actions SET lease_until = 0 WHERE account_id = ?`, a.account)
	})
	require.NoError(t, err)
}

func TestBeginAdAction_IsTheSameWhenTheRequestIsSentAgain(t *testing.T) {
	eachAdvertiser(t, func(t *testing.T, a *advertiser) {
		var tokens []string
		attempt := func(outcome error) error {
			return a.request(t, "k1", func(ctx context.Context) error {
				begun, err := a.BeginAdAction(ctx, a.account, a.begin(5))
				if err != nil {
					return err
				}
				require.False(t, db.InTx(ctx), "the network is asked with no transaction open")
				require.Equal(t, len(tokens) > 0, begun.Resumed)
				tokens = append(tokens, begun.Action.ID)
				if outcome != nil {
					require.NoError(t, a.YieldAdAction(ctx, a.account, begun.Action.ID, time.Hour, nil))
					return outcome
				}
				_, err = a.SettleAdAction(ctx, a.account, begun.Action.ID, AdOutcome{State: AdActionDone, Made: hierarchyOf("c1", 5*AdUnit), TargetID: "c1a"})
				return err
			})
		}
		require.ErrorIs(t, attempt(errOutside), errOutside)
		due, err := a.DueAdActions(t.Context(), 1)
		require.NoError(t, err)
		require.Empty(t, due)
		require.NoError(t, attempt(nil), "the reconciler has an hour, the request need not wait")
		require.Len(t, tokens, 2)
		assert.Equal(t, tokens[0], tokens[1])
		assert.Equal(t, 1, a.count(t, `SELECT count(*) FROM ad_actions`))
		action, err := a.GetAdAction(t.Context(), a.account, tokens[0])
		require.NoError(t, err)
		assert.Equal(t, AdActionDone, action.State)
		assert.Equal(t, "c1a", action.TargetID)
	})
}

func TestBeginAdAction_WaitsForWhoeverIsAtIt(t *testing.T) {
	eachAdvertiser(t, func(t *testing.T, a *advertiser) {
		attempt := func() error {
			return a.request(t, "k1", func(ctx context.Context) error {
				_, err := a.BeginAdAction(ctx, a.account, a.begin(5))
				if err == nil {
					err = errOutside // and the process ends before it can say so
				}
				return err
			})
		}
		require.ErrorIs(t, attempt(), errOutside)
		requireCode(t, attempt(), core.CodeInProgress)
		requireCode(t, attempt(), core.CodeInProgress) // and the key is still this request's
		a.endLease(t)
		require.ErrorIs(t, attempt(), errOutside)
		assert.Equal(t, 1, a.count(t, `SELECT count(*) FROM ad_actions`))
	})
}

func TestBeginAdAction_ARefusalFreesTheKey(t *testing.T) {
	eachAdvertiser(t, func(t *testing.T, a *advertiser) {
		var tokens []string
		attempt := func() error {
			return a.request(t, "k1", func(ctx context.Context) error {
				begun, err := a.BeginAdAction(ctx, a.account, a.begin(5))
				require.NoError(t, err)
				require.False(t, begun.Resumed)
				tokens = append(tokens, begun.Action.ID)
				failure := &AdFailure{Code: core.CodeInvalid, Param: "platform", Message: "No."}
				_, err = a.SettleAdAction(ctx, a.account, begun.Action.ID, AdOutcome{State: AdActionRefused, Failure: failure})
				require.NoError(t, err)
				return failure.Err()
			})
		}
		requireCode(t, attempt(), core.CodeInvalid)
		requireCode(t, attempt(), core.CodeInvalid)
		assert.NotEqual(t, tokens[0], tokens[1])
		actions, more, err := a.ListAdActions(t.Context(), a.account, ListAdActions{Page: core.Page{Limit: 10}, State: AdActionRefused})
		require.NoError(t, err)
		assert.False(t, more)
		assert.Len(t, actions, 2, "the trail keeps both")
	})
}

func TestBeginAdActions_KeepTheirTokensApart(t *testing.T) {
	eachAdvertiser(t, func(t *testing.T, a *advertiser) {
		var rounds [2][]string
		for round := range rounds {
			_ = a.request(t, "k1", func(ctx context.Context) error {
				ins := []BeginAdAction{a.begin(1), a.begin(1), a.begin(1)}
				for i := range ins {
					ins[i].Index = i
				}
				all, err := a.BeginAdActions(ctx, a.account, ins)
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

func TestLeaseAdAction_IsForOne(t *testing.T) {
	eachAdvertiser(t, func(t *testing.T, a *advertiser) {
		begun, err := a.BeginAdAction(t.Context(), a.account, a.begin(5))
		require.NoError(t, err)
		id := begun.Action.ID
		due, err := a.DueAdActions(t.Context(), 10)
		require.NoError(t, err)
		assert.Empty(t, due, "somebody is at it")
		require.NoError(t, a.YieldAdAction(t.Context(), a.account, id, -time.Second, &AdFailure{Code: "api_error", Message: "It did not answer."}))
		due, err = a.DueAdActions(t.Context(), 10)
		require.NoError(t, err)
		require.Equal(t, []DueAdAction{{a.account, id, AdOpCreateAd, a.channel.ID, "act_1"}}, due)
		first, err := a.LeaseAdAction(t.Context(), a.account, id)
		require.NoError(t, err)
		second, err := a.LeaseAdAction(t.Context(), a.account, id)
		require.NoError(t, err)
		assert.True(t, first)
		assert.False(t, second)

		_, err = a.SettleAdAction(t.Context(), a.account, id, AdOutcome{State: AdActionDone, Made: hierarchyOf("c1", 5*AdUnit)})
		require.NoError(t, err)
		late, err := a.SettleAdAction(t.Context(), a.account, id, AdOutcome{State: AdActionRefused, Failure: &AdFailure{Code: core.CodeInvalid}})
		require.NoError(t, err)
		assert.Equal(t, AdActionDone, late.State, "an outcome is kept")
		require.NoError(t, a.YieldAdAction(t.Context(), a.account, id, -time.Second, nil))
		due, err = a.DueAdActions(t.Context(), 10)
		require.NoError(t, err)
		assert.Empty(t, due)
	})
}

func TestDueAdActions_TakesTurnsBetweenAccounts(t *testing.T) {
	eachAdvertiser(t, func(t *testing.T, a *advertiser) {
		bob, err := a.CreateAccount(t.Context(), NewAccount{Name: "Bob's Shop", Email: "bob@example.com"})
		require.NoError(t, err)
		other := newAdvertiser(t, &shop{Store: a.Store, account: bob.ID}, PlatformGoogle)
		var ids []string
		for _, one := range []*advertiser{a, a, a, other} { // the other one's is the youngest
			begun, err := one.BeginAdAction(t.Context(), one.account, one.begin(1))
			require.NoError(t, err)
			pause := time.Duration(len(ids)-10) * time.Second
			require.NoError(t, one.YieldAdAction(t.Context(), one.account, begun.Action.ID, pause, nil))
			ids = append(ids, begun.Action.ID)
		}
		due, err := a.DueAdActions(t.Context(), 3)
		require.NoError(t, err)
		var got []string
		for _, one := range due {
			got = append(got, one.ID)
		}
		assert.Equal(t, []string{ids[0], ids[3], ids[1]}, got)
	})
}

func TestSettleAdAction_CancelsACampaignWithItsHierarchy(t *testing.T) {
	eachAdvertiser(t, func(t *testing.T, a *advertiser) {
		a.campaign(t, "c1", 5)
		a.campaign(t, "c2", 5)
		begun, err := a.BeginAdAction(t.Context(), a.account, BeginAdAction{Op: AdOpDeleteCampaign, AdAccount: a.in, TargetID: "c1"})
		require.NoError(t, err)
		_, err = a.SettleAdAction(t.Context(), a.account, begun.Action.ID, AdOutcome{State: AdActionDone, CancelledCampaign: "c1"})
		require.NoError(t, err)
		ads, err := a.ListAds(t.Context(), a.account, ListAds{AdPage: AdPage{Limit: 10}, Statuses: []AdStatus{AdStatusCancelled}})
		require.NoError(t, err)
		require.Len(t, ads.Items, 1)
		assert.Equal(t, AdStatusCancelled, ads.Items[0].Group.Status)
		assert.Equal(t, AdStatusCancelled, ads.Items[0].Campaign.Status)
		total, err := a.committedDaily(t.Context(), a.account, "usd")
		require.NoError(t, err)
		assert.Equal(t, 5*AdUnit, total)
	})
}

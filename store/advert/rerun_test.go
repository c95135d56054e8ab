package advert

import (
	"context"
	"testing"

	"github.com/lib/pq"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

func TestBeginAction_RequestThatIsRunAgainDoesNotWaitForItself(t *testing.T) {
	eachAdvertiser(t, func(t *testing.T, a *advertiser) {
		var runs []bool
		err := a.request(t, "k1", func(ctx context.Context) error {
			begun, err := a.BeginAction(ctx, a.account, a.begin(5))
			if err != nil {
				return err
			}
			runs = append(runs, begun.Resumed)
			if _, err := a.SettleAction(ctx, a.account, begun.Action.ID, Outcome{State: ActionDone}); err != nil {
				return err
			}
			if len(runs) == 1 {
				return &pq.Error{Code: db.SerializationFailure} // as the last COMMIT may answer
			}
			return nil
		})
		require.NoError(t, err)
		assert.Equal(t, []bool{false, true}, runs)
		assert.Equal(t, 1, a.count(t, `SELECT count(*) FROM ad_actions WHERE state = 'done'`))
	})
}

func TestBeginAction_LeaseOfAnotherLeavesTheKeyAlone(t *testing.T) {
	eachAdvertiser(t, func(t *testing.T, a *advertiser) {
		attempt := func() error {
			return a.request(t, "k1", func(ctx context.Context) error {
				if _, err := a.BeginAction(ctx, a.account, a.begin(5)); err != nil {
					return err
				}
				return errOutside // and the process ends before it can say more
			})
		}
		require.ErrorIs(t, attempt(), errOutside)
		var busy *core.Error
		require.ErrorAs(t, attempt(), &busy)
		assert.Equal(t, core.CodeInProgress, busy.Code)
		assert.Equal(t, core.Unknown, busy.Outcome)
		a.endLease(t)
		require.ErrorIs(t, attempt(), errOutside)
		assert.Equal(t, 1, a.count(t, `SELECT count(*) FROM ad_actions`))
	})
}

func TestRequestedAction_IsTheRequestsOwn(t *testing.T) {
	eachAdvertiser(t, func(t *testing.T, a *advertiser) {
		var first string
		require.ErrorIs(t, a.request(t, "k1", func(ctx context.Context) error {
			before, err := a.RequestedAction(ctx, a.account)
			require.NoError(t, err)
			assert.Nil(t, before)
			begun, err := a.BeginAction(ctx, a.account, a.begin(5))
			require.NoError(t, err)
			first = begun.Action.ID
			return errOutside
		}), errOutside)
		require.NoError(t, a.request(t, "k1", func(ctx context.Context) error {
			before, err := a.RequestedAction(ctx, a.account)
			require.NoError(t, err)
			require.NotNil(t, before)
			assert.Equal(t, first, before.ID)
			return nil
		}))
		require.NoError(t, a.request(t, "k2", func(ctx context.Context) error {
			before, err := a.RequestedAction(ctx, a.account)
			assert.Nil(t, before)
			return err
		}))
	})
}

func TestLeave_CommitsTheClaimAndNothingElseIsOpen(t *testing.T) {
	eachAdvertiser(t, func(t *testing.T, a *advertiser) {
		require.NoError(t, a.db.Leave(t.Context()), "outside of a request there is nothing to leave")
		require.NoError(t, a.request(t, "k1", func(ctx context.Context) error {
			require.True(t, db.InTx(ctx))
			require.NoError(t, a.db.Leave(ctx))
			require.False(t, db.InTx(ctx))
			assert.Equal(t, 1, a.count(t, `SELECT count(*) FROM idempotency_keys`))
			return nil
		}))
	})
}

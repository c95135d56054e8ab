package store

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/activity"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/customer"
)

// done returns what was done in the shop, newest first.
func (s *shop) done(t *testing.T) []activity.Activity {
	t.Helper()
	lines, _, err := s.Activity.ListActivities(t.Context(), s.account, activity.ListActivities{Page: core.Page{Limit: 100}})
	require.NoError(t, err)
	return lines
}

func (s *shop) line(operation string) activity.Activity {
	return activity.Activity{AccountID: s.account, ActorType: activity.ActorCLI, Operation: operation, TargetObject: "product"}
}

// A line and its change are there together, or neither is; what is looked at before is the row as it was.
func TestActivity_IsStoredWithItsChange(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		c, err := s.Customer.Create(t.Context(), s.account, customer.Customer{Email: ref("ada@example.com"), Name: ref("Ada")})
		require.NoError(t, err)
		rename := func(name string, fail error) (seen []string, changed bool, err error) {
			_, _, err = s.Request(t.Context(), nil, func(ctx context.Context) (*core.Answer, error) {
				seen = nil
				s.Activity.Watch(ctx, func(ctx context.Context) error {
					was, err := s.Customer.Get(ctx, s.account, c.ID)
					seen = append(seen, *was.Name)
					return err
				})
				if _, err := s.UpdateCustomer(ctx, s.account, c.ID, func(c *customer.Customer) { c.Name = &name }); err != nil {
					return nil, err
				}
				if changed = s.Activity.HasChanged(ctx); !changed {
					return nil, fail
				}
				return nil, errors.Join(s.Activity.Record(ctx, s.line("updateCustomer")), fail)
			})
			return seen, changed, err
		}
		seen, changed, err := rename("Grace", errors.New("too late"))
		require.ErrorContains(t, err, "too late")
		assert.Equal(t, []string{"Ada"}, seen)
		assert.True(t, changed)
		assert.Empty(t, s.done(t))

		seen, _, err = rename("Grace", nil)
		require.NoError(t, err)
		assert.Equal(t, []string{"Ada"}, seen, "it was undone")
		assert.Len(t, s.done(t), 1)

		seen, changed, err = rename("Grace", nil)
		require.NoError(t, err)
		assert.Empty(t, seen)
		assert.False(t, changed, "nothing is different")
	})
}

func TestActivity_IsKeptForItsTime(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		for range 3 {
			require.NoError(t, s.Activity.Record(t.Context(), s.line("updateProduct")))
		}
		deleted, err := s.Activity.DeleteOld(t.Context(), time.Hour, 100)
		require.NoError(t, err)
		assert.Zero(t, deleted)
		for _, want := range []int64{2, 1, 0} {
			deleted, err := s.Activity.DeleteOld(t.Context(), -time.Hour, 2)
			require.NoError(t, err)
			assert.Equal(t, want, deleted)
		}
		assert.Empty(t, s.done(t))
	})
}

func TestAdvanceSubscription_SaysThatItEnded(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		s.subscribers(t, 2)
		_, err := s.db.Write.DB.ExecContext(t.Context(), s.db.Rebind(`UPDATE subscriptions SET cancel_at_period_end = TRUE WHERE account_id = ?`), s.account)
		require.NoError(t, err)
		step, err := s.AdvanceSubscription(t.Context(), s.account, "sub_2")
		require.NoError(t, err)
		require.True(t, step.Done)
		lines := s.done(t)
		require.Len(t, lines, 1)
		assert.Equal(t, activity.ActorSystem, lines[0].ActorType)
		assert.Equal(t, "cancelSubscription", lines[0].Operation)
		assert.Equal(t, "sub_2", *lines[0].TargetID)
		require.Contains(t, *lines[0].Changes.V, "status")
		assert.JSONEq(t, `{"before":"active","after":"canceled"}`, core.JSONText((*lines[0].Changes.V)["status"]))
	})
}

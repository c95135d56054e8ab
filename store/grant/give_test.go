package grant

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// TestGrant_KeepsThatItWasRefunded takes a subscription's grant through all that may come after a refund of it.
func TestGrant_KeepsThatItWasRefunded(t *testing.T) {
	sub := Source{Type: SourceTypeSubscription, ID: "sub_1"}
	type room struct {
		*db.Unit
		store   *Store
		account string
		given   *Grant
	}
	ends := func(reason Reason) func(*room, context.Context) error {
		return func(r *room, ctx context.Context) error { return r.store.Revoke(ctx, r.Unit, r.account, sub, reason) }
	}
	give := func(item, instead string) func(*room, context.Context) error {
		return func(r *room, ctx context.Context) (err error) {
			r.given, err = r.store.Give(ctx, r.Unit, Giving{
				Account: r.account, Customer: "cus_1", Product: product, Source: sub, Item: item, Quantity: 1, InsteadOf: instead,
			})
			return err
		}
	}
	bounced := func(r *room, ctx context.Context) error {
		return r.store.Reinstate(ctx, r.Unit, r.account, sub, func() (Reason, error) { return "", nil })
	}
	paid := func(r *room, ctx context.Context) error {
		return r.store.Extend(ctx, r.Unit, r.account, sub, new(core.Time(1)))
	}
	completed := func(r *room, ctx context.Context) error { return r.store.Extend(ctx, r.Unit, r.account, sub, nil) }
	decided := func(decide func(*Store, context.Context, string, string) (*Grant, error)) func(*room, context.Context) error {
		return func(r *room, ctx context.Context) error {
			_, err := decide(r.store, ctx, r.account, r.given.ID)
			return err
		}
	}
	refund, plan, ended := ends(ReasonRefund), ends(ReasonPlanChange), ends(ReasonSubscriptionEnded)
	byHand, again := decided((*Store).RevokeGrant), decided((*Store).ReinstateGrant)
	cases := map[string]struct {
		steps    []func(*room, context.Context) error
		reason   Reason // of the grant in the end; empty = it is active
		refunded bool
	}{
		"refunded":                          {[]func(*room, context.Context) error{refund}, ReasonRefund, true},
		"refunded, ended":                   {[]func(*room, context.Context) error{refund, ended}, ReasonSubscriptionEnded, true},
		"ended, refunded":                   {[]func(*room, context.Context) error{ended, refund}, ReasonSubscriptionEnded, true},
		"ended, refunded, bounced":          {[]func(*room, context.Context) error{ended, refund, bounced}, ReasonSubscriptionEnded, false},
		"refunded, bounced":                 {[]func(*room, context.Context) error{refund, bounced}, "", false},
		"refunded, ended, given again":      {[]func(*room, context.Context) error{refund, ended, give("a", "")}, ReasonRefund, true},
		"bounced, given again":              {[]func(*room, context.Context) error{refund, plan, bounced, give("a", "a")}, "", false},
		"refunded, tip, other":              {[]func(*room, context.Context) error{refund, plan, give("b", "a")}, ReasonRefund, true},
		"tip, refunded, other":              {[]func(*room, context.Context) error{plan, refund, give("b", "a")}, ReasonRefund, true},
		"refunded, other and back":          {[]func(*room, context.Context) error{refund, give("b", "a"), give("a", "b")}, ReasonRefund, true},
		"refunded, other, bounced":          {[]func(*room, context.Context) error{refund, give("b", "a"), bounced}, "", false},
		"refunded, paid":                    {[]func(*room, context.Context) error{refund, paid}, "", false},
		"refunded, tip, paid, other":        {[]func(*room, context.Context) error{refund, plan, paid, give("b", "a")}, "", false},
		"refunded, completed":               {[]func(*room, context.Context) error{refund, completed}, ReasonRefund, true},
		"refunded, reinstated, other":       {[]func(*room, context.Context) error{refund, again, give("b", "a")}, "", false},
		"by hand, refunded, bounced":        {[]func(*room, context.Context) error{byHand, refund, bounced}, ReasonManual, false},
		"by hand, tip, other":               {[]func(*room, context.Context) error{byHand, plan, give("b", "a")}, ReasonManual, false},
		"by hand, refunded, tip, other":     {[]func(*room, context.Context) error{byHand, refund, plan, give("b", "a")}, ReasonManual, true},
		"other, refunded, back, reinstated": {[]func(*room, context.Context) error{give("b", "a"), refund, give("a", "b"), again}, "", false},
	}
	eachLicensor(t, func(t *testing.T, s *licensor) {
		for name, c := range cases {
			got, err := db.Tx(t.Context(), s.db, func(ctx context.Context, u *db.Unit) (*Grant, error) {
				r := &room{Unit: u, store: s.Store, account: s.account}
				for _, step := range append([]func(*room, context.Context) error{give("a", "")}, c.steps...) {
					if err := step(r, ctx); err != nil {
						return nil, err
					}
				}
				g, err := s.getGrant(ctx, u, s.account, r.given.ID)
				if err == nil {
					_, err = u.Exec(ctx, `DELETE FROM grants WHERE account_id = ?`, s.account)
				}
				return g, err
			})
			require.NoError(t, err, name)
			require.Equal(t, c.reason, core.Deref(got.Reason), name)
			require.Equal(t, c.reason == "", got.Status == StatusActive, name)
			require.Equal(t, c.refunded, got.Refunded, name)
		}
	})
}

// TestGrant_IsTheSellersDecisionUntilItEnds says that the seller answers for a grant that they have reinstated. That stays so however often its
// subscription is paused, or refunded for a while. What the plan says of it is not expected of it.
func TestGrant_IsTheSellersDecisionUntilItEnds(t *testing.T) {
	sub := Source{Type: SourceTypeSubscription, ID: "sub_1"}
	eachLicensor(t, func(t *testing.T, s *licensor) {
		_, err := db.Tx(t.Context(), s.db, func(ctx context.Context, u *db.Unit) (any, error) {
			g, err := s.Give(ctx, u, Giving{Account: s.account, Customer: "cus_1", Product: product, Source: sub, Item: "a", Quantity: 1})
			require.NoError(t, err)
			is := func(status Status, byHand bool, when string, err error) {
				t.Helper()
				require.NoError(t, err)
				got, err := s.getGrant(ctx, u, s.account, g.ID)
				require.NoError(t, err)
				require.Equal(t, status, got.Status, when)
				require.Equal(t, byHand, got.ByHand, when)
			}
			is(StatusRevoked, false, "its plan was left", s.Revoke(ctx, u, s.account, sub, ReasonPlanChange))
			_, err = s.ReinstateGrant(ctx, s.account, g.ID)
			is(StatusActive, true, "it was reinstated", err)
			is(StatusSuspended, true, "it is paused", s.Suspend(ctx, u, s.account, sub, ReasonPaused))
			is(StatusActive, true, "it is resumed", s.Resume(ctx, u, s.account, sub))
			for what, ends := range map[string]func() error{
				"another period is paid": func() error { return s.Extend(ctx, u, s.account, sub, new(core.Time(1))) },
				"the refund bounces": func() error {
					return s.Reinstate(ctx, u, s.account, sub, func() (Reason, error) { return "", nil })
				},
			} {
				is(StatusRevoked, true, "it is refunded", s.Revoke(ctx, u, s.account, sub, ReasonRefund))
				is(StatusActive, true, what, ends())
			}
			is(StatusRevoked, false, "it has ended", s.Revoke(ctx, u, s.account, sub, ReasonSubscriptionEnded))
			return nil, nil
		})
		require.NoError(t, err)
	})
}

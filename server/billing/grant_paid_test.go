package billing_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/grant"
	"github.com/tillwright/tillwright/store/subscription"
	"github.com/tillwright/tillwright/store/tenant"
)

// TestGrant_SaysUntilWhenItsSubscriptionHasPaid takes the grant of a plan of one instalment, after a trial, to its end. Licences that go on without
// us end with what is paid for.
func TestGrant_SaysUntilWhenItsSubscriptionHasPaid(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		v := recurring(900, "month")
		v.TrialDays, v.BillingCycles = 14, new(int64(1))
		sub := w.subscribe(w.variant(v), "pm_card_visa")
		is := func(want *core.Time, when string) {
			t.Helper()
			g, err := w.Grant.GetGrant(t.Context(), w.account, w.ordersOf(sub)[0].GrantIDs.V[0])
			require.NoError(t, err)
			assert.Equal(t, want, g.PaidUntil, when)
		}
		passes := func(want subscription.Status) {
			t.Helper()
			w.wait(sub.CurrentPeriodEnd.Time().Sub(w.Now().Time()) + time.Second)
			var err error
			sub, err = w.Subscription.Get(t.Context(), w.account, sub.ID)
			require.NoError(t, err)
			require.Equal(t, want, sub.Status)
		}
		is(&sub.CurrentPeriodEnd, "in a trial")
		passes(subscription.StatusActive)
		is(&sub.CurrentPeriodEnd, "once the first period is paid")
		passes(subscription.StatusCompleted)
		is(nil, "once everything is paid")
	})
}

// A change of plan that nothing is charged for leaves paid what was paid. A licence does not end with it in the middle of a period.
func TestGrant_IsPaidForAfterAChangeOfPlanAsBefore(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.monthOf30()
		sub := w.subscribe(w.variant(recurring(2000, "month")), "pm_card_visa")
		is := func(status grant.Status, when string) {
			t.Helper()
			grants, _, err := w.Store.ListGrants(t.Context(), w.account, store.ListGrants{SourceOrType: sub.ID, ListGrants: grant.ListGrants{Page: core.Page{Limit: 10}}})
			require.NoError(t, err)
			for _, g := range grants {
				if g.ProductID == sub.ProductID {
					assert.Equal(t, status, g.Status, when)
					assert.Equal(t, &sub.CurrentPeriodEnd, g.PaidUntil, when)
				}
			}
		}
		w.rewound(sub, 10*day)
		sub = w.change(sub, w.variant(recurring(1000, "month")), tenant.ProrationBehaviorInvoiceImmediately)
		is(grant.StatusActive, "a cheaper plan")
		sub = w.pieces(sub, 2)
		is(grant.StatusActive, "more pieces")
		sub = w.change(sub, w.variant(recurring(3000, "month")), tenant.ProrationBehaviorNextInvoice)
		is(grant.StatusActive, "a dearer plan that is billed later")
		sub = w.change(sub, w.variant(recurring(500, "year")), tenant.ProrationBehaviorInvoiceImmediately)
		require.Len(t, w.ordersOf(sub), 1)
		is(grant.StatusActive, "a longer period that is paid for by what is left of the shorter one")
		sub = w.change(sub, w.variant(recurring(400, "month")), tenant.ProrationBehaviorInvoiceImmediately)
		require.Len(t, w.ordersOf(sub), 1)
		is(grant.StatusActive, "a shorter one again")

		sub = w.subscribe(w.variant(recurring(2000, "month")), "pm_card_visa")
		w.refundAccess(w.ordersOf(sub)[0].ID)
		sub = w.change(sub, w.variant(free("month")), "")
		is(grant.StatusRevoked, "what a refund took away stays away")
	})
}
